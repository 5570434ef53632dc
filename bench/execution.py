"""Measures the time that the engine adds to a task, and the memory of a long phase.

`python -m bench.execution [--rounds N] [--most PLANS] [--growth PLANS]` runs phases with a stub
agent that takes two seconds per task, one for the executor and one for the architect, beside a
plain loop that calls the same program and the same verify command. The difference divided by the
number of tasks is the overhead, including the start of the command, the end of the phase and all
records; the goal applies to it. A short and a long phase separate the cost per task from the cost
per run. Writes docs/reference/benchmarks-execution.md. The last section of the page shows how the
cost of a plan grows, up to as many plans as `--growth` says; `--only growth` measures only that and
leaves the rest of the page as it is.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.growth import HEADING, PLANS, growth_lines
from bench.isolation import isolation_lines
from bench.measure import Sample, measured
from tests.support.execution import PlanText, a_plan, a_project
from tests.support.figures import fingerprint, today
from tests.support.programs import ROOT, fairlead, interpreter, scratch_environment

PAGE = ROOT / "docs" / "reference" / "benchmarks-execution.md"
MOST_STARTS = 10  # of a bare interpreter, per task with one slot
MOST_FOR_SLOTS = 1.5  # times as much with four slots as with one
THINKS_SECONDS = 1.0
SIZES = (10, 100, 400)
MOST_GROWTH = 1.5  # of the peak memory, from the smallest phase to the largest
_STUB = (
    "import runpy, sys, time; time.sleep(float(sys.argv[1])); "
    "runpy.run_module('fairlead.agents.scripted.program', run_name='__main__')"
)


_HEAD = """\
# Benchmarks: execution

Written by `make bench`; do not edit. The benchmark measures the time that the engine adds to a task
of two seconds, one for the executor and one for the reviewer. It compares the engine with a plain
loop that calls the same programs and stores nothing. The engine's share includes worktree, commit,
gate, evidence, landing and STATE.md, each confirmed by the disk, and the task's share of the start,
the first snapshot and the end of the phase. The goal applies to this total. The last two columns
separate the cost per task from the cost per run, from a short and a long phase. Machines differ, so
the page also gives the figures in starts of a bare interpreter in the same run. With one slot a
task may cost 10 of them; with four slots on two processors, 1.5 times the figure of one slot.

| phase | a task | of its time | in bare starts | work, in bare starts | goal | a task adds | a run adds |
|---|---|---|---|---|---|---|---|"""


_STEPS_HEAD = """\
No step that keeps agents apart from the project is left out to save time. This is what each of them
costs per task of a plan with one task, as processor time with that of the processes it starts."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A phase to be timed."""

    plans: int
    tasks: int  # per plan
    slots: int

    @property
    def size(self) -> int:
        """The number of tasks that one slot does in sequence."""
        return self.plans * self.tasks // self.slots

    @property
    def texts(self) -> list[PlanText]:
        """The plans; they start at 2, because the scripted program fails the first one."""
        return [
            a_plan(f"01-{at:02d}", *(f"f{at}-{each}.txt" for each in range(self.tasks)))
            for at in range(2, self.plans + 2)
        ]


# A short phase and a long one of the same kind.
SORTS = {
    "1 plan of 8 tasks, 1 slot": (Shape(1, 2, 1), Shape(1, 8, 1)),
    "8 plans of 1 task, 1 slot": (Shape(2, 1, 1), Shape(8, 1, 1)),
    "8 plans of 1 task, 4 slots": (Shape(4, 1, 4), Shape(8, 1, 4)),
}


