"""A council job that is killed from outside at a step, and started again.

A quick run tries a seeded sample of the steps; `--long` tries all of them.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Sample
from tests.support import council_child as child
from tests.support.council_runs import CouncilProject, a_council
from tests.support.councils import a_run, a_world, calls, killed_after, outcome_of, started, stored
from tests.support.figures import record_quick
from tests.support.killing import PATIENCE_SECONDS

STEPS_TRIED = 1  # each costs about as much as a whole job
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
    start = a_council(folder / "fresh").project
    undisturbed_copy = shutil.copytree(start, folder / "whole/project", symlinks=True)
    steps = children.killed_after(undisturbed_copy, EVER)
    return start, steps, child.outcome_of(CouncilProject(undisturbed_copy))


def test_a_job_that_is_killed_at_a_step_ends_as_if_it_had_not_been(
    undisturbed: tuple[Path, int, tuple[object, ...]],
    children: child.Children,
    tmp_path: Path,
    sample: Sample,
) -> None:
    start, steps, expected = undisturbed
    assert expected[0] == "DONE"
    points = sample(range(1, steps), STEPS_TRIED)
    for point in points:
        project = shutil.copytree(start, tmp_path / f"{point}/project", symlinks=True)
        children.killed_after(project, point)
        council = CouncilProject(project)
        job = council.service.folder(child.JOB)
        before = set(job.answers())
        council.run(child.JOB, may_execute=True)
        again = {each.text for each in council.events if each.kind == "call"}
        assert not before & again, point
        assert child.outcome_of(council) == expected, point
        shutil.rmtree(tmp_path / f"{point}")
    record_quick(
        "council-killed",
        "a council job killed at a step ends with the same ballots, work and outcome, and no "
        "stored answer is asked for again",
        {"kill points": len(points), "of": steps - 1, "found": 0},
    )


@pytest.mark.walk
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


@pytest.mark.walk
def test_of_many_starts_for_one_goal_exactly_one_runs(tmp_path: Path) -> None:
    world = a_world(tmp_path / "world")
    runs = [started(world, "run", "Lamps follow the tide", "--approve") for _ in range(3)]
    codes = []
    for each in runs:
        each.communicate(timeout=PATIENCE_SECONDS)
        codes.append(each.returncode)
    assert codes.count(0) == 1
    assert set(codes) == {0, 4}
    assert outcome_of(world).status == "DONE"
