"""A council job as it is shown: counted once more from its ballots, whoever shows it.

Every number here follows from the stored record, plans and journal; nothing is taken on trust
from an earlier page. What the council lacked is part of the report, not a remark beside it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence

from fairlead.model.budget import cap_of
from fairlead.model.council import Blocker
from fairlead.model.council_job import AnswerStatus, Ballot, CouncilJob, Ruling, Vote
from fairlead.model.job import JobStatus, Question
from fairlead.model.seats import NAMES, VETO_SEATS, degraded, valid_seats
from fairlead.model.tally import (
    Answered,
    OpenItem,
    Review,
    Tally,
    has_evidence,
    open_items,
    tally,
)
from fairlead.records.brief import open_checks
from fairlead.records.master_plan import MasterPlan, read_master_plan
from fairlead.values import dataclass, replace

_TOLD = ("moved", "reused", "stall", "touched", "veto", "cancel", "ruled")  # what a timeline shows
_NO_EVIDENCE = "a veto without evidence counts as REVISE: "
_NO_VETO = "this seat has no veto, it counts as REVISE: "


@dataclass(frozen=True, slots=True)
class SeatRow:
    """One seat in one line: what it said last."""

    seat: str
    said: str  # APPROVE, REVISE, VETO, absent; planned or waiting before there is a vote
    model: str = ""
    family: str = ""
    ms: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    reason: str = ""
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened to the job."""

    at: str
    kind: str
    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """What a person can do now; without a command there is nothing to do."""

    what: str
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CouncilReport:
    """A council job with all that one wants to know of it."""

    job: CouncilJob
    headline: str
    degraded: tuple[str, ...]
    seats_title: str
    seats: tuple[SeatRow, ...]
    open: tuple[OpenItem, ...]
    answers: tuple[Answered, ...]
    settled: tuple[OpenItem, ...]  # items of earlier rounds that nobody holds to any more
    dissent: tuple[str, ...]
    timeline: tuple[Moment, ...]
    questions: tuple[Question, ...]
    next: tuple[Step, ...]


def council_report(
    job: CouncilJob,
    plans: Sequence[str] = (),
    journal: str = "",
    questions: Sequence[Question] = (),
    rulings: Sequence[Ruling] = (),  # given since the job is over, for a retry
) -> CouncilReport:
    """The report of a job from its record, the versions of its plan and its journal."""
    held_to = {each.id: each for each in (*job.rulings, *rulings)}
    job = replace(job, rulings=tuple(held_to.values()))
    read = [read_master_plan(each) for each in plans] or [read_master_plan("")]
    held = read[-1]
    answers = {answer.id: answer for each in read for answer in each.answers}
    counted = _counted(job, held)
    items = open_items(job.cumulative_votes, job.voted_round)
    lacking = degraded(job.council_plans, _final(job))
    return CouncilReport(
        job,
        _headline(job, counted),
        tuple(dict.fromkeys((*job.degraded, *lacking))),
        _seats_title(job, counted),
        tuple(_seat(job, name, held.places) for name in NAMES) if job.council_plans else (),
        items,
        tuple(answers.values()),
        _settled(job, items),
        tuple(_dissent(held, job)),
        tuple(_timeline(journal)),
        tuple(questions),
        _next(job, items, {each.id for each in rulings}),
    )


def _settled(job: CouncilJob, items: Sequence[OpenItem]) -> tuple[OpenItem, ...]:
    held = {each.item.id for each in items}
    found: dict[str, OpenItem] = {}
    for number in range(1, job.voted_round):
        for each in open_items(job.cumulative_votes, number):
            found |= {} if each.item.id in held else {each.item.id: each}
    return tuple(found.values())


def _final(job: CouncilJob) -> tuple[Ballot, ...]:
    final = [each for each in job.cumulative_votes if each.final]
    return tuple(each for each in final if each.round == job.voted_round)


