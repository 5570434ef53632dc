"""`python -m bench [--rounds N]` measures everything and writes docs/reference/benchmarks.md.

`python -m bench --against OTHER_VENV` compares two installed versions instead.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench import hooks, mcp, statusline, waves
from bench.derive import derive
from bench.measure import Contestant, Timing, take_turns
from bench.page import Race, page_of
from bench.projects import (
    BARE,
    READ,
    SIZES,
    THEIR_READ,
    THEIR_UPDATE,
    UPDATE,
    WITHOUT_GIT,
    on_a_large_project,
    on_a_small_project,
    reference_tool,
)
from tests.support.programs import ROOT

PAGE = ROOT / "docs" / "reference" / "benchmarks.md"
LARGE = f", {SIZES[-1]:,} phases"
HALF, TENTH = 0.5, 0.1
RACES = (
    Race(READ, THEIR_READ, HALF, HALF),
    Race(UPDATE, THEIR_UPDATE, HALF, HALF),
    *(
        Race(mine + LARGE + where, theirs + LARGE + where, TENTH, HALF)
        for where in ("", WITHOUT_GIT)
        for mine, theirs in ((READ, THEIR_READ), (UPDATE, THEIR_UPDATE))
    ),
    Race(READ, BARE),
    Race(UPDATE, BARE),
    *(
        Race(mine, theirs, goal)
        for mine, theirs, goal in (*statusline.GOALS, *hooks.GOALS, *mcp.GOALS)
    ),
)


def say(line: str) -> None:
    """Print one line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Measure, print, and write the page. Returns 1 if a goal was missed."""
    options = _options()
    if options.against:
        from bench.against import compare

        with tempfile.TemporaryDirectory(prefix="bench-") as name:
            return compare(options.against.resolve(), options.rounds, Path(name), say)
    rounds = int(options.rounds)
    few = max(2, rounds // 5)  # the reference tool needs seconds for a large project
    if not reference_tool():
        say("the reference tool is not installed: its rows are left out")
    timings: dict[str, Timing] = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        scratch = Path(name)
        timings |= _measured("a small project", on_a_small_project(scratch), rounds)
        timings |= _measured("the status line", statusline.contestants(scratch / "line"), rounds)
        timings |= _measured("the hooks", hooks.contestants(scratch / "hooks"), rounds)
        timings |= _measured("the MCP server", mcp.contestants(scratch / "mcp"), few)
        for phases in SIZES:
            everybody = on_a_large_project(scratch, phases, alone=phases != SIZES[-1])
            timings |= _measured(f"{phases:,} phases of ten plans", everybody, few)
        everybody = on_a_large_project(scratch, SIZES[-1], has_git=False)
        timings |= _measured(f"{SIZES[-1]:,} phases without git", everybody, few)
    growth = [(size, f"{READ}, {size:,} phases", f"{UPDATE}, {size:,} phases") for size in SIZES]
    say("deriving and ordering plans, in this process")
    described = f"{rounds} rounds, {few} on large projects"
    page = page_of(RACES, timings, derive(), growth, waves.measured(), described)
    PAGE.write_text(page, "utf-8")
    say(page)
    return 1 if "**missed**" in page else 0


def _measured(what: str, contestants: Sequence[Contestant], rounds: int) -> dict[str, Timing]:
    say(f"{what}: {rounds} rounds of {len(contestants)} commands, taking turns")
    return take_turns(contestants, rounds, say)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--against", type=Path, metavar="OTHER_VENV")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
