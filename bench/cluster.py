"""Measures what workers add: speed-up, CPU and latency of a call, and the limits of a coordinator.

`python -m bench.cluster [--plans 40] [--workers 1,2,4,8] [--thinks SECONDS]` runs a phase of one wave
with a scripted agent on a real Temporal server, locally with one slot and on workers with one slot
each, all as separate processes with homes and clones of their own, and in network namespaces where
the machine allows it. The agent's sleep is computed from the CPU seconds of a short probe, so that
the most workers leave half of the processors idle: processors that are in use cannot show a speed-up.
The run says beforehand how long it takes. Finished runs are kept, and an interrupted bench continues
with the rest (`--again` forgets them).

`--instant PLANS,WORKERS` runs instant agents, if a probe shows that this takes less than
`--minutes`, and `--decide PLANS` measures decisions. Every part can be left out and keeps its last
figures then. Writes docs/reference/benchmarks-cluster.md and .json.
"""

import argparse
import json
import sys
from collections.abc import Mapping
from typing import cast

from bench.cluster_runs import (
    CALLS,
    CORES,
    PhaseRun,
    RunStore,
    estimated_seconds,
    measured,
    namespace_note,
    needed_sleep,
)
from bench.decisions import decision_lines
from tests.support.cluster_results import differences
from tests.support.figures import fingerprint, today
from tests.support.programs import ROOT

PAGE = ROOT / "docs" / "reference" / "benchmarks-cluster.md"
FIGURES = PAGE.with_suffix(".json")
SPEED, INSTANT, DECISIONS = "Speed-up", "Instant agents", "Decisions"
TITLES = (SPEED, INSTANT, DECISIONS)
GOALS = {2: 1.9, 4: 3.7, 8: 7.0}
BUSY = 0.5  # of all processors
_MOST_TRIES = 3  # to find a sleep that is long enough
_PROBED = 2  # plans of the probe for each worker
_INSTANT_PROBED = 100  # plans


# -- speed-up ------------------------------------------------------------------------------------


def speed_runs(store: RunStore, plans: int, counts: list[int], thinks: float) -> list[PhaseRun]:
    """The phase locally and on workers; the most workers come first, because they decide the sleep."""
    most = max(counts)
    probe = measured(store, f"probe with {most} workers", _PROBED * most, 0.0, most)
    _say(
        f"probe: {probe.cpu_seconds / probe.plans:.2f} CPU seconds a plan on workers, "
        f"with the server {probe.total_cpu / probe.plans:.2f}"
    )
    thinks = thinks or store.sleep or needed_sleep(probe, most)
    for _ in range(_MOST_TRIES):
        store.save_sleep(thinks)
        seconds = sum(estimated_seconds(probe, plans, each, thinks) for each in (1, *counts))
        _say(
            f"the agent sleeps {thinks:g} s in each of two calls; all runs together take about "
            f"{seconds / 60:.0f} minutes on an idle machine"
        )
        first = measured(store, f"{most} workers", plans, thinks, most)
        # Other programs stay as busy, however long the agent sleeps.
        if first.own_share < BUSY:
            break
        thinks = round(thinks * first.own_share / BUSY * 1.2 + 0.5)
    runs = [measured(store, "local, one slot", plans, thinks, 0)]
    for count in counts:
        runs.append(measured(store, f"{count} workers", plans, thinks, count))
    return runs


