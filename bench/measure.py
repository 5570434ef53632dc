"""Taking turns: every contestant once a round, in a rotating order, so that noise hits all alike."""

import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Contestant:
    """A command to be timed; its last argument may change from round to round."""

    name: str
    words: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]
    takes_tag: bool = False

    def start(self, tag: str) -> float:
        """Run once and return the seconds a person waits. An error ends the benchmark."""
        words = (*self.words, tag) if self.takes_tag else self.words
        began = time.perf_counter()
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        seconds = time.perf_counter() - began
        if done.returncode:
            raise RuntimeError(f"{self.name}: {done.stderr.decode(errors='replace')}")
        return seconds


@dataclass(slots=True)
class Timing:
    """The seconds of one contestant, round by round."""

    name: str
    seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The usual wait."""
        return statistics.median(self.seconds)

    @property
    def least(self) -> float:
        """The wait on an idle machine, as near as this run came to it."""
        return min(self.seconds)

    def ratio_to(self, other: "Timing") -> tuple[float, float]:
        """The median of the ratios of each round, and the ratio of the least times."""
        each = [mine / theirs for mine, theirs in zip(self.seconds, other.seconds, strict=True)]
        return statistics.median(each), self.least / other.least


def take_turns(
    contestants: Sequence[Contestant], rounds: int, say: Callable[[str], None]
) -> dict[str, Timing]:
    """Time everybody once a round; the first round only warms up."""
    timings = {contestant.name: Timing(contestant.name) for contestant in contestants}
    for number in range(rounds + 1):
        shift = number % len(contestants)
        for contestant in (*contestants[shift:], *contestants[:shift]):
            seconds = contestant.start(f"round {number}")
            if number:
                timings[contestant.name].seconds.append(seconds)
        if number and number % 10 == 0:
            say(f"  {number} of {rounds} rounds")
    return timings
