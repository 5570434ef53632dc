"""Fields: `Name: value` lines in the three forms that planning files use.

These are `**Name:** value`, `Name: value` and `| Name | value |`; the first two may be list
items. If a field occurs more than once, the bold form counts, then the plain form, then the
table row. Other readers of these files use the same order. Names are compared ignoring case.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from fairlead.text.inline import one_line, table_cell
from fairlead.text.outline import Line
from fairlead.text.tables import cells_of

_BULLETS = ("- ", "* ", "+ ")


class Field(NamedTuple):
    """The value of a field and its position."""

    value: str
    start: int
    end: int
    in_table: bool
    needs_blank: bool  # no space follows the label yet


def find_field(lines: Iterable[Line], name: str) -> Field | None:
    """The field with this name, or None. A field may have an empty value."""
    folded = name.casefold()
    # Most lines do not contain the name, and looking at their form costs much more.
    prose = [line for line in lines if line.is_prose and folded in line.text.casefold()]
    forms: tuple[Callable[[Line, str], Field | None], ...] = (_bold, _plain, _row)
    for form in forms:
        for line in prose:
            field = form(line, folded)
            if field:
                return field
    return None


def set_field(text: str, field: Field, value: str) -> str:
    """The text with another value in the field. The label and trailing spaces stay."""
    if field.value == value:
        return text
    written = table_cell(value) if field.in_table else one_line(value)
    if field.needs_blank:
        written = " " + written
    return text[: field.start] + written + text[field.end :]


def _bold(line: Line, name: str) -> Field | None:
    at = _label_start(line.text)
    if not line.text.startswith("**", at):
        return None
    label = line.text[at + 2 : at + 2 + len(name)]
    rest = at + 2 + len(name)
    if label.casefold() != name:
        return None
    for closing in (":**", "**:"):
        if line.text.startswith(closing, rest):
            return _valued(line, rest + len(closing))
    return None


def _plain(line: Line, name: str) -> Field | None:
    at = _label_start(line.text)
    indent = len(line.text) - len(line.text.lstrip(" \t"))
    if at == indent and indent > 0:
        return None  # an indented line without a bullet continues a paragraph
    colon = at + len(name)
    if line.text[at:colon].casefold() != name or line.text[colon : colon + 1] != ":":
        return None
    return _valued(line, colon + 1)


def _row(line: Line, name: str) -> Field | None:
    cells = cells_of(line)
    if len(cells) != 2:
        return None
    label = cells[0].text.strip("*").rstrip(":").casefold()
    if label != name:
        return None
    cell = cells[1]
    blank = cell.start > line.start and line.text[cell.start - line.start - 1] != " "
    return Field(cell.text, cell.start, cell.end, in_table=True, needs_blank=blank)


def _label_start(text: str) -> int:
    at = len(text) - len(text.lstrip(" \t"))
    if text[at : at + 2] in _BULLETS:
        at += 2
        at += len(text[at:]) - len(text[at:].lstrip(" "))
    return at


def _valued(line: Line, after: int) -> Field:
    rest = line.text[after:]
    value = rest.strip(" \t")
    lead = len(rest) - len(rest.lstrip(" \t")) if value else min(len(rest), 1)
    start = line.start + after + lead
    return Field(value, start, start + len(value), in_table=False, needs_blank=lead == 0)
