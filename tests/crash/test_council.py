"""A whole council job, killed from outside at steps of it, and started again."""

import shutil
from pathlib import Path

import pytest

from tests.support.councils import (
    Outcome,
    a_run,
    a_world,
    calls,
    killed_after,
    outcome_of,
    started,
    stored,
)
from tests.support.figures import record_quick
from tests.support.killing import PATIENCE_SECONDS

HALVES = 2  # two processes share the points
SHARE = 16  # all points are in the long tier


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, Outcome]:
    folder = tmp_path_factory.mktemp("undisturbed")
    fresh = a_world(folder / "fresh")
    whole = shutil.copytree(fresh, folder / "whole", symlinks=True)
    done = a_run(whole)
    assert done.returncode == 0, done.stderr
    return fresh, len(done.stdout.splitlines()), outcome_of(whole)


@pytest.mark.parametrize("half", range(HALVES))
def test_a_job_that_is_killed_ends_with_the_same_ballots_and_nobody_is_asked_twice(
    undisturbed: tuple[Path, int, Outcome], tmp_path: Path, half: int
) -> None:
    fresh, steps, wanted = undisturbed
    points = range(1 + half * SHARE, steps, HALVES * SHARE)
    for point in points:
        world = shutil.copytree(fresh, tmp_path / f"{point}", symlinks=True)
        killed_after(world, point)
        before, made = stored(world), len(calls(world))
        done = a_run(world)
        assert done.returncode == 0, (point, done.stderr)
        assert outcome_of(world) == wanted, point
        assert not before.intersection(calls(world)[made:]), point
    record_quick(
        f"council-killed-{half + 1}",
        "a council job that is killed ends with the same ballots, and no stored answer is asked for",
        {"kill points": len(points), "found": 0},
    )


def test_of_many_starts_for_one_goal_exactly_one_runs(tmp_path: Path) -> None:
    world = a_world(tmp_path / "world")
    runs = [started(world, "run", "Lamps follow the tide", "--approve") for _ in range(6)]
    codes = []
    for each in runs:
        each.communicate(timeout=PATIENCE_SECONDS)
        codes.append(each.returncode)
    assert codes.count(0) == 1
    assert set(codes) == {0, 4}
    assert outcome_of(world).status == "DONE"
