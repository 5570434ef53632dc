"""Standing: where the project is and what comes next, derived from the scope alone.

The next action is the one the files ask for: a phase without plans wants to be discussed and
planned, one with open plans executed, a finished one verified before the next begins.
"""

from fairlead.model.ids import stream_words
from fairlead.model.inventory import Completion, Inventory, Phase, Plan, Stage, Verification
from fairlead.model.progress import Progress, progress_of
from fairlead.model.scope import Scope, scope_of
from fairlead.model.status import Status
from fairlead.values import dataclass, replace

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
_NOT_BEGUN = (Stage.NO_FOLDER, Stage.EMPTY, Stage.DISCUSSED)


@dataclass(frozen=True, slots=True)
class Next:
    """What to do now, and why."""

    action: str  # discuss-, plan-, execute- or verify-phase, complete-milestone; empty if nothing
    phase: str  # empty if the action is about no phase
    command: str
    reason: str


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the project is."""

    scope: Scope
    progress: Progress
    policy: Completion
    current: Phase | None  # the phase that is worked on now; None when there is none left
    plan: Plan | None  # its first open plan
    next: Next
    words: str  # the status as STATE.md's body says it
    status: Status

    @property
    def is_over(self) -> bool:
        """Whether no phase is left to work on: each is complete, or the milestone is archived."""
        return bool(self.scope.phases) and self.current is None

    @property
    def is_complete(self) -> bool:
        """Whether every phase of the scope is complete."""
        return self.is_over and self.progress.completed_phases == self.progress.total_phases


def standing_of(inventory: Inventory) -> Standing:
    """Derive where the project is."""
    scope = scope_of(inventory)
    policy = inventory.policy
    open_phases = [phase for phase in scope.phases if not phase.is_complete(policy)]
    # What a closed milestone left open is history: nobody is at work there.
    current = open_phases[0] if open_phases and not scope.is_archived else None
    words, status = _status(scope, current)
    ahead = _next(scope, current)
    if inventory.workstreams and not (scope.phases or inventory.milestone):
        names = ", ".join(inventory.workstreams)
        command = f"fairlead next{stream_words(inventory.workstreams[0])}"
        ahead = Next("", "", command, f"the work is in workstreams: {names}")
    elif inventory.workstream:
        ahead = replace(ahead, command=ahead.command + stream_words(inventory.workstream))
    return Standing(
        scope=scope,
        progress=progress_of(scope.phases, policy),
        policy=policy,
        current=current,
        plan=_open_plan(current),
        next=ahead,
        words=words,
        status=status,
    )


def seen_from(standing: Standing, phase: Phase | None) -> Standing:
    """The same project with one of its phases as the one that is worked on."""
    words, status = _status(standing.scope, phase)
    return replace(standing, current=phase, plan=_open_plan(phase), words=words, status=status)


def _open_plan(phase: Phase | None) -> Plan | None:
    plans = phase.folder.live_plans if phase and phase.folder else ()
    return next((plan for plan in plans if not plan.is_complete), None)


def _status(scope: Scope, current: Phase | None) -> tuple[str, Status]:
    if current is not None and _is_unfit(current):
        return _WORDS[Stage.RESEARCHED]
    if current is not None:
        return _WORDS.get(current.stage, ("In progress", Status.EXECUTING))
    return ("Complete", Status.COMPLETED) if scope.phases else ("Planning", Status.PLANNING)


def _next(scope: Scope, current: Phase | None) -> Next:
    if not scope.phases:
        return Next("", "", "fairlead phase add NAME", "the roadmap has no phases yet")
    if scope.is_archived:
        reason = f"milestone {scope.milestone} is archived"
        return Next("new-milestone", "", "fairlead milestone new VERSION NAME", reason)
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
    return _for(current, *_ACTIONS.get(current.stage, _ACTIONS[Stage.COMPLETE]))


def _is_unfit(phase: Phase) -> bool:
    """Whether a plan that is still open failed its check."""
    plans = phase.folder.live_plans if phase.folder else ()
    return any(plan.is_unfit and not plan.is_complete for plan in plans)


def _for(phase: Phase, action: str, reason: str) -> Next:
    verb = action.removesuffix("-phase")
    verification = phase.folder.verification if phase.folder else None
    if action == "verify-phase" and verification and verification.status == "gaps_found":
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
    match verification.status:
        case "passed":
            return "work was done after its verification"
        case "human_needed":
            return "its verification waits for a person"
        case "":
            return "its verification has no status"
        case other:
            return f"its verification says {other}"


def _unverified_before(scope: Scope, current: Phase | None) -> Phase | None:
    """The finished phase right before the one that comes next, if nothing verified it.

    Earlier ones are history: asking for them would hide what is to be done now.
    """
    if current is not None and current.stage not in _NOT_BEGUN:
        return None
    before = [phase for phase in scope.phases if current is None or phase.id < current.id]
    last = before[-1] if before else None
    return last if last and last.stage is Stage.COMPLETE else None
