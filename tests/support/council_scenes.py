"""Four typical ends of council jobs; golden files hold their pages."""

import json
from collections.abc import Iterable
from dataclasses import replace

from fairlead.agents.budget import Cost
from fairlead.council.model import (
    AnswerStatus,
    Ballot,
    BriefCheck,
    Category,
    CouncilJob,
    CouncilUsage,
    ExecutionRecord,
    Item,
    MasterPlanRecord,
    PmRecord,
    SeatPlan,
    Veto,
    Vote,
)
from fairlead.council.report import CouncilReport, council_report
from fairlead.jobs.model import JobStatus
from tests.support.council import SEATS, a_master_plan, a_step

OLD, NEW = "41" * 32, "b7" * 32
MODELS = {
    "architect": ("claude-opus-4", "claude"),
    "builder": ("gpt-5-codex", "gpt"),
    "skeptic": ("gemini-2.5-pro", "gemini"),
    "security": ("claude-opus-4", "claude"),
    "operator": ("gpt-5", "gpt"),
    "advocate": ("claude-sonnet-4", "claude"),
}
LEAK = Item(
    "security-1",
    Category.SECURITY,
    "step 2",
    "the link that signs a person in is written to the access log, so that everybody who may read "
    "logs can sign in as anybody for a quarter of an hour",
    "keep the token out of the query string",
    "critical",
)
STORM = Item(
    "skeptic-1",
    Category.CORRECTNESS,
    "step 3",
    "a mail server that is down is asked again without a limit, and the queue grows until the disk is full",
    "at most five tries, then a dead letter",
    "high",
)
FLAG = Item(
    "operator-1",
    Category.OPS,
    "step 3",
    "there is no way back once it is on",
    "a setting",
    "medium",
)
PLAN = a_master_plan(
    (
        a_step(
            "1", "app/links.py, tests/test_links.py", title="links that hold for a quarter hour"
        ),
        a_step("2", "app/routes.py", "R1, R2", title="two routes: ask for a link, use it"),
    ),
    (a_step("3", "app/mail.py", title="mails are sent from a queue"),),
    goal="People sign in with a link that is mailed to them.",
)
ANSWERED = a_master_plan(
    (
        a_step(
            "1", "app/links.py, tests/test_links.py", title="links that hold for a quarter hour"
        ),
        a_step("2", "app/routes.py", "R1, R2", title="two routes: ask for a link, use it by POST"),
    ),
    (a_step("3", "app/mail.py", title="mails are sent from a queue"),),
    answers="| security-1 | changed | step 2 takes the token by POST |\n"
    "| skeptic-1 | declined | the queue of the framework stops by itself after a day |\n"
    "| operator-1 | changed | step 3 reads a setting |",
    goal="People sign in with a link that is mailed to them.",
)


def _ballot(
    seat: str, vote: Vote, round_: int, sha256: str, *items: Item, **more: object
) -> Ballot:
    model, family = MODELS[seat]
    at = SEATS.index(seat)
    ballot = Ballot(
        round_,
        seat,
        vote,
        sha256,
        items,
        model=model,
        family=family,
        tokens_in=9100 + 37 * at,
        tokens_out=310 + 90 * len(items) + 11 * at,
        cost_usd=0.03 + 0.004 * at,
        ms=8400 + 2700 * at,
        raw=f"raw/r{round_}/{seat}.md",
    )
    return replace(ballot, **more)  # type: ignore[arg-type]


def _round(number: int, sha256: str, *special: Ballot) -> tuple[Ballot, ...]:
    by_seat = {ballot.seat: ballot for ballot in special}
    return tuple(by_seat.get(seat) or _ballot(seat, Vote.APPROVE, number, sha256) for seat in SEATS)


def _job(status: JobStatus, *rounds: tuple[Ballot, ...]) -> CouncilJob:
    plans = {
        seat: SeatPlan("…", f"raw/r0/{seat}.md", tokens=3100, model=model, family=family, ms=41000)
        for seat, (model, family) in MODELS.items()
    }
    usage = CouncilUsage(cap_usd=5.0)
    for stage, tokens, usd in (
        ("pm", 18200, 0.09),
        ("planning", 61400, 0.48),
        ("synthesis", 31800 * len(rounds), 0.31 * len(rounds)),
        ("review", 57900 * len(rounds), 0.24 * len(rounds)),
    ):
        usage = usage.with_spent(stage, Cost(tokens, usd))
    history = tuple(ballot for each in rounds for ballot in each)
    sha256 = rounds[-1][0].plan_sha256
    return CouncilJob(
        "j_20260412_0007",
        "2026-04-12T09:00:00Z",
        "Let people sign in with a link that we mail to them",
        updated_at="2026-04-12T09:31:08Z",
        status=status,
        status_since="2026-04-12T09:31:08Z",
        pm=PmRecord(
            1, "pm/refined.md", "pm/audit.md", "pm/research.md", BriefCheck(True), "brief.md", OLD
        ),
        council_plans=plans,
        master_plan=MasterPlanRecord(
            "master_plan.md",
            len(rounds),
            sha256,
            1240,
            letters=dict(zip("ABCDEF", SEATS, strict=True)),
        ),
        review_round=len(rounds),
        council_votes=rounds[-1],
        cumulative_votes=history,
        usage=usage,
    )


