"""Deciding for a council: what may be done now, from a snapshot alone.

Stages are asked in whole: everybody who has not answered yet is asked at once, if the estimate of
all these calls fits the budget. When everybody has answered, the job moves; where to is counted
here and in `model.tally`, never asked.
"""

from collections.abc import Callable, Iterable

from fairlead.model.budget import Spent, may_spend
from fairlead.model.council import MOST_CYCLES, TERMINAL, Blocker, Failed, Guard
from fairlead.model.council_snapshot import TOUCHED, CouncilAct, CouncilAction, CouncilSnapshot
from fairlead.model.ending import classified
from fairlead.model.job import JobStatus
from fairlead.model.seats import NAMES, lacking_quorum
from fairlead.model.tally import Outcome, tally
from fairlead.store.layout_council import PASSES, pm_key, seat_key, synthesis_key

Actions = tuple[CouncilAction, ...]
_PM, HOST = "pm", "host"  # whose estimates they are
_AGAIN = ("research", "verify")  # what a second cycle of the PM repeats
REPAIR, REASK = 2, 3  # the second and third call of a seat in a round


def decide_council(snapshot: CouncilSnapshot) -> Actions:
    """The actions that may begin now."""
    status = snapshot.job.status
    if status in TERMINAL or snapshot.is_stopping:
        return ()
    wish, why = snapshot.wish
    if wish == "veto" and status is JobStatus.EXECUTING:
        wish = ""  # it came too late: what has begun is carried to its end
    if wish and not snapshot.running:
        return _wished(status, wish, why)
    if wish:
        return ()
    wanted = _STEPS[status](snapshot)
    fresh = tuple(each for each in wanted if each.key not in snapshot.running)
    if snapshot.running and any(each.act is CouncilAct.MOVE for each in fresh):
        return ()
    return _affordable(snapshot, fresh)


def _wished(status: JobStatus, wish: str, why: str) -> Actions:
    if status is JobStatus.EXECUTING:
        # Files may be committed already, so it has failed.
        return _move(JobStatus.FAILED, Failed.CANCELLED, why)
    codes = {"cancel": Blocker.OPERATOR_CANCEL, TOUCHED: Blocker.INTERNAL}
    code = codes.get(wish, Blocker.OPERATOR_VETO)
    return _move(JobStatus.BLOCKED, code, why or "a person ended it")


def _affordable(snapshot: CouncilSnapshot, actions: Actions) -> Actions:
    """A stage begins as a whole or not at all: the job stops before what it cannot pay."""
    asks = [each for each in actions if each.act is CouncilAct.ASK]
    if not asks or snapshot.running:
        return actions
    takes = [each.note for each in asks]
    if takes == [_PM]:  # one pass at a time, and those after it belong to the stage
        name = asks[0].subject.partition("/")[2].partition(".")[0]
        takes *= len(PASSES) - PASSES.index(name)
    return _beyond(snapshot, takes) or actions


def _beyond(snapshot: CouncilSnapshot, takes: Iterable[str]) -> Actions:
    """The end of a job that cannot pay for these; nothing if it can."""
    planned = sum((snapshot.estimates.get(each, Spent()) for each in takes), Spent())
    why = may_spend(planned, snapshot.spent, snapshot.spent_today, snapshot.caps)
    return _blocked(Blocker.BUDGET, why) if why else ()


# -- the stages ------------------------------------------------------------------------------


def _new(_: CouncilSnapshot) -> Actions:
    return _move(JobStatus.PM_RUNNING, Guard.RUN_HELD)


def _pm(snapshot: CouncilSnapshot) -> Actions:
    for cycle in range(1, MOST_CYCLES + 1):
        for name in PASSES if cycle == 1 else _AGAIN:
            key = pm_key(name, cycle)
            found = snapshot.calls.get(key)
            if found is None:
                return (_ask(key, _PM),)
            if not found.is_ok:
                return _blocked(
                    Blocker.PM_VERIFY, f"nobody answered as PM ({name}): {_told(found.faults)}"
                )
        if snapshot.verified[cycle - 1].ok:
            return _move(JobStatus.RESEARCH_DONE, Guard.VERIFY_OK)
    return _blocked(Blocker.PM_VERIFY, _told(snapshot.verified[-1].failed_checks))


