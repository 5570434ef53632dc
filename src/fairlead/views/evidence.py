"""The evidence for one plan: ledger, gates, landed lines, documents; and its check."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from fairlead.core.errors import DocumentError, UsageError
from fairlead.core.values import dataclass
from fairlead.jobs.ledger import EntryKind, LedgerEntry, check, read_ledger
from fairlead.jobs.paths import ledger_path
from fairlead.plans.documents import read_plan
from fairlead.store.reader import Reader

if TYPE_CHECKING:
    from fairlead.app import App
    from fairlead.jobs.model import TaskGate
    from fairlead.plans.model import Task
    from fairlead.plans.roadmap_report import PhaseReport
    from fairlead.plans.service import PlanEntry


@dataclass(frozen=True, slots=True)
class PlanEvidenceView:
    """One plan with all that speaks for it."""

    plan: PlanEntry
    phase: PhaseReport
    ledger: str  # its path
    fault: str  # why the ledger cannot be trusted; empty: it can
    entries: tuple[LedgerEntry, ...]
    gates: tuple[TaskGate, ...]
    document: str
    summary: str
    summary_path: str
    tasks: tuple[Task, ...]  # empty: the plan cannot be read exactly

    @property
    def merges(self) -> tuple[LedgerEntry, ...]:
        """The entries that name the commits on the branch."""
        return tuple(entry for entry in self.entries if entry.kind is EntryKind.MERGE)


@dataclass(frozen=True, slots=True)
class RecheckView:
    """What checking the ledger of a plan again has found."""

    plan: str
    ledger: str
    entries: int
    faults: tuple[str, ...]


def plan_evidence_view(app: App, name: str) -> PlanEvidenceView:
    """A plan of the scope with its evidence; refused if there is no such plan."""
    phase, entry = _plan(app, name)
    details = app.roadmaps.details(phase)
    summary = next((plan.summary for plan in details.plans if plan.id == entry.id), "")
    reader = Reader(app.place)
    path = ledger_path(entry.id, app.step[2])
    fault = ""
    entries: tuple[LedgerEntry, ...] = ()
    try:
        loaded = reader.load_if_present(path)
        entries = read_ledger(loaded.text) if loaded else ()
    except DocumentError as error:
        fault = error.message
    document = _text(reader, entry.path)
    tasks: tuple[Task, ...] = ()
    with suppress(DocumentError):
        tasks = read_plan(entry.path, document).tasks
    return PlanEvidenceView(
        plan=entry,
        phase=details.phase,
        ledger=path,
        fault=fault,
        entries=entries,
        gates=_gates(app, phase, entry.id),
        document=document,
        summary=_text(reader, summary) if summary else "",
        summary_path=summary,
        tasks=tasks,
    )


def recheck_view(app: App, name: str) -> RecheckView:
    """Check the ledger of a plan again: its chain of hashes, entry by entry."""
    _, entry = _plan(app, name)
    path = ledger_path(entry.id, app.step[2])
    loaded = Reader(app.place).load_if_present(path)
    if loaded is None:
        return RecheckView(entry.id, path, 0, ())
    faults = tuple(f"line {each.line}: {each.what}" for each in check(loaded.text))
    return RecheckView(entry.id, path, len(loaded.text.splitlines()), faults)


def _plan(app: App, name: str) -> tuple[str, PlanEntry]:
    """The number of the phase, and the entry of the plan."""
    phase = app.roadmaps.phase_of_plan(name)
    for entry in app.roadmaps.plans(phase).plans if phase else ():
        if entry.id == name:
            return phase, entry
    raise UsageError.saying(f"there is no plan {name}", "list them: fairlead explain progress")


def _gates(app: App, phase: str, plan: str) -> tuple[TaskGate, ...]:
    records = [record for record in app.jobs.all() if record.phase == phase]
    reports = [app.jobs.report(record.id) for record in records]
    found = (gate for each in reports for gate in getattr(each, "gates", ()))
    return tuple(gate for gate in found if gate.plan == plan)


def _text(reader: Reader, path: str) -> str:
    loaded = reader.peek(path)
    return loaded.text if loaded else ""
