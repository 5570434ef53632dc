"""List items with their positions and check boxes.

An item includes its continuation lines, so that a new item is never inserted into another one.
"""

from collections.abc import Sequence
from typing import NamedTuple

from fairlead.text.outline import Line

_BULLETS = "-*+"
_GAPS = ("", " ", "\t")  # may follow a bullet or a check box
_BEGINNINGS = "-*+ \t0123456789"  # first characters of lines that can be list items


class ListItem(NamedTuple):
    """One item of a list, at any level."""

    indent: int
    bullet: str
    text: str  # of the first line, without bullet and check box
    start: int  # of the text
    box: int  # offset of the character in the check box; -1 if there is none
    is_checked: bool
    last: Line  # the last line that belongs to the item
    column: int  # indentation in columns, with tab stops every four


def items_of(lines: Sequence[Line]) -> tuple[ListItem, ...]:
    """Every list item in these lines, including nested ones."""
    items = []
    for at, line in enumerate(lines):
        if line.text and line.text[0] in _BEGINNINGS and (found := _bullet_on(line)):
            indent, bullet, start = found
            column = _column(line.text)
            last = _last_line(lines, at, column)
            items.append(_item(line, indent, bullet, start, last, column))
    return tuple(items)


def set_checked(text: str, item: ListItem, checked: bool) -> str:
    """The text with the box checked or cleared. A box that is already right stays as it is."""
    if item.box < 0 or item.is_checked == checked:
        return text
    return text[: item.box] + ("x" if checked else " ") + text[item.box + 1 :]


def _item(line: Line, indent: int, bullet: str, start: int, last: Line, column: int) -> ListItem:
    content = line.text[start:]
    box = -1
    checked = False
    if content[:1] == "[" and content[2:3] == "]" and content[1] in " xX" and content[3:4] in _GAPS:
        box = line.start + start + 1
        checked = content[1] in "xX"
        cut = 4 if content[3:4] else 3
        start += cut
        content = content[cut:]
    return ListItem(
        indent, bullet, content.rstrip(" \t"), line.start + start, box, checked, last, column
    )


def _bullet_on(line: Line) -> tuple[int, str, int] | None:
    text = line.text
    if not text or text[0] not in _BEGINNINGS or not line.is_prose:
        return None
    indent = len(text) - len(text.lstrip(" \t"))
    rest = text[indent:]
    if not rest:
        return None
    if rest[0] in _BULLETS and rest[1:2] in _GAPS:
        return indent, rest[0], min(indent + 2, len(text))
    digits = len(rest) - len(rest.lstrip("0123456789"))
    if (
        0 < digits <= 9
        and rest[digits : digits + 1] in (".", ")")
        and rest[digits + 1 : digits + 2] in _GAPS
    ):
        return indent, rest[: digits + 1], min(indent + digits + 2, len(text))
    return None


def _column(text: str) -> int:
    """The indentation in columns, with tab stops every four."""
    blank = text[: len(text) - len(text.lstrip(" \t"))]
    return len(blank.expandtabs(4)) if blank else 0


def _last_line(lines: Sequence[Line], at: int, column: int) -> Line:
    """The last line of an item: the lines below it that are deeper or continue it."""
    last = lines[at]
    for below in range(at + 1, len(lines)):
        line = lines[below]
        if not line.text.strip():
            continue
        deeper = _column(line.text) > column
        lazy = (
            last.next == line.start and line.is_prose and not _bullet_on(line) and _continues(line)
        )
        if not deeper and not lazy:
            break
        last = line
    return last


def _continues(line: Line) -> bool:
    """Whether a line directly below an item continues its paragraph."""
    return not line.text.lstrip(" ").startswith(("#", "|", ">", "```", "~~~", "---", "***", "<"))
