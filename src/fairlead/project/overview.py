"""Read-only views of a project: comparison, status report and explanations.

Every call reads the files again and writes nothing. The reports are plain values that `--json`,
MCP and the web all show; every number comes with the scope that it counts. What higher packages
know (the Plan Phase, the ledgers) comes in through `OverviewSources`, so they are not imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairlead.core.errors import DocumentError
from fairlead.core.values import dataclass, replace
from fairlead.project.derive.claimed import counts_of
from fairlead.project.derive.inventory import Phase, Plan
from fairlead.project.derive.position import Next, Position
from fairlead.project.derive.progress import folder_counts
from fairlead.project.derive.scope import Certainty, ScopeSource
from fairlead.project.handoff import handover_offers, question_of
from fairlead.project.health.check import DocumentComparison, compare_project, memories_of
from fairlead.project.health.findings import Finding
from fairlead.project.open_jobs import OpenJob, concerning, in_order, next_with_jobs
from fairlead.project.paths import WAITING
from fairlead.project.state.digest import active_phase, is_paused
from fairlead.project.state.documents import ShownState, read_state
from fairlead.project.state.gate import OpenTask, read_task
from fairlead.project.state.recorded import phase_in
from fairlead.store import layout
from fairlead.store.reader import Reader
from fairlead.text.document import Document
from fairlead.text.inline import plain_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fairlead.project.derive.inventory import Inventory
    from fairlead.project.health.check import InventoryView
    from fairlead.project.health.explain import Explainer, LedgerReader


@dataclass(frozen=True, slots=True)
class ProgressReport:
    """The counts of the scope and their percentages."""

    total_phases: int | None  # None: no document claims a number and no file proves one
    completed_phases: int | None
    total_plans: int | None
    completed_plans: int | None
    total_tasks: int
    completed_tasks: int
    percent: int | None  # the lesser of plans and phases
    plans_percent: int
    tasks_percent: int
    scope: str  # in words
    completion: str  # the policy: when a phase counts as complete
    is_verifiable: bool = True  # False: the counts are what the documents claim


@dataclass(frozen=True, slots=True)
class ScopeReadingReport:
    """One reading of the scope, with the places it rests on."""

    milestone: str
    phases: tuple[str, ...]
    completed_phases: int | None
    total_phases: int | None
    completed_plans: int | None
    total_plans: int | None
    percent: int | None
    sources: tuple[ScopeSource, ...]


@dataclass(frozen=True, slots=True)
class ScopeReport:
    """The current milestone, how certain it is, and the readings that remain."""

    certainty: str
    milestone: str
    readings: tuple[ScopeReadingReport, ...]


@dataclass(frozen=True, slots=True)
class PhaseStatusReport:
    """One phase of the scope."""

    number: str
    name: str
    stage: str
    is_complete: bool
    completed_plans: int
    total_plans: int
    percent: int  # of its plans, rounded down
    verification: str  # passed, gaps_found, …; `stale` when work was done after it
    folder: str


@dataclass(frozen=True, slots=True)
class PlanProgressReport:
    """The progress within the current plan: its successful tasks."""

    plan: str
    completed_tasks: int
    total_tasks: int
    percent: int  # rounded down


@dataclass(frozen=True, slots=True)
class FindingReport:
    """One difference, with its stable code."""

    code: str
    path: str
    line: int
    what: str
    said: str
    true: str
    because: tuple[str, ...]
    is_drift: bool
    verdict: str  # confirmed, refuted or unverifiable
    message: str


@dataclass(frozen=True, slots=True)
class StatusReport:
    """The status of a project."""

    folder: str
    title: str
    workstream: str
    milestone: str
    milestone_name: str
    status: str
    status_words: str
    recorded_status: str  # what STATE.md says
    progress: ProgressReport
    scope: ScopeReport
    phase: str  # the current one; empty when none is left
    phase_name: str
    plan: str  # its first open plan
    next: Next
    phases: tuple[PhaseStatusReport, ...]
    drift: tuple[FindingReport, ...]
    notes: tuple[FindingReport, ...]  # findings that are not drift
    decisions: tuple[str, ...]
    blockers: tuple[str, ...]  # the open ones
    resolved_blockers: tuple[str, ...]
    last_activity: str
    pending_todos: tuple[str, ...]
    workstreams: tuple[str, ...]
    orphan_summaries: int
    continue_files: tuple[str, ...] = ()
    paused_at: str = ""  # empty: not paused
    question: str = ""  # from WAITING.json
    active_phase: str = ""  # the phase in progress, as STATE.md records it
    gate: OpenTask | None = None  # the open gate that STATE.md shows
    jobs: tuple[OpenJob, ...] = ()  # not over, the most urgent first
    plan_phase: str = ""  # an open Plan Phase as one line
    exec_phase: str = ""  # the modules of an approved plan as one line
    plan_progress: PlanProgressReport | None = None  # None: no plan is open


@dataclass(frozen=True, slots=True)
class OverviewSources:
    """What the overview asks of the packages above this one; the defaults report nothing."""

    plan_phase: Callable[[Reader], str] = lambda _: ""  # the Plan Phase, as one line
    exec_phase: Callable[[Reader], str] = lambda _: ""  # the same for its modules
    ledger: LedgerReader = lambda *_: ()
    open_jobs: Callable[[Reader], tuple[OpenJob, ...]] = lambda _: ()
    done_tasks: Callable[[Reader, Plan], int] = lambda *_: 0  # of a plan without a summary


_NO_SOURCES = OverviewSources()
_REHEARSABLE = {
    "discuss-phase": "",
    "plan-phase": "",
    "execute-phase": " --approve",
    "verify-phase": " --approve",
}

# The status of the current phase while a job of this kind works on it.
_RUNNING_WORDS = {
    "discuss": "Discussing",
    "plan": "Planning",
    "execute": "Executing",
    "verify": "Verifying",
}


def _is_on(job: OpenJob, phase: str) -> bool:
    """Whether a job works on a phase; `01` and `1` are one phase."""
    number = phase_in(job.phase)
    return number is not None and number.short == phase


def rehearsed_next(following: Next) -> Next:
    """The next command of a rehearsal, which runs in the project and in the copy."""
    command = following.command
    is_phase = command.startswith("fairlead phase ")
    if is_phase and following.action in _REHEARSABLE and "--rehearse" not in command:
        command += f" --rehearse{_REHEARSABLE[following.action]}"
    elif following.action in ("complete-milestone", "new-milestone"):
        reason = f"the rehearsal is over: {following.reason}"
        return Next("", "", "fairlead rehearsal discard", reason)
    return replace(following, command=command)


class Overview:
    """Reads one project and compares its documents with its files."""

    def __init__(
        self,
        reader: Reader,
        sources: OverviewSources = _NO_SOURCES,
        rehearsed: InventoryView | None = None,  # of the copy of a rehearsal: what counts there
    ) -> None:
        self._reader = reader
        self._sources = sources
        self._rehearsed = rehearsed

    def comparison(self, workstream: str = "") -> DocumentComparison:
        """The files, and the findings where documents differ from them."""
        return compare_project(self._reader, self.workstream(workstream))

    def comparisons(self, named: str = "") -> dict[str, DocumentComparison]:
        """The comparison of a workstream; without workstreams chosen, of all memories."""
        return {
            memory: compare_project(self._reader, memory)
            for memory in memories_of(self._reader, named)
        }

    def status(self, workstream: str = "") -> StatusReport:
        """The status of the project."""
        workstream = self.workstream(workstream) or self._latest_workstream()
        state = self._document(layout.documents_of(workstream)[0])
        if self._rehearsed is None:
            comparison = compare_project(self._reader, workstream)
        else:
            comparison = compare_project(self._reader, workstream, self._rehearsed)
            comparison = replace(comparison, findings=())  # nothing of it is in the documents
        report = status_report(
            comparison,
            folder=self._reader.folder,
            title=self._title(),
            workstream=workstream,
            state=read_state(state) if state else None,
        )
        waiting = self._reader.peek(WAITING)
        names = self._names(comparison.inventory)
        folders = comparison.inventory.folders
        offers = handover_offers(self._reader, workstream, names, comparison.position, folders)
        open_jobs = self._sources.open_jobs(self._reader)
        jobs = concerning(open_jobs, workstream)
        task = read_task(state) if state else None
        active = active_phase(state) if state else None
        following = next_with_jobs(jobs, report.next)
        ours = [job for job in jobs if job.is_running and job.workstream == workstream]
        kinds = [job.kind for job in ours if _is_on(job, report.phase)]
        words = _RUNNING_WORDS.get(kinds[0], "") if kinds else ""
        if self._rehearsed is not None:
            following = rehearsed_next(following)
        return replace(
            report,
            next=following,
            status_words=words or report.status_words,
            active_phase=active.short if active else "",
            gate=task if task and task.gate.is_open else None,
            # Jobs of other workstreams are shown as well, and continued there.
            jobs=(*jobs, *in_order([job for job in open_jobs if job not in jobs])),
            continue_files=tuple(
                each.handover.path for each in offers if not (each.is_live or each.is_stale)
            ),
            paused_at=str(state.value("paused_at")) if state and is_paused(state) else "",
            question=question_of(waiting.text) if waiting else "",
            plan_phase=self._sources.plan_phase(self._reader),
            exec_phase=self._sources.exec_phase(self._reader),
            plan_progress=self._plan_progress(comparison.position.plan),
        )

    def _plan_progress(self, plan: Plan | None) -> PlanProgressReport | None:
        if plan is None:
            return None
        done = min(self._sources.done_tasks(self._reader, plan), plan.tasks)
        percent = 100 * done // plan.tasks if plan.tasks else 0
        return PlanProgressReport(plan.id, done, plan.tasks, percent)

    def _latest_workstream(self) -> str:
        """The workstream that was updated last, for a project that has no memory of its own."""
        names = memories_of(self._reader)
        if "" in names:
            return ""
        times = {name: self._updated(name) for name in names}
        latest = [name for name in names if times[name] == max(times.values())]
        return latest[0] if len(latest) == 1 else ""

    def _updated(self, workstream: str) -> str:
        state = self._document(layout.documents_of(workstream)[0])
        return str(state.value("last_updated") or "") if state else ""

    def _names(self, inventory: Inventory) -> Callable[[str], Iterable[str]]:
        """Lists a folder; the scan has already listed those of the phases."""
        seen = {folder.path: folder.others for folder in inventory.folders}
        return lambda path: seen[path] if path in seen else self._reader.names(path)

    def explainer(self, workstream: str = "") -> Explainer:
        """Explains the numbers of this moment."""
        from fairlead.project.health.explain import Explainer

        roadmap = layout.documents_of(self.workstream(workstream))[1]
        return Explainer(self.comparison(workstream), self._reader, roadmap, self._sources.ledger)

    def workstream(self, named: str) -> str:
        """The named workstream, otherwise the active or only one; empty without workstreams."""
        return self._reader.workstream(named)

    def _document(self, path: str) -> Document | None:
        loaded = self._reader.load_for_display(path)
        return Document(loaded.text) if loaded else None

    def _title(self) -> str:
        for path in (layout.PROJECT, layout.ROADMAP):
            try:
                document = self._document(path)
            except DocumentError:
                continue  # a link or a device; the other document may have the title
            title = document.title if document else ""
            if title:
                return plain_text(title.removeprefix("Roadmap: "))
        return ""


# --- reports -----------------------------------------------------------------------------------


def status_report(
    comparison: DocumentComparison,
    *,
    folder: str,
    title: str,
    workstream: str,
    state: ShownState | None,
) -> StatusReport:
    """The comparison as one report."""
    position = comparison.position
    current = position.current
    folders = comparison.inventory.folders
    return StatusReport(
        folder=folder,
        title=title,
        workstream=workstream,
        milestone=position.scope.milestone,
        milestone_name=position.scope.milestone_name or (state.milestone_name if state else ""),
        status=str(position.status),
        status_words=position.words,
        recorded_status=state.status if state else "",
        progress=_progress(comparison),
        scope=scope_report(comparison.position, comparison.inventory),
        phase=current.id.short if current else "",
        phase_name=current.name if current else "",
        plan=position.plan.id if position.plan else "",
        next=position.next,
        phases=tuple(phase_report(phase, comparison) for phase in position.scope.phases),
        drift=tuple(finding_report(finding) for finding in comparison.drift),
        notes=tuple(
            finding_report(finding) for finding in comparison.findings if not finding.is_drift
        ),
        decisions=state.decisions if state else (),
        blockers=state.blockers if state else (),
        resolved_blockers=state.resolved if state else (),
        last_activity=state.last_activity if state else "",
        pending_todos=comparison.inventory.pending_todos,
        workstreams=comparison.inventory.workstreams,
        orphan_summaries=sum(len(folder.orphans) for folder in folders),
    )


def phase_report(phase: Phase, comparison: DocumentComparison) -> PhaseStatusReport:
    """One phase as a report."""
    folder = phase.folder
    completed, total = folder_counts(folder) if folder else (0, 0)
    verification = folder.verification if folder else None
    stale = verification is not None and verification.is_stale and verification.says_passed
    return PhaseStatusReport(
        number=phase.id.short,
        name=phase.name,
        stage=str(phase.stage),
        is_complete=phase.is_complete(comparison.position.policy),
        completed_plans=completed,
        total_plans=total,
        percent=100 * completed // total if total else 0,
        verification=("stale" if stale else verification.status) if verification else "",
        folder=folder.path if folder else "",
    )


def finding_report(finding: Finding) -> FindingReport:
    """One finding as a report."""
    return FindingReport(
        code=str(finding.kind),
        path=finding.path,
        line=finding.line,
        what=finding.what,
        said=finding.said,
        true=finding.true,
        because=finding.because,
        is_drift=finding.is_drift,
        verdict=str(finding.verdict),
        message=str(finding),
    )


def _progress(comparison: DocumentComparison) -> ProgressReport:
    position = comparison.position
    progress = position.progress
    shown = counts_of(position.scope.readings[0], position, comparison.inventory)
    return ProgressReport(
        total_phases=shown.total_phases,
        completed_phases=shown.completed_phases,
        total_plans=shown.total_plans,
        completed_plans=shown.completed_plans,
        total_tasks=progress.total_tasks,
        completed_tasks=progress.completed_tasks,
        percent=shown.percent,
        plans_percent=progress.plans_percent,
        tasks_percent=progress.tasks_percent,
        scope=comparison.position.scope.words,
        completion=str(comparison.position.policy),
        is_verifiable=position.scope.certainty is not Certainty.UNVERIFIABLE,
    )


def scope_report(position: Position, inventory: Inventory) -> ScopeReport:
    """The scope and its readings as a report."""
    scope = position.scope
    readings = tuple(
        ScopeReadingReport(
            milestone=reading.milestone,
            phases=tuple(phase.id.short for phase in reading.phases),
            sources=reading.sources,
            **counts_of(reading, position, inventory)._asdict(),
        )
        for reading in scope.readings
    )
    return ScopeReport(str(scope.certainty), scope.milestone, readings)
