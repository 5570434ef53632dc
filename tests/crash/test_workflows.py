"""Workflows with roles, killed after a step: the same command ends with the same files."""

import json
from pathlib import Path

import pytest

from tests.support.killing import a_world, copied, killed_after, processes_of, steps_of
from tests.support.repositories import git

DISCUSS = ("phase", "discuss", "1", "--auto")
PLAN = ("phase", "plan", "1", "--auto")
_STEPS = {DISCUSS: 9, PLAN: 14}  # reported steps of a complete run


def left_behind(world: Path) -> dict[str, str]:
    """Every document of the phases, the status of each job, and the running processes."""
    project = world / "project"
    phases = {
        path.name: path.read_text("utf-8")
        for path in sorted((project / ".planning/phases").rglob("*.md"))
    }
    jobs = sorted((project / ".planning/jobs").iterdir())
    statuses = [json.loads((job / "job.json").read_text())["status"] for job in jobs]
    running = [process for job in jobs for process in processes_of(project, job.name)]
    trees = git(project, "worktree", "list").splitlines()
    return {**phases, "jobs": str(statuses), "running": str(running), "trees": str(len(trees))}


def calls_of(world: Path) -> dict[str, int]:
    """The number of calls of each role."""
    counted: dict[str, int] = {}
    for path in sorted((world / "project/.planning/jobs").glob("*/events.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            event = json.loads(line)
            if event["kind"] == "call":
                counted[event["subject"]] = counted.get(event["subject"], 0) + 1
    return counted


def is_the_same_after_a_kill(tmp_path: Path, words: tuple[str, ...], step: int) -> None:
    undisturbed = a_world(tmp_path / "whole", ())
    killed = copied(undisturbed, tmp_path / "killed")
    steps_of(undisturbed, words=words)

    killed_after(killed, step, words=words)
    steps_of(killed, words=words)

    assert left_behind(killed) == left_behind(undisturbed)
    counts = calls_of(killed)
    assert sum(counts.values()) <= sum(calls_of(undisturbed).values()) + 2
    assert max(counts.values()) <= 2


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("words", "step"), [(DISCUSS, 5), (PLAN, 9)])
def test_a_killed_workflow_goes_on_and_asks_nothing_twice_that_was_answered(
    tmp_path: Path, words: tuple[str, ...], step: int
):
    is_the_same_after_a_kill(tmp_path, words, step)


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "step"), [(words, at) for words, most in _STEPS.items() for at in range(1, most + 1)]
)
def test_a_workflow_killed_after_any_step_ends_with_the_same_files(
    tmp_path: Path, words: tuple[str, ...], step: int
):
    is_the_same_after_a_kill(tmp_path, words, step)
