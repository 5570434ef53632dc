"""The plans of a phase: in waves, with what can run now and what is wrong with them."""

from __future__ import annotations

from fairlead.errors import DocumentError
from fairlead.model.inventory import Folder, Plan
from fairlead.model.plan import Finding, PlanSheet, Severity
from fairlead.model.waves import Node, Schedule, Wip, may_start, schedule
from fairlead.records.plan_check import validate
from fairlead.records.plan_sheet import nodes_of, read_plan
from fairlead.records.summary import HALTED, read_summary
from fairlead.store.load import Reader
from fairlead.values import dataclass, replace

_EVERY = Wip(total=1_000_000)


@dataclass(frozen=True, slots=True)
class PlanFault:
    """What is wrong with a plan."""

    severity: str
    what: str
    line: int


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
    faults: tuple[PlanFault, ...]


@dataclass(frozen=True, slots=True)
class PlanIndex:
    """The plans of a phase."""

    phase: str
    plans: tuple[PlanEntry, ...]
    waves: dict[str, tuple[str, ...]]
    incomplete: tuple[str, ...]
    runnable: tuple[str, ...]  # in the order in which they would start, slots aside
    has_checkpoints: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sheets:
    """The plans of a folder that can be read, and the faults of those that cannot."""

    sheets: tuple[PlanSheet, ...]
    refused: dict[str, DocumentError]  # by plan
    halted: frozenset[str]
    done: frozenset[str]

    def nodes(self, provider: str = "") -> tuple[Node, ...]:
        """For the schedule. A plan that cannot be read holds up what needs it."""
        given = nodes_of(self.sheets, done=self.done, halted=self.halted, provider=provider)
        broken = {plan for plan in self.refused if plan not in self.done}
        return tuple(replace(node, is_halted=True) if node.id in broken else node for node in given)


def load_sheets(reader: Reader, folder: Folder) -> Sheets:
    """Every plan of a phase that is not superseded."""
    sheets: list[PlanSheet] = []
    refused: dict[str, DocumentError] = {}
    for plan in folder.live_plans:
        try:
            sheet = read_plan(plan.path, reader.load(plan.path).text)
        except DocumentError as error:
            refused[plan.id] = error
            sheet = PlanSheet(plan.id, "", 0, path=plan.path, task_count=plan.tasks)
        sheets.append(replace(sheet, id=plan.id))
    live = folder.live_plans
    halted = frozenset(plan.id for plan in live if plan.summary and _is_halted(reader, plan))
    done = frozenset(plan.id for plan in live if plan.is_complete) - halted
    return Sheets(tuple(sheets), refused, halted, done)


def index_of(reader: Reader, phase: str, folder: Folder | None) -> PlanIndex:
    """The plans of a phase, with their waves."""
    if folder is None:
        return PlanIndex(phase, (), {}, (), (), has_checkpoints=False, warnings=())
    held = load_sheets(reader, folder)
    plan = schedule(held.nodes())
    # Where anybody declares a wave 0, the waves are counted from there.
    first = 0 if any(sheet.wave == 0 for sheet in held.sheets) else 1
    wave_of = {name: wave - 1 + first for name, wave in plan.wave_of().items()}
    entries = tuple(_entry(sheet, held, plan, wave_of) for sheet in held.sheets)
    broken = {entry.id for entry in entries if any(f.severity == "error" for f in entry.faults)}
    ready = may_start(plan, (), held.done, _EVERY)
    return PlanIndex(
        phase,
        entries,
        {str(number): wave for number, wave in enumerate(plan.waves, first)},
        tuple(entry.id for entry in entries if not entry.has_summary),
        tuple(name for name in ready if name not in broken),
        any(sheet.has_checkpoints for sheet in held.sheets),
        (*plan.warnings, *_moved(held, wave_of)),
    )


def _entry(sheet: PlanSheet, held: Sheets, plan: Schedule, wave_of: dict[str, int]) -> PlanEntry:
    error = held.refused.get(sheet.id)
    found = (Finding(Severity.ERROR, error.what, error.line or 1),) if error else validate(sheet)
    faults = tuple(PlanFault(each.severity, each.what, each.line) for each in found)
    return PlanEntry(
        sheet.id,
        sheet.path,
        wave_of[sheet.id],
        plan.needs[sheet.id],
        sheet.files,
        sheet.autonomous,
        sheet.objective.split("\n\n", 1)[0],
        sheet.task_count,
        sheet.id in held.done or sheet.id in held.halted,
        sheet.id in held.halted,
        plan.blocked_by.get(sheet.id, ()),
        faults,
    )


def _moved(held: Sheets, wave_of: dict[str, int]) -> list[str]:
    return [
        f"{sheet.id} declares wave {sheet.wave} and runs in wave {wave_of[sheet.id]}"
        for sheet in held.sheets
        if sheet.wave is not None and sheet.wave != wave_of[sheet.id]
    ]


def _is_halted(reader: Reader, plan: Plan) -> bool:
    try:
        loaded = reader.load_for_display(plan.summary)
    except DocumentError:
        return False
    return loaded is not None and read_summary(loaded.text).status.lower() == HALTED
