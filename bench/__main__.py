"""`python -m bench [--rounds N] [--json FILE]`: a table, and the same figures as JSON."""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bench.measure import Contestant, Timing, take_turns
from tests.support.figures import cache_folder, fingerprint, today
from tests.support.programs import ROOT, fairlead, interpreter, run, scratch_environment

GOAL = 0.5  # of the reference tool's time, though it does not wait for the disk and we do
BARE = "python -I -S -c pass"
READ, UPDATE = "fairlead status --json", "fairlead state add-decision"
THEIR_READ, THEIR_UPDATE = "reference: state json", "reference: state add-decision"
RATIOS = (
    (READ, THEIR_READ, GOAL),
    (UPDATE, THEIR_UPDATE, GOAL),
    (READ, BARE, None),
    (UPDATE, BARE, None),
)


def say(line: str) -> None:
    """One line to whoever waits for the result."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Measure and show."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        contestants = [*_ours(Path(scratch)), *_theirs(Path(scratch))]
        say(f"{options.rounds} rounds of {len(contestants)} commands, taking turns")
        timings = take_turns(contestants, options.rounds, say)
    figures = _figures(timings, options.rounds)
    _show(timings, figures)
    path = Path(options.json) if options.json else cache_folder("bench") / "latest.json"
    path.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    say(f"written to {os.path.relpath(path, ROOT)}")
    return 0


def _ours(scratch: Path) -> list[Contestant]:
    project = _project(scratch / "ours")
    program = fairlead()
    environment = scratch_environment(project.parent)
    bare = (interpreter(), "-I", "-S", "-c", "pass")
    words = program.words
    decision = (*words, "state", "add-decision", "--phase", "1", "--summary")
    return [
        Contestant(BARE, bare, project, environment),
        Contestant("python -c pass", (sys.executable, "-c", "pass"), project, environment),
        Contestant("fairlead --version", (*words, "--version"), project, environment),
        Contestant(READ, (*words, "status", "--json"), project, environment),
        Contestant(UPDATE, decision, project, environment, takes_tag=True),
    ]


def _theirs(scratch: Path) -> list[Contestant]:
    found = subprocess.run(
        [str(ROOT / "tools" / "reference-tool")], capture_output=True, check=False
    )
    if found.returncode:
        say(f"skipped: {found.stderr.decode(errors='replace').strip()}")
        return []
    node, tool = found.stdout.decode().split()
    project = _project(scratch / "theirs")
    environment = scratch_environment(project.parent)
    decision = (node, tool, "state", "add-decision", "--phase", "1", "--summary")
    return [
        Contestant("node -e 0", (node, "-e", "0"), project, environment),
        Contestant(THEIR_READ, (node, tool, "state", "json"), project, environment),
        Contestant(THEIR_UPDATE, decision, project, environment, takes_tag=True),
    ]


def _project(world: Path) -> Path:
    """A small project in a git repository, the same for everybody."""
    (world / "home").mkdir(parents=True)
    project = world / "project"
    project.mkdir()
    made = run(fairlead().command(project, "init", "Sample", "--yes"))
    if made.code:
        raise RuntimeError(made.describe())
    environment = scratch_environment(world)
    git = shutil.which("git")
    if git:  # the reference tool looks at the repository, as it would at home
        subprocess.run([git, "init", "-q"], cwd=project, env=environment, check=True)
    return project


def _figures(timings: Mapping[str, Timing], rounds: int) -> dict[str, object]:
    return {
        "date": today(),
        "source": fingerprint(),
        "rounds": rounds,
        "python": platform.python_version(),
        "milliseconds": {
            name: {"median": round(timing.median * 1000, 1), "least": round(timing.least * 1000, 1)}
            for name, timing in timings.items()
        },
        "ratios": [
            {"of": mine, "to": theirs, "median": round(median, 3), "least": round(least, 3)}
            for mine, theirs, _ in RATIOS
            if theirs in timings
            for median, least in [timings[mine].ratio_to(timings[theirs])]
        ],
        "load": round(os.getloadavg()[0], 1),
    }


def _show(timings: Mapping[str, Timing], figures: Mapping[str, object]) -> None:
    say(f"\n{'command':<36}{'median ms':>12}{'least ms':>12}")
    for name, timing in timings.items():
        say(f"{name:<36}{timing.median * 1000:>12.1f}{timing.least * 1000:>12.1f}")
    say(f"\n{'ratio':<60}{'median':>8}{'least':>8}")
    for mine, theirs, goal in RATIOS:
        if theirs not in timings:
            continue
        median, least = timings[mine].ratio_to(timings[theirs])
        verdict = ""
        if goal is not None:
            verdict = f"  goal {goal:g}: {'met' if median <= goal else 'MISSED'}"
        say(f"{f'{mine} / {theirs}':<60}{median:>8.2f}{least:>8.2f}{verdict}")
    say(f"load {figures['load']}, Python {figures['python']}, {figures['date']}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", metavar="FILE", help="where the figures go")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
