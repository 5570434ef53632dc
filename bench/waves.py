"""Waves: how fast plans are put in order, and how close a run comes to the least possible time.

`python -m bench.waves` schedules 10,000 plans, then runs phases of 200 plans in random graphs
with eight slots on a virtual clock: whenever a plan ends, `may_start` says what follows. The
bound is the larger of the critical path and all work divided by the slots; no order is below it.
"""

import heapq
import random
import statistics
import sys
import time
from collections.abc import Sequence

from fairlead.model.waves import Node, Wip, may_start, schedule

PLANS, SLOTS, GRAPHS = 200, 8, 200
MANY, MOST_SECONDS, MOST_OVER = 10_000, 1.0, 0.03


def random_plans(chance: random.Random, count: int, *, files: int = 0) -> list[Node]:
    """Plans that depend on up to three earlier ones, near or far, with durations from 1 to 10."""
    density, reach = chance.random(), chance.randint(10, count)
    return [
        Node(
            f"{at:05d}",
            tuple(
                f"{chance.randrange(max(0, at - reach), at):05d}"
                for _ in range(3)
                if at and chance.random() < density / 2
            ),
            tuple(f"src/m{chance.randrange(count)}.py" for _ in range(files)),
            weight=chance.randint(1, 10),
        )
        for at in range(count)
    ]


def makespan(plans: Sequence[Node], slots: int) -> int:
    """The time until the last plan ends, with nothing but `may_start` to choose."""
    plan = schedule(plans)
    weight = {node.id: node.weight for node in plans}
    running: list[tuple[int, str]] = []
    done: set[str] = set()
    now = 0
    while len(done) < len(plans):
        names = [name for _, name in running]
        for name in may_start(plan, names, done, Wip(slots)):
            heapq.heappush(running, (now + weight[name], name))
        now, ended = heapq.heappop(running)
        done.add(ended)
    return now


def least_time(plans: Sequence[Node], slots: int) -> float:
    """No order of these plans ends before this."""
    work = sum(node.weight for node in plans)
    return max(*schedule(plans).priority.values(), work / slots)


def seconds_to_schedule(count: int) -> float:
    """CPU time for one schedule."""
    plans = random_plans(random.Random(1), count, files=4)  # noqa: S311
    before = time.process_time()
    schedule(plans)
    return time.process_time() - before


def overs(graphs: int, plans: int = PLANS, slots: int = SLOTS) -> list[float]:
    """How far above the bound each run was, as a share of it."""
    chance = random.Random(5)  # noqa: S311
    made = (random_plans(chance, plans) for _ in range(graphs))
    return [makespan(each, slots) / least_time(each, slots) - 1 for each in made]


def measured(graphs: int = 50) -> tuple[float, float]:
    """Seconds for the many plans, and how far above the bound the usual run is."""
    return seconds_to_schedule(MANY), statistics.median(overs(graphs))


def main() -> int:
    """Measure and show."""
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
