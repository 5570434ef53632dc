"""Write the benchmark page: ratios and goals from one run."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.derive import GOAL_SECONDS, Derived
from bench.measure import Timing
from bench.waves import MANY, MOST_OVER, MOST_SECONDS, PLANS, SLOTS
from tests.support.figures import fingerprint, today

_HEAD = """\
# Benchmarks

Written by `make bench`; do not edit. All rows come from one run in which the commands took
turns, so they are ratios: of waiting time (median of the rounds), of processor time (median)
and of peak memory. A time goal applies to both: on a busy machine processor time says more
than waiting time. Fairlead waits for the disk to confirm each update (fsync); the reference
tool (`@opengsd/gsd-core`) does not.
"""


@dataclass(frozen=True, slots=True)
class Race:
    """Two contestants, and the share of the other's time or memory that ours may use."""

    mine: str
    theirs: str
    most_time: float | None = None
    most_memory: float | None = None


def page_of(
    races: Sequence[Race],
    timings: Mapping[str, Timing],
    derived: Sequence[Derived],
    growth: Sequence[tuple[int, str, str]],
    waves: tuple[float, float],
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
        cells = [f"{timings[name].cpu / bare:.1f}" for name in (read, update)]
        lines.append(
            f"| {phases:,} | {cells[0]} | {cells[1]} | {each.microseconds_a_plan:.0f} µs |"
        )
    last = derived[-1]
    lines += [
        "",
        f"{last.plans:,} plans are derived in {last.seconds:.2f} s of CPU time (goal: under",
    ]
    lines += [f"{GOAL_SECONDS:g} s: {_verdict(last.seconds, GOAL_SECONDS)}).", ""]
    lines += _wave_lines(*waves)
    lines += [
        "",
        f"Command: `make bench`, {rounds}. Python {platform.python_version()}, {today()},",
    ]
    lines += [f"source `{fingerprint()}`."]
    return "\n".join(lines) + "\n"


def _race_line(race: Race, mine: Timing, theirs: Timing) -> str:
    wait, work = mine.ratio_to(theirs)[0], mine.work_to(theirs)
    memory = mine.megabytes / theirs.megabytes
    goals = []
    if race.most_time is not None:
        verdicts = _verdict(wait, race.most_time), _verdict(work, race.most_time)
        goals.append(f"{race.most_time:g}: wait {verdicts[0]}, processor {verdicts[1]}")
    if race.most_memory is not None:
        goals.append(f"memory {race.most_memory:g}: {_verdict(memory, race.most_memory)}")
    cells = (f"{wait:.2f}", f"{work:.2f}", f"{memory:.2f}", ", ".join(goals))
    return f"| {mine.name} | {theirs.name} | {' | '.join(cells)} |"


def _wave_lines(seconds: float, over: float) -> list[str]:
    ordered = f"{MANY:,} plans are put in order in {seconds:.2f} s of CPU time"
    ended = f"Random phases of {PLANS} plans in {SLOTS} slots end {over:.1%} above the least"
    return [
        f"{ordered} (goal: under {MOST_SECONDS:g} s: {_verdict(seconds, MOST_SECONDS)}).",
        f"{ended} possible time (goal: {MOST_OVER:.0%}: {_verdict(over, MOST_OVER)}).",
    ]


def _verdict(value: float, most: float) -> str:
    return "met" if value <= most else "**missed**"
