"""The derived position of a project: current phase, current plan, status and next action.

The next action follows from the files: a phase without plans is discussed and planned, a phase
with open plans is executed, and a finished phase is verified before the next one begins. A phase
that the roadmap calls finished is passed over: only its summaries may be missing.
"""

from fairlead.core.ids import PhaseId, stream_words
from fairlead.core.values import dataclass, replace
from fairlead.project.derive.inventory import (
    Completion,
    Inventory,
    Phase,
    Plan,
    Stage,
    Verification,
)
from fairlead.project.derive.progress import Progress, progress_of
from fairlead.project.derive.scope import Certainty, Scope, scope_of
from fairlead.project.roadmap.row_status import (
    says_done,
    says_in_progress,
    says_not_started,
    says_put_aside,
)
from fairlead.project.status_words import Status, awaits_milestone, normalise, says_all_done

_ACTIONS = {
    Stage.NO_FOLDER: ("discuss-phase", "it has no folder yet"),
    Stage.EMPTY: ("discuss-phase", "its folder is empty"),
    Stage.DISCUSSED: ("plan-phase", "it was discussed and has no plans"),
    Stage.RESEARCHED: ("plan-phase", "it was researched and has no plans"),
    Stage.PLANNED: ("execute-phase", "its plans are open"),
    Stage.PARTIAL: ("execute-phase", "some of its plans are open"),
    Stage.COMPLETE: ("verify-phase", "its plans are done and nothing verifies them"),
}
_WORDS = {
    Stage.NO_FOLDER: ("Ready to plan", Status.PLANNING),
    Stage.EMPTY: ("Ready to plan", Status.PLANNING),
    Stage.DISCUSSED: ("Ready to plan", Status.PLANNING),
    Stage.RESEARCHED: ("Ready to plan", Status.PLANNING),
    Stage.PLANNED: ("Ready to execute", Status.EXECUTING),
    Stage.PARTIAL: ("In progress", Status.EXECUTING),
    Stage.COMPLETE: ("Phase complete — ready for verification", Status.VERIFYING),
}
_CLAIMED_ACTIONS = {
    Status.DISCUSSING: "discuss-phase",
    Status.PLANNING: "plan-phase",
    Status.EXECUTING: "execute-phase",
    Status.VERIFYING: "verify-phase",
    Status.COMPLETED: "verify-phase",
}
_GAPS_FOUND = "gaps_found"
_NEW_MILESTONE = "fairlead milestone new VERSION NAME"
_NOT_STARTED = (Stage.NO_FOLDER, Stage.EMPTY, Stage.DISCUSSED)


@dataclass(frozen=True, slots=True)
class Next:
    """The next action, and its reason."""

    action: str  # discuss-, plan-, execute- or verify-phase, complete-milestone; empty if none
    phase: str  # empty if the action does not concern a phase
    command: str
    reason: str


@dataclass(frozen=True, slots=True)
class Position:
    """The position of a project, derived from its files."""

    scope: Scope
    progress: Progress
    policy: Completion
    current: Phase | None  # the phase to work on; None when there is none left
    plan: Plan | None  # its first open plan
    next: Next
    words: str  # the status as text, for the body of STATE.md
    status: Status
    is_claimed: bool = False  # the roadmap calls the current phase finished, and no file proves it

    @property
    def is_over(self) -> bool:
        """Whether no phase is left: all are complete, or the milestone is archived."""
        return bool(self.scope.phases) and self.current is None

    @property
    def is_complete(self) -> bool:
        """Whether every phase of the scope is complete."""
        return self.is_over and self.progress.completed_phases == self.progress.total_phases


