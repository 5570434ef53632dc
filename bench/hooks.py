"""The hooks against the bare interpreter, taking turns.

`python -m bench.hooks [--rounds N]` measures the stop hook where there is no plan, where an open
plan holds, and after approval; and the hook at the end of a session against the time it is given.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.measure import Contestant, Sample, Timing, figures, take_turns
from fairlead.engine.hosts import EVENTS
from tests.support.plan_files import EXEC, PLAN, exec_text, message, plan_text, put
from tests.support.programs import fairlead, run, scratch_environment

BARE = "python -I -S -c pass (beside the hooks)"
NONE, HELD, APPROVED = "stop hook, no plan", "stop hook, held", "stop hook, approved plan"
ENDED = "session-end hook"
GOALS = ((NONE, BARE, 4.0), (HELD, BARE, 4.0), (APPROVED, BARE, 4.0), (ENDED, BARE, None))
MOST_SECONDS_AT_THE_END = next(most for _, name, most in EVENTS if name == "session-end")


@dataclass(frozen=True, slots=True)
class Holding(Contestant):
    """A hook that finds a plan nobody was held by yet."""

    def start(self, tag: str) -> Sample:
        """Forget the count, so that it holds every time, and run once."""
        (self.folder / ".claude" / ".fairlead" / "hold.json").unlink(missing_ok=True)
        return Contestant.start(self, tag)


def contestants(scratch: Path) -> list[Contestant]:
    """Everybody who takes part."""
    (scratch / "home").mkdir(parents=True)
    environment = scratch_environment(scratch)
    folders = {name: scratch / name for name in ("none", "held", "approved", "project")}
    for folder in folders.values():
        folder.mkdir()
    put(folders["held"], PLAN, plan_text())
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
        fed(Holding, HELD, words, "held", "Stop"),
        fed(Contestant, APPROVED, words, "approved", "Stop"),
        fed(Contestant, ENDED, end, "project", "SessionEnd"),
    ]


def lines(timings: dict[str, Timing]) -> list[str]:
    """The figures, and what they say about the goals."""
    shown = figures(timings, GOALS)
    is_met = timings[ENDED].median < MOST_SECONDS_AT_THE_END
    shown.append(f"{ENDED} under {MOST_SECONDS_AT_THE_END:g} s: {'met' if is_met else 'MISSED'}")
    return shown


def main() -> int:
    """Measure and show."""
    parser = argparse.ArgumentParser(prog="python -m bench.hooks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        timings = take_turns(contestants(Path(scratch)), rounds, lambda _: None)
    sys.stdout.write("\n".join(lines(timings)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
