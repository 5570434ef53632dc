"""Merge conflicts left in a text.

A marker alone may be an example; a whole set in order, or a marker outside a fence, is a merge
that nobody finished, and writing into it would bury one of its sides.
"""

from fairlead.text.lines import split_lines, without_ending

_OURS, _BASE, _THEIRS, _END = "<<<<<<<", "|||||||", "=======", ">>>>>>>"


def conflict_line(text: str) -> int:
    """The line, from 1, of the first unresolved conflict; 0 if there is none."""
    if _OURS not in text and _END not in text:
        return 0
    start = 0
    middle = False
    fenced = False
    for number, raw in enumerate(split_lines(text), start=1):
        line = without_ending(raw)
        mark = line[:7]
        if line.lstrip(" ").startswith(("```", "~~~")):
            fenced = not fenced
        if mark not in (_OURS, _THEIRS, _END) or line[7:8] not in ("", " "):
            continue
        if mark == _OURS:
            if not fenced:
                return number
            start, middle = number, False
        elif mark == _THEIRS:
            middle = middle or bool(start)
        elif middle or not fenced:
            return start or number
    return 0