def position_of(inventory: Inventory) -> Position:
    """Derive the position of a project."""
    scope = scope_of(inventory)
    policy = inventory.policy
    open_phases = [phase for phase in scope.phases if not phase.is_complete(policy)]
    # An open phase of a shipped milestone is history, not current work.
    is_over = scope.is_archived or scope.is_closed
    current = None if is_over else _current(open_phases, inventory.claims.phase)
    is_unlisted = not inventory.has_roadmap and scope.certainty is Certainty.UNCERTAIN
    if not is_over and (scope.certainty is Certainty.UNVERIFIABLE or (is_unlisted and not current)):
        current = _claimed_phase(scope, inventory)
    words, status = _status(scope, current)
    next_step = _next(scope, current)
    is_claimed = current is not None and _is_called_done(current)
    if current is not None and is_claimed:
        # Until its summaries are written, or the roadmap is corrected, a verification is refused.
        reason = "the roadmap calls it finished and its summary is missing; settle that first"
        next_step = replace(_for(current, "verify-phase", reason), command="fairlead doctor")
    if scope.certainty is Certainty.UNVERIFIABLE and not is_over:
        next_step = _claimed_next(scope, current, inventory)
    if inventory.workstreams and not (scope.phases or inventory.milestone):
        names = ", ".join(inventory.workstreams)
        command = f"fairlead next{stream_words(inventory.workstreams[0])}"
        next_step = Next("", "", command, f"the work is in workstreams: {names}")
    elif inventory.workstream:
        command = next_step.command + stream_words(inventory.workstream)
        next_step = replace(next_step, command=command)
    return Position(
        scope=scope,
        progress=progress_of(scope.phases, policy),
        policy=policy,
        current=current,
        plan=_open_plan(current),
        next=next_step,
        words=words,
        status=status,
        is_claimed=is_claimed,
    )


def _current(open_phases: list[Phase], stands_at: PhaseId | None) -> Phase | None:
    """The first open phase that is neither called finished nor put aside, or where STATE.md is."""
    for phase in open_phases:
        if phase.id == stands_at or not (_is_called_done(phase) or _is_put_aside(phase)):
            return phase
    return open_phases[-1] if open_phases else None


def _is_put_aside(phase: Phase) -> bool:
    """Whether its row says that it is skipped or deferred."""
    return phase.listed is not None and says_put_aside(phase.listed.status)


def _is_called_done(phase: Phase) -> bool:
    """Whether the roadmap calls a phase finished that is neither proven nor known to have gaps."""
    listed = phase.listed
    if listed is None or not listed.is_called_done or phase.stage is Stage.COMPLETE:
        return False
    if says_not_started(listed.status) or says_in_progress(listed.status):
        return False  # its box is ticked, and its row contradicts that
    if not says_done(listed.status) and listed.has_open_count:
        return False  # the same for its line `**Plans:** 1/2 plans executed`
    verification = phase.folder.verification if phase.folder else None
    return verification is None or verification.status != _GAPS_FOUND


def position_at(position: Position, phase: Phase | None) -> Position:
    """The same position with another phase as the current one."""
    words, status = _status(position.scope, phase)
    return replace(position, current=phase, plan=_open_plan(phase), words=words, status=status)


def _open_plan(phase: Phase | None) -> Plan | None:
    plans = phase.folder.live_plans if phase and phase.folder else ()
    return next((plan for plan in plans if not plan.is_complete), None)


def _status(scope: Scope, current: Phase | None) -> tuple[str, Status]:
    if current is not None and (_is_unfit(current) or _is_rehearsed(current)):
        return _WORDS[Stage.RESEARCHED]
    if current is not None:
        return _WORDS.get(current.stage, ("In progress", Status.EXECUTING))
    return ("Complete", Status.COMPLETED) if scope.phases else ("Planning", Status.PLANNING)


def _next(scope: Scope, current: Phase | None) -> Next:
    if scope.is_archived or scope.is_closed:
        word = "archived" if scope.is_archived else "shipped"
        reason = f"milestone {scope.milestone} is {word}"
        return Next("new-milestone", "", _NEW_MILESTONE, reason)
    if not scope.phases:
        return Next("", "", "fairlead phase add NAME", "the roadmap has no phases yet")
    unverified = _unverified_before(scope, current)
    if unverified:
        return _for(unverified, *_ACTIONS[Stage.COMPLETE])
    if current is None:
        version = scope.milestone or "VERSION"
        return Next(
            "complete-milestone",
            "",
            f"fairlead milestone complete {version}",
            "every phase is complete",
        )
    if _is_unfit(current):
        number = current.id.short
        reason = f"phase {number}: its plans failed their check"
        return Next("plan-phase", number, f"fairlead phase plan {number} --replan", reason)
    if _is_rehearsed(current):
        number = current.id.short
        reason = f"phase {number}: its plans come from a rehearsal and do not count"
        return Next("plan-phase", number, f"fairlead phase plan {number} --replan", reason)
    return _for(current, *_ACTIONS.get(current.stage, _ACTIONS[Stage.COMPLETE]))


