"""The outline of a Markdown body: its lines, headings and sections, and edits by line.

Headings inside fenced code or an HTML comment are examples, not structure. A fence or comment in
indented code outside a list ends with that code. Only ATX headings (`## Title`) count: in planning
files an underlined line is too often a table or a rule.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from fairlead.text.lines import split_lines

_ITEM = "-*+0123456789"  # first characters of list items
_MOST_UNCLOSED = 4  # fences without an end that are ignored in one document


class Line(NamedTuple):
    """One line of the text."""

    start: int
    end: int  # before the line ending
    next: int  # after the line ending
    text: str  # without the line ending
    is_prose: bool  # not in a fence, a comment or the frontmatter


class Section(NamedTuple):
    """A heading and the lines below it, up to the next heading of the same or a higher level."""

    level: int
    title: str
    heading: int  # index of the heading's line
    first: int  # index of the line after the heading
    last: int  # index after the section's last line


def lines_of(text: str, body_start: int = 0, *, is_answer: bool = False) -> tuple[Line, ...]:
    """All lines. Lines before `body_start`, which are frontmatter, are not prose.

    In a document, a fence that nothing closes is not a fence: one lost line must not hide the
    rest. In the answer of a model it is one, because the answer was cut off inside it.
    """
    if is_answer:
        return tuple(_each_line(text, body_start))
    ignored: set[int] = set()
    lines: tuple[Line, ...] = ()
    for _ in range(_MOST_UNCLOSED):
        unclosed: list[int] = []
        lines = tuple(_each_line(text, body_start, ignored, unclosed))
        if not unclosed:
            break
        ignored.add(unclosed[0])
    return lines


def title_of(text: str, body_start: int = 0) -> str:
    """The first heading of level 1. Text after it is not parsed."""
    headings = _headings(_each_line(text, body_start))
    return next((title for _, level, title in headings if level == 1), "")


def _each_line(
    text: str,
    body_start: int,
    ignored: Collection[int] = (),  # offsets of lines that open no fence
    unclosed: list[int] | None = None,  # receives the offset of a fence that is still open
) -> Iterator[Line]:
    offset = opening = 0
    fence = ""
    margin = 0  # columns before the open fence
    is_code = False  # the fence or comment is in indented code and ends with it
    in_comment = in_item = after_blank = False
    for raw in split_lines(text):
        content = raw.rstrip("\r\n")  # a line has one ending and no other CR or LF
        prose = offset >= body_start
        if prose:
            stripped = content.strip(" \t")
            first = stripped[:1]
            if is_code and first and _columns(content) < 4:
                fence, in_comment, is_code = "", False, False
            if fence:
                prose = False
                may_close = first == fence[0] and _columns(content) <= margin + 3
                fence = "" if may_close and _closes(stripped, fence) else fence
            elif in_comment:
                prose = False
                in_comment = "-->" not in content
            elif first not in ("`", "~", "<"):
                is_new = first != "" and (not in_item or content[0] == first)
                in_item = in_item and not (is_new and (after_blank or first == "#"))
                in_item = in_item or (is_new and first in _ITEM and _begins_item(stripped))
            elif offset not in ignored and (opened := _opened_fence(stripped)):
                fence, margin, prose, opening = opened, _columns(content), False, offset
                is_code = margin > 3 and not in_item
            elif stripped.startswith("<!--"):
                prose = False
                is_code = not in_item and _columns(content) > 3
                in_comment = "-->" not in stripped[4:]
            after_blank = not first
        yield Line(offset, offset + len(content), offset + len(raw), content, prose)
        offset += len(raw)
    if fence and not is_code and unclosed is not None:
        unclosed.append(opening)


def sections_of(lines: tuple[Line, ...]) -> tuple[Section, ...]:
    """Every section in text order. A section contains its subsections."""
    ends = [len(lines)] * 7  # by level: index of the next heading of this level or above
    sections = []
    for index, level, title in reversed(list(_headings(lines))):
        sections.append(Section(level, title, index, index + 1, ends[level]))
        ends[level:] = [index] * (7 - level)
    return tuple(reversed(sections))


def own_end(section: Section, sections: tuple[Section, ...]) -> int:
    """The index after the section's own lines, before its first subsection."""
    inner = (other.heading for other in sections if section.heading < other.heading < section.last)
    return min(inner, default=section.last)


def insert_after(text: str, line: Line, new: str, ending: str) -> str:
    """The text with a new line after this one."""
    if line.next == line.end:  # the text has no final line break, and gets none
        return text[: line.end] + ending + new + text[line.next :]
    return text[: line.next] + new + text[line.end : line.next] + text[line.next :]


def _headings(lines: Iterable[Line]) -> Iterator[tuple[int, int, str]]:
    for index, line in enumerate(lines):
        if "#" not in line.text or not line.is_prose:
            continue
        text = line.text.lstrip(" ")
        if not text.startswith("#") or len(line.text) - len(text) > 3:
            continue
        level = len(text) - len(text.lstrip("#"))
        rest = text[level:]
        if level <= 6 and (not rest or rest[0] in " \t"):
            yield index, level, _without_closing(rest.strip(" \t"))


def _without_closing(title: str) -> str:
    bare = title.rstrip("#")
    return bare.rstrip(" \t") if bare != title and (not bare or bare[-1] in " \t") else title


def _columns(content: str) -> int:
    return len(content[: len(content) - len(content.lstrip(" \t"))].expandtabs(4))


def _begins_item(stripped: str) -> bool:
    digits = len(stripped) - len(stripped.lstrip("0123456789"))
    mark = stripped[digits : digits + 1]
    is_mark = mark in (".", ")") if digits else mark in ("-", "*", "+")
    return is_mark and stripped[digits + 1 : digits + 2] in ("", " ", "\t")


def _opened_fence(stripped: str) -> str:
    for mark in ("`", "~"):
        width = len(stripped) - len(stripped.lstrip(mark))
        if width >= 3 and (mark == "~" or "`" not in stripped[width:]):
            return mark * width
    return ""


def _closes(stripped: str, fence: str) -> bool:
    return len(stripped) >= len(fence) and not stripped.strip(fence[0])


class Splice(NamedTuple):
    """A replacement of a span. An empty span is an insertion."""

    start: int
    end: int
    new: str


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """The text with all replacements. Of two that overlap only the first is made."""
    pieces = []
    at = 0
    for splice in sorted(splices, key=lambda splice: (splice.start, splice.end)):
        if splice.start < at:
            continue
        pieces += [text[at : splice.start], splice.new]
        at = splice.end
    return "".join((*pieces, text[at:]))


def line_after(line: Line, new: str, ending: str) -> Splice:
    """Insert a line below this one. A text without a final line break gets none."""
    if line.next == line.end:
        return Splice(line.end, line.end, ending + new)
    return Splice(line.next, line.next, new + ending)


def block_after(line: Line, new: Iterable[str], ending: str) -> Splice:
    """Insert lines below this one, after a blank line."""
    return line_after(line, ending.join(("", *new)), ending)
