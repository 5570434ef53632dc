"""All pairs of statuses against the table of the specification, written out once more by hand."""

import itertools
from dataclasses import replace

import pytest

from fairlead.errors import JobTransition
from fairlead.model.council import EDGES, TERMINAL, Blocker, Failed, next_statuses, transition
from fairlead.model.council_job import Ballot, CouncilJob, Vote, moved, with_ballot
from fairlead.model.job import JobStatus
from fairlead.model.plain import plain, revived
from tests.support.council import NOW, a_full_job

LEADS = {
    "NEW": "PM_RUNNING BLOCKED",
    "PM_RUNNING": "RESEARCH_DONE BLOCKED",
    "RESEARCH_DONE": "COUNCIL_PLANNING BLOCKED",
    "COUNCIL_PLANNING": "SYNTHESIZING BLOCKED",
    "SYNTHESIZING": "COUNCIL_REVIEWING BLOCKED",
    "COUNCIL_REVIEWING": "SYNTHESIZING APPROVED BLOCKED",
    "APPROVED": "EXECUTING BLOCKED",
    "EXECUTING": "DONE FAILED",
}
GUARDS = sorted({str(guard) for edge in EDGES for guard in edge.guards})
PAIRS = list(itertools.product(JobStatus, JobStatus))


def a_job(status: JobStatus = JobStatus.NEW) -> CouncilJob:
    return CouncilJob("council-1", "2026-01-01T00:00:00Z", "make it", status=status)


def test_there_are_eleven_statuses_and_seventeen_edges() -> None:
    assert (len(JobStatus), len(PAIRS), len(EDGES)) == (11, 121, 17)
    assert len({(edge.source, edge.target) for edge in EDGES}) == 17
    assert sum(edge.is_extension for edge in EDGES) == 5


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_job_moves_where_the_specification_leads_and_nowhere_else(
    source: JobStatus, target: JobStatus
) -> None:
    job = a_job(source)
    opened = [guard for guard in GUARDS if _moves(job, target, guard)]
    assert bool(opened) == (target in LEADS.get(source, "").split())


@pytest.mark.parametrize(
    ("source", "target"),
    [pair for pair in PAIRS if pair[1] not in LEADS.get(pair[0], "").split()],
)
def test_a_refusal_names_both_statuses_and_what_is_allowed(
    source: JobStatus, target: JobStatus
) -> None:
    with pytest.raises(JobTransition) as refused:
        transition(source, target, "unanimous")
    error = refused.value
    assert (error.source, error.target) == (source, target)
    assert sorted(error.allowed) == sorted(LEADS.get(source, "").split())
    assert source in str(error)
    assert target in str(error)


@pytest.mark.parametrize("status", TERMINAL)
def test_what_is_final_leads_nowhere(status: JobStatus) -> None:
    assert next_statuses(status) == ()


def test_a_refusal_changes_nothing() -> None:
    job = a_full_job()
    before = plain(job)
    with pytest.raises(JobTransition):
        moved(job, JobStatus.EXECUTING, "preflight_ok", NOW)
    assert plain(job) == before


@pytest.mark.parametrize(
    ("source", "target", "guard"),
    [
        ("COUNCIL_REVIEWING", "APPROVED", "revise"),
        ("COUNCIL_REVIEWING", "SYNTHESIZING", "unanimous"),
        ("PM_RUNNING", "BLOCKED", "veto"),
        ("RESEARCH_DONE", "BLOCKED", "budget"),
        ("EXECUTING", "DONE", "partial"),
        ("EXECUTING", "FAILED", "operator_cancel"),
    ],
)
def test_an_edge_is_closed_to_a_guard_that_is_not_its_own(
    source: str, target: str, guard: str
) -> None:
    with pytest.raises(JobTransition, match=f"because of '{guard}'"):
        transition(JobStatus(source), JobStatus(target), guard)


@pytest.mark.parametrize("code", Blocker)
def test_every_blocker_code_has_an_edge_to_blocked(code: Blocker) -> None:
    assert [edge for edge in EDGES if code in edge.guards and edge.target is JobStatus.BLOCKED]


@pytest.mark.parametrize("status", [each for each in JobStatus if each not in TERMINAL])
def test_a_person_ends_a_job_in_every_status_before_execution_as_blocked(status: JobStatus) -> None:
    is_executing = status is JobStatus.EXECUTING
    target = JobStatus.FAILED if is_executing else JobStatus.BLOCKED
    guard = Failed.CANCELLED if is_executing else Blocker.OPERATOR_CANCEL
    assert transition(status, target, guard).target is target


def test_a_blocked_job_says_code_and_text() -> None:
    job = moved(a_job(JobStatus.PM_RUNNING), JobStatus.BLOCKED, "pm_verify", NOW, "C2: no test")
    assert (job.blocker_reason, job.note) == ("pm_verify: C2: no test", "pm_verify: C2: no test")
    assert job.ended_at == NOW


def test_a_failed_job_says_why_in_its_execution() -> None:
    job = moved(a_job(JobStatus.EXECUTING), JobStatus.FAILED, Failed.PARTIAL, NOW)
    assert (job.exec.reason, job.blocker_reason) == ("partial", None)


def test_a_review_begins_with_no_ballots_and_keeps_the_history() -> None:
    job = a_full_job()
    again = moved(
        moved(job, JobStatus.SYNTHESIZING, "revise", NOW),
        JobStatus.COUNCIL_REVIEWING,
        "plan_valid",
        NOW,
    )
    assert (again.council_votes, again.review_round) == ((), job.review_round + 1)
    assert again.cumulative_votes == job.cumulative_votes


def test_a_ballot_of_a_seat_that_was_asked_again_is_the_one_that_counts() -> None:
    job = a_job(JobStatus.COUNCIL_REVIEWING)
    first = Ballot(1, "skeptic", Vote.ABSTAIN, "abc")
    job = with_ballot(with_ballot(job, first, NOW), replace(first, vote=Vote.APPROVE, retry=1), NOW)
    assert [each.vote for each in job.council_votes] == ["APPROVE"]
    assert [(each.vote, each.final) for each in job.cumulative_votes] == [
        ("ABSTAIN", False),
        ("APPROVE", True),
    ]


def test_a_record_survives_the_way_to_its_file_and_back() -> None:
    job = a_full_job()
    assert revived(CouncilJob, plain(job)) == job


def test_a_record_has_the_names_of_the_seed() -> None:
    held = plain(a_full_job())
    wanted = "job_id parent_job_id created_at updated_at status status_since request project_dir phase pm"
    wanted += " council_plans master_plan review_round max_review_rounds council_votes"
    wanted += " cumulative_votes veto blocker_reason exec usage events"
    assert set(wanted.split()) <= set(held)
    assert set(held["council_votes"][0]) >= set("round seat vote plan_sha256 blocking".split())


def _moves(job: CouncilJob, target: JobStatus, guard: str) -> bool:
    try:
        return moved(job, target, guard, NOW).status is target
    except JobTransition:
        return False
