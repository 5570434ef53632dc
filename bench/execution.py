"""Carrying out: what the engine adds to a task, and how much memory a long phase takes.

`python -m bench.execution [--rounds N] [--most PLANS]` runs phases with a stub that thinks for two
seconds a task, one for the executor and one for the architect, beside a plain loop that calls the
same program and the same verify command. The difference, divided by the tasks, is the overhead:
the start of the command, the end of the phase and all that keeps its record are in it, and the goal
is held against it. A short and a long phase tell, beside that, what a task adds from what a run
adds once. Writes docs/reference/benchmarks-execution.md.
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

from bench.measure import Sample
from tests.support.execution import PlanText, a_plan, a_project
from tests.support.figures import fingerprint, today
from tests.support.programs import ROOT, fairlead, interpreter, scratch_environment

PAGE = ROOT / "docs" / "reference" / "benchmarks-execution.md"
MOST_MILLISECONDS = 150
THINKS_SECONDS = 1.0
SIZES = (10, 100, 400)
MOST_GROWTH = 1.5  # of the memory, from the smallest phase to the largest
_STUB = (
    "import runpy, sys, time; time.sleep(float(sys.argv[1])); "
    "runpy.run_module('fairlead.adapters.scripted_program', run_name='__main__')"
)


_HEAD = """\
# Benchmarks: carrying out

Written by `make bench`; nobody edits it. What the engine adds to a task of two seconds, one for
the executor and one for the architect, beside a plain loop that calls the same programs and keeps
nothing: worktree, commit, gate, evidence, landing and STATE.md, each confirmed by the disk, and a
task's share of the command's start, its first look and the phase's end. That whole has the goal.
Beside it, what a task adds and what a run adds once: a short phase and a long one are run, and a
line is drawn through the two. Machines differ, so it is also told in starts of a bare interpreter
in the same run.