def speed_lines(runs: list[PhaseRun]) -> list[str]:
    """The table of speed-ups, whether the results are the same, and what limits the figures."""
    local, one = runs[0], runs[1]
    plans, thinks = local.plans, local.thinks
    lines = [
        f"A phase of {plans} plans in one wave; the agent sleeps {thinks:g} s in each of two calls.",
        namespace_note(),
        "",
        (
            "| workers | seconds | speed-up | goal | CPU seconds per call | to local |"
            " own CPU use | all processors busy |"
        ),
        "|---|---|---|---|---|---|---|---|",
    ]
    per_call = local.cpu_seconds / plans / CALLS
    for run in runs:
        cost = run.cpu_seconds / plans / CALLS
        speed, goal = one.seconds / run.seconds if run.workers else 0, GOALS.get(run.workers, 0)
        cells = (
            str(run.workers or "local, one slot"),
            f"{run.seconds:.1f}",
            f"{speed:.2f}" if speed else "",
            f"{goal}" if goal else "",
            f"{cost:.3f}",
            f"{cost / per_call:.2f}",
            f"{run.own_share:.0%}",
            f"{run.busy:.0%}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    latency = (one.seconds - local.seconds) / plans / CALLS
    server = sum(run.server_cpu for run in runs) / plans / CALLS / max(len(runs) - 1, 1)
    return [
        *lines,
        "",
        (
            f"One worker adds {latency * 1000:.0f} ms of waiting to a call, compared with the local"
            f" path (ratio {one.seconds / local.seconds:.2f} for the phase). CPU seconds per call are"
            f" those of coordinator and workers; the server takes {server:.3f} more. Own CPU use is"
            f" that of coordinator, workers and server, as a share of {CORES} processors."
        ),
        *_notes(runs),
        *same_lines(runs),
    ]


def same_lines(runs: list[PhaseRun]) -> list[str]:
    """Whether the runs on workers have the result of the local run, and every difference."""
    local, others = runs[0], runs[1:]
    found = [
        f"- {run.workers} workers: `{each}`"
        for run in others
        for each in differences(local.result, run.result)
    ]
    orders = sum(run.order != local.order for run in others)
    return [
        "",
        f"Summaries, ledger, commits and files equal those of the local run: {'NO' if found else 'yes'}.",
        *found,
        "",
        (
            "Left out are times, ids of commits, calls and jobs, and the name of the worker that ran a"
            " command. Plans land in the order in which they end: commits are compared as a set, and"
            f" in order within each plan ({orders} of {len(others)} runs landed in another order than"
            " the local one)."
        ),
    ]


def _notes(runs: list[PhaseRun]) -> list[str]:
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


# -- instant agents ------------------------------------------------------------------------------


def instant_lines(store: RunStore, plans: int, workers: int, minutes: float) -> list[str]:
    """A phase with instant agents: how many plans a second, and which limit comes first."""
    probed = min(plans, _INSTANT_PROBED)
    run = measured(store, f"{probed} instant plans", probed, 0.0, workers)
    needed = run.seconds / run.plans * plans / 60
    _say(f"{plans} plans with instant agents take about {needed:.0f} minutes")
    lines = []
    if needed < minutes and probed < plans:
        run = measured(store, f"{plans} instant plans", plans, 0.0, workers)
    elif probed < plans:
        lines = [f"{plans} plans would take about {needed:.0f} minutes and were not run."]
    rate = run.plans / run.seconds
    parts = {
        "workers": run.workers_cpu,
        "coordinator": run.coordinator_cpu,
        "server": run.server_cpu,
    }
    shares = ", ".join(f"{name} {cpu / run.plans:.2f}" for name, cpu in parts.items())
    one = run.coordinator_cpu / run.seconds
    limit = (
        f"the processors of this machine ({run.busy:.0%} busy, {run.own_share:.0%} with this run)"
        if run.busy > 0.9
        else f"the coordinator, which lands one plan after the other ({one:.0%} of a processor)"
    )
    return [
        (
            f"{run.plans} plans on {workers} workers with instant agents: {run.seconds:.0f} s,"
            f" {rate:.2f} plans ({rate * CALLS:.1f} calls) a second. CPU seconds a plan: {shares}."
            f" Own CPU use {run.own_share:.0%}, processors {run.busy:.0%} busy."
        ),
        f"The first limit is {limit}.",
        (
            "With workers and server on other machines the coordinator's share alone allows"
            f" {run.plans / run.coordinator_cpu:.1f} plans a second on one processor."
        ),
        *lines,
    ]


# -- the page ------------------------------------------------------------------------------------


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
    known = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {}
    sections = {name: section for name, section in known.items() if name in TITLES}
    sections[title] = {"lines": lines, "on": today(), "machine": fingerprint()}
    FIGURES.write_text(json.dumps(sections, indent=2, ensure_ascii=False) + "\n", "utf-8")
    PAGE.write_text(page_of(sections), "utf-8")
    for line in (f"## {title}", "", *lines, ""):
        _say(line)


def main() -> int:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster", description=__doc__)
    parser.add_argument("--plans", type=int, default=40)
    parser.add_argument("--thinks", type=float, default=0.0, help="seconds; 0: from a probe")
    parser.add_argument("--workers", default="1,2,4,8", help="empty: no speed-up")
    parser.add_argument("--instant", default="1000,16", help="plans, workers; 0,0: none")
    parser.add_argument("--minutes", type=float, default=15.0, help="the most for instant agents")
    parser.add_argument("--decide", type=int, default=1_000_000, help="plans; 0: no decisions")
    parser.add_argument("--simulate", type=int, default=20_000)
    parser.add_argument("--again", action="store_true", help="forget finished runs")
    options = parser.parse_args()
    counts = [int(each) for each in options.workers.split(",") if each]
    plans, workers = (int(each) for each in options.instant.split(","))
    store = RunStore("cluster", _say)
    if options.again:
        store.forget()
    if counts:
        save(
            SPEED,
            speed_lines(speed_runs(store, options.plans, sorted({1, *counts}), options.thinks)),
        )
    if plans:
        save(INSTANT, instant_lines(store, plans, workers, options.minutes))
    if options.decide:
        save(DECISIONS, decision_lines(options.decide, options.simulate))
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