def _counted(job: CouncilJob, plan: MasterPlan) -> Tally | None:
    """The last round as code counts it; None before there was one."""
    if job.master_plan is None or not job.review_round:
        return None
    sha256 = _final(job)[0].plan_sha256 if _final(job) else job.master_plan.sha256
    return tally(Review(_final(job), job.voted_round, sha256, plan.places))


def _headline(job: CouncilJob, counted: Tally | None) -> str:
    ran = job.exec
    match job.status:
        case JobStatus.NEW:
            return "not started yet"
        case JobStatus.PM_RUNNING:
            return f"the PM makes the brief, cycle {job.pm.cycle}"
        case JobStatus.RESEARCH_DONE:
            return "the brief is frozen"
        case JobStatus.COUNCIL_PLANNING:
            return f"{len(valid_seats(job.council_plans))} of {len(NAMES)} seats have planned"
        case JobStatus.EXECUTING | JobStatus.DONE | JobStatus.FAILED:
            until = f", until {ran.deadline[11:19]}" if ran.deadline and not job.ended_at else ""
            return f"phase {job.phase or '?'}: {ran.summaries} of {ran.plans} plans done{until}"
        case _:
            pass
    if counted is None:
        planned = len(valid_seats(job.council_plans))
        return f"{planned} of {len(NAMES)} seats planned" if job.council_plans else "no plan yet"
    return f"Round {job.voted_round} of {job.max_review_rounds}: {_votes(job, counted)}"


def _votes(job: CouncilJob, counted: Tally) -> str:
    """The count in words; who was not heard yet is not absent."""
    unheard = len(NAMES) - len(_final(job))
    if not unheard:
        return str(counted)
    heard = replace(counted, absent=counted.absent - unheard)
    when = "to come" if job.status is JobStatus.COUNCIL_REVIEWING else "not asked"
    return f"{heard}, {unheard} {when}"


def _seats_title(job: CouncilJob, counted: Tally | None) -> str:
    if counted is None or job.master_plan is None:
        return f"{len(valid_seats(job.council_plans))} of {len(NAMES)} seats planned"
    voted = len(NAMES) - counted.absent
    title = f"{voted} of {len(NAMES)} seats voted on version {job.voted_round}"
    return f"{title}: {_votes(job, counted)}"


def _seat(job: CouncilJob, name: str, places: Sequence[str]) -> SeatRow:
    ballot = next((each for each in _final(job) if each.seat == name), None)
    if ballot is not None:
        said = "absent" if ballot.vote is Vote.ABSTAIN else str(ballot.vote)
        return SeatRow(
            name,
            said,
            ballot.model,
            ballot.family,
            ballot.ms,
            ballot.tokens_in + ballot.tokens_out,
            ballot.cost_usd,
            _reason(ballot, places),
            ballot.raw,
        )
    plan = job.council_plans.get(name)
    if plan is None:
        return SeatRow(name, "waiting")
    is_there = plan.status in (AnswerStatus.OK, AnswerStatus.REPAIRED)
    note = plan.note or ("cut at the limit" if plan.truncated else "")
    said = "planned" if is_there else str(plan.status)
    return SeatRow(
        name, said, plan.model, plan.family, plan.ms, plan.tokens, plan.cost_usd, note, plan.raw
    )


def _reason(ballot: Ballot, places: Sequence[str]) -> str:
    if not ballot.blocking:
        return ballot.note or (f"{len(ballot.advisory)} remarks" if ballot.advisory else "")
    first = ballot.blocking[0]
    told = f"{first.where}: {first.why}" if first.where else first.why
    if ballot.vote is Vote.VETO and ballot.seat not in VETO_SEATS:
        return _NO_VETO + told
    if ballot.vote is Vote.VETO and has_evidence(ballot, places) is None:
        return _NO_EVIDENCE + told
    more = len(ballot.blocking) - 1
    return f"{told} (and {more} more)" if more else told