def ours(shape: Shape, thinks: float, folder: Path) -> Sample:
    """One run of the installed command with everything it starts."""
    a_project(folder / "project", *shape.texts)
    agents = {"stub": {"argv": _stub(thinks), "stream": "claude"}}
    settings = folder / "home/config/fairlead/config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"fairlead": {"agent": "stub", "agents": agents}}))
    environment = {**scratch_environment(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    del environment["FAIRLEAD_NOW"]
    words = ("phase", "execute", "1", "--approve", "--json", "--slots", str(shape.slots))
    command = fairlead().command(folder / "project", *words)
    code, sample = measured(command.words, command.folder, environment)
    if code:
        raise RuntimeError(f"{shape}: exit {code}")
    return sample


def plain(shape: Shape, thinks: float, folder: Path) -> Sample:
    """A loop that calls the same programs and stores nothing."""
    folder.mkdir()

    def plan(at: int) -> None:
        for each in range(shape.tasks):
            path = f"f{at}-{each}.txt"
            (folder / path).touch()
            _call(_stub(thinks), folder)
            _call(["/bin/sh", "-c", f"test -f {path}"], folder)
            _call(_stub(thinks), folder)

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started_at = time.perf_counter()
    with ThreadPoolExecutor(shape.slots) as pool:
        list(pool.map(plan, range(shape.plans)))
    seconds = time.perf_counter() - started_at
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Sample(seconds, cpu, 0)


@dataclass(frozen=True, slots=True)
class Overhead:
    """The milliseconds that the engine adds to a long phase."""

    whole: float  # waiting time per task
    work: float  # CPU time per task
    task: float  # the part of `whole` that each task adds
    run: float  # the part that a run adds once


def overhead(short: Shape, long: Shape, rounds: int, scratch: Path) -> Overhead:
    """The overhead, from the medians of both phases over all rounds."""
    both = [(_added(short, scratch), _added(long, scratch)) for _ in range(rounds)]
    few, many = (
        [statistics.median(each) for each in zip(*side, strict=True)]
        for side in zip(*both, strict=True)
    )
    task = (many[0] - few[0]) / (long.size - short.size)
    work = many[1] / (long.plans * long.tasks)
    return Overhead(many[0] / long.size, work, task, few[0] - task * short.size)


def _added(shape: Shape, scratch: Path) -> tuple[float, float]:
    """The added milliseconds of waiting and of CPU time, compared with the plain loop."""
    place = scratch / "timed"
    place.mkdir()
    loop = plain(shape, THINKS_SECONDS, place / "plain")
    engine = ours(shape, THINKS_SECONDS, place)
    shutil.rmtree(place)
    wait, work = engine.seconds - loop.seconds, engine.cpu_seconds - loop.cpu_seconds
    return wait * 1000, work * 1000


def memory(plans: int, scratch: Path) -> float:
    """The peak memory in megabytes for a phase with this many plans."""
    place = scratch / f"memory-{plans}"
    place.mkdir()
    kilobytes = ours(Shape(plans, 1, 4), 0, place).kilobytes
    shutil.rmtree(place)
    return kilobytes / 1024


def bare_work() -> float:
    """The processor time of starting an empty interpreter, in seconds."""
    words = [interpreter(), "-I", "-S", "-c", "pass"]
    samples = [measured(words, ROOT, scratch_environment(ROOT))[1] for _ in range(10)]
    return statistics.median(sample.cpu_seconds for sample in samples)


def bare_start() -> float:
    """The start time of an empty interpreter in milliseconds, the yardstick of the machine."""
    words = [interpreter(), "-I", "-S", "-c", "pass"]
    times = []
    for _ in range(20):
        started_at = time.perf_counter()
        subprocess.run(words, check=True)
        times.append(time.perf_counter() - started_at)
    return statistics.median(times) * 1000


def main() -> int:
    """Measure, print, and write the page. Returns 1 if a goal was missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.execution", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=SIZES[-1], metavar="PLANS")
    parser.add_argument("--growth", type=int, default=PLANS[-1], metavar="PLANS")
    parser.add_argument("--only", choices=("growth",))
    options = parser.parse_args()
    if options.only:
        overhead_part = PAGE.read_text("utf-8").partition(HEADING)[0].strip()
    else:
        overhead_part = _overhead_part(options.rounds, options.most)
    words = f"python -m bench.execution --only growth --growth {options.growth}"
    lines = [overhead_part, "", HEADING, "", *growth_lines(options.growth), "", _made_by(words)]
    page = "\n".join(lines) + "\n"
    PAGE.write_text(page, "utf-8")
    _say(page)
    return 1 if "**missed**" in page else 0


def _overhead_part(rounds: int, largest: int) -> str:
    """The overhead of a task, the cost of each isolation step, and the memory of long phases."""
    lines = [_HEAD]
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        scratch = Path(folder)
        one_slot = 0.0
        for name, (short, long) in SORTS.items():
            bare = bare_start()
            added = overhead(short, long, rounds, scratch)
            most = MOST_STARTS if long.slots == 1 else max(one_slot, 1.0) * MOST_FOR_SLOTS
            one_slot = added.whole / bare if long.slots == 1 else one_slot
            lines.append(_row(name, added, bare, most))
            _say(lines[-1])
        lines += ["", _STEPS_HEAD, "", *isolation_lines(scratch, bare_work())]
        memory_by_size = {size: memory(size, scratch) for size in SIZES if size <= largest}
    lines += ["", _memory_line(memory_by_size)] if memory_by_size else []
    command = f"python -m bench.execution --rounds {rounds} --most {largest}"
    return "\n".join([*lines, "", _made_by(command)])


def _made_by(command: str) -> str:
    load = f"The load of the machine was {os.getloadavg()[0]:.0f} on {os.cpu_count()} processors."
    return f"Command: `{command}`. {today()}, source `{fingerprint()}`. {load}"


def _row(name: str, overhead_ms: Overhead, bare: float, most: float) -> str:
    share = overhead_ms.whole / (2000 * THINKS_SECONDS)
    starts = overhead_ms.whole / bare
    verdict = "met" if starts <= most else "**missed**"
    return (
        f"| {name} | {overhead_ms.whole:.0f} ms | {share:.1%} | {starts:.0f} | "
        f"{overhead_ms.work / bare:.0f} | at most {most:.0f}: {verdict} | "
        f"{overhead_ms.task:.0f} ms | {overhead_ms.run:.0f} ms |"
    )


def _memory_line(megabytes: dict[int, float]) -> str:
    listed = ", ".join(f"{size} plans {most:.0f} MB" for size, most in megabytes.items())
    is_flat = max(megabytes.values()) <= MOST_GROWTH * min(megabytes.values())
    verdict = "met" if is_flat else "**missed**"
    return f"Peak memory: {listed} (goal: at most {MOST_GROWTH} times the least: {verdict})."


def _stub(thinks: float) -> list[str]:
    return [sys.executable, "-c", _STUB, str(thinks)]


def _call(words: Sequence[str], folder: Path) -> None:
    subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=True)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
