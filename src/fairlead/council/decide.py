"""Decides what a council job does next, from a snapshot alone.

A stage asks all missing roles at once, if the estimate for all these calls fits the budget. When
all have answered, the job changes its status; code decides to which one, here and in `tally`.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum

from fairlead.agents.budget import Caps, Cost, may_spend
from fairlead.core.values import dataclass, field
from fairlead.council.model import (
    MAX_CYCLES,
    TERMINAL,
    Blocker,
    BriefCheck,
    CouncilJob,
    FailureReason,
    TransitionGuard,
)
from fairlead.council.paths import PASSES, pm_key, seat_key, synthesis_key
from fairlead.council.seats import (
    BALLOT,
    HOST,
    PM,
    SEAT,
    SEAT_NAMES,
    SYNTHESIS,
    lacking_quorum,
)
from fairlead.council.tally import Outcome, Review, tally
from fairlead.jobs.model import JobStatus


@dataclass(frozen=True, slots=True)
class ExecutionEnd:
    """The facts about an execution that is over."""

    plans: int
    summaries: int  # valid, and newer than the phase
    exit_code: int | None  # None: the end was not observed
    timed_out: bool = False
    is_error: bool = False  # the program reports an error, or did nothing
    committed: int = 0  # plans with a commit since the start
    is_clean: bool = False  # no uncommitted changes


TAMPERED = "touched"  # the run stops itself: an agent changed protected files


@dataclass(frozen=True, slots=True)
class CallFacts:
    """A stored answer: whether there is one, and its faults."""

    is_ok: bool
    is_cut: bool = False
    faults: tuple[str, ...] = ()  # why it cannot be used as it is


@dataclass(frozen=True, slots=True)
class CouncilSnapshot:
    """The state of a council job at one moment."""

    job: CouncilJob
    calls: dict[str, CallFacts]  # by key
    verified: tuple[BriefCheck, ...] = ()  # one per finished cycle of the PM
    review: Review | None = None  # None before there is a plan to vote on
    spent: Cost = field(default_factory=Cost)
    spent_today: Cost = field(default_factory=Cost)
    estimates: dict[str, Cost] = field(default_factory=dict)  # of one call, by its role
    caps: Caps = field(default_factory=Caps)
    min_families: int = 1
    stop_request: tuple[str, str] = ("", "")  # veto, cancel or touched, and the reason
    preflight: tuple[str, ...] = ()  # reasons against executing
    may_execute: bool = False
    ended: ExecutionEnd | None = None  # None: the execution is not over
    completion: str = "strict"
    running: tuple[str, ...] = ()
    is_stopping: bool = False


class CouncilAct(StrEnum):
    """The kinds of action."""

    ASK = "ask"
    MOVE = "move"


@dataclass(frozen=True, slots=True)
class CouncilAction:
    """An action that may begin now."""

    act: CouncilAct
    subject: str  # the key of a call, or the status to move to
    guard: str = ""
    note: str = ""

    @property
    def key(self) -> str:
        """The name of the action, for the loop."""
        return f"{self.act}:{self.subject}"


Actions = tuple[CouncilAction, ...]
_REPEATED = ("research", "verify")  # passes of a second cycle of the PM
REPAIR, REASK = 2, 3  # the second and third call of a seat in a round


def decide_council(snapshot: CouncilSnapshot) -> Actions:
    """List the actions that may begin now."""
    status = snapshot.job.status
    if status in TERMINAL or snapshot.is_stopping:
        return ()
    request, why = snapshot.stop_request
    # A veto does not stop an execution that has begun: files may be committed already.
    if request and not (request == "veto" and status is JobStatus.EXECUTING):
        return () if snapshot.running else _stop(status, request, why)
    actions = _STAGES[status](snapshot)
    new = tuple(action for action in actions if action.key not in snapshot.running)
    if snapshot.running and any(action.act is CouncilAct.MOVE for action in new):
        return ()
    return _affordable(snapshot, new)


def _stop(status: JobStatus, request: str, why: str) -> Actions:
    if status is JobStatus.EXECUTING:
        # Files may be committed already, so the job has failed.
        return _move(JobStatus.FAILED, FailureReason.CANCELLED, why)
    codes = {"cancel": Blocker.OPERATOR_CANCEL, TAMPERED: Blocker.INTERNAL}
    code = codes.get(request, Blocker.OPERATOR_VETO)
    return _move(JobStatus.BLOCKED, code, why or "a person ended it")


def _affordable(snapshot: CouncilSnapshot, actions: Actions) -> Actions:
    """Replace a stage that exceeds the budget by the end of the job: no stage is half paid."""
    asks = [action for action in actions if action.act is CouncilAct.ASK]
    if not asks or snapshot.running:
        return actions
    roles = [action.note for action in asks]
    if roles == [PM]:  # the passes run one at a time, but the remaining ones are of this stage
        name = asks[0].subject.partition("/")[2].partition(".")[0]
        roles *= len(PASSES) - PASSES.index(name)
    return _over_budget(snapshot, roles) or actions


def _over_budget(snapshot: CouncilSnapshot, roles: Iterable[str]) -> Actions:
    """Return the end of a job that cannot pay for these calls; empty if it can."""
    planned = sum((snapshot.estimates.get(role, Cost()) for role in roles), Cost())
    why = may_spend(planned, snapshot.spent, snapshot.spent_today, snapshot.caps)
    return _blocked(Blocker.BUDGET, why) if why else ()


# -- the stages ------------------------------------------------------------------------------


def _new(_: CouncilSnapshot) -> Actions:
    return _move(JobStatus.PM_RUNNING, TransitionGuard.RUN_HELD)


def _pm(snapshot: CouncilSnapshot) -> Actions:
    for cycle in range(1, MAX_CYCLES + 1):
        for name in PASSES if cycle == 1 else _REPEATED:
            key = pm_key(name, cycle)
            call = snapshot.calls.get(key)
            if call is None:
                return (_ask(key, PM),)
            if not call.is_ok:
                text = f"no model answered as PM ({name}): {_joined(call.faults)}"
                return _blocked(Blocker.PM_VERIFY, text)
            if call.faults:
                text = f"the answer to the {name} pass is none: {_joined(call.faults)}"
                return _blocked(Blocker.PM_VERIFY, text)
        if snapshot.verified[cycle - 1].ok:
            return _move(JobStatus.RESEARCH_DONE, TransitionGuard.VERIFY_OK)
    return _blocked(Blocker.PM_VERIFY, _joined(snapshot.verified[-1].failed_checks))


def _researched(_: CouncilSnapshot) -> Actions:
    return _move(JobStatus.COUNCIL_PLANNING, TransitionGuard.BRIEF_FROZEN)


def _planning(snapshot: CouncilSnapshot) -> Actions:
    asks = []
    for seat in SEAT_NAMES:
        key, shorter = seat_key(0, seat), seat_key(0, seat, REPAIR)
        first = snapshot.calls.get(key)
        if first is None:
            asks.append(_ask(key, SEAT))
        elif (first.is_cut or (first.is_ok and first.faults)) and shorter not in snapshot.calls:
            asks.append(_ask(shorter, SEAT))
    if asks:
        return tuple(asks)
    lacking = lacking_quorum(snapshot.job.council_plans, snapshot.min_families)
    if lacking:
        return _blocked(Blocker.PLANNING_QUORUM, lacking)
    return _move(JobStatus.SYNTHESIZING, TransitionGuard.PLANS_ENOUGH)


def _synthesis(snapshot: CouncilSnapshot) -> Actions:
    version = snapshot.job.review_round + 1
    faults: tuple[str, ...] = ()
    for attempt in (1, REPAIR):
        key = synthesis_key(version, attempt)
        call = snapshot.calls.get(key)
        if call is None:
            return (_ask(key, SYNTHESIS),)
        if not call.is_ok:
            text = f"no model wrote a master plan: {_joined(call.faults)}"
            return _blocked(Blocker.SYNTHESIS_FAILED, text)
        faults = call.faults
        if not faults:
            return _move(JobStatus.COUNCIL_REVIEWING, TransitionGuard.PLAN_VALID)
    return _blocked(Blocker.SYNTHESIS_FAILED, _joined(faults))


def _review(snapshot: CouncilSnapshot) -> Actions:
    review = snapshot.review
    assert review is not None
    if review.last_sha256 != review.plan_sha256:
        asks = tuple(
            _ask(key, BALLOT)
            for seat in SEAT_NAMES
            if (key := _next_ballot(snapshot, seat, review.round))
        )
        if asks:
            return asks
    counted = tally(review)
    match counted.outcome:
        case Outcome.ASK_AGAIN:
            keys = [seat_key(review.round, seat, REASK) for seat in counted.reask]
            return tuple(_ask(key, BALLOT) for key in keys)
        case Outcome.APPROVED:
            return _move(JobStatus.APPROVED, counted.guard, counted.text)
        case Outcome.REVISE:
            return _move(JobStatus.SYNTHESIZING, counted.guard)
        case Outcome.BLOCKED:
            return _blocked(counted.guard, counted.text)


def _next_ballot(snapshot: CouncilSnapshot, seat: str, round_: int) -> str:
    """Return the call that a seat still has to answer: its ballot, or the repair of it."""
    first = snapshot.calls.get(seat_key(round_, seat))
    if first is None:
        return seat_key(round_, seat)
    repaired = seat_key(round_, seat, REPAIR)
    return repaired if first.is_ok and first.faults and repaired not in snapshot.calls else ""


def _approved(snapshot: CouncilSnapshot) -> Actions:
    if not snapshot.may_execute:
        return ()  # a person has to approve the commands first
    if snapshot.preflight:
        return _blocked(Blocker.PREFLIGHT, _joined(snapshot.preflight))
    over = _over_budget(snapshot, [HOST]) if HOST in snapshot.estimates else ()
    return over or _move(JobStatus.EXECUTING, TransitionGuard.PREFLIGHT_OK)


def _executing(snapshot: CouncilSnapshot) -> Actions:
    if snapshot.ended is None:
        return ()  # it is running, or waits for a person
    guard, warning = execution_outcome(snapshot.ended, snapshot.completion)
    is_done = guard == TransitionGuard.SUMMARIES_PROVE
    return _move(JobStatus.DONE if is_done else JobStatus.FAILED, guard, warning)


_STAGES: dict[JobStatus, Callable[[CouncilSnapshot], Actions]] = {
    JobStatus.NEW: _new,
    JobStatus.PM_RUNNING: _pm,
    JobStatus.RESEARCH_DONE: _researched,
    JobStatus.COUNCIL_PLANNING: _planning,
    JobStatus.SYNTHESIZING: _synthesis,
    JobStatus.COUNCIL_REVIEWING: _review,
    JobStatus.APPROVED: _approved,
    JobStatus.EXECUTING: _executing,
}


def _ask(key: str, role: str) -> CouncilAction:
    return CouncilAction(CouncilAct.ASK, key, note=role)


def _move(status: JobStatus, guard: str, note: str = "") -> Actions:
    return (CouncilAction(CouncilAct.MOVE, status, guard, note),)


def _blocked(code: str, text: str) -> Actions:
    return _move(JobStatus.BLOCKED, code, text)


def _joined(faults: Iterable[str]) -> str:
    return "; ".join(faults)


def execution_outcome(ended: ExecutionEnd, policy: str = "strict") -> tuple[str, str]:
    """Return the guard of the final transition, and a warning for a doubtful success."""
    has_all = ended.plans > 0 and ended.summaries >= ended.plans
    ended_well = ended.exit_code == 0 and not ended.is_error and not ended.timed_out
    if has_all and ended_well:
        return TransitionGuard.SUMMARIES_PROVE, ""
    if has_all and policy == "reconcile" and ended.committed >= ended.plans and ended.is_clean:
        return TransitionGuard.SUMMARIES_PROVE, "abnormal_end"
    if ended.timed_out:
        return FailureReason.TIMEOUT, ""
    if has_all:
        return FailureReason.EXIT_NONZERO, ""
    if ended.summaries:
        return FailureReason.PARTIAL, ""
    return (FailureReason.NO_SUMMARY if ended_well else FailureReason.EXEC_FAILED), ""