def _dissent(plan: MasterPlan, job: CouncilJob) -> list[str]:
    letters: Mapping[str, str] = job.master_plan.letters if job.master_plan else {}
    told = []
    for entry in plan.dissent:
        letter = entry.field("from")
        who = ", ".join(letters.get(each.strip(), each.strip()) for each in letter.split(","))
        why = entry.field("why")
        told.append(entry.text + (f" ({who})" if who else "") + (f": {why}" if why else ""))
    return told


def _timeline(journal: str) -> list[Moment]:
    found = []
    for line in journal.splitlines():
        try:
            held = json.loads(line)
        except (ValueError, RecursionError):
            continue  # a line that a crash cut off, or that is none of ours
        if isinstance(held, dict) and held.get("kind") in _TOLD:
            keys = ("at", "kind", "subject", "text")
            found.append(Moment(*(str(held.get(key, "")) for key in keys)))
    return found


def _next(job: CouncilJob, items: Sequence[OpenItem], ruled: Collection[str]) -> tuple[Step, ...]:
    retry = f"fairlead job retry {job.id}"
    other = Step("ask for something else", (f'{retry} --request "…"',))
    match job.status:
        case JobStatus.DONE:
            return (Step("see that it holds", (f"fairlead phase verify {job.phase}",)),)
        case JobStatus.FAILED:
            look = Step("see what happened", (f"fairlead job show {job.exec.job}",))
            again = Step("try again; plans that are finished are kept", (retry,))
            return (look, again, other) if job.exec.job else (again, other)
        case JobStatus.BLOCKED:
            what, *first = _first(job, items, ruled)
            code = (job.blocker_reason or "").partition(":")[0]
            left = (
                "only what is named above" if code == Blocker.INTERNAL else "no file of the project"
            )
            drop = Step(f"drop it: {left} was changed, there is nothing to do")
            return (Step(what, (*first, retry)), other, drop)
        case JobStatus.EXECUTING:
            end = Step("end it", (f"fairlead job cancel {job.id}",))
            return (Step("go on", (f"fairlead run --job {job.id}",)), end)
        case _:
            end = Step("stop it for good", (f'fairlead job veto {job.id} --why "…"',))
            is_approved = job.status is JobStatus.APPROVED
            what = "agree to the commands of the plan, and carry it out" if is_approved else "go on"
            command = f"fairlead run --job {job.id}" + (" --approve" if is_approved else "")
            return (Step(what, (command,)), end)


def _first(job: CouncilJob, items: Sequence[OpenItem], ruled: Collection[str]) -> tuple[str, ...]:
    """What helps against the reason for which a job is blocked, and the command before a retry."""
    code, _, why = (job.blocker_reason or "").partition(": ")
    rule = f"fairlead job rule {job.id}"
    match code:
        case Blocker.BUDGET:
            cap = f"fairlead config set fairlead.budget.{cap_of(why)} …"
            return "raise the limit, and try again", cap
        case Blocker.PM_VERIFY if job.pm.verify is not None:
            ids = [each for each in open_checks(job.pm.verify) if each not in ruled]
            told = "answer what is open, and try again" if ids else "try again"
            return told, *(f'{rule} {each} "…"' for each in ids[:1])
        case (
            Blocker.PM_VERIFY
            | Blocker.PLANNING_QUORUM
            | Blocker.REVIEW_QUORUM
            | Blocker.SYNTHESIS_FAILED
        ):
            return "see who answers, and try again", "fairlead doctor agents"
        case Blocker.INTERNAL:
            return (
                "look at what was changed, and try again; what was answered is kept",
                "git status",
            )
        case Blocker.PREFLIGHT:
            return "mend what stands above, and try again", "fairlead doctor"
        case Blocker.OPERATOR_CANCEL | Blocker.OPERATOR_VETO:
            return ("try again; what was answered is kept",)
        case _:
            ids = [each.item.id for each in items if each.item.id not in ruled]
            told = "decide what is open, and try again" if ids else "try again"
            return told, *(f'{rule} {each} "…"' for each in ids[:1])
