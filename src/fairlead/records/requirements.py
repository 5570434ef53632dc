"""REQUIREMENTS.md: check boxes, and the table that traces each requirement to its phases.

A requirement is complete when every phase that has it is. A row that says Blocked, or anything
else a person wrote, is left alone, and its box with it.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from fairlead.errors import MalformedId
from fairlead.model.ids import PhaseId
from fairlead.text.document import Document
from fairlead.text.lists import items_of
from fairlead.text.splice import Splice, spliced
from fairlead.text.tables import Cell, tables_of

_ID = re.compile(r"\b[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-[0-9]+\b")
_PHASE = re.compile(r"[0-9]{1,6}[A-Za-z]?(?:\.[0-9]{1,6})*\b")
_MAY_MOVE = ("", "-", "—", "pending", "in progress", "gaps found", "not started", "planned")
_COMPLETE = "Complete"


@dataclass(frozen=True, slots=True)
class Trace:
    """One row of the traceability table."""

    requirement: str
    phases: tuple[PhaseId, ...]
    status: Cell


def completed(document: Document, ids: Collection[str], phases: Collection[PhaseId]) -> Document:
    """Tick these requirements, and those that only complete phases have."""
    document.require_writable()
    traces = tuple(_traces(document))
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


def _traces(document: Document) -> Iterator[Trace]:
    for table in tables_of(document.lines):
        columns = [table.column(name) for name in ("Requirement", "Phase", "Status")]
        if min(columns) < 0:
            continue
        for row in table.rows:
            if len(row) != len(table.header):
                continue
            found = _ID.search(row[columns[0]].text)
            if found:
                phases = tuple(_phases(row[columns[1]].text))
                yield Trace(found[0], phases, row[columns[2]])


def _phases(text: str) -> Iterator[PhaseId]:
    for number in _PHASE.findall(text):
        try:
            yield PhaseId.parse(number)
        except MalformedId:
            continue


def _may_move(status: str) -> bool:
    word = status.strip("*✅ ").casefold()
    return word in _MAY_MOVE or word == _COMPLETE.casefold()


def _rows(traces: tuple[Trace, ...], ready: set[str]) -> Iterator[Splice]:
    for trace in traces:
        is_there = trace.status.text.strip("*✅ ").casefold() == _COMPLETE.casefold()
        if trace.requirement in ready and not is_there:
            yield Splice(trace.status.start, trace.status.end, _COMPLETE)


def _boxes(document: Document, ready: set[str]) -> Iterator[Splice]:
    for item in items_of(document.lines):
        named = _ID.search(item.text[:60]) if item.box >= 0 and not item.is_checked else None
        if named and named[0] in ready and not item.text[: named.start()].strip("*`[ "):
            yield Splice(item.box, item.box + 1, "x")
