"""A whole council job, killed from outside at every step of it, and started again."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import council_child as child
from tests.support.council_table import Meetings, a_meeting
from tests.support.councils import a_run, a_world, calls, killed_after, outcome_of, started, stored
from tests.support.figures import record_quick
from tests.support.killing import PATIENCE_SECONDS

PARTS = 6  # which processes share; each point costs about as much as a whole job
EVER = 10_000


@pytest.fixture(scope="module")
def children() -> Iterator[child.Children]:
    with child.Children() as found:
        yield found


@pytest.fixture(scope="module")
def undisturbed(
    tmp_path_factory: pytest.TempPathFactory, children: child.Children
) -> tuple[Path, int, tuple[object, ...]]:
    folder = tmp_path_factory.mktemp("undisturbed")
    fresh = a_meeting(folder / "fresh").project
    whole = shutil.copytree(fresh, folder / "whole/project", symlinks=True)
    steps = children.killed_after(whole, EVER)
    return fresh, steps, child.outcome_of(Meetings(whole))


@pytest.mark.parametrize("part", range(PARTS))
def test_a_job_that_is_killed_at_a_step_ends_as_if_it_had_not_been(
    undisturbed: tuple[Path, int, tuple[object, ...]],
    children: child.Children,
    tmp_path: Path,
    part: int,
) -> None:
    fresh, steps, wanted = undisturbed
    assert wanted[0] == "DONE"
    points = range(1 + part, steps, PARTS)
    for point in points:
        project = shutil.copytree(fresh, tmp_path / f"{point}/project", symlinks=True)
        children.killed_after(project, point)
        table = Meetings(project)
        job = table.council.files_of(child.JOB)
        before = set(job.answers())
        table.run(child.JOB, may_execute=True)
        again = {each.text for each in table.happened if each.kind == "call"}
        assert not before & again, point
        assert child.outcome_of(table) == wanted, point
        shutil.rmtree(tmp_path / f"{point}")
    record_quick(
        f"council-killed-{part + 1}",
        "a council job killed at a step ends with the same ballots, work and outcome, and no "
        "stored answer is asked for again",
        {"kill points": len(points), "found": 0},
    )


def test_the_command_with_real_processes_is_killed_and_goes_on(tmp_path: Path) -> None:
    world = a_world(tmp_path / "world")
    for steps in (5, 24):
        killed_after(world, steps)
    before, made = stored(world), len(calls(world))
    done = a_run(world)
    assert done.returncode == 0, done.stderr
    found = outcome_of(world)
    assert (found.status, found.left, len(found.merges), found.phases) == ("DONE", 0, 2, 2)
    assert not before.intersection(calls(world)[made:])


def test_of_many_starts_for_one_goal_exactly_one_runs(tmp_path: Path) -> None:
    world = a_world(tmp_path / "world")
    runs = [started(world, "run", "Lamps follow the tide", "--approve") for _ in range(4)]
    codes = []
    for each in runs:
        each.communicate(timeout=PATIENCE_SECONDS)
        codes.append(each.returncode)
    assert codes.count(0) == 1
    assert set(codes) == {0, 4}
    assert outcome_of(world).status == "DONE"
