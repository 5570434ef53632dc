"""The page of benchmarks: ratios and goals, drawn from one run and from nothing else."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.derive import GOAL_SECONDS, Derived
from bench.measure import Timing
from tests.support.figures import fingerprint, today

_HEAD = """\
# Benchmarks

Written by `make bench`; nobody edits it. All rows are from one run in which the contestants took
turns, so they are ratios: of the time a person waits (the median of the rounds), of the work of
the processors (the least), and of the most memory held. Ours waits for the disk to confirm each
update (fsync); the reference tool (`@opengsd/gsd-core`) does not.
"""


@dataclass(frozen=True, slots=True)
class Race:
    """Two contestants, and how much of the other's wait or memory ours may take."""

    mine: str
    theirs: str
    most_wait: float | None = None
    most_memory: float | None = None


def page_of(
    races: Sequence[Race],
    timings: Mapping[str, Timing],
    derived: Sequence[Derived],
    growth: Sequence[tuple[int, str, str]],
    rounds: str,
) -> str:
    """The page as text."""
    lines = [
        _HEAD,
        "| ours | beside | wait | processor | memory | goal |",
        "|---|---|---|---|---|---|",
    ]
    for race in races:
        if race.mine in timings and race.theirs in timings:
            lines.append(_race_line(race, timings[race.mine], timings[race.theirs]))
    lines += [
        "",
        "## Growth",
        "",
        "Processor time, as a ratio to the bare interpreter's start in the",
    ]
    lines += ["same run; deriving is measured inside one process, in CPU time.", ""]
    lines += ["| phases of 10 plans | status query | durable update | deriving, a plan |"]
    lines += ["|---|---|---|---|"]
    bare = next(iter(timings.values())).cpu
    for each, (phases, read, update) in zip(derived, growth, strict=True):
        held = [f"{timings[name].cpu / bare:.1f}" for name in (read, update)]
        lines.append(f"| {phases:,} | {held[0]} | {held[1]} | {each.microseconds_a_plan:.0f} µs |")
    last = derived[-1]
    lines += [
        "",
        f"{last.plans:,} plans are derived in {last.seconds:.2f} s of CPU time (goal: under",
    ]
    lines += [f"{GOAL_SECONDS:g} s: {_verdict(last.seconds, GOAL_SECONDS)})."]
    lines += [
        "",
        f"Command: `make bench`, {rounds}. Python {platform.python_version()}, {today()},",
    ]
    lines += [f"source `{fingerprint()}`."]
    return "\n".join(lines) + "\n"


def _race_line(race: Race, mine: Timing, theirs: Timing) -> str:
    wait, memory = mine.ratio_to(theirs)[0], mine.megabytes / theirs.megabytes
    goals = []
    if race.most_wait is not None:
        goals.append(f"wait {race.most_wait:g}: {_verdict(wait, race.most_wait)}")
    if race.most_memory is not None:
        goals.append(f"memory {race.most_memory:g}: {_verdict(memory, race.most_memory)}")
    cells = (f"{wait:.2f}", f"{mine.cpu / theirs.cpu:.2f}", f"{memory:.2f}", ", ".join(goals))
    return f"| {mine.name} | {theirs.name} | {' | '.join(cells)} |"


def _verdict(value: float, most: float) -> str:
    return "met" if value <= most else "**missed**"
