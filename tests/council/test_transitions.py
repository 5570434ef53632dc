"""All pairs of statuses, against a second copy of the table in the specification."""

import itertools
from dataclasses import replace

import pytest

from fairlead.core.serialization import plain, revived
from fairlead.council.errors import JobTransition
from fairlead.council.model import (
    TERMINAL,
    TRANSITIONS,
    Ballot,
    Blocker,
    CouncilJob,
    FailureReason,
    Vote,
    next_statuses,
    transition_between,
    with_ballot,
    with_status,
)
from fairlead.jobs.model import JobStatus
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
GUARDS = sorted({str(guard) for transition in TRANSITIONS for guard in transition.guards})
PAIRS = list(itertools.product(JobStatus, JobStatus))


def a_job(status: JobStatus = JobStatus.NEW) -> CouncilJob:
    return CouncilJob("council-1", "2026-01-01T00:00:00Z", "make it", status=status)


def test_there_are_eleven_statuses_and_seventeen_transitions() -> None:
    assert (len(JobStatus), len(PAIRS), len(TRANSITIONS)) == (11, 121, 17)
    assert len({(transition.source, transition.target) for transition in TRANSITIONS}) == 17
    assert sum(transition.is_extension for transition in TRANSITIONS) == 5


def test_only_the_transitions_of_the_specification_are_allowed() -> None:
    moving = [
        (source, target)
        for source, target in PAIRS
        if any(_moves(a_job(source), target, guard) for guard in GUARDS)
    ]
    assert moving == [pair for pair in PAIRS if pair[1] in LEADS.get(pair[0], "").split()]


def test_a_refused_transition_names_the_allowed_ones() -> None:
    for source, target in PAIRS:
        allowed = LEADS.get(source, "").split()
        if target in allowed:
            continue
        with pytest.raises(JobTransition) as refused:
            transition_between(source, target, "unanimous")
        error = refused.value
        assert (error.source, error.target) == (source, target)
        assert sorted(error.allowed) == sorted(allowed)
        assert source in str(error)
        assert target in str(error)


@pytest.mark.parametrize("status", TERMINAL)
def test_a_final_status_has_no_transition(status: JobStatus) -> None:
    assert next_statuses(status) == ()


def test_a_refused_transition_changes_nothing() -> None:
    job = a_full_job()
    before = plain(job)
    with pytest.raises(JobTransition):
        with_status(job, JobStatus.EXECUTING, "preflight_ok", NOW)
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
def test_a_transition_needs_one_of_its_own_guards(source: str, target: str, guard: str) -> None:
    with pytest.raises(JobTransition, match=f"because of '{guard}'"):
        transition_between(JobStatus(source), JobStatus(target), guard)


@pytest.mark.parametrize("code", Blocker)
def test_every_blocker_code_has_a_transition_to_blocked(code: Blocker) -> None:
    assert [
        transition
        for transition in TRANSITIONS
        if code in transition.guards and transition.target is JobStatus.BLOCKED
    ]


@pytest.mark.parametrize("status", [each for each in JobStatus if each not in TERMINAL])
def test_a_person_can_end_a_job_in_every_open_status(status: JobStatus) -> None:
    is_executing = status is JobStatus.EXECUTING
    target = JobStatus.FAILED if is_executing else JobStatus.BLOCKED
    guard = FailureReason.CANCELLED if is_executing else Blocker.OPERATOR_CANCEL
    assert transition_between(status, target, guard).target is target


def test_a_blocked_job_records_code_and_text() -> None:
    job = with_status(
        a_job(JobStatus.PM_RUNNING), JobStatus.BLOCKED, "pm_verify", NOW, "C2: no test"
    )
    assert (job.blocker_reason, job.note) == ("pm_verify: C2: no test", "pm_verify: C2: no test")
    assert job.ended_at == NOW


def test_a_failed_job_records_the_reason_in_its_execution() -> None:
    job = with_status(a_job(JobStatus.EXECUTING), JobStatus.FAILED, FailureReason.PARTIAL, NOW)
    assert (job.exec.reason, job.blocker_reason) == ("partial", None)


def test_a_new_review_starts_without_ballots_and_keeps_the_history() -> None:
    job = a_full_job()
    again = with_status(
        with_status(job, JobStatus.SYNTHESIZING, "revise", NOW),
        JobStatus.COUNCIL_REVIEWING,
        "plan_valid",
        NOW,
    )
    assert (again.council_votes, again.review_round) == ((), job.review_round + 1)
    assert again.cumulative_votes == job.cumulative_votes


def test_the_second_ballot_of_a_seat_is_final() -> None:
    job = a_job(JobStatus.COUNCIL_REVIEWING)
    first = Ballot(1, "skeptic", Vote.ABSTAIN, "abc")
    job = with_ballot(with_ballot(job, first, NOW), replace(first, vote=Vote.APPROVE, retry=1), NOW)
    assert [each.vote for each in job.council_votes] == ["APPROVE"]
    assert [(each.vote, each.final) for each in job.cumulative_votes] == [
        ("ABSTAIN", False),
        ("APPROVE", True),
    ]


def test_a_record_survives_a_round_trip() -> None:
    job = a_full_job()
    assert revived(CouncilJob, plain(job)) == job


def test_a_record_has_the_keys_of_the_specification() -> None:
    record = plain(a_full_job())
    expected = "job_id parent_job_id created_at updated_at status status_since request project_dir phase pm"
    expected += " council_plans master_plan review_round max_review_rounds council_votes"
    expected += " cumulative_votes veto blocker_reason exec usage events"
    assert set(expected.split()) <= set(record)
    assert set(record["council_votes"][0]) >= set("round seat vote plan_sha256 blocking".split())


def _moves(job: CouncilJob, target: JobStatus, guard: str) -> bool:
    try:
        return with_status(job, target, guard, NOW).status is target
    except JobTransition:
        return False
