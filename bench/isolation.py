"""What each step that keeps agents apart from the project costs, per task.

A phase runs in this process with agents that take no time. Git starts are counted, and the
processor time of each step is added up, that of the git processes included. These figures depend
less on a busy machine than waiting times do. Agents and verify commands run under supervisors; their
cost is measured with a command that does nothing.
"""

from __future__ import annotations

import resource
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from fairlead.execution import perform, tamper_check
from fairlead.execution.commands import Shell
from fairlead.vcs.git import Git
from tests.support.execution import ExecutionTrial, a_plan, a_project

TASKS = 8
_STEPS = {
    "prepare": "a worktree of its own for the attempt",
    "require_intact": "comparing the objects that were written with their ids",
    "tree_of": "reading what the agent left with our own index",
    "keep": "a commit on the branch of the attempt",
    "at_commit": "exactly the tracked files before each verify command",
    "differences": "comparing the files after verify and review",
    "merged": "merging without a checkout",
    "land": "moving the branch",
    "commit_paths": "committing the record",
    "put_away": "freeing worktrees and removing branches",
}
_GUARDS = {
    "record_baseline": "recording what no agent may touch",
    "tampering_question": "comparing it after each call",
}
_SUPERVISED = 4  # the executor, the architect and two verify commands


class _Meter:
    """Adds up git starts and processor time by step; a step inside another counts for itself."""

    def __init__(self) -> None:
        self.calls, self.starts = Counter[str](), Counter[str]()
        self.seconds: dict[str, float] = {}
        self._own = threading.local()  # the steps of plans that land beside each other

    def watched(self, step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, measured as this step."""

        def call(*words: Any, **named: Any) -> Any:
            own = self._own
            outer, inner = getattr(own, "step", ""), getattr(own, "inner", 0.0)
            own.step, own.inner, began = step, 0.0, _cpu_seconds()
            try:
                return function(*words, **named)
            finally:
                spent = _cpu_seconds() - began
                self.calls[step] += 1
                self.seconds[step] = self.seconds.get(step, 0.0) + spent - own.inner
                own.step, own.inner = outer, inner + spent

        return call

    def counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function that starts git, counted."""

        def call(*words: Any, **named: Any) -> Any:
            self.starts[getattr(self._own, "step", "")] += 1
            return function(*words, **named)

        return call


def _cpu_seconds() -> float:
    """The processor time of this thread and of the processes that all threads started."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.thread_time() + children.ru_utime + children.ru_stime


def _all_seconds() -> float:
    """The processor time of all threads and of the processes they started."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _supervised_seconds(scratch: Path) -> float:
    """The processor time of a command that does nothing, under its supervisor."""
    began = _cpu_seconds()
    for _ in range(TASKS):
        Shell().run(":", str(scratch), timedelta(minutes=1))
    return (_cpu_seconds() - began) / TASKS


def isolation_lines(scratch: Path, bare_seconds: float) -> list[str]:
    """The cost of each step per task, as lines of a page; `bare_seconds` is one bare start."""
    meter = _Meter()
    kept: dict[tuple[object, str], Any] = {}
    watched: list[tuple[object, str]] = [(Git, name) for name in _STEPS]
    watched += [(module, name) for module in (perform, tamper_check) for name in _GUARDS]
    for owner, name in watched:
        kept[owner, name] = getattr(owner, name)
        setattr(owner, name, meter.watched(name, getattr(owner, name)))
    kept[Git, "_started"] = Git._started
    Git._started = meter.counted(Git._started)  # type: ignore[method-assign]
    plans = [a_plan(f"01-{at:02d}", f"f{at}.txt") for at in range(2, TASKS + 2)]
    project = a_project(scratch / "isolation", *plans)
    began = _all_seconds()
    try:
        ExecutionTrial(project, slots=1).run()
    finally:
        for (changed, name), function in kept.items():
            setattr(changed, name, function)
    rest_seconds = _all_seconds() - began - sum(meter.seconds.values())
    rows = [
        f"| {title} | {meter.calls[step] / TASKS:.1f} | {meter.starts[step] / TASKS:.1f} | "
        f"{meter.seconds.get(step, 0.0) / TASKS / bare_seconds:.1f} |"
        for step, title in (_STEPS | _GUARDS).items()
    ]
    supervised = _SUPERVISED * _supervised_seconds(scratch) / bare_seconds
    rows.append(
        f"| a supervisor for each agent and each command | {_SUPERVISED:.1f} | 0.0 | {supervised:.1f} |"
    )
    rest, work = meter.starts[""] / TASKS, rest_seconds / TASKS / bare_seconds
    title = "everything else: records, STATE.md, decisions, start and end of the run"
    rows.append(f"| {title} | | {rest:.1f} | {work:.1f} |")
    return ["| step | times | git starts | work, in bare starts |", "|---|---|---|---|", *rows]