| phase | a task | of its time | in bare starts | work, in bare starts | goal | a task adds | a run adds |
|---|---|---|---|---|---|---|---|"""


@dataclass(frozen=True, slots=True)
class Shape:
    """A phase to be timed."""

    plans: int
    tasks: int  # a plan
    slots: int

    @property
    def size(self) -> int:
        """The tasks that one slot does after another."""
        return self.plans * self.tasks // self.slots

    @property
    def texts(self) -> list[PlanText]:
        """The plans; the first number is left out, which the scripted program lets go wrong."""
        return [
            a_plan(f"01-{at:02d}", *(f"f{at}-{each}.txt" for each in range(self.tasks)))
            for at in range(2, self.plans + 2)
        ]


# What is measured: a short phase and a long one of the same sort.
SORTS = {
    "1 plan of 8 tasks, 1 slot": (Shape(1, 2, 1), Shape(1, 8, 1)),
    "8 plans of 1 task, 1 slot": (Shape(2, 1, 1), Shape(8, 1, 1)),
    "8 plans of 1 task, 4 slots": (Shape(4, 1, 4), Shape(8, 1, 4)),
}


def ours(shape: Shape, thinks: float, folder: Path) -> Sample:
    """One run of the installed command, everything it started included."""
    a_project(folder / "project", *shape.texts)
    agents = {"stub": {"argv": _stub(thinks), "stream": "claude"}}
    settings = folder / "home/config/fairlead/config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"fairlead": {"agent": "stub", "agents": agents}}))
    environment = {**scratch_environment(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    del environment["FAIRLEAD_NOW"]
    words = ("phase", "execute", "1", "--approve", "--json", "--slots", str(shape.slots))
    command = fairlead().command(folder / "project", *words)
    began = time.perf_counter()
    child = subprocess.Popen(
        command.words, cwd=command.folder, env=environment, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{shape}: exit {child.returncode}")
    seconds = time.perf_counter() - began
    return Sample(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss)


def plain(shape: Shape, thinks: float, folder: Path) -> Sample:
    """A loop that calls the same programs and keeps nothing."""
    folder.mkdir()

    def plan(at: int) -> None:
        for each in range(shape.tasks):
            path = f"f{at}-{each}.txt"
            (folder / path).touch()
            _call(_stub(thinks), folder)
            _call(["/bin/sh", "-c", f"test -f {path}"], folder)
            _call(_stub(thinks), folder)

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    with ThreadPoolExecutor(shape.slots) as pool:
        list(pool.map(plan, range(shape.plans)))
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Sample(seconds, cpu, 0)


@dataclass(frozen=True, slots=True)
class Overhead:
    """Milliseconds that we add to a long phase."""

    whole: float  # that one slot waits for, a task
    work: float  # of the processors, a task
    task: float  # of the whole, what comes with each task
    run: float  # and what comes once


def overhead(short: Shape, long: Shape, rounds: int, scratch: Path) -> Overhead:
    """What is added, by the medians of both phases in all rounds."""
    both = [(_added(short, scratch), _added(long, scratch)) for _ in range(rounds)]
    few, many = (
        [statistics.median(each) for each in zip(*side, strict=True)]
        for side in zip(*both, strict=True)
    )
    task = (many[0] - few[0]) / (long.size - short.size)
    work = many[1] / (long.plans * long.tasks)
    return Overhead(many[0] / long.size, work, task, few[0] - task * short.size)


def _added(shape: Shape, scratch: Path) -> tuple[float, float]:
    """Milliseconds of wait and of work beside the plain loop."""
    place = scratch / "timed"
    place.mkdir()
    other = plain(shape, THINKS_SECONDS, place / "plain")
    own = ours(shape, THINKS_SECONDS, place)
    shutil.rmtree(place)
    wait, work = own.seconds - other.seconds, own.cpu_seconds - other.cpu_seconds
    return wait * 1000, work * 1000


def memory(plans: int, scratch: Path) -> float:
    """Megabytes at most, for a phase of so many plans."""
    place = scratch / f"memory-{plans}"
    place.mkdir()
    kilobytes = ours(Shape(plans, 1, 4), 0, place).kilobytes
    shutil.rmtree(place)
    return kilobytes / 1024


def bare_start() -> float:
    """Milliseconds that an empty interpreter takes, the measure of the machine."""
    words = [interpreter(), "-I", "-S", "-c", "pass"]
    times = []
    for _ in range(20):
        began = time.perf_counter()
        subprocess.run(words, check=True)
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


def main() -> int:
    """Measure, show, and write the page. 1: a goal was missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.execution", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=SIZES[-1], metavar="PLANS")
    options = parser.parse_args()
    lines = [_HEAD]
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        scratch = Path(folder)
        for name, (short, long) in SORTS.items():
            bare = bare_start()
            lines.append(_row(name, overhead(short, long, options.rounds, scratch), bare))
            _say(lines[-1])
        held = {size: memory(size, scratch) for size in SIZES if size <= options.most}
    lines += ["", _memory_line(held)] if held else []
    command = f"python -m bench.execution --rounds {options.rounds} --most {options.most}"
    lines += ["", f"Command: `{command}`. {today()}, source `{fingerprint()}`."]
    page = "\n".join(lines) + "\n"
    PAGE.write_text(page, "utf-8")
    _say(page)
    return 1 if "**missed**" in page else 0


def _row(name: str, found: Overhead, bare: float) -> str:
    share = found.whole / (2000 * THINKS_SECONDS)
    verdict = "met" if found.whole <= MOST_MILLISECONDS else "**missed**"
    return (
        f"| {name} | {found.whole:.0f} ms | {share:.1%} | {found.whole / bare:.0f} | "
        f"{found.work / bare:.0f} | at most {MOST_MILLISECONDS} ms: {verdict} | "
        f"{found.task:.0f} ms | {found.run:.0f} ms |"
    )


def _memory_line(held: dict[int, float]) -> str:
    told = ", ".join(f"{size} plans {held[size]:.0f} MB" for size in held)
    is_flat = max(held.values()) <= MOST_GROWTH * min(held.values())
    verdict = "met" if is_flat else "**missed**"
    return f"Most memory held: {told} (goal: at most {MOST_GROWTH} times the least: {verdict})."


def _stub(thinks: float) -> list[str]:
    return [sys.executable, "-c", _STUB, str(thinks)]


def _call(words: Sequence[str], folder: Path) -> None:
    subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=True)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
