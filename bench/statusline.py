"""Compares the status line with the bare interpreter and the reference hook, taking turns.

`python -m bench.statusline [--rounds N]` measures it alone. Every contestant gets the message of a
host on stdin; the bare interpreter does not read it. A small and a large project show that the size
of a project makes no difference.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.measure import Contestant, figures, take_turns
from tests.support.hook import HOOK, NODE
from tests.support.programs import fairlead, scratch_environment

BARE = "python -I -S -c pass (beside the line)"
OURS, OURS_LARGE = "status line, small project", "status line, 1,000 phases of 10 plans"
HOOKS = "reference hook, small project"
GOALS = ((OURS, BARE, 2.5), (OURS, HOOKS, 0.25), (OURS_LARGE, OURS, None))

STATE = """\
---
gsd_state_version: '1.0'
milestone: v2.0
milestone_name: Code Quality
status: executing
active_phase: "4.5"
next_action: null
next_phases: null
progress:
  total_phases: 17
  completed_phases: 10
  total_plans: 84
  completed_plans: 47
  percent: 56
last_updated: "2026-06-01T12:34:56.789Z"
---

# Project State

## Current Position

Phase: 4 of 17 (Observability)
Plan: 3 of 5 in current phase
Status: Executing Phase 4
"""


def contestants(scratch: Path) -> list[Contestant]:
    """All commands of the comparison, with the reference hook if it is installed."""
    small = _project(scratch / "small", phases=0)
    large = _project(scratch / "large", phases=1000)
    words = _fast_command(small)
    bare = (words[0], "-I", "-S", "-c", "pass")
    everybody = [
        _fed(BARE, bare, small),
        _fed(OURS, words, small),
        _fed(OURS_LARGE, words, large),
    ]
    if NODE.is_file() and HOOK.is_file():
        everybody.append(_fed(HOOKS, (str(NODE), str(HOOK)), small))
    return everybody


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.statusline", description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        timings = take_turns(contestants(Path(scratch)), rounds, lambda _: None)
    sys.stdout.write("\n".join(figures(timings, GOALS)) + "\n")
    return 0


def _fast_command(folder: Path) -> tuple[str, ...]:
    command = fairlead().command(folder, "statusline", "--print-command")
    done = subprocess.run(
        command.words, cwd=folder, env=dict(command.environment), capture_output=True, check=True
    )
    return tuple(json.loads(done.stdout)["argv"])


def _fed(name: str, words: tuple[str, ...], project: Path) -> Contestant:
    message = {
        "session_id": "5f0c",
        "model": {"id": "opus", "display_name": "Opus"},
        "workspace": {"current_dir": str(project), "project_dir": str(project)},
        "context_window": {
            "current_usage": {"input_tokens": 1000, "output_tokens": 50},
            "remaining_percentage": 80,
        },
    }
    environment = scratch_environment(project.parent)
    stdin = json.dumps(message).encode()
    return Contestant(name, words, project, environment, message=stdin)


def _project(world: Path, *, phases: int) -> Path:
    project = world / "project"
    planning = project / ".planning"
    planning.mkdir(parents=True)
    (world / "home").mkdir(parents=True, exist_ok=True)
    (planning / "STATE.md").write_text(STATE, "utf-8")
    for phase in range(phases):
        folder = planning / "phases" / f"{phase:04}-phase"
        folder.mkdir(parents=True)
        for plan in range(10):
            (folder / f"{phase:04}-{plan:02}-PLAN.md").touch()
    return project


if __name__ == "__main__":
    sys.exit(main())
