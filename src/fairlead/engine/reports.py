"""Reports: the truth in the form that every door shows alike.

A report holds plain values only, so that `--json`, MCP and the web say the same. Numbers come
with the scope they count.
"""

from fairlead.engine.truth import Truth
from fairlead.model.divergence import Finding
from fairlead.model.inventory import Phase
from fairlead.model.progress import folder_counts
from fairlead.model.standing import Next
from fairlead.records.state import State
from fairlead.values import dataclass


@dataclass(frozen=True, slots=True)
class ProgressReport:
    """The counts of the scope and their percentages."""

    total_phases: int
    completed_phases: int
    total_plans: int
    completed_plans: int
    total_tasks: int
    completed_tasks: int
    percent: int  # the lesser of plans and phases
    plans_percent: int
    tasks_percent: int
    scope: str  # in words
    completion: str  # when a phase counts as complete


@dataclass(frozen=True, slots=True)
class PhaseReport:
    """One phase of the scope."""

    number: str
    name: str
    stage: str
    is_complete: bool
    completed_plans: int
    total_plans: int
    verification: str  # passed, gaps_found, …; `stale` when it no longer speaks of what is there
    folder: str


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
    message: str


@dataclass(frozen=True, slots=True)
class StatusReport:
    """Where the project stands."""

    folder: str
    title: str
    workstream: str
    milestone: str
    milestone_name: str
    status: str
    status_words: str
    recorded_status: str  # what STATE.md says
    progress: ProgressReport
    phase: str  # the current one; empty when none is left
    phase_name: str
    plan: str  # its first open plan
    next: Next
    phases: tuple[PhaseReport, ...]
    drift: tuple[FindingReport, ...]
    notes: tuple[FindingReport, ...]  # findings in which nothing recorded is wrong
    decisions: tuple[str, ...]
    blockers: tuple[str, ...]  # those that are still open
    resolved_blockers: tuple[str, ...]
    last_activity: str
    pending_todos: tuple[str, ...]
    workstreams: tuple[str, ...]
    orphan_summaries: int
    continue_files: tuple[str, ...] = ()
    paused_at: str = ""  # empty if it is not paused
    question: str = ""  # what WAITING.json asks a person
    plan_phase: str = ""  # an open Plan Phase in a few words
    exec_phase: str = ""  # what has come of an approved plan, counted from its modules


def status_report(
    truth: Truth, *, folder: str, title: str, workstream: str, state: State | None
) -> StatusReport:
    """The truth as one report."""
    standing = truth.standing
    current = standing.current
    folders = truth.inventory.folders
    return StatusReport(
        folder=folder,
        title=title,
        workstream=workstream,
        milestone=standing.scope.milestone,
        milestone_name=standing.scope.milestone_name or (state.milestone_name if state else ""),
        status=str(standing.status),
        status_words=standing.words,
        recorded_status=state.status if state else "",
        progress=_progress(truth),
        phase=current.id.short if current else "",
        phase_name=current.name if current else "",
        plan=standing.plan.id if standing.plan else "",
        next=standing.next,
        phases=tuple(phase_report(phase, truth) for phase in standing.scope.phases),
        drift=tuple(finding_report(finding) for finding in truth.drift),
        notes=tuple(finding_report(finding) for finding in truth.findings if not finding.is_drift),
        decisions=state.decisions if state else (),
        blockers=state.blockers if state else (),
        resolved_blockers=state.resolved if state else (),
        last_activity=state.last_activity if state else "",
        pending_todos=truth.inventory.pending_todos,
        workstreams=truth.inventory.workstreams,
        orphan_summaries=sum(len(each.orphans) for each in folders),
    )


def phase_report(phase: Phase, truth: Truth) -> PhaseReport:
    """One phase as a report."""
    folder = phase.folder
    completed, total = folder_counts(folder) if folder else (0, 0)
    verification = folder.verification if folder else None
    stale = verification is not None and verification.is_stale and verification.status == "passed"
    return PhaseReport(
        number=phase.id.short,
        name=phase.name,
        stage=str(phase.stage),
        is_complete=phase.is_complete(truth.standing.policy),
        completed_plans=completed,
        total_plans=total,
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
        message=str(finding),
    )


def _progress(truth: Truth) -> ProgressReport:
    progress = truth.standing.progress
    return ProgressReport(
        total_phases=progress.total_phases,
        completed_phases=progress.completed_phases,
        total_plans=progress.total_plans,
        completed_plans=progress.completed_plans,
        total_tasks=progress.total_tasks,
        completed_tasks=progress.completed_tasks,
        percent=progress.percent,
        plans_percent=progress.plans_percent,
        tasks_percent=progress.tasks_percent,
        scope=truth.standing.scope.words,
        completion=str(truth.standing.policy),
    )
