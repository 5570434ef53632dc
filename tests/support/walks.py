"""Walks: events in a random order, after each of which the documents must still be true.

A walk is made from a seed and a number, in a new project, by the commands a person would give.
What others write meanwhile, plans and summaries, is made known by `doctor --fix`; after that, and
after every event, `check` must have nothing to say. A refused event must change nothing.
"""

import io
import json
import os
import tempfile
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from unittest.mock import patch

from fairlead.interfaces.cli.main import run
from fairlead.model.lifecycle import GateEvent
from tests.support.trees import documents, read_tree

Words = tuple[str, ...]

STEPS = 40
REPAIR = ("doctor", "--fix", "--yes", "--claims", "correct")
_PLAN = """---
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
_SUMMARY = """---
phase: {phase}
plan: {plan}
completed: 2026-01-15
---

# Done

## Self-Check: PASSED
"""


def try_walk(seed: int, number: int) -> str:
    """Take one walk; the first untruth with the steps that led to it, or nothing."""
    with tempfile.TemporaryDirectory(prefix="walk-") as scratch:
        home, folder = Path(scratch, "home"), Path(scratch, "project")
        homes = {"HOME": home, "XDG_CONFIG_HOME": home / "config", "XDG_STATE_HOME": home / "state"}
        for each in (*homes.values(), folder):
            each.mkdir()
        with patch.dict(os.environ, {key: str(path) for key, path in homes.items()}), chdir(folder):
            return Walk(folder, Random(f"{seed}/{number}")).fault()


class Walk:
    """One walk through one project."""

    def __init__(self, folder: Path, random: Random) -> None:
        self._folder = folder
        self._random = random
        self._told: list[str] = []

    def fault(self) -> str:
        """What is wrong after the first step that leaves something wrong; empty after a good walk."""
        self._do("init", "Walk", "--yes")
        for each in range(self._random.randint(1, 4)):
            self._do("phase", "add", f"Part {each}")
        for _ in range(STEPS):
            fault = self._step() or self._untruth()
            if fault:
                return f"{fault}, after: {'; '.join(self._told[-8:])}"
        return ""

    def _step(self) -> str:
        if self._random.random() < 0.25:
            self._others_write()
            return ""
        words = self._random.choice(EVENTS)(self._random)
        before = documents(read_tree(self._folder))
        code = self._do(*words)
        if code and documents(read_tree(self._folder)) != before:
            return f"{words[:2]} was refused with {code} and changed something"
        if words == ("undo",):  # what others wrote is untold again
            self._do(*REPAIR)
        return f"{words} ended with {code}" if code not in (0, 2, 4, 6) else ""

    def _others_write(self) -> None:
        """A plan or a summary appears, and the memory is told to look."""
        home = self._folder / ".planning" / "phases"
        plans = sorted(home.glob("*/*-PLAN.md"))  # a disk has its own order, a walk always the same
        if plans and self._random.random() < 0.6:
            plan = self._random.choice(plans)
            path, text = plan.with_name(plan.name.replace("PLAN", "SUMMARY")), _SUMMARY
        else:
            folders = sorted(home.glob("*/"))
            if not folders:
                return
            inside = self._random.choice(folders)
            name = f"{inside.name.split('-')[0]}-{self._random.randint(1, 3):02d}-PLAN.md"
            path, text = inside / name, _PLAN
        plan_number = path.name.split("-")[1]
        path.write_text(text.format(phase=path.parent.name, plan=plan_number), "utf-8")
        self._told.append(f"wrote {path.name}")
        # Whoever carries out the plan tells of it; who only looks in finds it.
        is_told = text is _SUMMARY and not self._do(
            "state", "advance-plan", "--phase", path.name.split("-")[0].lstrip("0")
        )
        if not is_told:
            self._do(*REPAIR)

    def _untruth(self) -> str:
        code, said = _run("check", "--json")
        findings = json.loads(said)["findings"] if code else []
        return "; ".join(each["message"] for each in findings)

    def _do(self, *words: str) -> int:
        code, _ = _run(*words)
        self._told.append(f"{' '.join(words)} [{code}]")
        return code


def _run(*words: str) -> tuple[int, str]:
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
