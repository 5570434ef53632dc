"""Compares two installed versions of Fairlead command by command, taking turns.

`python -m bench --against OTHER_VENV` runs every row with the command of this environment and
with `OTHER_VENV/bin/fairlead`, each on its own copy of the same project. A row counts as slower
only if the median ratio is above the limit in every run, since one noisy run proves nothing.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.measure import Contestant, take_turns
from tests.support.big_project import big_project
from tests.support.execution import a_plan, a_project
from tests.support.plan_files import PLAN, message, plan_text, put
from tests.support.programs import scratch_environment

MOST = 1.10  # how much slower a row may be
RUNS = 3
NEW, OLD = "this", "other"


@dataclass(frozen=True, slots=True)
class Side:
    """One installed version and the scratch folder it works in."""

    name: str
    venv: Path
    scratch: Path

    @property
    def program(self) -> str:
        """The installed command."""
        return str(self.venv / "bin" / "fairlead")

    def world(self, name: str) -> Path:
        """A new folder for a project, with a home folder beside it."""
        (self.scratch / name / "home").mkdir(parents=True)
        folder = self.scratch / name / "project"
        folder.mkdir()
        return folder

    def run(self, folder: Path, *words: str) -> bytes:
        """Run a command that prepares a row."""
        environment = scratch_environment(folder.parent)
        done = subprocess.run(
            [self.program, *words], cwd=folder, env=environment, capture_output=True, check=True
        )
        return done.stdout

    def row(self, name: str, folder: Path, *words: str, takes_tag: bool = False) -> Contestant:
        """One command of this version."""
        environment = scratch_environment(folder.parent)
        return Contestant(
            f"{name} ({self.name})", (self.program, *words), folder, environment, takes_tag
        )

    def printed(self, name: str, folder: Path, words: tuple[str, ...], stdin: bytes) -> Contestant:
        """The fast command that the version prints for hosts."""
        argv = json.loads(self.run(folder, *words, "--print-command"))["argv"]
        environment = scratch_environment(folder.parent)
        return Contestant(f"{name} ({self.name})", tuple(argv), folder, environment, message=stdin)


def rows(side: Side) -> Iterator[tuple[str, Contestant]]:
    """Every row of the comparison, by name."""
    small = side.world("small")
    side.run(small, "init", "Sample", "--yes")
    large = side.world("large")
    big_project(large, 200)
    open_plan = side.world("plan")
    put(open_plan, PLAN, plan_text())
    phase = side.world("phase")
    a_project(phase, *(a_plan(f"01-{number:02}", f"f{number}.txt") for number in range(2, 12)))
    stdin = json.dumps({"session_id": "s", "model": {"display_name": "Opus"}}).encode()
    decision = ("state", "add-decision", "--phase", "1", "--summary")
    yield "--help", side.row("--help", small, "--help")
    yield "status", side.row("status", small, "status")
    yield "status --json", side.row("status --json", small, "status", "--json")
    yield "check", side.row("check", small, "check")
    yield "add-decision", side.row("add-decision", small, *decision, takes_tag=True)
    yield "status, 200 phases", side.row("status, 200 phases", large, "status")
    yield "check, 200 phases", side.row("check, 200 phases", large, "check")
    yield "planning status", side.row("planning status", open_plan, "planning", "status")
    yield (
        "phase execute --dry-run",
        side.row("phase execute --dry-run", phase, "phase", "execute", "1", "--dry-run"),
    )
    yield "job list", side.row("job list", phase, "job", "list")
    yield "status line", side.printed("status line", small, ("statusline",), stdin)
    stop = message(small, event="Stop")
    yield "stop hook", side.printed("stop hook", small, ("hook", "stop"), stop)


def compare(other: Path, rounds: int, scratch: Path, say: Callable[[str], None]) -> int:
    """Print the ratios of all runs; 1 if a row is slower in every run."""
    here = Path(sys.executable).parent.parent
    ratios: dict[str, list[float]] = {}
    for number in range(RUNS):
        sides = (
            Side(NEW, here, scratch / f"{number}-new"),
            Side(OLD, other, scratch / f"{number}-old"),
        )
        new, old = (dict(rows(side)) for side in sides)
        for name in new:
            timings = take_turns([new[name], old[name]], rounds, lambda _: None)
            mine, theirs = (timings[each.name] for each in (new[name], old[name]))
            ratios.setdefault(name, []).append(mine.ratio_to(theirs)[0])
        say(f"run {number + 1} of {RUNS} done")
    slower = [name for name, values in ratios.items() if min(values) > MOST]
    for name, values in ratios.items():
        shown = "  ".join(f"{ratio:.2f}" for ratio in values)
        say(f"{name:<28}{shown}  {'SLOWER' if name in slower else ''}")
    return 1 if slower else 0
