"""Whole phases by real processes: killed at pairs of steps, killed at random, started all at once."""

import json
import random
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from prove.frame import Tally, Trial
from tests.support.execution import PlanText, a_plan
from tests.support.figures import PRODUCT
from tests.support.killing import (
    a_world,
    copied,
    killed_after,
    processes_in,
    processes_of,
    result_of,
    started,
)
from tests.support.repositories import git

PAIRS, PHASES, ROUNDS, STARTS = 300, 200, 20, 64
SECONDS = 5  # second kills that follow one first kill
TEN = tuple(
    a_plan(f"01-{at:02d}", f"f{at}.txt", depends_on=[f"01-{at - 3:02d}"] if at > 5 else [])
    for at in range(2, 12)
)
_STEPS = 8 * len(TEN)  # fewer than a run of ten plans tells
_PATIENCE_SECONDS = 900.0
REHEARSED = ("--rehearse", "--here")


@dataclass(frozen=True, slots=True)
class ExecutionProof:
    """A claim about whole runs; a case is one phase, or several that begin alike."""

    name: str
    claim: str
    unit: str
    count: int
    # What was found, in one phase or in each of several; nothing: it is as it should be.
    try_one: Callable[[Path, random.Random], str | Iterator[str]]
    covers: tuple[str, ...] = PRODUCT
    workers: int = 1

    def why_not(self) -> str:
        """Processes are found through /proc."""
        return "" if Path("/proc/self/environ").exists() else "no /proc here"

    def cases(self, seed: int, scratch: Path) -> Sequence[str]:
        """Numbered, and random from there on."""
        del scratch
        return [f"{seed}|{number}" for number in range(self.count)]

    @contextmanager
    def opened(self, scratch: Path) -> Iterator[Trial]:
        """A folder for each proof."""
        folder = scratch / self.name
        folder.mkdir(parents=True, exist_ok=True)
        yield partial(self._tried, folder)

    def _tried(self, folder: Path, case: str) -> Tally:
        place = folder / case.replace("|", "-")
        found = self.try_one(place, random.Random(case))  # noqa: S311
        phases = [found] if isinstance(found, str) else list(found)
        told = tuple(f"{self.name} {case}: {each}" for each in phases if each)
        if not told:
            shutil.rmtree(place)
        return Tally(len(phases), told)


def killed_twice(place: Path, chance: random.Random) -> Iterator[str]:
    """Ten plans: killed, resumed, killed, resumed to the end.

    What the first kill left is kept, and put back in its place for each second one: a copy
    elsewhere would not do, as git's worktrees know where they are.
    """
    world = a_world(place / "world", TEN)
    first = chance.randrange(1, _STEPS)
    killed_after(world, first)
    _wait_for_the_last(world)
    copied(world, place / "left")
    for _ in range(SECONDS):
        shutil.rmtree(world)
        copied(place / "left", world)
        second = chance.randrange(1, max(2, _STEPS - first))
        killed_after(world, second)
        found = _judged(world, TEN)
        yield f"killed after {first} and {second}: {found}" if found else ""


def _wait_for_the_last(world: Path) -> None:
    """Until the keepers of a killed run have ended what they kept, and git what it was at."""
    [job] = (world / "project/.planning/jobs").iterdir()
    limit = time.monotonic() + _PATIENCE_SECONDS
    while processes_of(world / "project", job.name) or processes_in(world):
        if time.monotonic() > limit:
            raise TimeoutError(world)
        time.sleep(0.05)


def rehearsed(place: Path, chance: random.Random) -> str:
    """A rehearsed phase of a random shape, killed at least twice."""
    plans = [
        a_plan(
            f"01-{at:02d}",
            *(f"f{at}-{each}.txt" for each in range(chance.randint(1, 2))),
            depends_on=[f"01-{chance.randrange(1, at):02d}"]
            if at > 1 and chance.random() < 0.5
            else [],
        )
        for at in range(1, chance.randint(2, 4) + 1)
    ]
    world = a_world(place, plans)
    for path in world.glob("project/.planning/phases/*/*-PLAN.md"):
        path.write_text(path.read_text().replace("must_haves:", "rehearsed: true\nmust_haves:"))
    for _ in range(chance.randint(2, 4)):
        killed_after(world, chance.randint(1, 6), *REHEARSED)
    return _judged(world, plans, *REHEARSED)


def all_at_once(place: Path, chance: random.Random) -> str:
    """Many starts at the same moment: one of them runs."""
    del chance
    world = a_world(place)
    runs = [started(world) for _ in range(STARTS)]
    ended = [(run.communicate(timeout=_PATIENCE_SECONDS), run.returncode) for run in runs]
    ran = [said for (said, _), _ in ended if '"kind": "started"' in said]
    refused = [
        (code, problems) for (said, problems), code in ended if '"kind": "started"' not in said
    ]
    jobs = list((world / "project/.planning/jobs").iterdir())
    if len(ran) != 1 or len(jobs) != 1:
        return f"{len(ran)} runs and {len(jobs)} jobs"
    # Who comes after the end is told that nothing is left (2); who comes before, who runs (4).
    others = [f"{code}: {problems[-600:]}" for code, problems in refused if code not in (2, 4)]
    return f"others ended with {others}" if others else _outcome(world, 3)


def _judged(world: Path, plans: Sequence[PlanText], *more: str) -> str:
    with started(world, *more) as run:
        said, problems = run.communicate(timeout=_PATIENCE_SECONDS)
    if run.returncode:
        return f"exit {run.returncode}: {(problems or said)[-300:]}"
    return _outcome(world, len(plans))


def _outcome(world: Path, plans: int) -> str:
    """What is wrong with what a job left behind."""
    result = result_of(world)
    project = world / "project"
    if result.status != "DONE" or result.left:
        return f"{result.status}, {result.left} processes left"
    if len(result.merges) != plans or len(set(result.merges)) != plans:
        return f"merged: {result.merges}"
    gates = [json.loads(path.read_text()) for path in project.glob(".planning/jobs/*/gates/*.json")]
    kept = set(git(project, "rev-list", "HEAD").split())
    lost = [gate["task"] for gate in gates if gate["runs"][-1]["commit"] not in kept]
    if lost or result.uncommitted or result.worktrees:
        left = f"{result.worktrees} worktrees left, not committed: {result.uncommitted}"
        return f"lost {lost}, {left}"
    return ""


EXECUTIONS = (
    ExecutionProof(
        "killed pairs",
        "a phase of ten plans that is killed at any two steps ends as if nothing had happened",
        "phases",
        PAIRS // SECONDS,
        killed_twice,
    ),
    ExecutionProof(
        "rehearsed phases",
        "a rehearsed phase that is killed at least twice has one correct outcome, no process left "
        "and no commit lost",
        "phases",
        PHASES,
        rehearsed,
    ),
    ExecutionProof(
        "simultaneous starts",
        f"of {STARTS} simultaneous starts exactly one runs",
        "rounds",
        ROUNDS,
        all_at_once,
    ),
)
