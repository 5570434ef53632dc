"""Compares the hooks with the bare interpreter, taking turns.

`python -m bench.hooks [--rounds N]` measures the stop hook without a plan, with an open plan and
after approval, and the session-end hook against its time limit.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.measure import Contestant, Sample, Timing, figures, take_turns
from fairlead.interfaces.install.hosts import EVENTS
from tests.support.plan_files import EXEC, PLAN, exec_text, message, plan_text, put
from tests.support.programs import fairlead, run, scratch_environment

BARE = "python -I -S -c pass (beside the hooks)"
NONE, OPEN, APPROVED = "stop hook, no plan", "stop hook, open plan", "stop hook, approved plan"
ENDED = "session-end hook"
GOALS = ((NONE, BARE, 4.0), (OPEN, BARE, 4.0), (APPROVED, BARE, 4.0), (ENDED, BARE, None))
MOST_SECONDS_AT_THE_END = next(limit for _, name, limit in EVENTS if name == "session-end")


@dataclass(frozen=True, slots=True)
class FirstStopHook(Contestant):
    """A stop hook that finds an open plan for the first time."""

    def start(self, tag: str) -> Sample:
        """Delete the stored count, so that the hook blocks every time, and run once."""
        (self.folder / ".claude" / ".fairlead" / "hold.json").unlink(missing_ok=True)
        return Contestant.start(self, tag)


def contestants(scratch: Path) -> list[Contestant]:
    """All commands of the comparison."""
    (scratch / "home").mkdir(parents=True)
    environment = scratch_environment(scratch)
    folders = {name: scratch / name for name in ("none", "open", "approved", "project")}
    for folder in folders.values():
        folder.mkdir()
    put(folders["open"], PLAN, plan_text())
    put(folders["approved"], PLAN, plan_text(status="approved", complete=True))
    put(folders["approved"], EXEC, exec_text("complete", "complete"))
    run(fairlead().command(folders["project"], "init", "Sample", "--yes"))
    command = fairlead().command(folders["none"], "hook", "stop", "--print-command")
    done = subprocess.run(
        command.words, env=dict(command.environment), capture_output=True, check=True
    )
    words = tuple(json.loads(done.stdout)["argv"])
    bare = (words[0], "-I", "-S", "-c", "pass")
    end = (*fairlead().words, "hook", "session-end")

    def fed(
        kind: type[Contestant], name: str, words: tuple[str, ...], where: str, event: str
    ) -> Contestant:
        folder = folders[where]
        return kind(name, words, folder, environment, message=message(folder, event=event))

    return [
        fed(Contestant, BARE, bare, "none", "Stop"),
        fed(Contestant, NONE, words, "none", "Stop"),
        fed(FirstStopHook, OPEN, words, "open", "Stop"),
        fed(Contestant, APPROVED, words, "approved", "Stop"),
        fed(Contestant, ENDED, end, "project", "SessionEnd"),
    ]


def lines(timings: dict[str, Timing]) -> list[str]:
    """The figures and whether each goal was met."""
    shown = figures(timings, GOALS)
    is_met = timings[ENDED].median < MOST_SECONDS_AT_THE_END
    shown.append(f"{ENDED} under {MOST_SECONDS_AT_THE_END:g} s: {'met' if is_met else 'MISSED'}")
    return shown


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.hooks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        timings = take_turns(contestants(Path(scratch)), rounds, lambda _: None)
    sys.stdout.write("\n".join(lines(timings)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
