"""Runs of a phase on a real Temporal server, each with what it used; finished ones are kept.

Every run has a server, workers and a project of its own, so that none is slower for the history of
those before it.
"""

import math
import os
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.cluster import LocalCluster, Machine, local_cluster, settings, some_plans, stub
from tests.support.cluster_network import (
    Namespace,
    network_namespaces,
    why_no_network_namespaces,
)
from tests.support.cluster_results import landing_order, result_of
from tests.support.figures import PRODUCT, cache_folder, fingerprint, read_json, write_json

CALLS = 3  # of a task: executor, verify, architect
CORES = os.cpu_count() or 1
WANTED_SHARE = 0.25  # of all processors: half of what is allowed, so that nobody waits for another
_SLEEPS = 2  # of the agent, for each plan
_START_SECONDS = 3.0  # of a run, on two processors
_PLAN_SECONDS = 1.0  # of a plan beside the sleeps
_HEARTBEAT_SECONDS = 30  # the default of the product
_COVERS = (*PRODUCT, "bench/cluster_runs.py", "tests/support/cluster.py")
_WAIT_SECONDS = 36_000


@dataclass(frozen=True, slots=True)
class PhaseRun:
    """One run of a phase."""

    plans: int
    thinks: float
    workers: int  # 0: locally
    seconds: float
    workers_cpu: float
    coordinator_cpu: float
    server_cpu: float
    busy: float  # share of all processors, other programs included
    order: tuple[str, ...] = ()  # in which the plans landed
    result: dict[str, list[str]] = field(default_factory=dict)

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds of coordinator and workers."""
        return self.workers_cpu + self.coordinator_cpu

    @property
    def total_cpu(self) -> float:
        """CPU seconds with those of the server."""
        return self.cpu_seconds + self.server_cpu

    @property
    def own_share(self) -> float:
        """The share of all processors that coordinator, workers and server used."""
        return self.total_cpu / CORES / self.seconds


class RunStore:
    """The finished runs of one version of the source."""

    def __init__(self, name: str, say: Callable[[str], None], folder: Path | None = None) -> None:
        self._path = (folder or cache_folder("bench")) / f"{name}.json"
        self.say = say
        saved = read_json(self._path)
        self._source = fingerprint(_COVERS)
        is_current = saved.get("source") == self._source
        self._saved = saved if is_current else {"source": self._source, "runs": {}, "sleep": 0.0}

    @property
    def sleep(self) -> float:
        """The agent's sleep of the interrupted bench; 0: none."""
        return float(str(self._saved["sleep"]))

    def save_sleep(self, seconds: float) -> None:
        """Keep the agent's sleep."""
        self._saved["sleep"] = seconds
        write_json(self._path, self._saved)

    def get(self, key: str) -> PhaseRun | None:
        """A finished run."""
        runs = self._saved["runs"]
        assert isinstance(runs, dict)
        if key not in runs:
            return None
        return PhaseRun(**{**runs[key], "order": tuple(runs[key]["order"])})

    def add(self, key: str, run: PhaseRun) -> None:
        """Keep a finished run."""
        runs = self._saved["runs"]
        assert isinstance(runs, dict)
        runs[key] = asdict(run)
        write_json(self._path, self._saved)

    def forget(self) -> None:
        """Begin anew."""
        self._saved = {"source": self._source, "runs": {}, "sleep": 0.0}
        write_json(self._path, self._saved)


def needed_sleep(probe: PhaseRun, workers: int) -> float:
    """The agent's sleep with which so many workers leave the processors idle enough.

    While a worker sleeps through a plan, the others use the processors for theirs.
    """
    per_plan = probe.total_cpu / probe.plans
    return math.ceil(workers * per_plan / (CORES * WANTED_SHARE * _SLEEPS) * 2) / 2


def estimated_seconds(probe: PhaseRun, plans: int, workers: int, thinks: float) -> float:
    """How long a run takes on an idle machine."""
    per_plan = _SLEEPS * thinks + _PLAN_SECONDS
    return _START_SECONDS + math.ceil(plans / workers) * per_plan + probe.total_cpu / probe.plans


def measured(store: RunStore, name: str, plans: int, thinks: float, workers: int) -> PhaseRun:
    """A run of a phase, or the finished one."""
    key = f"{plans} plans, {thinks:g} s, {workers} workers"
    if run := store.get(key):
        store.say(f"{name}: {run.seconds:.1f} s (finished before)")
        return run
    with _cluster(workers) as (cluster, namespaces):
        run = _timed(cluster, namespaces, plans, thinks, workers)
    store.add(key, run)
    store.say(
        f"{name}: {run.seconds:.1f} s, own CPU use {run.own_share:.0%}, processors {run.busy:.0%} busy"
    )
    return run


@cache
def _why_no_namespaces() -> str:
    return why_no_network_namespaces()


def namespace_note() -> str:
    """Whether the workers had networks of their own."""
    why = _why_no_namespaces()
    if why:
        return f"Every worker has a home and a clone of its own, but shares the network ({why})."
    return "Every worker has a home, a clone and a network namespace of its own."


@contextmanager
def _cluster(workers: int) -> Iterator[tuple[LocalCluster, tuple[Namespace, ...]]]:
    """A server with a new folder, and a namespace for each worker where the machine allows it."""
    count = 0 if _why_no_namespaces() else workers
    with TemporaryDirectory(prefix="bench-") as folder, network_namespaces(count) as namespaces:
        with local_cluster(Path(folder)) as cluster:
            for each in namespaces:
                each.relay(cluster.port)
            yield cluster, namespaces


def _timed(
    cluster: LocalCluster,
    namespaces: tuple[Namespace, ...],
    plans: int,
    thinks: float,
    workers: int,
) -> PhaseRun:
    """Run a phase of one wave, locally or on so many workers with one slot each."""
    project = cluster.project("phase", some_plans(plans), heartbeat_seconds=_HEARTBEAT_SECONDS)
    prefixes = [each.prefix(cluster.port) for each in namespaces] or [()] * workers
    machines = [
        cluster.worker(f"w{at}", thinks=thinks, prefix=prefixes[at]) for at in range(workers)
    ]
    cluster.ready(*machines)
    if not workers:
        agents = {"stub": {"argv": stub(thinks, project.parent), "stream": "claude"}}
        settings(project.parent, {"agent": "stub", "agents": agents})
    words = ("--cluster",) if workers else ("--slots", "1")
    server = [each for each in cluster.machines if each.home.name == "server"]
    before, serving, ended = _used(machines), _used(server), _children()
    load, began = _processor_times(), time.monotonic()
    coordinator = cluster.coordinator(project, *words)
    code = coordinator.wait(_WAIT_SECONDS)
    seconds, after = time.monotonic() - began, _processor_times()
    if code:
        raise RuntimeError(coordinator.output[-3000:])
    run = PhaseRun(
        plans=plans,
        thinks=thinks,
        workers=workers,
        seconds=seconds,
        workers_cpu=_used(machines) - before,
        coordinator_cpu=_children() - ended,
        server_cpu=_used(server) - serving if workers else 0.0,
        busy=(after[0] - load[0]) / max(after[1] - load[1], 1e-9),
        order=landing_order(project),
        result=result_of(project),
    )
    for machine in machines:
        machine.kill()
    return run


def _children() -> float:
    """CPU seconds of the children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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
