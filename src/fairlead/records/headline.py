"""STATE.md as the status line sees it: a few fields of the frontmatter, two lines of the body.

The frontmatter is what the quick reader reads. A value that stands whole on its own line is
shown as it is written there, with its quotes taken off, as status lines have always shown it;
comments, folded text and everything else shows what it means. Never fails and never takes
long: what cannot be read is empty. No `re`: the status line uses this.
"""

from fairlead.faults import UnclosedFrontmatter
from fairlead.model.scene import Headline
from fairlead.text.quick import FENCE, find_block, read_front, read_lines
from fairlead.text.scalars import Plain, double_quoted, is_null, single_quoted

_FIELDS = ("status", "milestone", "milestone_name", "active_phase", "next_action", "state_head")
# Frontmatter beyond this is no digest but an attack on our patience: it is read line by line.
_EXACT_SIZE = 8 * 1024
_EXACT_LINES = 100
_LOOSE_SIZE = 16 * 1024
_MOST_TRIES = 500
_LONGEST_RUN = 4096
_QUOTES = ("'", '"')
_DIGITS = "0123456789"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# White space and line ends as the format's first reader knows them; Python's own differ a little.
_SPACE = (
    " \t\n\v\f\r\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_LINE_ENDS = "\n\r\u2028\u2029"


def headline_of(text: str) -> Headline:
    """Read what the document records about where the project stands."""
    headline = Headline()
    _read_fields(headline, text)
    position = _position_in(text)
    if position:
        headline.phase, headline.phase_total, headline.phase_name = position
    if not headline.status:
        headline.status = _status_in(text)
    return headline


# --- frontmatter -----------------------------------------------------------------------


def _read_fields(headline: Headline, text: str) -> None:
    head = _head(text)
    inner = _inner(head)
    is_small = len(head) <= _EXACT_SIZE and head.count("\n") <= _EXACT_LINES
    front = read_front(head) if is_small else read_lines(inner)
    if not front:
        return
    lines = _lines_of_fields(inner)
    for name in _FIELDS:
        setattr(headline, name, _shown(front.get(name), lines.get(name, "")))
    phases = front.get("next_phases")
    if isinstance(phases, list):
        shown = [_shown(phase, "") for phase in phases]
        headline.next_phases = tuple(phase for phase in shown if phase)
    progress = front.get("progress")
    if isinstance(progress, dict):
        for name in ("percent", "completed_phases", "total_phases"):
            setattr(headline, name, _digits(progress.get(name)))


def _head(text: str) -> str:
    """The text up to the end of its frontmatter, so that a long body costs nothing."""
    at = 3
    for _ in range(_MOST_TRIES):
        at = text.find("\n---", at)
        if at < 0:
            break
        if text[at + 4 : at + 5] in ("", "\n", "\r"):
            return text[: at + 4]
        at += 4
    return text if len(text) <= _LOOSE_SIZE else ""


def _inner(head: str) -> str:
    """What stands between the fences; of too much, the beginning."""
    opening, _, rest = head.partition("\n")
    if len(head) > _LOOSE_SIZE:
        return rest[:_LOOSE_SIZE] if opening.strip("\ufeff\r") == FENCE else ""
    try:
        block = find_block(head)
    except UnclosedFrontmatter:
        return ""
    return head[block.start : block.end] if block else ""


def _lines_of_fields(inner: str) -> "dict[str, str]":
    """What stands behind the name of each field, on its own line; of two lines the last."""
    found = {}
    for line in inner.split("\n"):
        name, colon, value = line.partition(":")
        if colon and name in _FIELDS:
            found[name] = value.strip(_SPACE)
    return found


def _shown(held: object, line: str) -> str:
    """A value as people see it; nothing for a null."""
    if is_null(held) or held == "null":
        return ""
    if _is_whole(held, line):
        return _without_quotes(line)
    return _on_one_line(held) if isinstance(held, str) else ""


def _is_whole(held: object, line: str) -> bool:
    """Whether the line alone is the value: nothing follows it, neither comment nor more text."""
    if isinstance(held, Plain):
        return held.strip(_SPACE) == line
    if isinstance(held, str):
        return _closes_at_end(line)
    return line[:1] + line[-1:] in ("[]", "{}")


def _closes_at_end(line: str) -> bool:
    if line[:1] not in _QUOTES:
        return False
    try:
        read = double_quoted(line[1:]) if line[0] == '"' else single_quoted(line[1:])
    except ValueError:
        return True
    return read is not None and read[1] == len(line) - 1


def _without_quotes(line: str) -> str:
    """The line without one quote at each end, whether or not they belong together."""
    start = 1 if line[:1] in _QUOTES else 0
    end = len(line) - 1 if line[start:][-1:] in _QUOTES else len(line)
    return "" if line[start:end] == "null" else line[start:end]


def _digits(held: object) -> str:
    """The digits that an unquoted value begins with."""
    return held[: _skip(held, 0, _DIGITS)] if isinstance(held, Plain) else ""


# --- body ------------------------------------------------------------------------------


def _position_in(text: str) -> "tuple[str, str, str] | None":
    """Phase, total and name of the first line like `Phase: 4.5 of 9 (Name)`."""
    for start in _starts_of("Phase:", text):
        at = _skip(text, start, _SPACE)
        after_phase = _skip_phase(text, at)
        after_of = _skip_of(text, after_phase)
        end = _skip(text, after_of, _DIGITS)
        if at < after_phase < after_of < end:
            return text[at:after_phase], text[after_of:end], _name_at(text, end)
    return None


def _status_in(text: str) -> str:
    """The status of a document that has none in its frontmatter."""
    for start in _starts_of("Status:", text):
        at = _skip(text, start, _SPACE)
        words = text[at : _end_of_line(text, at)].lower()
        if not words:
            continue
        if "ready to plan" in words or "planning" in words:
            return "planning"
        if "execut" in words:
            return "executing"
        if "complet" in words or "archived" in words:
            return "complete"
        return ""
    return ""


def _starts_of(label: str, text: str) -> "list[int]":
    """Where the text goes on after a label at the start of a line."""
    starts: list[int] = []
    at = text.find(label)
    while at >= 0 and len(starts) < _MOST_TRIES:
        if at == 0 or text[at - 1] in _LINE_ENDS:
            starts.append(at + len(label))
        at = text.find(label, at + len(label))
    return starts


def _skip_phase(text: str, at: int) -> int:
    """After a phase such as 4, 12A or 4.10."""
    end = _skip(text, at, _DIGITS)
    if end > at and text[end : end + 1] in tuple(_LETTERS):
        end += 1
    while end > at and text[end : end + 1] == ".":
        after = _skip(text, end + 1, _DIGITS)
        if after == end + 1:
            break
        end = after
    return end


def _skip_of(text: str, at: int) -> int:
    """After the word `of` with white space on both sides; the same place where it is not."""
    word = _skip(text, at, _SPACE)
    after = _skip(text, word + 2, _SPACE)
    return after if at < word and text.startswith("of", word) and word + 2 < after else at


def _name_at(text: str, at: int) -> str:
    start = _skip(text, at, _SPACE)
    close = text.find(")", start)
    if start == at or text[start : start + 1] != "(" or close < 0:
        return ""
    return _on_one_line(text[start + 1 : close])


def _on_one_line(text: str) -> str:
    return " ".join(line.strip("\r") for line in text.strip(_SPACE).split("\n"))


def _skip(text: str, at: int, marks: str) -> int:
    run = text[at : at + _LONGEST_RUN]
    return at + len(run) - len(run.lstrip(marks))


def _end_of_line(text: str, at: int) -> int:
    ends = [end for end in (text.find(mark, at) for mark in _LINE_ENDS) if end >= 0]
    return min(ends, default=len(text))