def _researched(_: CouncilSnapshot) -> Actions:
    return _move(JobStatus.COUNCIL_PLANNING, Guard.BRIEF_FROZEN)


def _planning(snapshot: CouncilSnapshot) -> Actions:
    asks = []
    for seat in NAMES:
        first = snapshot.calls.get(seat_key(0, seat))
        if first is None:
            asks.append(_ask(seat_key(0, seat), "seat"))
        elif first.is_cut and seat_key(0, seat, REPAIR) not in snapshot.calls:
            asks.append(_ask(seat_key(0, seat, REPAIR), "seat"))
    if asks:
        return tuple(asks)
    lacking = lacking_quorum(snapshot.job.council_plans, snapshot.min_families)
    if lacking:
        return _blocked(Blocker.PLANNING_QUORUM, lacking)
    return _move(JobStatus.SYNTHESIZING, Guard.PLANS_ENOUGH)


def _synthesis(snapshot: CouncilSnapshot) -> Actions:
    version = snapshot.job.review_round + 1
    faults: tuple[str, ...] = ()
    for attempt in (1, REPAIR):
        found = snapshot.calls.get(synthesis_key(version, attempt))
        if found is None:
            return (_ask(synthesis_key(version, attempt), "synthesis"),)
        if not found.is_ok:
            return _blocked(
                Blocker.SYNTHESIS_FAILED, f"nobody wrote a master plan: {_told(found.faults)}"
            )
        faults = found.faults
        if not faults:
            return _move(JobStatus.COUNCIL_REVIEWING, Guard.PLAN_VALID)
    return _blocked(Blocker.SYNTHESIS_FAILED, _told(faults))


def _review(snapshot: CouncilSnapshot) -> Actions:
    review = snapshot.review
    assert review is not None
    if review.last_sha256 != review.plan_sha256:
        asks = tuple(
            _ask(key, "ballot")
            for seat in NAMES
            if (key := _next_ballot(snapshot, seat, review.round))
        )
        if asks:
            return asks
    counted = tally(review)
    match counted.outcome:
        case Outcome.ASK_AGAIN:
            keys = [seat_key(review.round, seat, REASK) for seat in counted.reask]
            return tuple(_ask(key, "ballot") for key in keys)
        case Outcome.APPROVED:
            return _move(JobStatus.APPROVED, counted.guard, counted.text)
        case Outcome.REVISE:
            return _move(JobStatus.SYNTHESIZING, counted.guard)
        case Outcome.BLOCKED:
            return _blocked(counted.guard, counted.text)


def _next_ballot(snapshot: CouncilSnapshot, seat: str, round_: int) -> str:
    """The call that a seat still owes this round: its ballot, or a readable form of it."""
    first = snapshot.calls.get(seat_key(round_, seat))
    if first is None:
        return seat_key(round_, seat)
    repaired = seat_key(round_, seat, REPAIR)
    return repaired if first.is_ok and first.faults and repaired not in snapshot.calls else ""


def _approved(snapshot: CouncilSnapshot) -> Actions:
    if not snapshot.may_execute:
        return ()  # a person has to agree to the commands first
    if snapshot.preflight:
        return _blocked(Blocker.PREFLIGHT, _told(snapshot.preflight))
    beyond = _beyond(snapshot, [HOST]) if HOST in snapshot.estimates else ()
    return beyond or _move(JobStatus.EXECUTING, Guard.PREFLIGHT_OK)


def _executing(snapshot: CouncilSnapshot) -> Actions:
    if snapshot.ended is None:
        return ()  # it is carried out elsewhere, or waits for a person
    guard, warning = classified(snapshot.ended, snapshot.completion)
    is_done = guard == Guard.SUMMARIES_PROVE
    return _move(JobStatus.DONE if is_done else JobStatus.FAILED, guard, warning)


_STEPS: dict[JobStatus, Callable[[CouncilSnapshot], Actions]] = {
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


def _told(faults: Iterable[str]) -> str:
    return "; ".join(faults)
