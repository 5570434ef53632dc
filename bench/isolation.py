"""What each step that keeps agents apart from the project costs, per task.

A phase runs in this process with agents that take no time. Git starts are counted, and the
processor time of each step is added up, that of the git processes included. These figures depend
less on a busy machine than waiting times do.
"""

from __future__ import annotations

import resource
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fairlead.execution import perform
from fairlead.vcs.git import Git
from tests.support.execution import ExecutionTrial, a_plan, a_project

TASKS = 8
_STEPS = {
    "prepare": "a worktree of its own for the attempt",
    "tree_of": "reading what the agent left with our own index, and checking the objects it wrote",
    "keep": "a commit on the branch of the attempt",
    "at_commit": "exactly the tracked files before each verify command",
    "is_at": "comparing the files after verify and review",
    "merged": "merging without a checkout",
    "land": "moving the branch",
    "commit_paths": "committing the record",
    "put_away": "removing worktrees and branches",
}
_GUARDS = {
    "record_baseline": "recording what no agent may touch",
    "tampering_question": "comparing it after each call",
}


class _Meter:
    """Adds up git starts and processor time by step; of nested steps only the outer one counts."""

    def __init__(self) -> None:
        self.calls, self.starts = Counter[str](), Counter[str]()
        self.seconds: dict[str, float] = {}
        self._own = threading.local()  # the steps of plans that land beside each other

    def watched(self, step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, measured as this step."""

        def call(*words: Any, **named: Any) -> Any:
            if getattr(self._own, "step", ""):
                return function(*words, **named)
            self._own.step, seconds = step, _cpu_seconds()
            try:
                return function(*words, **named)
            finally:
                self._own.step = ""
                self.calls[step] += 1
                self.seconds[step] = self.seconds.get(step, 0.0) + _cpu_seconds() - seconds

        return call

    def counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function that starts git, counted."""

        def call(*words: Any, **named: Any) -> Any:
            self.starts[getattr(self._own, "step", "")] += 1
            return function(*words, **named)

        return call


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.thread_time() + children.ru_utime + children.ru_stime


def isolation_lines(scratch: Path, bare_seconds: float) -> list[str]:
    """The cost of each step per task, as lines of a page; `bare_seconds` is one bare start."""
    meter = _Meter()
    kept: dict[tuple[object, str], Any] = {}
    watched = [(Git, name, name) for name in _STEPS] + [(perform, name, name) for name in _GUARDS]
    for owner, name, step in watched:
        kept[owner, name] = getattr(owner, name)
        setattr(owner, name, meter.watched(step, getattr(owner, name)))
    kept[Git, "_started"] = Git._started
    Git._started = meter.counted(Git._started)  # type: ignore[method-assign]
    plans = [a_plan(f"01-{at:02d}", f"f{at}.txt") for at in range(2, TASKS + 2)]
    try:
        trial = ExecutionTrial(a_project(scratch / "isolation", *plans), slots=1)
        trial.run()
    finally:
        for (changed, name), function in kept.items():
            setattr(changed, name, function)
    rows = [
        f"| {title} | {meter.calls[step] / TASKS:.1f} | {meter.starts[step] / TASKS:.1f} | "
        f"{meter.seconds.get(step, 0.0) / TASKS / bare_seconds:.1f} |"
        for step, title in (_STEPS | _GUARDS).items()
    ]
    rest = meter.starts[""] / TASKS
    rows.append(f"| everything else, the start and end of the run included | | {rest:.1f} | |")
    return ["| step | times | git starts | work, in bare starts |", "|---|---|---|---|", *rows]
