"""Twelve jobs on one server, each with another loss: one outcome, nothing lost, nothing twice."""

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fairlead.jobs.ledger import EntryKind
from tests.support.cluster import (
    LocalCluster,
    Machine,
    ledger_entries,
    local_cluster,
    processes_of,
    shared_refs,
    some_plans,
)
from tests.support.execution import commits_of
from tests.support.repositories import git

pytestmark = pytest.mark.walk
_PLANS = 2
_THINKS = 1.0


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    with local_cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


class Chaos:
    """One job with its own queue, so that jobs do not help each other."""

    def __init__(self, cluster: LocalCluster, number: int) -> None:
        self.cluster = cluster
        self.name = f"job{number}"
        self.project = cluster.project(self.name, some_plans(_PLANS))
        self.workers = [self.worker(), self.worker()]
        self.count = len(self.workers)
        cluster.ready(*self.workers)
        self.coordinator = cluster.coordinator(self.project)

    def worker(self) -> Machine:
        count = len(getattr(self, "workers", ())) + len(self.cluster.machines)
        return self.cluster.worker(f"{self.name}-w{count}", thinks=_THINKS)

    def kill_worker(self) -> None:
        self.workers[0].kill()
        self.workers.append(self.worker())

    def kill_all_workers(self) -> None:
        for each in self.workers:
            each.kill()
        self.workers.append(self.worker())

    def kill_coordinator(self) -> None:
        self.coordinator.kill()
        self.coordinator = self.cluster.coordinator(self.project)

    def kill_server(self) -> None:
        server = next(each for each in self.cluster.machines if each.home.name == "server")
        server.kill()
        self.cluster.machines.remove(server)
        self.cluster.server()

    def drain_worker(self) -> None:
        self.workers[0].send(signal.SIGINT)
        self.workers.append(self.worker())

    def stop_worker(self) -> None:
        self.workers[0].send(signal.SIGINT)
        self.workers[0].send(signal.SIGINT)
        self.workers.append(self.worker())


LOSSES: list[tuple[float, Callable[[Chaos], None]]] = [
    (seconds, loss)
    for loss in (
        Chaos.kill_worker,
        Chaos.kill_all_workers,
        Chaos.kill_coordinator,
        Chaos.kill_server,
        Chaos.drain_worker,
        Chaos.stop_worker,
    )
    for seconds in (2.0, 5.0)
]


@pytest.mark.parametrize("number", range(len(LOSSES)))
def test_a_loss_changes_nothing_but_the_cost(cluster: LocalCluster, number: int) -> None:
    seconds, loss = LOSSES[number]
    chaos = Chaos(cluster, number)
    time.sleep(seconds)

    loss(chaos)

    assert chaos.coordinator.wait() == 0, chaos.coordinator.output
    check_outcome(chaos.project, _PLANS)
    for each in chaos.workers:
        each.send(signal.SIGTERM)
    for each in chaos.workers:
        each.wait()
        assert processes_of(each.home) == []


def check_outcome(project: Path, plans: int) -> None:
    """Every plan landed once, every attempt is recorded once, and no ref is left."""
    subjects = [each for each in commits_of(project) if each.startswith("feat(")]
    assert sorted(subjects) == sorted(
        f"feat(01-{at:02d}): make f{at}.txt" for at in range(2, plans + 2)
    )
    assert git(project, "status", "--porcelain") == ""
    entries = ledger_entries(project)
    calls = [entry.call for entry in entries if entry.kind in (EntryKind.EXECUTE, EntryKind.REVIEW)]
    assert all(calls)
    assert len(calls) == len({*calls})
    merged = [entry.task for entry in entries if entry.kind is EntryKind.MERGE]
    assert len(merged) == len({*merged}) == plans
    assert shared_refs(project) == []
