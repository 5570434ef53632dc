"""Judging: which task a blocked one waits for, and whether a test runner ran any test."""

import time

import pytest

from fairlead.execution.judge import (
    UnknownBlocker,
    WaitsForTask,
    analyse_blocker,
    ran_no_test,
    task_edges,
)
from fairlead.plans.model import PlanDocument, Task

PLANS = (
    PlanDocument("04-01", "04", 1, tasks=(Task(1, "a", files=("src/a.ts",)), Task(2, "b"))),
    PlanDocument("04-02", "04", 2, tasks=(Task(1, "c", files=("config.json",)), Task(2, "d"))),
    PlanDocument("04-03", "04", 3, tasks=(Task(1, "e", files=("src/e.ts",)),)),
)
EDGES = task_edges(PLANS, {"04-02": ("04-01",)})


def test_a_task_follows_the_one_before_it_and_the_plans_that_its_plan_needs() -> None:
    assert EDGES == {
        "04-01-01": (),
        "04-01-02": ("04-01-01",),
        "04-02-01": ("04-01-02",),
        "04-02-02": ("04-02-01",),
        "04-03-01": (),
    }


@pytest.mark.parametrize(
    ("blocker", "on"),
    [
        ("needs 04-03-01 first", "04-03-01"),
        ("needs 04-03:task-1", "04-03-01"),
        ("file src/e.ts is missing", "04-03-01"),
        ("`./src/e.ts` does not exist.", "04-03-01"),
        ("cannot find src/e.ts.", "04-03-01"),
        ("config.json is missing", "04-02-01"),
        ("Task 1 is not done", "04-02-01"),
    ],
)
def test_a_report_names_a_task_by_id_by_file_or_by_number(blocker: str, on: str) -> None:
    assert analyse_blocker("04-02-02", blocker, PLANS, (), EDGES) == WaitsForTask(on)


@pytest.mark.parametrize(
    ("blocked", "blocker", "approved", "reason"),
    [
        ("04-02-02", "something is odd", (), "names no task or file"),
        ("04-02-02", "", (), "names no task or file"),
        ("04-02-02", "Task 2 is odd", (), "names no task or file"),
        ("04-02-02", "src/e.ts is missing", ("04-03-01",), "state inconsistent"),
        ("04-01-01", "needs 04-02-01", (), "04-02-01"),
        ("04-01-01", "config.json is missing", (), "04-02-01"),
    ],
)
def test_a_blocker_without_a_solution_gives_a_reason_for_a_person(
    blocked: str, blocker: str, approved: tuple[str, ...], reason: str
) -> None:
    cause = analyse_blocker(blocked, blocker, PLANS, approved, EDGES)

    assert isinstance(cause, UnknownBlocker)
    assert reason in cause.reason


@pytest.mark.parametrize(
    "report", ["a/" * 50_000, "04-01-" * 30_000, "a." * 50_000, "task " * 40_000]
)
def test_a_long_report_is_searched_quickly(report: str) -> None:
    before = time.process_time()
    analyse_blocker("04-02-02", report, PLANS, (), EDGES)

    assert time.process_time() - before < 0.3


@pytest.mark.parametrize(
    "output",
    [
        "collected 0 items\n\n============ no tests ran in 0.01s ============",
        "\n----------\nRan 0 tests in 0.000s\n\nOK",
        "\n  0 passing (1ms)\n",
        "No tests found, exiting with code 0\n",
        "No test files found, exiting with code 0",
        "Test Suites: 0 total\nTests:       0 total\n",
        "\n0 examples, 0 failures\n",
        "0 runs, 0 assertions, 0 failures, 0 errors, 0 skips",
        "1..0 # no tests",
        "?   \texample.org/thing\t[no test files]\n",
        "testing: warning: no tests to run\nPASS\nok  \texample.org/thing\t0.002s [no tests to run]",
        "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored",
    ],
)
def test_a_test_run_without_tests_is_recognised(output: str) -> None:
    assert ran_no_test(output)


@pytest.mark.parametrize(
    "output",
    [
        "",
        "all good",
        "12 passed in 0.31s",
        "running 0 tests\n\nrunning 3 tests\ntest result: ok. 3 passed; 0 failed",
        "?   \texample.org/a\t[no test files]\nok  \texample.org/b\t0.004s",
        "?   \texample.org/a\t[no test files]\nok  \texample.org/b\t(cached)",
        "Ran 4 tests in 0.002s\n\nOK",
        "TAP version 13\nok 1 - it works\n1..1",
        "Tests:       2 passed, 2 total",
        "the file says: no tests were needed here",
    ],
)
def test_a_run_with_tests_or_without_a_test_runner_is_accepted(output: str) -> None:
    assert ran_no_test(output) == ""
