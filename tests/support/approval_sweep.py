"""Kills `planning approve` at any system call and checks that each module has one issue.

Only the command is killed; a running `gh` goes on, as it would after a real kill. Then the command
runs again. The sequence of calls depends a little on how fast `gh` answers, so a fault may miss
its call; the result of such an undisturbed run is checked as well.
"""

import fcntl
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fairlead.planphase.documents import read_exec, read_plan
from fairlead.store.staging import PAST
from fairlead.vcs.github import marker_in, marker_of
from tests.support.approvals import EXEC, PLAN, PLAN_ID, module_id, plan_text, put_plan
from tests.support.gh import ScriptedGh
from tests.support.programs import Command, Outcome, fairlead, run
from tests.support.strace import Call, Injection, NothingInjected, from_the_lock_on, trace
from tests.support.subjects import PROJECT
from tests.support.trees import put_tree, read_tree, shape_of

NAMES = ("Auth Core", "Audit Log")
KILL = "signal=KILL"


@dataclass(frozen=True, slots=True)
class Killed:
    """The result of one kill."""

    has_struck: bool
    wrong: tuple[str, ...]


class ApprovalRig:
    """A plan that is ready for approval, and the system calls of an undisturbed approval."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.source = scratch / "source"
        put_plan(self.source / PROJECT, plan_text(NAMES))
        ScriptedGh.put(self.source / "gh")
        (self.source / "home").mkdir()
        self._known: dict[frozenset[tuple[str, bytes]], tuple[str, ...]] = {}
        self.calls = self._calls()

    def _calls(self) -> tuple[Call, ...]:
        run(self._approve(self._world("first")))  # bytecode is cached from now on
        traced = trace(self._approve(self._world("second")), alone=True)
        assert traced.outcome.code == 0, traced.outcome.describe()
        return from_the_lock_on(traced.calls)

    def killed_at(self, name: str, number: int) -> Killed:
        """Kill an approval before one call, run it again and return what is wrong."""
        with tempfile.TemporaryDirectory(prefix="world-", dir=self.scratch) as folder:
            world = put_tree(self.source, Path(folder) / "w")
            has_struck = True
            try:
                trace(self._approve(world), Injection(name, number, KILL), {name}, alone=True)
            except NothingInjected:
                has_struck = False
            return Killed(has_struck, self._afterwards(world))

    def _afterwards(self, world: Path) -> tuple[str, ...]:
        """The faults after a second run; each state that a kill leaves is tried only once."""
        if _is_running(world):
            return self._run_again(world)
        state = shape_of(read_tree(world / PROJECT)) | shape_of(read_tree(world / "gh" / "issues"))
        if state not in self._known:
            self._known[state] = self._run_again(world)
        return self._known[state]

    def _run_again(self, world: Path) -> tuple[str, ...]:
        again = run(self._approve(world))
        next_one = run(fairlead().command(world / PROJECT, "exec", "register", "human", "ada"))
        if next_one.code:
            return (f"the next command does not work ({next_one.describe()})",)
        return tuple(_wrong(world, again))

    def _world(self, name: str) -> Path:
        return put_tree(self.source, self.scratch / name / "w")

    def _approve(self, world: Path) -> Command:
        command = fairlead().command(world / PROJECT, "planning", "approve")
        path = ScriptedGh(world / "gh").path
        return replace(command, environment={**command.environment, "PATH": path})


def sampled(calls: Sequence[Call], count: int) -> list[Call]:
    """At most `count` calls, evenly spread."""
    step = max(len(calls) / count, 1)
    return [calls[int(at * step)] for at in range(min(count, len(calls)))]


def _is_running(world: Path) -> bool:
    """Whether an orphaned `gh` still holds the lock."""
    lock = world / PROJECT / ".claude" / ".fairlead" / "session-approval"
    if not lock.exists():
        return False
    with lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _doubled(world: Path) -> list[str]:
    texts = [str(issue["body"]) for issue in ScriptedGh(world / "gh").issues()]
    counts = Counter(marker_in(text) for text in texts)
    return [f"{count} issues with {marker}" for marker, count in counts.items() if count > 1]


def _wrong(world: Path, again: Outcome) -> list[str]:
    wrong = _doubled(world)
    if again.code not in (0, 4):
        return [*wrong, f"the second run does not work ({again.describe()})"]
    plan = read_plan((world / PROJECT / PLAN).read_text("utf-8"))
    by_marker = {
        marker_in(str(issue["body"])): f"#{issue['number']}"
        for issue in ScriptedGh(world / "gh").issues()
    }
    expected = [by_marker.get(marker_of(PLAN_ID, module_id(name))) for name in NAMES]
    if [module.issue for module in plan.modules] != expected or len(by_marker) != len(NAMES):
        wrong.append(f"issues {by_marker}, numbers {[each.issue for each in plan.modules]}")
    if not (plan.is_complete and plan.status == "approved" and plan.approved_hash):
        wrong.append("the plan is not approved")
    if (again.code == 4) and "already approved" not in again.text:
        wrong.append(f"refused for another reason ({again.describe()})")
    execution = world / PROJECT / EXEC
    exec_file = read_exec(execution.read_text("utf-8")) if execution.exists() else None
    if exec_file is None or [each.issue for each in exec_file.modules] != expected:
        wrong.append("the exec file does not have every module with its issue")
    service = world / PROJECT / ".claude" / ".fairlead"
    names = {each.name for each in service.iterdir()}
    strange = {name for name in names - _USUAL if not name.startswith(PAST)}
    return [*wrong, *(f"left behind: {name}" for name in sorted(strange))]


_USUAL = {"lock", "last.json", ".gitignore", "session-approval"}
