"""REQUIREMENTS.md: check boxes, and the table that traces each requirement to its phases.

A requirement is complete when all of its phases are. A row with any other text of a person, such
as Blocked, stays, and its box with it.
"""

from collections.abc import Collection, Iterator

from fairlead.core.ids import PhaseId
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.text.document import Document
from fairlead.text.lists import ListItem, items_of
from fairlead.text.outline import Splice, spliced
from fairlead.text.tables import Cell, Table, append_row, tables_of

_ID = lazy_pattern(r"\b[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-[0-9]+\b")
_PHASE = lazy_pattern(r"[0-9]{1,6}[A-Za-z]?(?:\.[0-9]{1,6})*\b")
_REPLACEABLE = ("", "-", "—", "pending", "in progress", "gaps found", "not started", "planned")
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
    item: ListItem


def completed(document: Document, ids: Collection[str], phases: Collection[PhaseId]) -> Document:
    """Mark these requirements complete, and those whose phases are all complete."""
    document.require_writable()
    traces = tuple(traces_of(document))
    traced_ids = {trace.requirement for trace in traces}
    ready = {
        trace.requirement
        for trace in traces
        if trace.phases and all(phase in phases for phase in trace.phases)
    }
    ready |= {requirement for requirement in ids if requirement not in traced_ids}
    kept = {
        trace.requirement
        for trace in traces
        if trace.requirement in ready and not _is_replaceable(trace.status.text)
    }
    splices = [*_rows(traces, ready - kept), *_boxes(document, ready - kept)]
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
            match = _ID.search(row[columns[0]].text)
            if match:
                phase, status = row[columns[1]], row[columns[2]]
                yield Trace(match[0], phases_in(phase.text), phase, status)


def boxes_of(document: Document) -> Iterator[Box]:
    """The list items with a check box that start with the id of a requirement."""
    for item in items_of(document.lines):
        match = _ID.search(item.text[:60]) if item.box >= 0 else None
        if match and not item.text[: match.start()].strip("*`[ "):
            yield Box(match[0], item)


def says_complete(status: str) -> bool:
    """Whether a row says that its requirement is complete."""
    return status.strip("*✅ ").casefold() == _COMPLETE.casefold()


def with_trace(document: Document, requirement: str, phase: str, *, is_met: bool) -> Document:
    """The document with a new row in its first traceability table, and its box to match."""
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


def _is_replaceable(status: str) -> bool:
    return status.strip("*✅ ").casefold() in _REPLACEABLE or says_complete(status)


def _rows(traces: tuple[Trace, ...], ready: set[str]) -> Iterator[Splice]:
    for trace in traces:
        if trace.requirement in ready and not says_complete(trace.status.text):
            yield Splice(trace.status.start, trace.status.end, _COMPLETE)


def _boxes(document: Document, ready: set[str]) -> Iterator[Splice]:
    for box in boxes_of(document):
        if box.requirement in ready and not box.item.is_checked:
            yield Splice(box.item.box, box.item.box + 1, "x")
