"""Measures what workers add: speed-up, CPU and latency of a call, and the limits of a coordinator.

`python -m bench.cluster [--plans 40] [--thinks SECONDS] [--workers 1,2,4,8]` runs a phase of one wave
with a scripted agent on a real Temporal server, locally with one slot and on workers with one slot
each, all as separate processes with homes of their own. The agent's sleep is lengthened until the
machine is less than half busy, because processors that are in use cannot show a speed-up.
`--instant PLANS,WORKERS` runs instant agents, and `--decide PLANS` measures decisions. Every part can
be left out and keeps its last figures then. Writes docs/reference/benchmarks-cluster.md and .json.
"""

import argparse
import json
import os
import re
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from bench.decisions import decision_lines
from tests.support.cluster import (
    LocalCluster,
    Machine,
    ledger_entries,
    local_cluster,
    settings,
    some_plans,
    stub,
)
from tests.support.execution import commits_of
from tests.support.figures import fingerprint, today
from tests.support.programs import ROOT

PAGE = ROOT / "docs" / "reference" / "benchmarks-cluster.md"
FIGURES = PAGE.with_suffix(".json")
SPEED, SAME, INSTANT, DECISIONS = "Speed-up", "Same result", "Instant agents", "Decisions"
TITLES = (SPEED, SAME, INSTANT, DECISIONS)
GOALS = {2: 1.9, 4: 3.7, 8: 7.0}
CALLS = 3  # of a task: executor, verify, architect
BUSY = 0.5  # of all processors
_VARYING = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.+Z]+)?|\x22?[0-9a-f]{7,64}\x22?"
    r"|\b[0-9]+(?:\.[0-9]+)? ?(?:s|min|m)\b"
)


@dataclass(frozen=True, slots=True)
class Timed:
    """One run of a phase."""

    workers: int  # 0: locally
    seconds: float
    cpu_seconds: float
    busy: float  # share of all processors, other programs included
    result: tuple[object, ...]


def timed(cluster: LocalCluster, name: str, plans: int, thinks: float, workers: int) -> Timed:
    """Run a phase of one wave, locally or on so many workers with one slot each."""
    project = cluster.project(name, some_plans(plans))
    machines = []
    for at in range(workers):
        machines.append(cluster.worker(f"{name}-w{at}", thinks=thinks))
    cluster.ready(*machines)
    if not workers:
        agents = {"stub": {"argv": stub(thinks), "stream": "claude"}}
        settings(project.parent, {"agent": "stub", "agents": agents})
    words = ("--cluster",) if workers else ("--slots", "1")
    before, load = _used(machines), _processor_times()
    began = time.monotonic()
    coordinator = cluster.coordinator(project, *words)
    code = coordinator.wait(36_000)
    seconds = time.monotonic() - began
    if code:
        raise RuntimeError(coordinator.output[-3000:])
    after = _processor_times()
    busy = (after[0] - load[0]) / max(after[1] - load[1], 1e-9)
    cpu = _used(machines) - before + _children()
    for machine in machines:
        machine.kill()
    return Timed(workers, seconds, cpu, busy, result_of(project))


def result_of(project: Path) -> tuple[object, ...]:
    """Commits, evidence and summaries without times and ids."""
    entries = sorted(
        (entry.task, entry.kind, entry.attempt, entry.verdict, entry.command, entry.exit_code or 0)
        for entry in ledger_entries(project)
    )
    texts = {
        path.name: _VARYING.sub("#", path.read_text("utf-8"))
        for path in sorted((project / ".planning/phases/01-work").glob("*-SUMMARY.md"))
    }
    subjects = sorted(re.sub(r"execute-\S+", "#", each) for each in commits_of(project))
    return tuple(entries), tuple(texts.items()), tuple(subjects)


_spent = [0.0]


