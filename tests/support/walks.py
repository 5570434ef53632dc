"""Random walks: events in any order, after each of which the documents must be true.

A walk is made from a seed and a number, in a new project, with the commands a person would use.
Plans and summaries that appear from elsewhere are followed by `doctor --fix`. After every event
`check` must report nothing, and a refused event must change nothing.
"""

import io
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from unittest.mock import patch

from fairlead.interfaces.cli.main import run
from fairlead.project.state.gate_rules import GateEvent
from tests.support.trees import documents, read_tree

Words = tuple[str, ...]

STEPS = 40
REPAIR = ("doctor", "--fix", "--yes", "--claims", "correct")
PLAN = """---
phase: {phase}
plan: {plan}
type: execute
wave: 1
depends_on: []
files_modified: [a.py]
autonomous: true
---

<tasks>
<task type="auto">
  <name>Task 1: write it</name>
</task>
</tasks>
"""
SUMMARY = """---
phase: {phase}
plan: {plan}
completed: 2026-01-15
---

# Done

## Self-Check: PASSED
"""


def try_walk(seed: int, number: int) -> str:
    """Take one walk; return the first fault with the steps that led to it, or an empty string."""
    with tempfile.TemporaryDirectory(prefix="walk-") as scratch:
        folder = Path(scratch, "project")
        folder.mkdir()
        with homes(Path(scratch, "home")), chdir(folder):
            return Walk(folder, Random(f"{seed}/{number}")).fault()


@contextmanager
def homes(home: Path) -> Iterator[None]:
    """A new home folder for the commands of a walk."""
    names = {"HOME": home, "XDG_CONFIG_HOME": home / "config", "XDG_STATE_HOME": home / "state"}
    for each in names.values():
        each.mkdir()
    with patch.dict(os.environ, {key: str(path) for key, path in names.items()}):
        yield


class Walk:
    """One walk through one project."""

    def __init__(self, folder: Path, random: Random) -> None:
        self._folder = folder
        self._random = random
        self._told: list[str] = []

    def fault(self) -> str:
        """The fault after the first step that leaves one; empty after a good walk."""
        self._do("init", "Walk", "--yes")
        for each in range(self._random.randint(1, 4)):
            self._do("phase", "add", f"Part {each}")
        for _ in range(STEPS):
            fault = self._transact() or self._untruth()
            if fault:
                return f"{fault}, after: {'; '.join(self._told[-8:])}"
        return ""

    def _transact(self) -> str:
        if self._random.random() < 0.25:
            self._others_write()
            return ""
        words = self._random.choice(EVENTS)(self._random)
        before = documents(read_tree(self._folder))
        code = self._do(*words)
        if code and documents(read_tree(self._folder)) != before:
            return f"{words[:2]} was refused with {code} and changed something"
        if words == ("undo",):  # undo also removed the record of these files
            self._do(*REPAIR)
        return f"{words} ended with {code}" if code not in (0, 2, 4, 6) else ""

    def _others_write(self) -> None:
        """Write a plan or a summary, and record it."""
        home = self._folder / ".planning" / "phases"
        plans = sorted(home.glob("*/*-PLAN.md"))  # the order on disk varies, a walk must not
        if plans and self._random.random() < 0.6:
            plan = self._random.choice(plans)
            path, text = plan.with_name(plan.name.replace("PLAN", "SUMMARY")), SUMMARY
        else:
            folders = sorted(home.glob("*/"))
            if not folders:
                return
            inside = self._random.choice(folders)
            name = f"{inside.name.split('-')[0]}-{self._random.randint(1, 3):02d}-PLAN.md"
            path, text = inside / name, PLAN
        plan_number = path.name.split("-")[1]
        path.write_text(text.format(phase=path.parent.name, plan=plan_number), "utf-8")
        self._told.append(f"wrote {path.name}")
        # A summary is recorded by its author with advance-plan, or found by the repair.
        is_told = text is SUMMARY and not self._do(
            "state", "advance-plan", "--phase", path.name.split("-")[0].lstrip("0")
        )
        if not is_told:
            self._do(*REPAIR)

    def _untruth(self) -> str:
        code, output = run_quietly("check", "--json")
        findings = json.loads(output)["findings"] if code else []
        return "; ".join(each["message"] for each in findings)

    def _do(self, *words: str) -> int:
        code, _ = run_quietly(*words)
        self._told.append(f"{' '.join(words)} [{code}]")
        return code


def run_quietly(*words: str) -> tuple[int, str]:
    """Run a command in this process; its exit code and what it printed."""
    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(io.StringIO()):
        return run(list(words)), output.getvalue()


def _phase(random: Random) -> str:
    return random.choice(["1", "2", "3", "4", "5", "1.1"])


def _task(random: Random) -> Words:
    named = ("--phase", _phase(random)) if random.random() < 0.6 else ()
    return ("--task", f"Task {random.randint(1, 2)}", "--reason", "why", *named)


def _gate(random: Random) -> Words:
    kind = ("--kind", "forced") if random.random() < 0.1 else ()
    return ("state", "gate", random.choice([*GateEvent]), *_task(random), *kind)


EVENTS: tuple[Callable[[Random], Words], ...] = (
    lambda random: ("phase", "add", f"More {random.randrange(99)}"),
    lambda random: ("phase", "insert", _phase(random), f"Between {random.randrange(99)}"),
    lambda random: ("phase", "complete", _phase(random)),
    lambda random: ("phase", "remove", _phase(random), *(("--force",) * random.randint(0, 1))),
    lambda random: (
        *("state", "begin-phase", "--phase", _phase(random)),
        *("--step", random.choice(["discuss", "plan", "execute", "verify"])),
    ),
    lambda random: (
        *("state", "planned-phase", "--phase", _phase(random)),
        *(("--started",) * random.randint(0, 1)),
    ),
    lambda random: (
        *("state", "task-result", random.choice(["success", "failure", "blocked"])),
        *_task(random),
    ),
    _gate,
    _gate,
    _gate,
    lambda _: ("state", "advance-plan"),
    lambda random: ("state", "add-blocker", "--text", f"waits for {random.randrange(9)}"),
    lambda random: ("state", "resolve-blocker", "--text", f"waits for {random.randrange(9)}"),
    lambda random: ("state", "add-decision", "--phase", _phase(random), "--summary", "so"),
    lambda _: ("state", "pause", "--at", "lunch"),
    lambda _: ("state", "resume"),
    lambda _: ("state", "record-session", "--stopped-at", "here"),
    lambda _: ("state", "sync"),
    lambda _: ("milestone", "complete", "v1.0"),
    lambda _: ("undo",),
)
