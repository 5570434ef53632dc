"""Measures the CPU time to derive the position of a project from its files, and its growth.

`python -m bench.derive` makes projects of 10, 100 and 1,000 phases with ten plans each and
derives each of them several times in this process. The least time counts, since other programs on
the machine only add to it.
"""

import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from fairlead.project.derive.position import position_of
from fairlead.project.derive.scan import scan
from tests.support.big_project import big_project

SIZES = (10, 100, 1000)
GOAL_SECONDS = 1.0  # for ten thousand plans
_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Derived:
    """One size of project and its time."""

    phases: int
    plans: int
    seconds: float

    @property
    def microseconds_a_plan(self) -> float:
        """The cost of one plan, which is constant while growth is linear."""
        return self.seconds * 1_000_000 / self.plans


def derive(sizes: tuple[int, ...] = SIZES, rounds: int = _ROUNDS) -> list[Derived]:
    """Measure every size."""
    measured = []
    with tempfile.TemporaryDirectory(prefix="derive-") as scratch:
        for phases in sizes:
            folder = big_project(Path(scratch) / str(phases), phases)
            measured.append(_measured(folder, phases, rounds))
    return measured


def _measured(folder: Path, phases: int, rounds: int) -> Derived:
    least = float("inf")
    plans = 0
    for _ in range(rounds):
        before = time.process_time()
        plans = position_of(scan(str(folder))).progress.total_plans
        least = min(least, time.process_time() - before)
    return Derived(phases, plans, least)


def main() -> int:
    """Measure and print."""
    lines = [f"{'phases':>8}{'plans':>8}{'CPU s':>9}{'µs a plan':>11}"]
    measured = derive()
    lines += [
        f"{each.phases:>8}{each.plans:>8}{each.seconds:>9.3f}{each.microseconds_a_plan:>11.1f}"
        for each in measured
    ]
    is_met = measured[-1].seconds < GOAL_SECONDS
    lines.append(f"goal {GOAL_SECONDS:g} s: {'met' if is_met else 'MISSED'}")
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
