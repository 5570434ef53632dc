"""Complete phases with real processes, killed at pairs of steps or at random, or started at once."""

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
SECONDS = 5  # second kills per first kill
TEN = tuple(
    a_plan(f"01-{at:02d}", f"f{at}.txt", depends_on=[f"01-{at - 3:02d}"] if at > 5 else [])
    for at in range(2, 12)
)
_STEPS = 8 * len(TEN)  # fewer than the reported steps of ten plans
_PATIENCE_SECONDS = 900.0
REHEARSED = ("--rehearse", "--here")


@dataclass(frozen=True, slots=True)
class ExecutionProof:
    """A claim about complete runs; a case is one phase, or several with the same start."""

    name: str
    claim: str
    unit: str
    count: int
    # Returns the fault of a phase, or of each of several phases; empty if there is none.
    try_one: Callable[[Path, random.Random], str | Iterator[str]]
    covers: tuple[str, ...] = PRODUCT
    workers: int = 1

    def why_not(self) -> str:
        """Processes are found through /proc."""
        return "" if Path("/proc/self/environ").exists() else "no /proc here"

    def cases(self, seed: int, scratch: Path) -> Sequence[str]:
        """Numbered cases, each of which seeds its own randomness."""
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
        faults = self.try_one(place, random.Random(case))  # noqa: S311
        phases = [faults] if isinstance(faults, str) else list(faults)
        findings = tuple(f"{self.name} {case}: {each}" for each in phases if each)
        if not findings:
            shutil.rmtree(place)
        return Tally(len(phases), findings)


def killed_twice(place: Path, rng: random.Random) -> Iterator[str]:
    """Ten plans: killed, resumed, killed, resumed to the end.

    The files after the first kill are kept and put back for each second one. A copy would not
    work, because git's worktrees store their absolute paths.
    """
    world = a_world(place / "world", TEN)
    first = rng.randrange(1, _STEPS)
    killed_after(world, first)
    _wait_for_the_last(world)
    copied(world, place / "left")
    for _ in range(SECONDS):
        shutil.rmtree(world)
        copied(place / "left", world)
        second = rng.randrange(1, max(2, _STEPS - first))
        killed_after(world, second)
        fault = _judged(world, TEN)
        yield f"killed after {first} and {second}: {fault}" if fault else ""


def _wait_for_the_last(world: Path) -> None:
    """Wait until the supervisors of a killed run and its git commands have ended."""
    [job] = (world / "project/.planning/jobs").iterdir()
    limit = time.monotonic() + _PATIENCE_SECONDS
    while processes_of(world / "project", job.name) or processes_in(world):
        if time.monotonic() > limit:
            raise TimeoutError(world)
        time.sleep(0.05)


def rehearsed(place: Path, rng: random.Random) -> str:
    """A rehearsed phase of a random shape, killed at least twice."""
    plans = [
        a_plan(
            f"01-{at:02d}",
            *(f"f{at}-{each}.txt" for each in range(rng.randint(1, 2))),
            depends_on=[f"01-{rng.randrange(1, at):02d}"] if at > 1 and rng.random() < 0.5 else [],
        )
        for at in range(1, rng.randint(2, 4) + 1)
    ]
    world = a_world(place, plans)
    for path in world.glob("project/.planning/phases/*/*-PLAN.md"):
        path.write_text(path.read_text().replace("must_haves:", "rehearsed: true\nmust_haves:"))
    for _ in range(rng.randint(2, 4)):
        killed_after(world, rng.randint(1, 6), *REHEARSED)
    return _judged(world, plans, *REHEARSED)


def all_at_once(place: Path, rng: random.Random) -> str:
    """Many starts at the same time: one of them runs."""
    del rng
    world = a_world(place)
    runs = [started(world) for _ in range(STARTS)]
    ended = [(run.communicate(timeout=_PATIENCE_SECONDS), run.returncode) for run in runs]
    ran = [output for (output, _), _ in ended if '"kind": "started"' in output]
    refused = [
        (code, problems) for (output, problems), code in ended if '"kind": "started"' not in output
    ]
    jobs = list((world / "project/.planning/jobs").iterdir())
    if len(ran) != 1 or len(jobs) != 1:
        return f"{len(ran)} runs and {len(jobs)} jobs"
    # A start after the end exits with 2 (nothing left), one before it with 4 (already running).
    others = [f"{code}: {problems[-600:]}" for code, problems in refused if code not in (2, 4)]
    return f"others ended with {others}" if others else _outcome(world, 3)


def _judged(world: Path, plans: Sequence[PlanText], *more: str) -> str:
    with started(world, *more) as run:
        output, problems = run.communicate(timeout=_PATIENCE_SECONDS)
    if run.returncode:
        return f"exit {run.returncode}: {(problems or output)[-300:]}"
    return _outcome(world, len(plans))


def _outcome(world: Path, plans: int) -> str:
    """The faults in the result of a job."""
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
