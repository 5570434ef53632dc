"""One job on a real Temporal server: its worker is killed, and another one takes over."""

import json
import signal

import pytest

from fairlead.agents.model import CallLimits, CallSource
from fairlead.cluster.connection import Connection, Patience, ServerSettings
from fairlead.cluster.errors import IdInUse, NoWorker, ServerGone
from fairlead.cluster.model import CallAddress, CallKind, CallOrder, SentLimits, encoded
from fairlead.core.values import replace
from fairlead.jobs.calls import LOST
from fairlead.jobs.ledger import EntryKind
from tests.support.cluster import (
    LocalCluster,
    free_ports,
    ledger_entries,
    local_cluster,
    processes_of,
    shared_refs,
    some_plans,
)
from tests.support.execution import commits_of
from tests.support.programs import Command, fairlead, run

pytestmark = pytest.mark.walk


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory):
    with local_cluster(tmp_path_factory.mktemp("cluster")) as started:
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


def test_a_queue_without_a_worker_ends_the_run_and_another_input_is_not_attached(
    cluster: LocalCluster,
) -> None:
    limits = SentLimits.of(CallLimits())
    address = CallAddress("p", "j", "c")
    order = CallOrder(address, CallKind.COMMAND, "nobody", "x", CallSource("0" * 40), limits)
    patience = Patience(worker=0.5, look=0.1)
    with Connection(ServerSettings(cluster.address, patience=patience), "p") as connection:
        connection.start(order, encoded(order))
        connection.start(order, encoded(order))  # the same input: it is the same call
        with pytest.raises(NoWorker) as error:
            connection.wait(order, lambda: True)
        assert error.value.exit_code == 5
        with pytest.raises(IdInUse):
            connection.start(order, encoded(replace(order, line="another")))
        assert connection.started_attempts(address.id) == 0
        assert connection.cancel(address.id).is_cancelled
        with pytest.raises(IdInUse):  # an id is never used again
            connection.start(order, encoded(replace(order, line="another")))
        with pytest.raises(NoWorker):
            connection.await_workers("nobody")


def test_a_server_that_does_not_answer_ends_the_command() -> None:
    (port,) = free_ports(1)
    settings = ServerSettings(f"127.0.0.1:{port}", patience=Patience(connect=0.2))

    with pytest.raises(ServerGone) as error, Connection(settings):
        pass

    assert error.value.exit_code == 5


def test_a_server_that_is_gone_for_too_long_ends_the_run(cluster: LocalCluster) -> None:
    order = CallOrder(
        CallAddress("p", "j", "gone"),
        CallKind.COMMAND,
        "nobody",
        "x",
        CallSource("0" * 40),
        SentLimits.of(CallLimits()),
    )
    patience = Patience(server=0.0, look=60.0)  # the monitor has no time to see it again
    with Connection(ServerSettings(cluster.address, patience=patience), "p") as connection:
        connection.start(order, encoded(order))
        with pytest.raises(ServerGone):
            connection.wait(order, lambda: True)
        connection.cancel(order.address.id)
