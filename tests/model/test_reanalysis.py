"""Blocked tasks: what they wait for, or why a person has to look."""

import time

import pytest

from fairlead.model.plan import PlanSheet, Task
from fairlead.model.reanalysis import Unsolved, Waits, reanalysed, task_edges

PLANS = (
    PlanSheet("04-01", "04", 1, tasks=(Task(1, "a", files=("src/a.ts",)), Task(2, "b"))),
    PlanSheet("04-02", "04", 2, tasks=(Task(1, "c", files=("config.json",)), Task(2, "d"))),
    PlanSheet("04-03", "04", 3, tasks=(Task(1, "e", files=("src/e.ts",)),)),
)
EDGES = task_edges(PLANS, {"04-02": ("04-01",)})


def test_tasks_follow_each_other_and_the_plans_that_theirs_needs() -> None:
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
def test_the_words_of_a_blocker_name_a_task_or_its_file(blocker: str, on: str) -> None:
    assert reanalysed("04-02-02", blocker, PLANS, (), EDGES) == Waits(on)


@pytest.mark.parametrize(
    ("blocked", "blocker", "approved", "told"),
    [
        ("04-02-02", "something is odd", (), "names no task or file"),
        ("04-02-02", "", (), "names no task or file"),
        ("04-02-02", "Task 2 is odd", (), "names no task or file"),
        ("04-02-02", "src/e.ts is missing", ("04-03-01",), "state inconsistent"),
        ("04-01-01", "needs 04-02-01", (), "plans wait for each other"),
        ("04-01-01", "config.json is missing", (), "04-02-01"),
    ],
)
def test_what_cannot_be_solved_is_told(
    blocked: str, blocker: str, approved: tuple[str, ...], told: str
) -> None:
    found = reanalysed(blocked, blocker, PLANS, approved, EDGES)

    assert isinstance(found, Unsolved)
    assert told in found.reason


@pytest.mark.parametrize(
    "bait", ["a/" * 50_000, "04-01-" * 30_000, "a." * 50_000, "task " * 40_000]
)
def test_no_blocker_takes_long_to_read(bait: str) -> None:
    before = time.process_time()
    reanalysed("04-02-02", bait, PLANS, (), EDGES)

    assert time.process_time() - before < 0.3
