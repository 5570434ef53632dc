"""STATE.md as the status line reads it: a few frontmatter keys and two lines of the body.

A value that fills its line is shown as written, without its quotes, as the reference status line
does; folded text, comments and anything else shows its meaning. This module never fails and never
takes long: a value that cannot be read is empty. It must not import `re`.
"""

from fairlead.core.errors import DocumentError
from fairlead.project.derive.headline import Headline
from fairlead.text.fast_frontmatter import FENCE, find_block, read_front, read_lines
from fairlead.text.yaml_scalars import Plain, double_quoted, is_null, single_quoted

# Rows of the field table, repeated here: importing the table would double the start-up time.
TEXT_KEYS = ("status", "milestone", "milestone_name", "active_phase", "next_action", "state_head")
LIST_KEY = "next_phases"
COUNT_KEYS = ("percent", "completed_phases", "total_phases")  # inside `progress`
# Longer frontmatter is read line by line: parsing it would take too long for a status line.
_EXACT_SIZE = 8 * 1024
_EXACT_LINES = 100
_LOOSE_SIZE = 16 * 1024
_MOST_TRIES = 500
_LONGEST_RUN = 4096
_QUOTES = ("'", '"')
_DIGITS = "0123456789"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# White space and line ends as in JavaScript, where the reference reader runs.
_SPACE = (
    " \t\n\v\f\r\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_LINE_ENDS = "\n\r\u2028\u2029"


def headline_of(text: str) -> Headline:
    """Read the fields of the status line."""
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
    for name in TEXT_KEYS:
        setattr(headline, name, _shown(front.get(name), lines.get(name, "")))
    phases = front.get(LIST_KEY)
    if isinstance(phases, list):
        shown = [_shown(phase, "") for phase in phases]
        headline.next_phases = tuple(phase for phase in shown if phase)
    progress = front.get("progress")
    if isinstance(progress, dict):
        for name in COUNT_KEYS:
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
    """The text between the fences, cut if it is too long."""
    opening, _, rest = head.partition("\n")
    if len(head) > _LOOSE_SIZE:
        return rest[:_LOOSE_SIZE] if opening.strip("\ufeff\r") == FENCE else ""
    try:
        block = find_block(head)
    except DocumentError:
        return ""
    return head[block.start : block.end] if block else ""


def _lines_of_fields(inner: str) -> "dict[str, str]":
    """The text after each key, on its own line; the last one if a key is repeated."""
    lines = {}
    for line in inner.split("\n"):
        name, colon, value = line.partition(":")
        if colon and name in TEXT_KEYS:
            lines[name] = value.strip(_SPACE)
    return lines


def _shown(value: object, line: str) -> str:
    """A value as it is shown; empty for null."""
    if is_null(value) or value == "null":
        return ""
    if _is_whole(value, line):
        return _without_quotes(line)
    return _on_one_line(value) if isinstance(value, str) else ""


def _is_whole(value: object, line: str) -> bool:
    """Whether the value is exactly its line, without a comment or a continuation."""
    if isinstance(value, Plain):
        return value.strip(_SPACE) == line
    if isinstance(value, str):
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
    """The line without one quote at each end, matching or not."""
    start = 1 if line[:1] in _QUOTES else 0
    end = len(line) - 1 if line[start:][-1:] in _QUOTES else len(line)
    return "" if line[start:end] == "null" else line[start:end]


def _digits(value: object) -> str:
    """The leading digits of an unquoted value."""
    return value[: _skip(value, 0, _DIGITS)] if isinstance(value, Plain) else ""


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
    """The status of the body, for a document without one in its frontmatter."""
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
    """The offsets after a label at the start of a line."""
    starts: list[int] = []
    at = text.find(label)
    while at >= 0 and len(starts) < _MOST_TRIES:
        if at == 0 or text[at - 1] in _LINE_ENDS:
            starts.append(at + len(label))
        at = text.find(label, at + len(label))
    return starts


def _skip_phase(text: str, at: int) -> int:
    """The offset after a phase such as 4, 12A or 4.10."""
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
    """The offset after ` of `; the same offset if the word is missing."""
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
