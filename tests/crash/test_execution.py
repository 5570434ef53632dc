"""A phase whose run is killed at a step and started again.

A quick run tries a seeded sample of the steps; `--long` tries all of them.
"""

import json
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Sample
from tests.support.execution import a_plan
from tests.support.figures import record_quick
from tests.support.killing import (
    PATIENCE_SECONDS,
    Result,
    a_world,
    copied,
    killed_after,
    killed_at,
    ledger_of,
    result_of,
    started,
    steps_of,
)
from tests.support.repositories import git

STEPS_TRIED = 1
LANDING_POINTS_TRIED = 2
ONE = (a_plan("01-02", "a.txt"),)
ONE_AT_A_TIME = ("--slots", "1")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, Result]:
    folder = tmp_path_factory.mktemp("undisturbed")
    start = a_world(folder / "fresh")
    copy = copied(start, folder / "whole")
    steps = steps_of(copy, *ONE_AT_A_TIME)
    return start, len(steps), result_of(copy)


def test_a_run_that_is_killed_after_any_step_ends_as_if_it_had_not_been(
    undisturbed: tuple[Path, int, Result], tmp_path: Path, sample: Sample
) -> None:
    start, steps, expected = undisturbed
    points = sample(range(1, steps), STEPS_TRIED)
    for point in points:
        world = copied(start, tmp_path / f"{point}")
        killed_after(world, point, *ONE_AT_A_TIME)
        steps_of(world, *ONE_AT_A_TIME)
        result = result_of(world)
        assert (result.files, result.merges) == (expected.files, expected.merges), point
        assert (result.status, result.left) == ("DONE", 0), point
        assert (result.uncommitted, result.worktrees) == ("", 0), point
        assert result.calls <= expected.calls + 1, point
        assert len(set(result.recorded)) == len(result.recorded), point
        assert expected.calls <= len(result.recorded) <= result.calls, point
    record_quick(
        "engine-killed",
        "a run killed after any step ends as if it had not been, with one paid call more at most",
        {"kill points": len(points), "of": steps - 1, "found": 0},
    )


@pytest.fixture(scope="module")
def landed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, Result, list[str]]:
    folder = tmp_path_factory.mktemp("landed")
    start = a_world(folder / "fresh", ONE)
    copy = copied(start, folder / "whole")
    points = killed_at(copy, 0)
    return start, points, result_of(copy), kept_in(copy)


def test_a_run_that_is_killed_while_it_lands_or_ends_leaves_nothing_for_ever(
    landed: tuple[Path, int, Result, list[str]], tmp_path: Path, sample: Sample
) -> None:
    start, count, expected, names = landed
    points = sample(range(1, count + 1), LANDING_POINTS_TRIED)
    for point in points:
        world = copied(start, tmp_path / f"{point}")
        killed_at(world, point)
        with started(world) as again:
            _, problems = again.communicate(timeout=PATIENCE_SECONDS)
        # A kill after the last commit leaves nothing to do, which the command reports.
        assert again.returncode == 0 or "every plan is done" in problems, (point, problems)
        assert again.returncode in (0, 2), (point, problems)
        result = result_of(world)
        assert (result.files, result.merges, result.calls) == (
            expected.files,
            expected.merges,
            2,
        ), point
        assert (result.status, result.left) == ("DONE", 0), point
        assert (result.uncommitted, result.worktrees) == ("", 0), point
        assert git(world / "project", "branch", "--list", "fairlead/*") == "", point
        assert kept_in(world) == names, point
    record_quick(
        "engine-killed-landing",
        "a run killed at any point of its landing and its end leaves no document uncommitted, no "
        "worktree and no branch",
        {"kill points": len(points), "of": count, "found": 0},
    )


HANGS = """
import json, sys, time
sys.stdin.read()
usage = {"input_tokens": 500_000, "output_tokens": 10_000}
message = {"id": "m1", "content": [{"type": "text", "text": "hm"}], "usage": usage}
print(json.dumps({"type": "assistant", "message": message}), flush=True)
time.sleep(600)
"""


def test_a_paid_call_whose_run_is_killed_is_counted_once(tmp_path: Path) -> None:
    world = a_world(tmp_path / "world", ONE)
    settings = world / "config/fairlead/config.json"
    document = json.loads(settings.read_text())
    hangs = {"argv": [sys.executable, "-c", HANGS], "stream": "claude"}
    document["fairlead"]["agents"]["hangs"] = hangs
    settings.write_text(json.dumps(document))
    with started(world, "--agent", "hangs") as run:
        assert until(
            lambda: any(each.stat().st_size for each in (world / "state").rglob("stdout.log"))
        )
        run.kill()
    steps_of(world, "--agent", "stub")  # another agent than the one that was killed
    result = result_of(world)
    killed, *rest = ledger_of(world / "project")
    assert (killed["verdict"], killed["tokens_in"]) == ("killed", 500_000)
    assert [each["verdict"] for each in rest].count("killed") == 0
    assert (result.status, len(result.recorded)) == ("DONE", 3)


def until(look: Callable[[], bool]) -> bool:
    """Whether a condition becomes true in time."""
    limit = time.monotonic() + PATIENCE_SECONDS
    while not look() and time.monotonic() < limit:
        time.sleep(0.02)
    return look()


def kept_in(world: Path) -> list[str]:
    """The documents in git, independent of the job's name."""
    [job] = (world / "project/.planning/jobs").iterdir()
    listed = git(world / "project", "ls-files", ".planning").replace(job.name, "JOB")
    return sorted(listed.splitlines())


@pytest.mark.walk
def test_many_simultaneous_starts_have_exactly_one_runner(tmp_path: Path) -> None:
    world = a_world(tmp_path / "world")
    runs = [started(world) for _ in range(4)]
    codes = []
    for run in runs:
        run.communicate(timeout=PATIENCE_SECONDS)
        codes.append(run.returncode)
    # Late starts found the phase complete, which is a refusal too.
    assert codes.count(0) >= 1
    assert set(codes) <= {0, 2, 4}
    result = result_of(world)
    assert (result.status, len(result.merges), result.left) == ("DONE", 3, 0)


def test_the_second_start_says_who_runs_since_when(tmp_path: Path) -> None:
    world = a_world(tmp_path / "world")
    first = started(world)
    assert first.stdout is not None
    first.stdout.readline()
    first.send_signal(signal.SIGSTOP)  # otherwise it may end before the second has looked
    second = started(world)
    _, problems = second.communicate(timeout=PATIENCE_SECONDS)
    first.send_signal(signal.SIGCONT)
    first.communicate(timeout=PATIENCE_SECONDS)
    assert second.returncode == 4
    assert f"process {first.pid}" in problems
    assert "since" in problems


def test_an_interrupt_finishes_the_steps_that_run_and_the_next_start_goes_on(
    tmp_path: Path,
) -> None:
    world = a_world(tmp_path / "world")
    with started(world, *ONE_AT_A_TIME) as run:
        assert run.stdout is not None
        for _ in range(3):
            run.stdout.readline()
        run.send_signal(signal.SIGINT)
        output, _ = run.communicate(timeout=PATIENCE_SECONDS)
    assert run.returncode == 6
    assert '"executor-success"' in output
    steps_of(world)
    assert result_of(world).calls == 6
