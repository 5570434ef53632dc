"""Reports the plans of a phase: their waves, which of them can run now, and their faults.

Field names are the keys of the JSON output, so they do not change.
"""

from __future__ import annotations

from fairlead.core.errors import DocumentError
from fairlead.core.values import dataclass, replace
from fairlead.plans.check import validate
from fairlead.plans.documents import nodes_of, read_plan
from fairlead.plans.model import PlanDocument, PlanFinding, Severity
from fairlead.plans.waves import ConcurrencyLimits, PlanNode, Schedule, may_start, schedule
from fairlead.project.derive.inventory import PhaseFolder, Plan
from fairlead.project.derive.scan import phase_key
from fairlead.project.summary import HALTED, read_summary
from fairlead.store.reader import Reader

_UNLIMITED = ConcurrencyLimits(total=1_000_000)


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """One plan of the index."""

    id: str
    path: str
    wave: int
    depends_on: tuple[str, ...]
    files_modified: tuple[str, ...]
    autonomous: bool
    objective: str
    task_count: int
    has_summary: bool
    halted: bool
    blocked_by: tuple[str, ...]
    faults: tuple[PlanFinding, ...]


@dataclass(frozen=True, slots=True)
class PlanIndex:
    """The plans of a phase."""

    phase: str
    plans: tuple[PlanEntry, ...]
    waves: dict[str, tuple[str, ...]]
    incomplete: tuple[str, ...]
    runnable: tuple[str, ...]  # in the order in which they would start
    has_checkpoints: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PhasePlans:
    """The plans of a phase folder, with the errors of those that cannot be read."""

    documents: tuple[PlanDocument, ...]
    errors: dict[str, DocumentError]  # by plan id
    halted: frozenset[str]
    done: frozenset[str]

    def nodes(self, provider: str = "") -> tuple[PlanNode, ...]:
        """Return the nodes of the schedule. A plan that cannot be read blocks its dependants."""
        given = nodes_of(self.documents, done=self.done, halted=self.halted, provider=provider)
        broken = {plan for plan in self.errors if plan not in self.done}
        return tuple(replace(node, is_halted=True) if node.id in broken else node for node in given)


def load_plans(reader: Reader, folder: PhaseFolder) -> PhasePlans:
    """Load every plan of a phase that is not superseded."""
    documents: list[PlanDocument] = []
    errors: dict[str, DocumentError] = {}
    for plan in folder.live_plans:
        try:
            document = read_plan(plan.path, reader.load(plan.path).text)
        except DocumentError as error:
            errors[plan.id] = error
            document = PlanDocument(plan.id, "", 0, path=plan.path, task_count=plan.tasks)
        documents.append(replace(document, id=plan.id))
    live = folder.live_plans
    halted = frozenset(plan.id for plan in live if plan.summary and _is_halted(reader, plan))
    done = frozenset(plan.id for plan in live if plan.is_complete) - halted
    return PhasePlans(tuple(documents), errors, halted, done)


def index_of(reader: Reader, phase: str, folder: PhaseFolder | None) -> PlanIndex:
    """Report the plans of a phase with their waves."""
    if folder is None:
        return PlanIndex(phase, (), {}, (), (), has_checkpoints=False, warnings=())
    if reader.cache is None:
        return _index(reader, phase, folder)
    number = reader.cache.number(phase_key(folder.path, folder.milestone))
    key = ("index", folder.path, phase)
    return reader.cache.value(key, number or None, lambda: _index(reader, phase, folder))


def _index(reader: Reader, phase: str, folder: PhaseFolder) -> PlanIndex:
    plans = load_plans(reader, folder)
    timetable = schedule(plans.nodes())
    # If any plan declares wave 0, waves are counted from 0.
    first = 0 if any(document.wave == 0 for document in plans.documents) else 1
    wave_of = {name: wave - 1 + first for name, wave in timetable.wave_of().items()}
    entries = tuple(_entry(document, plans, timetable, wave_of) for document in plans.documents)
    broken = {entry.id for entry in entries if any(f.severity == "error" for f in entry.faults)}
    ready = may_start(timetable, (), plans.done, _UNLIMITED)
    return PlanIndex(
        phase,
        entries,
        {str(number): wave for number, wave in enumerate(timetable.waves, first)},
        tuple(entry.id for entry in entries if not entry.has_summary),
        tuple(name for name in ready if name not in broken),
        any(document.has_checkpoints for document in plans.documents),
        (*timetable.warnings, *_moved(plans, wave_of)),
    )


def _entry(
    document: PlanDocument, plans: PhasePlans, timetable: Schedule, wave_of: dict[str, int]
) -> PlanEntry:
    faults = validate(document)
    if error := plans.errors.get(document.id):
        faults = (PlanFinding(Severity.ERROR, error.message, error.line or 1),)
    return PlanEntry(
        document.id,
        document.path,
        wave_of[document.id],
        timetable.needs[document.id],
        document.files,
        document.autonomous,
        document.objective.split("\n\n", 1)[0],
        document.task_count,
        document.id in plans.done or document.id in plans.halted,
        document.id in plans.halted,
        timetable.blocked_by.get(document.id, ()),
        faults,
    )


def _moved(plans: PhasePlans, wave_of: dict[str, int]) -> list[str]:
    return [
        f"{document.id} declares wave {document.wave} and runs in wave {wave_of[document.id]}"
        for document in plans.documents
        if document.wave is not None and document.wave != wave_of[document.id]
    ]


def _is_halted(reader: Reader, plan: Plan) -> bool:
    try:
        loaded = reader.load_for_display(plan.summary)
    except DocumentError:
        return False
    return loaded is not None and read_summary(loaded.text).status.lower() == HALTED
