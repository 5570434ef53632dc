"""What a plan costs the engine in phases of growing size.

The agents and verify commands take no time and run in the process of the engine, so that the
processor time of that process is the engine's own, and that of its children is git's. Each phase
runs in a process of its own. The goal is linear time: a plan of the largest phase costs the engine
about as much as a plan of a small one.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.support.execution import ExecutionTrial, a_plan, a_project
from tests.support.programs import ROOT

PLANS = (25, 50, 100, 200, 400)
MOST_GROWTH = 1.2  # of the engine's own time per plan
_COMPARED_PLANS = 50  # with which the largest phase is compared
HEADING = "## Growth with the number of plans"
_HEAD = """\
The table shows how the cost of a plan with one task grows with the number of plans in the phase,
with one slot. Agents and verify commands take no time and run in the process of the engine: its
processor time is the engine's own, and that of its children is git's.

| plans | own CPU per plan | git CPU per plan | waiting time per plan |
|---|---|---|---|"""


@dataclass(frozen=True, slots=True)
class PlanCost:
    """Milliseconds per plan of one phase."""

    plans: int
    own: float
    git: float
    wall: float


def cost_of(plans: int) -> PlanCost:
    """The cost of a phase with this many plans, measured in this process."""
    texts = [a_plan(f"01-{at:02d}", f"f{at}.txt") for at in range(1, plans + 1)]
    with tempfile.TemporaryDirectory(prefix="bench-growth-") as folder:
        project = a_project(Path(folder) / "project", *texts)
        trial = ExecutionTrial(project, slots=1)
        before = _used(resource.RUSAGE_SELF), _used(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        report = trial.run()
        wall = time.perf_counter() - began
        own = _used(resource.RUSAGE_SELF) - before[0]
        git = _used(resource.RUSAGE_CHILDREN) - before[1]
        if str(report.job.status) != "DONE":
            raise RuntimeError(f"{plans} plans: {report.job.status}")
    return PlanCost(plans, *(seconds * 1000 / plans for seconds in (own, git, wall)))


def _used(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def growth_lines(most: int) -> list[str]:
    """The cost per plan of phases with up to this many plans, as lines of a page."""
    costs = [_measured(plans) for plans in PLANS if plans <= most]
    rows = [
        f"| {cost.plans} | {cost.own:.0f} ms | {cost.git:.0f} ms | {cost.wall:.0f} ms |"
        for cost in costs
    ]
    return [_HEAD, *rows, *_verdict(costs)]


def _measured(plans: int) -> PlanCost:
    words = [sys.executable, "-m", "bench.growth", str(plans)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    return PlanCost(**json.loads(done.stdout))


def _verdict(costs: list[PlanCost]) -> list[str]:
    small = next((cost for cost in costs if cost.plans == _COMPARED_PLANS), None)
    if small is None or small is costs[-1]:
        return []
    growth = costs[-1].own / small.own
    verdict = "met" if growth <= MOST_GROWTH else "**missed**"
    line = (
        f"A plan among {costs[-1].plans} costs the engine {growth:.2f} times as much of its own CPU "
        f"as a plan among {small.plans} (goal: at most {MOST_GROWTH}: {verdict})."
    )
    return ["", line]


def main() -> int:
    """Measure one phase, and print its cost as JSON."""
    cost = cost_of(int(sys.argv[1]))
    fields = {"plans": cost.plans, "own": cost.own, "git": cost.git, "wall": cost.wall}
    sys.stdout.write(json.dumps(fields) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
