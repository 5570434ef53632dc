"""Values on their way into Markdown: one line that cannot become structure.

A value can never make a heading, a list item, a table cell, a fence or HTML: line breaks become
blanks, tags are escaped outside code spans, and control characters are refused.
"""

from fairlead.errors import UnwritableValue
from fairlead.text.visible import is_unseen

_JOINERS = "\u200c\u200d"  # part of ordinary words and emoji in many scripts
_SPACES = "\t\n\r\v\f\x85\u2028\u2029"


def one_line(value: str, what: str = "the value") -> str:
    """The value as one line of prose."""
    folded = " ".join(
        "".join(" " if mark in _SPACES else mark for mark in value).split(" ")
    ).strip()
    folded = " ".join(folded.split())
    if not folded:
        raise UnwritableValue(what, "is empty")
    for mark in folded:
        if is_unseen(mark) and mark not in _JOINERS:
            raise UnwritableValue(what, f"holds the control character U+{ord(mark):04X}")
    return _escape_tags(folded)


def table_cell(value: str, what: str = "the value") -> str:
    """The value as one cell of a table."""
    return one_line(value, what).replace("\\|", "|").replace("|", "\\|")


def plain_text(written: str) -> str:
    """A written line as the value that it came from."""
    for mark in "<|":
        written = written.replace("\\" + mark, mark)
    return written


def _escape_tags(text: str) -> str:
    """Escape each `<` that begins a tag or comment, except inside a code span."""
    pieces = text.split("`")
    # An even number of pieces means one backtick is left over: no code span can be trusted.
    spans = len(pieces) % 2 == 1
    for at, piece in enumerate(pieces):
        if at % 2 == 0 or not spans:
            pieces[at] = _escape_in_prose(piece)
    return "`".join(pieces)


def _escape_in_prose(text: str) -> str:
    parts = text.split("<")
    escaped = parts[0]
    for part in parts[1:]:
        begins_tag = part[:1] in ("!", "/", "?") or part[:1].isalpha()
        escaped += ("\\<" if begins_tag and not escaped.endswith("\\") else "<") + part
    return escaped
