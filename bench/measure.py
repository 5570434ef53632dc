"""Taking turns: every contestant once a round, in a rotating order, so that noise hits all alike."""

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Sample:
    """One run: what a person waits, what the processors do, and the most memory it held."""

    seconds: float
    cpu_seconds: float
    kilobytes: int


@dataclass(frozen=True, slots=True)
class Contestant:
    """A command to be timed; its last argument may change from round to round."""

    name: str
    words: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]
    takes_tag: bool = False
    message: bytes = b""  # what it reads on stdin

    def start(self, tag: str) -> Sample:
        """Run once. An error ends the benchmark."""
        words = (*self.words, tag) if self.takes_tag else self.words
        with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as told:
            said.write(self.message)
            said.seek(0)
            began = time.perf_counter()
            child = subprocess.Popen(
                words,
                cwd=self.folder,
                env=dict(self.environment),
                stdin=said,
                stdout=subprocess.DEVNULL,
                stderr=told,
            )
            _, status, used = os.wait4(child.pid, 0)
            seconds = time.perf_counter() - began
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode:
                told.seek(0)
                raise RuntimeError(f"{self.name}: {told.read().decode(errors='replace')}")
        return Sample(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss)


@dataclass(slots=True)
class Timing:
    """The runs of one contestant, round by round."""

    name: str
    samples: list[Sample] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The usual wait."""
        return statistics.median(sample.seconds for sample in self.samples)

    @property
    def least(self) -> float:
        """The wait on an idle machine, as near as this run came to it."""
        return min(sample.seconds for sample in self.samples)

    @property
    def cpu(self) -> float:
        """The least work of the processors: what a busy machine changes least."""
        return min(sample.cpu_seconds for sample in self.samples)

    @property
    def megabytes(self) -> float:
        """The most memory it ever held."""
        return max(sample.kilobytes for sample in self.samples) / 1024

    def ratio_to(self, other: "Timing") -> tuple[float, float]:
        """The median of the ratios of each round, and the ratio of the least times."""
        pairs = zip(self.samples, other.samples, strict=True)
        each = [mine.seconds / theirs.seconds for mine, theirs in pairs]
        return statistics.median(each), self.least / other.least

    def work_to(self, other: "Timing") -> float:
        """The median of the ratios of the processors' work in each round."""
        pairs = zip(self.samples, other.samples, strict=True)
        return statistics.median(mine.cpu_seconds / theirs.cpu_seconds for mine, theirs in pairs)


def take_turns(
    contestants: Sequence[Contestant], rounds: int, say: Callable[[str], None]
) -> dict[str, Timing]:
    """Time everybody once a round; the first round only warms up."""
    timings = {contestant.name: Timing(contestant.name) for contestant in contestants}
    for number in range(rounds + 1):
        shift = number % len(contestants)
        for contestant in (*contestants[shift:], *contestants[:shift]):
            sample = contestant.start(f"round {number}")
            if number:
                timings[contestant.name].samples.append(sample)
        if number and number % 10 == 0:
            say(f"  {number} of {rounds} rounds")
    return timings


def figures(
    timings: dict[str, Timing], goals: Sequence[tuple[str, str, float | None]]
) -> list[str]:
    """A line for everybody, and what the goals say of those who took part."""
    shown = [f"{'command':<40}{'median ms':>12}{'least ms':>12}"]
    for name, timing in timings.items():
        shown.append(f"{name:<40}{timing.median * 1000:>12.1f}{timing.least * 1000:>12.1f}")
    for mine, theirs, goal in goals:
        if theirs not in timings:
            continue
        median, least = timings[mine].ratio_to(timings[theirs])
        verdict = f"  goal {goal:g}: {'met' if median <= goal else 'MISSED'}" if goal else ""
        shown.append(f"{f'{mine} / {theirs}':<72}{median:>7.2f}{least:>7.2f}{verdict}")
    return shown
