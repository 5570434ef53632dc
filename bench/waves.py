"""Measures how fast plans are ordered, and how close a run comes to the least possible time.

`python -m bench.waves` schedules 10,000 plans, then runs phases of 200 plans in random graphs with
eight slots on a virtual clock: whenever a plan ends, `may_start` chooses the next. The bound is
the larger of the critical path and all work divided by the slots; no order is below it.
"""

import heapq
import random
import statistics
import sys
import time
from collections.abc import Sequence

from fairlead.plans.waves import ConcurrencyLimits, PlanNode, may_start, schedule

PLANS, SLOTS, GRAPHS = 200, 8, 200
MANY, MOST_SECONDS, MOST_OVER = 10_000, 1.0, 0.03


def random_plans(rng: random.Random, count: int, *, files: int = 0) -> list[PlanNode]:
    """Plans that depend on up to three earlier ones, near or far, with durations from 1 to 10."""
    density, reach = rng.random(), rng.randint(10, count)
    return [
        PlanNode(
            f"{at:05d}",
            tuple(
                f"{rng.randrange(max(0, at - reach), at):05d}"
                for _ in range(3)
                if at and rng.random() < density / 2
            ),
            tuple(f"src/m{rng.randrange(count)}.py" for _ in range(files)),
            weight=rng.randint(1, 10),
        )
        for at in range(count)
    ]


def makespan(plans: Sequence[PlanNode], slots: int) -> int:
    """The time until the last plan ends, if `may_start` makes every choice."""
    plan = schedule(plans)
    weight = {node.id: node.weight for node in plans}
    running: list[tuple[int, str]] = []
    done: set[str] = set()
    now = 0
    while len(done) < len(plans):
        names = [name for _, name in running]
        for name in may_start(plan, names, done, ConcurrencyLimits(slots)):
            heapq.heappush(running, (now + weight[name], name))
        now, ended = heapq.heappop(running)
        done.add(ended)
    return now


def least_time(plans: Sequence[PlanNode], slots: int) -> float:
    """A lower bound of the time for these plans in any order."""
    work = sum(node.weight for node in plans)
    return max(*schedule(plans).priority.values(), work / slots)


def seconds_to_schedule(count: int) -> float:
    """The CPU time of one schedule."""
    plans = random_plans(random.Random(1), count, files=4)  # noqa: S311
    before = time.process_time()
    schedule(plans)
    return time.process_time() - before


def overs(graphs: int, plans: int = PLANS, slots: int = SLOTS) -> list[float]:
    """How far each run was above the bound, as a share of it."""
    rng = random.Random(5)  # noqa: S311
    graphs_of_plans = (random_plans(rng, plans) for _ in range(graphs))
    return [makespan(each, slots) / least_time(each, slots) - 1 for each in graphs_of_plans]


def measured(graphs: int = 50) -> tuple[float, float]:
    """Seconds to schedule many plans, and the median share above the bound."""
    return seconds_to_schedule(MANY), statistics.median(overs(graphs))


def main() -> int:
    """Measure and print."""
    seconds = seconds_to_schedule(MANY)
    over = overs(GRAPHS)
    median = statistics.median(over)
    sys.stdout.write(
        f"{MANY:,} plans scheduled in {seconds:.2f} s of CPU, at most {MOST_SECONDS:g}\n"
        f"{GRAPHS} runs of {PLANS} plans with {SLOTS} slots: {median:.1%} above the bound in the "
        f"median (at most {MOST_OVER:.0%}), {max(over):.1%} at worst\n"
    )
    return 0 if seconds < MOST_SECONDS and median <= MOST_OVER else 1


if __name__ == "__main__":
    sys.exit(main())