def _children() -> float:
    """CPU seconds of the children that ended since the last look: the coordinator."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = used.ru_utime + used.ru_stime
    last, _spent[0] = _spent[0], total
    return total - last


def _used(machines: list[Machine]) -> float:
    """CPU seconds of running machines, with what they waited for."""
    total, tick = 0.0, os.sysconf("SC_CLK_TCK")
    for machine in machines:
        assert machine.process is not None
        fields = Path("/proc", str(machine.process.pid), "stat").read_text().rpartition(")")[2]
        total += sum(map(int, fields.split()[11:15])) / tick
    return total


def _processor_times() -> tuple[float, float]:
    """Busy time and all time of the processors."""
    numbers = [float(each) for each in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return sum(numbers) - numbers[3] - numbers[4], sum(numbers)


def measured_runs(
    cluster: LocalCluster, plans: int, thinks: float, counts: list[int]
) -> list[Timed]:
    """The phase locally, and then on so many workers."""
    _children()
    runs = []
    for count in (0, *counts):
        runs.append(timed(cluster, f"on{count}", plans, thinks, count))
        _say(f"{count} workers: {runs[-1].seconds:.1f} s, {runs[-1].busy:.0%} busy")
    return runs


def speed_lines(runs: list[Timed], plans: int, thinks: float) -> list[str]:
    """The table of speed-ups, whether the results are the same, and what limits the figures."""
    local, one = runs[0], runs[1]
    lines = [
        f"A phase of {plans} plans in one wave; the agent sleeps {thinks:g} s in each of two calls.",
        "",
        "| workers | seconds | speed-up | goal | CPU seconds per call | to local | all processors busy |",
        "|---|---|---|---|---|---|---|",
    ]
    per_call = local.cpu_seconds / plans / CALLS
    for run in runs:
        cost = run.cpu_seconds / plans / CALLS
        speed = one.seconds / run.seconds if run.workers else 0
        goal = GOALS.get(run.workers, 0)
        cells = (
            str(run.workers or "local, one slot"),
            f"{run.seconds:.1f}",
            f"{speed:.2f}" if speed else "",
            f"{goal}" if goal else "",
            f"{cost:.3f}",
            f"{cost / per_call:.2f}",
            f"{run.busy:.0%}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    latency = (one.seconds - local.seconds) / plans / CALLS
    same = all(run.result == local.result for run in runs)
    lines += [
        "",
        (
            f"One worker adds {latency * 1000:.0f} ms of waiting to a call, compared with the local path "
            f"(ratio {one.seconds / local.seconds:.2f} for the phase)."
        ),
        f"Summaries, ledger and commits equal those of the local run: {'yes' if same else 'NO'}.",
        *_notes(runs),
    ]
    return lines


def _notes(runs: list[Timed]) -> list[str]:
    """What a reader has to know about the figures."""
    one = next(run for run in runs if run.workers)
    missed = [
        f"{run.workers} workers"
        for run in runs
        if one.seconds / run.seconds < GOALS.get(run.workers, 0)
    ]
    notes = [f"The goal is missed for {', '.join(missed)}."] if missed else []
    if max(run.busy for run in runs) > BUSY:
        notes.append(
            f"The processors were more than {BUSY:.0%} busy, also with other programs: the waiting "
            "times are not those of an idle machine, and the goals are neither met nor missed for certain."
        )
    return notes


def same_lines(runs: list[Timed]) -> list[str]:
    """Whether a run on workers has the result of a local run."""
    same = all(run.result == runs[0].result for run in runs)
    what = (
        "Summaries, ledger and commits of a small phase on two workers equal those of the local run"
    )
    return [f"{what}: {'yes' if same else 'NO'}."]


def instant_lines(cluster: LocalCluster, plans: int, workers: int) -> list[str]:
    """A phase with instant agents: how many calls and landings a second, and what is used."""
    _children()
    run = timed(cluster, "instant", plans, 0.0, workers)
    rate = plans / run.seconds
    return [
        (
            f"{plans} plans on {workers} workers with instant agents: {run.seconds:.0f} s, {rate:.2f} plans"
            f" ({rate * CALLS:.1f} calls) a second, {run.cpu_seconds / plans:.2f} CPU seconds a plan,"
            f" processors {run.busy:.0%} busy."
        ),
    ]


def page_of(sections: Mapping[str, Mapping[str, object]]) -> str:
    """The page with all sections, each with the day and the machine of its measurement."""
    lines = ["# Benchmarks: cluster", "", "Written by `make bench`; do not edit.", ""]
    for title in TITLES:
        if section := sections.get(title):
            lines += [f"## {title}", "", *map(str, cast("list[str]", section["lines"])), ""]
            lines += [f"Measured on {section['on']}: {section['machine']}", ""]
    return "\n".join(lines)


def save(title: str, lines: list[str]) -> None:
    """Replace one section; the others stay as they were measured."""
    sections = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {}
    sections[title] = {"lines": lines, "on": today(), "machine": fingerprint()}
    FIGURES.write_text(json.dumps(sections, indent=2, ensure_ascii=False) + "\n", "utf-8")
    PAGE.write_text(page_of(sections), "utf-8")
    for line in (f"## {title}", "", *lines, ""):
        _say(line)


def main() -> int:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster", description=__doc__)
    parser.add_argument("--plans", type=int, default=40)
    parser.add_argument("--thinks", type=float, default=4.0)
    parser.add_argument("--workers", default="1,2,4,8", help="empty: no speed-up")
    parser.add_argument("--same", type=int, default=2, help="plans of the comparison; 0: none")
    parser.add_argument("--instant", default="1000,16", help="plans, workers; 0,0: none")
    parser.add_argument("--decide", type=int, default=1_000_000, help="plans; 0: no decisions")
    parser.add_argument("--simulate", type=int, default=20_000)
    options = parser.parse_args()
    counts = [int(each) for each in options.workers.split(",") if each]
    plans, workers = (int(each) for each in options.instant.split(","))
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        if counts:
            with _cluster_in(folder, "speed") as cluster:
                runs = measured_runs(cluster, options.plans, options.thinks, counts)
                save(SPEED, speed_lines(runs, options.plans, options.thinks))
        if options.same:
            with _cluster_in(folder, "same") as cluster:
                save(SAME, same_lines(measured_runs(cluster, options.same, 0.0, [2])))
        if plans:
            with _cluster_in(folder, "instant") as cluster:
                save(INSTANT, instant_lines(cluster, plans, workers))
    if options.decide:
        save(DECISIONS, decision_lines(options.decide, options.simulate))
    return 0


@contextmanager
def _cluster_in(folder: str, name: str) -> Iterator[LocalCluster]:
    place = Path(folder, name)
    place.mkdir()
    with local_cluster(place) as cluster:
        yield cluster


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
