"""DONE or FAILED: every cell of the table, and what can make a doubtful end a good one."""

from dataclasses import replace

import pytest

from fairlead.model.council import Failed, Guard
from fairlead.model.ending import Ended, classified

DONE = Guard.SUMMARIES_PROVE
CELLS = [
    (3, 0, False, DONE),
    (3, 1, False, Failed.EXIT_NONZERO),
    (3, None, True, Failed.TIMEOUT),
    (2, 0, False, Failed.PARTIAL),
    (2, 1, False, Failed.PARTIAL),
    (2, None, True, Failed.TIMEOUT),
    (0, 0, False, Failed.NO_SUMMARY),
    (0, 1, False, Failed.EXEC_FAILED),
    (0, None, True, Failed.TIMEOUT),
]


@pytest.mark.parametrize(("summaries", "code", "timed_out", "wanted"), CELLS)
def test_summaries_exit_code_and_clock_decide_together(
    summaries: int, code: int | None, timed_out: bool, wanted: str
) -> None:
    assert classified(Ended(3, summaries, code, timed_out)) == (wanted, "")


@pytest.mark.parametrize(
    ("summaries", "wanted"), [(3, Failed.EXIT_NONZERO), (0, Failed.EXEC_FAILED)]
)
def test_a_program_that_says_it_failed_has_failed_whatever_its_exit_code(
    summaries: int, wanted: str
) -> None:
    assert classified(Ended(3, summaries, 0, is_error=True)) == (wanted, "")


def test_nobody_saw_the_end_of_a_process_that_was_killed_with_us() -> None:
    assert classified(Ended(3, 1, None))[0] == Failed.PARTIAL


def test_a_phase_without_plans_is_never_done() -> None:
    assert classified(Ended(0, 0, 0))[0] == Failed.NO_SUMMARY


@pytest.mark.parametrize("code", [1, None])
def test_reconciling_takes_summaries_and_commits_for_proof(code: int | None) -> None:
    ended = Ended(3, 3, code, committed=3, is_clean=True)
    assert classified(ended, "reconcile") == (DONE, "abnormal_end")
    assert classified(ended)[0] == Failed.EXIT_NONZERO
    for lacking in (
        replace(ended, committed=2),
        replace(ended, is_clean=False),
        replace(ended, summaries=2),
    ):
        assert classified(lacking, "reconcile")[0] != DONE
