"""The outline of a Markdown body: its lines, headings and sections.

Headings inside fenced code or an HTML comment are examples, not structure; a fence or comment
that stands, outside a list, in code by indentation reaches no further than that code. Only ATX
headings (`## Title`) count: an underlined line is too often a table or a rule in planning files.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fairlead.text.lines import split_lines

_ITEM = "-*+0123456789"  # how an item of a list can begin


class Line(NamedTuple):
    """One line of the whole text."""

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


def lines_of(text: str, body_start: int = 0) -> tuple[Line, ...]:
    """All lines, with what is prose; the frontmatter before `body_start` is not."""
    return tuple(_each_line(text, body_start))


def title_of(text: str, body_start: int = 0) -> str:
    """The first heading of the first level; nothing below it is looked at."""
    headings = _headings(_each_line(text, body_start))
    return next((title for _, level, title in headings if level == 1), "")


def _each_line(text: str, body_start: int) -> Iterator[Line]:
    offset = 0
    fence = ""
    margin = 0  # columns before the fence that is open
    is_code = False  # a fence or comment indented as code, which ends with that code
    in_comment = in_item = after_blank = False
    for raw in split_lines(text):
        content = raw.rstrip("\r\n")  # each line has one ending, and neither mark before it
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
            elif opened := _opened_fence(stripped):
                fence, margin, prose = opened, _columns(content), False
                is_code = margin > 3 and not in_item
            elif stripped.startswith("<!--"):
                prose = False
                is_code = not in_item and _columns(content) > 3
                in_comment = "-->" not in stripped[4:]
            after_blank = not first
        yield Line(offset, offset + len(content), offset + len(raw), content, prose)
        offset += len(raw)


def sections_of(lines: tuple[Line, ...]) -> tuple[Section, ...]:
    """Every section in the order of the text; a section contains the deeper ones below it."""
    ends = [len(lines)] * 7  # for each level, the next heading of that level or a higher one
    sections = []
    for index, level, title in reversed(list(_headings(lines))):
        sections.append(Section(level, title, index, index + 1, ends[level]))
        ends[level:] = [index] * (7 - level)
    return tuple(reversed(sections))


def own_end(section: Section, sections: tuple[Section, ...]) -> int:
    """The index after the section's own lines, before any section inside it."""
    inner = (other.heading for other in sections if section.heading < other.heading < section.last)
    return min(inner, default=section.last)


def insert_after(text: str, line: Line, new: str, ending: str) -> str:
    """The text with a new line after this one."""
    if line.next == line.end:  # the text ends without a line break, and goes on doing so
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
