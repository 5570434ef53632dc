"""DONE or FAILED: every combination of summaries, exit code and timeout."""

from dataclasses import replace

import pytest

from fairlead.council.decide import ExecutionEnd, execution_outcome
from fairlead.council.model import FailureReason, TransitionGuard

DONE = TransitionGuard.SUMMARIES_PROVE
CELLS = [
    (3, 0, False, DONE),
    (3, 1, False, FailureReason.EXIT_NONZERO),
    (3, None, True, FailureReason.TIMEOUT),
    (2, 0, False, FailureReason.PARTIAL),
    (2, 1, False, FailureReason.PARTIAL),
    (2, None, True, FailureReason.TIMEOUT),
    (0, 0, False, FailureReason.NO_SUMMARY),
    (0, 1, False, FailureReason.EXEC_FAILED),
    (0, None, True, FailureReason.TIMEOUT),
]


@pytest.mark.parametrize(("summaries", "code", "timed_out", "expected"), CELLS)
def test_summaries_exit_code_and_timeout_decide_the_outcome(
    summaries: int, code: int | None, timed_out: bool, expected: str
) -> None:
    assert execution_outcome(ExecutionEnd(3, summaries, code, timed_out)) == (expected, "")


@pytest.mark.parametrize(
    ("summaries", "expected"), [(3, FailureReason.EXIT_NONZERO), (0, FailureReason.EXEC_FAILED)]
)
def test_a_reported_error_outweighs_exit_code_zero(summaries: int, expected: str) -> None:
    assert execution_outcome(ExecutionEnd(3, summaries, 0, is_error=True)) == (expected, "")


def test_an_execution_without_exit_code_is_partial() -> None:
    assert execution_outcome(ExecutionEnd(3, 1, None))[0] == FailureReason.PARTIAL


def test_a_phase_without_plans_is_never_done() -> None:
    assert execution_outcome(ExecutionEnd(0, 0, 0))[0] == FailureReason.NO_SUMMARY


@pytest.mark.parametrize("code", [1, None])
def test_the_reconcile_policy_accepts_summaries_with_commits(code: int | None) -> None:
    ended = ExecutionEnd(3, 3, code, committed=3, is_clean=True)
    assert execution_outcome(ended, "reconcile") == (DONE, "abnormal_end")
    assert execution_outcome(ended)[0] == FailureReason.EXIT_NONZERO
    for lacking in (
        replace(ended, committed=2),
        replace(ended, is_clean=False),
        replace(ended, summaries=2),
    ):
        assert execution_outcome(lacking, "reconcile")[0] != DONE
