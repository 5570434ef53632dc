"""REQUIREMENTS.md: check boxes, and the table that traces each requirement to its phases.

A requirement is complete when every phase that has it is. A row that says Blocked, or anything
else a person wrote, is left alone, and its box with it.
"""

import re
from collections.abc import Collection, Iterator

from fairlead.model.ids import PhaseId
from fairlead.text.document import Document
from fairlead.text.lists import Item, items_of
from fairlead.text.splice import Splice, spliced
from fairlead.text.tables import Cell, Table, append_row, tables_of
from fairlead.values import dataclass

_ID = re.compile(r"\b[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-[0-9]+\b")
_PHASE = re.compile(r"[0-9]{1,6}[A-Za-z]?(?:\.[0-9]{1,6})*\b")
_MAY_MOVE = ("", "-", "—", "pending", "in progress", "gaps found", "not started", "planned")
_COMPLETE = "Complete"
PENDING = "Pending"
_COLUMNS = (("Requirement", "REQ-ID", "Requirement ID"), ("Phase", "Assigned Phase"), ("Status",))


@dataclass(frozen=True, slots=True)
class Trace:
    """One row of the traceability table."""

    requirement: str
    phases: tuple[PhaseId, ...]
    phase: Cell
    status: Cell


@dataclass(frozen=True, slots=True)
class Box:
    """One requirement with its check box."""

    requirement: str
    item: Item


def completed(document: Document, ids: Collection[str], phases: Collection[PhaseId]) -> Document:
    """Tick these requirements, and those that only complete phases have."""
    document.require_writable()
    traces = tuple(traces_of(document))
    traced = {trace.requirement for trace in traces}
    ready = {
        trace.requirement
        for trace in traces
        if trace.phases and all(phase in phases for phase in trace.phases)
    }
    ready |= {each for each in ids if each not in traced}
    stuck = {
        trace.requirement
        for trace in traces
        if trace.requirement in ready and not _may_move(trace.status.text)
    }
    splices = [*_rows(traces, ready - stuck), *_boxes(document, ready - stuck)]
    return document.replaced(spliced(document.text, splices))


def ids_in(text: str) -> tuple[str, ...]:
    """The requirements that a line names: `[AUTH-01, AUTH-02]`."""
    return tuple(dict.fromkeys(_ID.findall(text)))


def phases_in(text: str) -> tuple[PhaseId, ...]:
    """The phases that a cell names: `Phase 2, Phase 4.1`."""
    return tuple(PhaseId.parse(number) for number in _PHASE.findall(text))


def traces_of(document: Document) -> Iterator[Trace]:
    """The rows of every traceability table."""
    for table in tables_of(document.lines):
        columns = [_column(table, names) for names in _COLUMNS]
        if min(columns) < 0:
            continue
        for row in table.rows:
            if len(row) != len(table.header):
                continue
            found = _ID.search(row[columns[0]].text)
            if found:
                phase, status = row[columns[1]], row[columns[2]]
                yield Trace(found[0], phases_in(phase.text), phase, status)


def boxes_of(document: Document) -> Iterator[Box]:
    """The requirements that have a check box: the id stands first."""
    for item in items_of(document.lines):
        named = _ID.search(item.text[:60]) if item.box >= 0 else None
        if named and not item.text[: named.start()].strip("*`[ "):
            yield Box(named[0], item)


def says_complete(status: str) -> bool:
    """Whether a row says that its requirement is complete."""
    return status.strip("*✅ ").casefold() == _COMPLETE.casefold()


def traced(document: Document, requirement: str, phase: str, *, is_met: bool) -> Document:
    """The document with a new row at the end of its first traceability table, its box as it says."""
    if is_met:
        ticked = spliced(document.text, _boxes(document, {requirement}))
        document = document.replaced(ticked)
    status = _COMPLETE if is_met else PENDING
    for table in tables_of(document.lines):
        columns = [_column(table, names) for names in _COLUMNS]
        if min(columns) >= 0:
            cells = ["-"] * len(table.header)
            for at, value in zip(columns, (requirement, phase, status), strict=True):
                cells[at] = value
            return document.replaced(append_row(document.text, table, cells, document.ending))
    return document


def _column(table: Table, names: tuple[str, ...]) -> int:
    return max(table.column(name) for name in names)


def _may_move(status: str) -> bool:
    return status.strip("*✅ ").casefold() in _MAY_MOVE or says_complete(status)


def _rows(traces: tuple[Trace, ...], ready: set[str]) -> Iterator[Splice]:
    for trace in traces:
        if trace.requirement in ready and not says_complete(trace.status.text):
            yield Splice(trace.status.start, trace.status.end, _COMPLETE)


def _boxes(document: Document, ready: set[str]) -> Iterator[Splice]:
    for box in boxes_of(document):
        if box.requirement in ready and not box.item.is_checked:
            yield Splice(box.item.box, box.item.box + 1, "x")
