"""Pipe tables: cells with their positions, and edits of cells and rows.

The spaces around a cell stay, so that a table that was aligned by hand keeps its layout.
"""

from collections.abc import Sequence
from typing import NamedTuple

from fairlead.text.inline import table_cell
from fairlead.text.outline import Line, insert_after


class Cell(NamedTuple):
    """The text of one cell as written, without surrounding spaces."""

    text: str
    start: int
    end: int


class Table(NamedTuple):
    """A header, a delimiter row and rows, in consecutive lines of prose."""

    header: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    last: Line  # the last line of the table

    def column(self, name: str) -> int:
        """The index of a column by its title, ignoring case; -1 if there is none."""
        titles = [cell.text.strip("*").casefold() for cell in self.header]
        return titles.index(name.casefold()) if name.casefold() in titles else -1


def tables_of(lines: Sequence[Line]) -> tuple[Table, ...]:
    """Every table in these lines."""
    tables = []
    end = 0
    for at in [at for at, line in enumerate(lines[:-1]) if "|" in line.text]:
        header = cells_of(lines[at]) if at >= end else ()
        if not header or not _is_delimiter(lines[at + 1]):
            continue
        end = at + 2
        rows = []
        while end < len(lines) and (cells := cells_of(lines[end])):
            rows.append(cells)
            end += 1
        tables.append(Table(header, tuple(rows), lines[end - 1]))
    return tuple(tables)


def cells_of(line: Line) -> tuple[Cell, ...]:
    """The cells of a row; empty if the line is no row. An escaped pipe belongs to its cell."""
    if "|" not in line.text:
        return ()
    text = line.text.rstrip(" \t")
    at = len(text) - len(text.lstrip(" "))
    if not line.is_prose or not text.startswith("|", at) or at > 3 or len(text) < at + 2:
        return ()
    if not text.endswith("|") or text.endswith("\\|"):
        return ()
    cells = []
    start = at + 1
    end = at
    while (end := text.find("|", end + 1)) > 0:
        if text[end - 1] != "\\":
            raw = text[start:end]
            lead = len(raw) - len(raw.lstrip(" \t"))
            content = raw.strip(" \t")
            if not content:
                lead = min(len(raw), 1)
            place = line.start + start + lead
            cells.append(Cell(content, place, place + len(content)))
            start = end + 1
    return tuple(cells)


def set_cell(text: str, cell: Cell, value: str) -> str:
    """The text with another value in a cell. The same value changes nothing."""
    written = table_cell(value)
    if cell.text in (value, written):
        return text
    return text[: cell.start] + written + text[cell.end :]


def append_row(text: str, table: Table, values: Sequence[str], ending: str) -> str:
    """The text with a row added below the table."""
    row = "| " + " | ".join(table_cell(value) for value in values) + " |"
    return insert_after(text, table.last, row, ending)


def _is_delimiter(line: Line) -> bool:
    cells = cells_of(line)
    return bool(cells) and all(cell.text and not cell.text.strip(":-") for cell in cells)
