"""Builds the report of a council job, for whatever interface shows it.

Every number follows from the stored record, plans and journal: the votes are counted again, not
copied. What the council lacked is part of the report.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from fairlead.agents.budget import cap_of
from fairlead.core.serialization import convert
from fairlead.core.values import dataclass, replace
from fairlead.council.bridge import execution_of
from fairlead.council.brief import open_checks
from fairlead.council.folder import rulings_of
from fairlead.council.master_plan import MasterPlan, read_master_plan
from fairlead.council.model import AnswerStatus, Ballot, Blocker, CouncilJob, Ruling, SeatPlan, Vote
from fairlead.council.paths import plan_version
from fairlead.council.seats import SEAT_NAMES, degradations, valid_seats
from fairlead.council.tally import (
    ItemAnswer,
    OpenItem,
    Review,
    VoteTally,
    open_items,
    tally,
    veto_fault,
)
from fairlead.jobs.folder import proven_records
from fairlead.jobs.ledger import Spending
from fairlead.jobs.model import Job, JobStatus, Question
from fairlead.jobs.paths import EVENTS, JOB_RECORD, job_path

if TYPE_CHECKING:
    from fairlead.jobs.kinds import JobAccess

_TIMELINE_KINDS = ("moved", "reused", "refused", "stall", "touched", "veto", "cancel", "ruled")


@dataclass(frozen=True, slots=True)
class SeatRow:
    """One seat in one line: its last answer."""

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
class TimelineEntry:
    """An event of the job, as the journal holds it."""

    at: str = ""
    kind: str = ""
    subject: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class NextStep:
    """Something that a person can do now, with its commands."""

    what: str
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CouncilReport:
    """A council job as interfaces show it."""

    job: CouncilJob
    headline: str
    degraded: tuple[str, ...]
    seats_title: str
    seats: tuple[SeatRow, ...]
    open: tuple[OpenItem, ...]
    answers: tuple[ItemAnswer, ...]
    settled: tuple[OpenItem, ...]  # items of earlier rounds that no seat repeated
    dissent: tuple[str, ...]
    timeline: tuple[TimelineEntry, ...]
    questions: tuple[Question, ...]
    next: tuple[NextStep, ...]


def council_report(
    job: CouncilJob,
    plans: Sequence[str] = (),
    journal: str = "",
    questions: Sequence[Question] = (),
    rulings: Sequence[Ruling] = (),  # given after the job ended, for a retry
) -> CouncilReport:
    """Build a report from the record, the versions of the plan and the journal of a job."""
    all_rulings = {ruling.id: ruling for ruling in (*job.rulings, *rulings)}
    job = replace(job, rulings=tuple(all_rulings.values()))
    versions = [read_master_plan(text) for text in plans] or [read_master_plan("")]
    plan = versions[-1]
    answers = {answer.id: answer for version in versions for answer in version.answers}
    counted = _counted(job, plan)
    items = open_items(job.cumulative_votes, job.voted_round)
    lacking = degradations(job.council_plans, _final_ballots(job))
    return CouncilReport(
        job=job,
        headline=_headline(job, counted),
        degraded=tuple(dict.fromkeys((*job.degraded, *lacking))),
        seats_title=_seats_title(job, counted),
        seats=tuple(_seat_row(job, name, plan.places) for name in SEAT_NAMES)
        if job.council_plans
        else (),
        open=items,
        answers=tuple(answers.values()),
        settled=_settled(job, items),
        dissent=tuple(_dissent(plan, job)),
        timeline=tuple(_timeline(journal)),
        questions=tuple(questions),
        next=_next(job, items, {ruling.id for ruling in rulings}, questions),
    )


def plan_versions(jobs: JobAccess, job: CouncilJob) -> tuple[str, ...]:
    """Return every version of the master plan, the first one first."""
    texts: list[str] = []
    last = job.master_plan.version if job.master_plan else 0
    while len(texts) < last:
        path = job_path(job.id, plan_version(len(texts) + 1))
        loaded = jobs.files.load_for_display(path)
        if loaded is None:
            break  # the record may name a version whose file was deleted
        texts.append(loaded.text)
    return tuple(texts)


def report_of(jobs: JobAccess, job: CouncilJob) -> CouncilReport:
    """Build the report of a council job from its folder."""
    loaded = jobs.files.load_for_display(job_path(job.id, EVENTS))
    journal = loaded.text if loaded else ""
    folder = jobs.folder(job.id)
    rulings = rulings_of(folder)
    if folder.is_edited:
        edited = f"{JOB_RECORD} was changed outside Fairlead: this is the job as it was recorded"
        job = replace(job, degraded=(edited, *job.degraded))
    execution = execution_of(job, proven_records(jobs.files, Job, jobs.folder))
    if execution is not None and not job.exec.deadline:  # the record has what a host spent
        spending = Spending(jobs.files)
        spent, _ = spending.by(execution.id, "", is_rehearsed=job.is_rehearsed)
        job = replace(job, usage=job.usage.with_spent("execution", spent))
    return council_report(job, plan_versions(jobs, job), journal, jobs.questions(job), rulings)


def _settled(job: CouncilJob, items: Sequence[OpenItem]) -> tuple[OpenItem, ...]:
    open_ids = {entry.item.id for entry in items}
    settled = {
        entry.item.id: entry
        for number in range(1, job.voted_round)
        for entry in open_items(job.cumulative_votes, number)
        if entry.item.id not in open_ids
    }
    return tuple(settled.values())


def _final_ballots(job: CouncilJob) -> tuple[Ballot, ...]:
    final = [ballot for ballot in job.cumulative_votes if ballot.final]
    return tuple(ballot for ballot in final if ballot.round == job.voted_round)


def _counted(job: CouncilJob, plan: MasterPlan) -> VoteTally | None:
    """Count the last round; None before there was one."""
    if job.master_plan is None or not job.review_round:
        return None
    ballots = _final_ballots(job)
    sha256 = ballots[0].plan_sha256 if ballots else job.master_plan.sha256
    return tally(Review(ballots, job.voted_round, sha256, plan.places))


def _headline(job: CouncilJob, counted: VoteTally | None) -> str:
    execution = job.exec
    match job.status:
        case JobStatus.NEW:
            return "not started yet"
        case JobStatus.PM_RUNNING:
            return f"the PM makes the brief, cycle {job.pm.cycle}"
        case JobStatus.RESEARCH_DONE:
            return "the brief is frozen"
        case JobStatus.COUNCIL_PLANNING:
            return f"{len(valid_seats(job.council_plans))} of {len(SEAT_NAMES)} seats have planned"
        case JobStatus.EXECUTING | JobStatus.DONE | JobStatus.FAILED:
            is_timed = execution.deadline and not job.ended_at
            until = f", until {(execution.deadline or '')[11:19]}" if is_timed else ""
            done = f"{execution.summaries} of {execution.plans} plans done"
            return f"phase {job.phase or '?'}: {done}{until}"
        case _ if counted is not None:
            votes = _votes(job, counted)
            return f"Round {job.voted_round} of {job.max_review_rounds}: {votes}"
        case _:
            return _planned(job) if job.council_plans else "no plan yet"


def _planned(job: CouncilJob) -> str:
    return f"{len(valid_seats(job.council_plans))} of {len(SEAT_NAMES)} seats planned"


def _votes(job: CouncilJob, counted: VoteTally) -> str:
    """Say the count in words; a seat that has not been asked yet is not absent."""
    pending = len(SEAT_NAMES) - len(_final_ballots(job))
    if not pending:
        return str(counted)
    asked = replace(counted, absent=counted.absent - pending)
    when = "to come" if job.status is JobStatus.COUNCIL_REVIEWING else "not asked"
    return f"{asked}, {pending} {when}"


def _seats_title(job: CouncilJob, counted: VoteTally | None) -> str:
    if counted is None:
        return _planned(job)
    voted = len(SEAT_NAMES) - counted.absent
    title = f"{voted} of {len(SEAT_NAMES)} seats voted on version {job.voted_round}"
    return f"{title}: {_votes(job, counted)}"


def _seat_row(job: CouncilJob, name: str, places: Sequence[str]) -> SeatRow:
    ballot = next((cast for cast in _final_ballots(job) if cast.seat == name), None)
    plan = job.council_plans.get(name)
    answer: Ballot | SeatPlan
    if ballot is not None:
        answer, tokens = ballot, ballot.tokens_in + ballot.tokens_out
        said = "absent" if ballot.vote is Vote.ABSTAIN else str(ballot.vote)
        reason = _reason(ballot, places)
    elif plan is not None:
        answer, tokens = plan, plan.tokens
        is_planned = plan.status in (AnswerStatus.OK, AnswerStatus.REPAIRED)
        said = "planned" if is_planned else str(plan.status)
        reason = plan.note or ("cut at the limit" if plan.truncated else "")
    else:
        return SeatRow(name, "waiting")
    return SeatRow(
        name,
        said,
        answer.model,
        answer.family,
        answer.ms,
        tokens,
        answer.cost_usd,
        reason,
        answer.raw,
    )


def _reason(ballot: Ballot, places: Sequence[str]) -> str:
    if not ballot.blocking:
        return ballot.note or (f"{len(ballot.advisory)} remarks" if ballot.advisory else "")
    first, *others = ballot.blocking
    text = f"{first.where}: {first.why}" if first.where else first.why
    if fault := veto_fault(ballot, places):
        return f"{fault}: {text}"
    return f"{text} (and {len(others)} more)" if others else text


def _dissent(plan: MasterPlan, job: CouncilJob) -> list[str]:
    letters = job.master_plan.letters if job.master_plan else {}
    lines = []
    for entry in plan.dissent:
        sources = [letter.strip() for letter in entry.field("from").split(",")]
        seats = ", ".join(letters.get(letter, letter) for letter in sources)
        why = entry.field("why")
        lines.append(entry.text + (f" ({seats})" if seats else "") + (f": {why}" if why else ""))
    return lines


def _timeline(journal: str) -> list[TimelineEntry]:
    entries = []
    for line in journal.splitlines():
        try:
            entry, _ = convert(TimelineEntry, json.loads(line))
        except (ValueError, RecursionError):
            continue  # a crash cut the line off, or something else wrote it
        if entry and entry.kind in _TIMELINE_KINDS:
            entries.append(entry)
    return entries


def _next(
    job: CouncilJob,
    items: Sequence[OpenItem],
    ruled: Collection[str],
    questions: Sequence[Question] = (),
) -> tuple[NextStep, ...]:
    resume, retry = job.command, f"fairlead job retry {job.id}"
    other = NextStep("ask for something else", (f'{retry} --request "…"',))
    match job.status:
        case JobStatus.DONE if job.is_rehearsed:
            return (NextStep("see where the rehearsal stands", ("fairlead rehearsal show",)),)
        case JobStatus.DONE:
            return (NextStep("see that it holds", (f"fairlead phase verify {job.phase}",)),)
        case JobStatus.FAILED:
            show = NextStep("see what happened", (f"fairlead job show {job.exec.job}",))
            again = NextStep("try again; plans that are finished are kept", (retry,))
            return (show, again, other) if job.exec.job else (again, other)
        case JobStatus.BLOCKED:
            what, *commands = _remedy(job, items, ruled)
            is_internal = (job.blocker_reason or "").startswith(Blocker.INTERNAL)
            changed = "only what is named above" if is_internal else "no file of the project"
            drop = NextStep(f"drop it: {changed} was changed, there is nothing to do")
            return (NextStep(what, (*commands, retry)), other, drop)
        case JobStatus.EXECUTING:
            end = NextStep("end it", (f"fairlead job cancel {job.id}",))
            waiting = [question for question in questions if not question.answer]
            answers = tuple(question.command(job.id, waiting) for question in waiting)
            if answers:
                return (NextStep("answer what it waits for, then go on", (*answers, resume)), end)
            return (NextStep("go on", (resume,)), end)
        case JobStatus.APPROVED:
            what = "agree to the commands of the plan, and carry it out"
            step = NextStep(what, (f"{resume} --approve",))
        case _:
            step = NextStep("go on", (resume,))
    return step, NextStep("stop it for good", (f'fairlead job veto {job.id} --why "…"',))


def _remedy(job: CouncilJob, items: Sequence[OpenItem], ruled: Collection[str]) -> tuple[str, ...]:
    """Return what helps against the reason of a blocked job, and the commands before a retry."""
    code, _, why = (job.blocker_reason or "").partition(": ")
    match code:
        case Blocker.BUDGET:
            cap = f"fairlead config set fairlead.budget.{cap_of(why)} …"
            return "raise the limit, and try again", cap
        case Blocker.PM_VERIFY if job.pm.verify is not None:
            what, ids = "answer what is open", [*open_checks(job.pm.verify)]
        case (
            Blocker.PM_VERIFY
            | Blocker.PLANNING_QUORUM
            | Blocker.REVIEW_QUORUM
            | Blocker.SYNTHESIS_FAILED
        ):
            return "see who answers, and try again", "fairlead doctor agents"
        case Blocker.INTERNAL:
            what = "look at what was changed, and try again; what was answered is kept"
            return what, "git status"
        case Blocker.PREFLIGHT:
            return "fix what is named above, and try again", "fairlead doctor"
        case Blocker.OPERATOR_CANCEL | Blocker.OPERATOR_VETO:
            return ("try again; what was answered is kept",)
        case _:
            what, ids = "decide what is open", [entry.item.id for entry in items]
    undecided = [name for name in ids if name not in ruled]
    if not undecided:
        return ("try again",)
    return f"{what}, and try again", f'fairlead job rule {job.id} {undecided[0]} "…"'
