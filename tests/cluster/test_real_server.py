"""One job on a real Temporal server: its worker is killed, and another one takes over."""

import json
import signal
import time
from pathlib import Path

import pytest

from fairlead.jobs.calls import LOST
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
from tests.support.programs import PATIENCE_SECONDS, Command, fairlead, run

pytestmark = pytest.mark.walk

_LOOK_SECONDS = 0.1


def until(happened: object, machine: Machine) -> None:
    """Wait until something has happened, while a machine runs."""
    assert callable(happened)
    limit = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        assert machine.is_running, machine.output
        assert time.monotonic() < limit, machine.output
        time.sleep(_LOOK_SECONDS)


def is_calling(worker: Machine) -> bool:
    """Whether an agent of a worker runs."""
    return any("scripted.program" in each for each in processes_of(worker.home))


@pytest.fixture
def cluster(tmp_path: Path):
    with local_cluster(tmp_path) as started:
        yield started


def test_a_job_survives_the_loss_of_its_worker(cluster: LocalCluster) -> None:
    project = cluster.project("one", some_plans(1))
    first = cluster.worker("first", thinks=60.0)
    coordinator = cluster.coordinator(project)
    until(lambda: is_calling(first), coordinator)

    first.kill()
    until(lambda: not processes_of(first.home), coordinator)
    second = cluster.worker("second")

    assert coordinator.wait() == 0, coordinator.output
    entries = ledger_entries(project)
    calls = [entry.call for entry in entries if entry.kind in (EntryKind.EXECUTE, EntryKind.REVIEW)]
    assert len(calls) == len({*calls}) == 3
    assert [entry.cost_usd for entry in entries if entry.verdict == LOST] == [None]
    assert [each for each in commits_of(project) if each.startswith("feat(")] == [
        "feat(01-02): make f2.txt"
    ]
    assert shared_refs(project) == []

    status = fairlead().command(project, "cluster", "status", "--json")
    environment = cluster.environment(project.parent)
    document = json.loads(run(Command(status.words, project, environment)).output)
    assert {queue["name"] for queue in document["queues"]} == {"stub", "verify"}
    assert document["calls"] == []

    second.send(signal.SIGINT)
    assert second.wait() == 0
    assert "has ended" in second.output
    assert processes_of(second.home) == []
