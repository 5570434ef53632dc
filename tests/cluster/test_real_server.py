"""One job on a real Temporal server: its worker is killed, and another one takes over."""

import json
import signal
from pathlib import Path

import pytest

from fairlead.jobs.calls import LOST
from fairlead.jobs.ledger import EntryKind
from tests.support.cluster import (
    LocalCluster,
    ledger_entries,
    local_cluster,
    processes_of,
    shared_refs,
    some_plans,
)
from tests.support.execution import commits_of
from tests.support.programs import Command, fairlead, run

pytestmark = pytest.mark.walk


@pytest.fixture
def cluster(tmp_path: Path):
    with local_cluster(tmp_path) as started:
        yield started


def test_a_job_survives_the_loss_of_its_worker(cluster: LocalCluster) -> None:
    project = cluster.project("one", some_plans(1))
    first = cluster.worker("first", thinks=60.0)
    coordinator = cluster.coordinator(project)
    cluster.await_call(first, coordinator)

    first.kill()
    second = cluster.worker("second")

    assert coordinator.wait() == 0, coordinator.output
    assert processes_of(first.home) == []
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