def _journal(rounds: int, *ending: tuple[str, str]) -> str:
    moves = [
        ("09:00:00", "PM_RUNNING"),
        ("09:03:12", "RESEARCH_DONE"),
        ("09:03:12", "COUNCIL_PLANNING"),
        ("09:06:40", "SYNTHESIZING"),
    ]
    for at in range(rounds):
        moves.append((f"09:{9 + 8 * at:02d}:15", "COUNCIL_REVIEWING"))
        moves += [(f"09:{11 + 8 * at}:02", "SYNTHESIZING")] if at + 1 < rounds else []
    lines = _events([*moves, *ending])
    return "".join(f"{line}\n" for line in lines)


def _events(moves: Iterable[tuple[str, str]]) -> Iterable[str]:
    for at, text in moves:
        event = {"at": f"2026-04-12T{at}Z", "kind": "moved", "subject": "j_20260412_0007"}
        yield json.dumps({**event, "text": text})


def approved() -> CouncilReport:
    """Two rounds, then all six; one family too few would be said, here are three."""
    first = _round(
        1,
        OLD,
        _ballot("security", Vote.VETO, 1, OLD, replace(LEAK, severity="medium")),
        _ballot("operator", Vote.REVISE, 1, OLD, FLAG),
    )
    job = _job(JobStatus.APPROVED, first, _round(2, NEW))
    return council_report(job, (PLAN, ANSWERED), _journal(2, ("09:31:08", "APPROVED")))


def deadlocked() -> CouncilReport:
    """Three rounds, and one seat that cannot be convinced; one did not answer at the end."""
    rounds = [
        _round(1, OLD, _ballot("skeptic", Vote.REVISE, 1, OLD, STORM, FLAG)),
        _round(2, OLD, _ballot("skeptic", Vote.REVISE, 2, OLD, STORM)),
        _round(
            3,
            NEW,
            _ballot("skeptic", Vote.REVISE, 3, NEW, STORM),
            _ballot(
                "advocate",
                Vote.ABSTAIN,
                3,
                NEW,
                status=AnswerStatus.ABSENT,
                tokens_in=0,
                tokens_out=0,
                cost_usd=0.0,
                ms=180_000,
                retry=1,
                note="no answer within 180 s, twice, nor from the stand-in",
            ),
        ),
    ]
    reason = "deadlock_rounds: not unanimous after 3 rounds"
    job = replace(_job(JobStatus.BLOCKED, *rounds), blocker_reason=reason)
    return council_report(job, (PLAN, ANSWERED), _journal(3, ("09:31:08", f"BLOCKED: {reason}")))


def vetoed() -> CouncilReport:
    """The security seat, with evidence, in the first round; all models are of one family."""
    ballots = tuple(
        replace(each, model="claude-opus-4", family="claude")
        for each in _round(1, OLD, _ballot("security", Vote.VETO, 1, OLD, LEAK))
    )
    job = _job(JobStatus.BLOCKED, ballots)
    plans = {
        seat: replace(plan, model="claude-opus-4", family="claude")
        for seat, plan in job.council_plans.items()
    }
    reason = f"veto: the security seat, step 2: {LEAK.why}"
    job = replace(
        job,
        council_plans=plans,
        blocker_reason=reason,
        veto=Veto("security", 1, LEAK.where, LEAK.why, LEAK.severity),
    )
    return council_report(job, (PLAN,), _journal(1, ("09:31:08", "BLOCKED: veto")))


def failed() -> CouncilReport:
    """Approved at once; two of three plans were carried out."""
    job = replace(
        _job(JobStatus.FAILED, _round(1, OLD)),
        phase="03",
        exec=ExecutionRecord(
            1,
            started_at="2026-04-12T09:12:00Z",
            exit_code=1,
            plans=3,
            summaries=2,
            reason="partial",
            job="execute-03-20260412-091200",
            stdout_tail="03-02 approved\n03-03 task 1: attempt 3 of 3\n03-03 task 1: FAILED\n",
            stderr_tail="E   ConnectionRefusedError: [Errno 111] Connection refused\n"
            "1 failed, 11 passed in 2.41s\n",
        ),
    )
    ending = (("09:11:40", "APPROVED"), ("09:12:00", "EXECUTING"), ("09:31:08", "FAILED: partial"))
    return council_report(job, (PLAN,), _journal(1, *ending))


SCENES = {"approved": approved, "deadlocked": deadlocked, "vetoed": vetoed, "failed": failed}
