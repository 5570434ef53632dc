"""Random walks of runs, after each of which STATE.md must match books kept apart from it.

A walk executes one phase whose plans have tasks of equal names. In each run a drawn part of the
tasks succeeds, fails or is blocked, and a run may be stopped by a person, end with an error of the
agent or be a rehearsal. `try_killed_run` ends a run in a process of its own with SIGKILL.
"""

import tempfile
from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from random import Random

from fairlead.agents.model import AgentCall
from fairlead.core.concurrency import OneTimeEvent
from fairlead.jobs.model import JobStatus
from tests.support.execution import (
    ExecutionTrial,
    FakeAgent,
    PlanText,
    a_plan,
    listed_files,
    succeeds,
)
from tests.support.killing import a_world, killed_at, ran, result_of
from tests.support.repositories import a_repository
from tests.support.state_books import Books
from tests.support.trees import documents, read_tree
from tests.support.walks import homes, run_quietly

RUNS = 6
_TASK = "Task 1: Write tests"
_ENDS = ("whole", "whole", "stopped", "broken", "rehearsed")
_KILL_POINTS = 60


def try_run_walk(seed: int, number: int) -> str:
    """Take one walk; return the first fault with the runs that led to it, or an empty string."""
    with tempfile.TemporaryDirectory(prefix="runs-") as scratch:
        folder = Path(scratch, "project")
        folder.mkdir()
        with homes(Path(scratch, "home")), chdir(folder):
            return RunWalk(folder, Random(f"{seed}/{number}")).fault()


class RunWalk:
    """One walk through one project."""

    def __init__(self, folder: Path, random: Random) -> None:
        self._folder = folder
        self._random = random
        self._books = Books(folder)
        self._runs: list[str] = []
        self._calls = 0
        self._outcomes: dict[str, str] = {}  # by file, which belongs to one plan

    def fault(self) -> str:
        """The fault after the first run that leaves one; empty after a good walk."""
        self._begin()
        for _ in range(RUNS):
            if all(is_done for _, is_done in self._books.plans("1")):
                break
            end = self._random.choice(_ENDS)
            faults = [self._run(end), *self._books.run_faults(is_whole=end == "whole")]
            if any(faults):
                return f"{'; '.join(filter(None, faults))}, after: {'; '.join(self._runs)}"
        return ""

    def _begin(self) -> None:
        run_quietly("init", "Runs", "--yes")
        run_quietly("state", "add-blocker", "--text", f"{_TASK}: supplier on strike")
        self._books.person_typed(f"{_TASK}: supplier on strike")
        [home] = self._folder.glob(".planning/phases/01-*")
        for at in range(1, self._random.randint(2, 4) + 1):
            plan = a_plan(f"01-{at:02d}", f"{at}.txt")
            (home / f"{plan.id}-PLAN.md").write_text(_renamed(plan), "utf-8")
        run_quietly("state", "sync")
        a_repository(self._folder, {"README.md": "runs\n"})

    def _run(self, end: str) -> str:
        self._runs.append(end)
        if end == "rehearsed":
            before = documents(read_tree(self._folder))
            run_quietly("phase", "execute", "1", "--rehearse", "--approve")
            is_same = documents(read_tree(self._folder)) == before
            return "" if is_same else "a rehearsal changed the project"
        for plan, is_done in self._books.plans("1"):
            if not is_done:
                outcome = self._random.choice(("success", "success", "failure", "blocked"))
                self._outcomes[f"{plan}.txt"] = outcome
                self._runs[-1] += f" {plan}:{outcome}"
        stop, last = OneTimeEvent(), self._random.randint(1, 3)
        self._calls = 0
        trial = ExecutionTrial(
            self._folder, FakeAgent(lambda order, _: self._act(order, end, stop, last))
        )
        try:
            if [job for job in trial.jobs.open_jobs() if job.state == "waiting"]:
                trial.cancel()  # what failed is tried again by a new job
            report = trial.run(stop)
        except RuntimeError:
            return "" if end == "broken" else "a run ended with an error"
        is_done = all(is_done for _, is_done in self._books.plans("1"))
        is_said = report.job.status is JobStatus.DONE
        return "" if is_done is is_said else f"{report.job.status} and all done: {is_done}"

    def _act(
        self, order: AgentCall, end: str, stop: OneTimeEvent, last: int
    ) -> Mapping[str, object]:
        self._calls += 1
        if self._calls % last == 0 and end == "stopped":
            stop.set()
        if self._calls % last == 0 and end == "broken":
            raise RuntimeError("the agent is broken")
        [path] = listed_files(order) or [""]
        outcome = self._outcomes.get(path, "success")
        if order.is_read_only or outcome == "success":
            return succeeds(order, 0)
        return {"status": outcome, "done_criteria_met": False, "evidence": "", "error": "no data"}


def _renamed(plan: PlanText) -> str:
    """The text of a plan whose task has the name that all tasks have."""
    return plan.text.replace(f"Task 1: make {plan.tasks[0][0]}", _TASK)


def try_killed_run(seed: int, number: int) -> str:
    """Kill a run before a drawn action, look, and continue it; return the fault."""
    point = Random(f"{seed}/{number}").randint(1, _KILL_POINTS)
    with tempfile.TemporaryDirectory(prefix="killed-") as scratch:
        world = a_world(Path(scratch))
        killed_at(world, point)
        ran(world)
        faults = [*Books(world / "project").run_faults()]
        faults += [] if result_of(world).status == "DONE" else ["the continued run is not DONE"]
        return f"killed at {point}: {'; '.join(faults)}" if faults else ""
