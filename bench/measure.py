"""Times commands in turns: once per round, in rotating order, so that noise hits all alike."""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

_LAUNCHER = """
import os, sys, time
report, words = int(sys.argv[1]), sys.argv[2:]
os.set_inheritable(report, False)
began = time.perf_counter()
child = os.posix_spawnp(words[0], words, os.environ)
_, status, used = os.wait4(child, 0)
seconds = time.perf_counter() - began
code = os.waitstatus_to_exitcode(status)
os.write(report, f"{code} {seconds} {used.ru_utime + used.ru_stime} {used.ru_maxrss}".encode())
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """One run: waiting time, CPU time and peak memory."""

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
    message: bytes = b""  # its standard input

    def start(self, tag: str) -> Sample:
        """Run once. An error ends the benchmark."""
        words = (*self.words, tag) if self.takes_tag else self.words
        with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as errors:
            stdin.write(self.message)
            stdin.seek(0)
            code, sample = measured(words, self.folder, self.environment, stdin, errors)
            if code:
                errors.seek(0)
                raise RuntimeError(f"{self.name}: {errors.read().decode(errors='replace')}")
        return sample


def measured(
    words: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    stdin: IO[bytes] | int = subprocess.DEVNULL,
    errors: IO[bytes] | None = None,
) -> tuple[int, Sample]:
    """The exit code of a command, and what it used.

    A small launcher starts it: the kernel counts the memory of the process that forks as part of
    the peak of its child, and this process is larger than most commands.
    """
    reader, writer = os.pipe()
    with open(reader, encoding="ascii") as report:
        launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(writer), *words]
        subprocess.run(
            launcher,
            cwd=folder,
            env=dict(environment),
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            pass_fds=(writer,),
            check=True,
        )
        os.close(writer)
        code, seconds, cpu, kilobytes = report.read().split()
    return int(code), Sample(float(seconds), float(cpu), int(kilobytes))


@dataclass(slots=True)
class Timing:
    """The runs of one contestant, one per round."""

    name: str
    samples: list[Sample] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The median waiting time."""
        return statistics.median(sample.seconds for sample in self.samples)

    @property
    def least(self) -> float:
        """The least waiting time, the closest to an idle machine."""
        return min(sample.seconds for sample in self.samples)

    @property
    def cpu(self) -> float:
        """The least CPU time, which a busy machine changes least."""
        return min(sample.cpu_seconds for sample in self.samples)

    @property
    def megabytes(self) -> float:
        """The peak memory over all rounds."""
        return max(sample.kilobytes for sample in self.samples) / 1024

    def ratio_to(self, other: "Timing") -> tuple[float, float]:
        """The median of the ratios of each round, and the ratio of the least times."""
        pairs = zip(self.samples, other.samples, strict=True)
        each = [mine.seconds / theirs.seconds for mine, theirs in pairs]
        return statistics.median(each), self.least / other.least

    def work_to(self, other: "Timing") -> float:
        """The median of the ratios of CPU time in each round."""
        pairs = zip(self.samples, other.samples, strict=True)
        return statistics.median(mine.cpu_seconds / theirs.cpu_seconds for mine, theirs in pairs)


def take_turns(
    contestants: Sequence[Contestant], rounds: int, say: Callable[[str], None]
) -> dict[str, Timing]:
    """Time every contestant once per round; the first round only warms up."""
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
    """A line per contestant, and whether each goal was met."""
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