def _claimed_phase(scope: Scope, inventory: Inventory) -> Phase | None:
    """The phase that STATE.md names, where no file says how far the work is."""
    named = inventory.claims.phase
    status = inventory.claims.status
    if says_all_done(status) or awaits_milestone(status):
        return None
    phase = next((each for each in scope.phases if each.id == named), None)
    if phase is None and named is not None and not (scope.phases and inventory.has_roadmap):
        phase = Phase(named, "", None, None)
    return phase


def _claimed_next(scope: Scope, current: Phase | None, inventory: Inventory) -> Next:
    """The next action that the documents ask for, where no file can prove it."""
    status = inventory.claims.status
    if current is None and not (scope.phases or scope.milestone or says_all_done(status)):
        reason = "no phase is recognised in the documents, and no file proves their progress"
        return Next("", "", "fairlead explain scope", reason)
    if awaits_milestone(status):
        reason = f"STATE.md says {status}"
        return Next("new-milestone", "", _NEW_MILESTONE, reason)
    if current is None or says_all_done(status):
        version = scope.milestone or "VERSION"
        reason = "the documents call every phase finished; no file proves it"
        command = f"fairlead milestone complete {version}"
        return Next("complete-milestone", "", command, reason)
    action = _CLAIMED_ACTIONS.get(normalise(status), "discuss-phase")
    number = current.id.short
    command = f"fairlead phase {action.removesuffix('-phase')} {number}"
    return Next(
        action, number, command, f"phase {number}: STATE.md says {status or 'nothing more'}"
    )


def _is_unfit(phase: Phase) -> bool:
    """Whether an open plan of the phase failed its check."""
    plans = phase.folder.live_plans if phase.folder else ()
    return any(plan.is_unfit and not plan.is_complete for plan in plans)


def _is_rehearsed(phase: Phase) -> bool:
    """Whether a rehearsal wrote an open plan of the phase, which a real run refuses."""
    plans = phase.folder.live_plans if phase.folder else ()
    return any(plan.is_rehearsed and not plan.is_complete for plan in plans)


def _for(phase: Phase, action: str, reason: str) -> Next:
    verb = action.removesuffix("-phase")
    verification = phase.folder.verification if phase.folder else None
    has_gaps = verification and verification.status == _GAPS_FOUND and not verification.is_stale
    if action == "verify-phase" and has_gaps:
        return Next(
            "plan-phase",
            phase.id.short,
            f"fairlead phase plan {phase.id.short}",
            "its verification found gaps",
        )
    if action == "verify-phase" and verification:
        reason = _unverified_because(verification)
    return Next(
        action,
        phase.id.short,
        f"fairlead phase {verb} {phase.id.short}",
        f"phase {phase.id.short}: {reason}",
    )


def _unverified_because(verification: Verification) -> str:
    if verification.is_stale:
        return "work was done after its verification"
    match verification.status:
        case "human_needed":
            return "its verification waits for a person"
        case "":
            return "its verification has no status"
        case other:
            return f"its verification says {other}"


def _unverified_before(scope: Scope, current: Phase | None) -> Phase | None:
    """The finished phase directly before the current one, if it is not verified.

    Earlier phases are ignored: asking to verify them would hide the next action.
    """
    if current is not None and current.stage not in _NOT_STARTED:
        return None
    after = [phase for phase in scope.phases if current is not None and phase.id > current.id]
    if any(phase.folder and phase.folder.completed for phase in after):
        return None  # the work went on; a verification would look back
    before = [phase for phase in scope.phases if current is None or phase.id < current.id]
    last = before[-1] if before else None
    return last if last and last.stage is Stage.COMPLETE else None
