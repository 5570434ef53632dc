"""One job on a real Temporal server: its worker is killed, and another one takes over.

This is the only test with a server outside the walks; it is skipped where there is no program.
"""

import asyncio
import json
import signal
import time
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from fairlead.agents.model import CallLimits, CallSource
from fairlead.cluster.connection import Connection, Patience, ServerSettings
from fairlead.cluster.errors import IdInUse, NoWorker, ServerGone, ServerRefused
from fairlead.cluster.model import (
    MOST_SLOTS,
    CallAddress,
    CallEnd,
    CallKind,
    CallOrder,
    SentLimits,
    WorkerIdentity,
    encoded,
    order_of,
    presence_queue,
    task_queue,
)
from fairlead.cluster.workflow import ACTIVITY
from fairlead.core.values import replace
from fairlead.jobs.calls import LOST
from fairlead.jobs.ledger import EntryKind
from tests.support.cluster import (
    LocalCluster,
    free_ports,
    is_calling,
    ledger_entries,
    local_cluster,
    processes_of,
    project_id,
    shared_refs,
    some_plans,
    why_no_server,
)
from tests.support.cluster_chaos import unrecorded
from tests.support.execution import commits_of
from tests.support.programs import PATIENCE_SECONDS, Command, fairlead, run

_SOON = 30.0  # seconds: less than the wait for a server

pytestmark = pytest.mark.skipif(bool(why := why_no_server()), reason=why)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory):
    with local_cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


def status_of(cluster: LocalCluster, project: Path) -> dict[str, Any]:
    status = fairlead().command(project, "cluster", "status", "--json")
    environment = cluster.environment(project.parent)
    document = json.loads(run(Command(status.words, project, environment)).output)
    assert isinstance(document, dict)
    return document


def test_a_job_survives_the_loss_of_its_worker(cluster: LocalCluster) -> None:
    project = cluster.project("one", some_plans(1))
    first = cluster.worker("first", thinks=60.0)
    cluster.ready(first)
    coordinator = cluster.coordinator(project)
    cluster.await_call(first, coordinator)
    (call,) = status_of(cluster, project)["calls"]
    assert first.process is not None
    assert (call["attempt"], call["worker"].partition(":")[2]) == (1, str(first.process.pid))

    first.kill()
    second = cluster.worker("second")
    cluster.ready(second)

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

    document = status_of(cluster, project)
    assert {queue["name"] for queue in document["queues"]} == {"stub", "verify"}
    assert document["calls"] == []

    second.send(signal.SIGINT)
    assert second.wait() == 0
    assert "has ended" in second.output
    assert second.output.count(" began ") == second.output.count(" finished ") == 3
    assert second.output.count(", attempt 2") == 1
    assert processes_of(second.home) == []


@pytest.mark.walk
def test_a_job_whose_coordinator_is_gone_names_its_command_and_can_be_cancelled(
    cluster: LocalCluster,
) -> None:
    project = cluster.project("cancelled", some_plans(1))
    worker = cluster.worker("patient", thinks=600.0)
    cluster.ready(worker)
    coordinator = cluster.coordinator(project)
    cluster.await_call(worker, coordinator)
    coordinator.kill()

    def fairlead_json(*words: str) -> dict[str, Any]:
        command = fairlead().command(project, *words, "--json")
        environment = cluster.environment(project.parent)
        return json.loads(run(Command(command.words, project, environment)).output)

    (job,) = fairlead_json("job", "list")["jobs"]
    assert job["command"].endswith(" --cluster")
    assert is_calling(worker)  # the call goes on without its coordinator
    assert fairlead_json("job", "cancel", job["id"])["status"] == "FAILED"

    cluster.await_idle(worker)
    assert fairlead_json("cluster", "status")["calls"] == []
    assert shared_refs(project) == []
    worker.send(signal.SIGTERM)
    assert worker.wait() == 0


@pytest.mark.walk
def test_attempts_that_were_lost_before_a_run_is_stopped_are_recorded(
    cluster: LocalCluster,
) -> None:
    project, workers = cluster.project("stopped", some_plans(1)), []
    coordinator = cluster.coordinator(project)
    for number in (1, 2):
        worker = cluster.worker(f"lost-{number}", thinks=600.0)
        workers.append(worker)
        cluster.until(lambda: bool(worker.started), coordinator)  # noqa: B023 - called at once
        worker.kill()
        cluster.until(lambda: lost_attempts(cluster) == number, coordinator)  # noqa: B023
    coordinator.send(signal.SIGTERM)

    assert coordinator.wait() == 6, coordinator.output
    assert unrecorded(ledger_entries(project), workers, project_id(project)) == []
    entries = [each for each in ledger_entries(project) if each.kind is EntryKind.EXECUTE]
    assert [(each.verdict, each.cost_usd) for each in entries] == [(LOST, None), ("stopped", None)]
    assert shared_refs(project) == []


def lost_attempts(cluster: LocalCluster) -> int:
    """How many attempts of the calls that wait for another worker were lost."""

    async def count() -> int:
        client = await Client.connect(cluster.address)
        lost = 0
        async for each in client.list_workflows("ExecutionStatus='Running'"):
            described = await client.get_workflow_handle(each.id).describe()
            for pending in described.raw_description.pending_activities:
                lost += pending.attempt - 1
        return lost

    return asyncio.run(count())


@activity.defn(name="fairlead-present")
async def present() -> str:
    return ""


def test_every_worker_of_a_queue_is_seen(cluster: LocalCluster) -> None:
    # The server divides a queue into parts, and each part knows only the workers that wait in it.
    workers = {WorkerIdentity("host", number, 100) for number in range(12)}

    def seen() -> tuple[set[WorkerIdentity], int]:
        with Connection(ServerSettings(cluster.address)) as connection:
            slots = connection.await_workers("many")
            return {*connection.queue_state("many").workers}, slots

    async def look() -> tuple[set[WorkerIdentity], int]:
        async with AsyncExitStack() as stack:
            for each in workers:
                client = await Client.connect(cluster.address, identity=str(each))
                await stack.enter_async_context(
                    Worker(
                        client,
                        task_queue=presence_queue("many"),
                        activities=[present],
                        max_concurrent_activities=1,
                        max_concurrent_activity_task_polls=1,
                    )
                )
            found = await asyncio.to_thread(seen)
            for _ in range(100):
                if found == (workers, MOST_SLOTS):
                    break
                await asyncio.sleep(0.05)
                found = await asyncio.to_thread(seen)
            return found

    assert asyncio.run(look()) == (workers, MOST_SLOTS)  # and not the 1,200 that they have


_UNREADABLE = Payload(metadata={"encoding": b"binary/encrypted"}, data=b"\xff")


def test_a_call_ends_whatever_its_worker_returns(cluster: LocalCluster) -> None:
    results = [5, None, {"a": 1}, RawValue(_UNREADABLE), RawValue(Payload(data=b"x")), "no", "late"]

    @activity.defn(name=ACTIVITY)
    async def perform(text: str) -> object:
        result = results[int(order_of(text).line)]
        if result == "no":
            raise ApplicationError("no", RawValue(_UNREADABLE), non_retryable=True)
        if result == "late":
            raise ApplicationError("in ten years", next_retry_delay=timedelta(days=3650))
        return result

    def ends() -> list[CallEnd]:
        limits, source = SentLimits.of(CallLimits()), CallSource("0" * 40)
        until, found = time.monotonic() + PATIENCE_SECONDS, []
        settings = ServerSettings(cluster.address, patience=Patience(pause=0.5))
        with Connection(settings, "p") as connection:
            for at in range(len(results)):
                address = CallAddress("p", "odd", str(at))
                order = CallOrder(address, CallKind.COMMAND, "odd", "x", source, limits)
                order = replace(order, line=str(at))
                connection.start(order, encoded(order))
                found.append(connection.wait(order, lambda: time.monotonic() < until))
        return found

    async def serve() -> list[CallEnd]:
        client = await Client.connect(cluster.address)
        async with Worker(client, task_queue=task_queue("odd"), activities=[perform]):
            return await asyncio.to_thread(ends)

    found = asyncio.run(serve())

    assert not [end for end in found if end.is_cancelled or end.report or not end.failure]
    assert "asks for a pause of 3650 days" in found[-1].failure


@pytest.mark.walk
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
        end = connection.cancel(address.id)
        assert end.is_cancelled
        assert end.attempt == 0
        with pytest.raises(IdInUse):  # an id is never used again
            connection.start(order, encoded(replace(order, line="another")))
        with pytest.raises(NoWorker):
            connection.await_workers("nobody")


@pytest.mark.walk
def test_a_server_that_does_not_answer_ends_the_command() -> None:
    (port,) = free_ports(1)
    settings = ServerSettings(f"127.0.0.1:{port}", patience=Patience(connect=0.2))

    with pytest.raises(ServerGone) as error, Connection(settings):
        pass

    assert error.value.exit_code == 5


@pytest.mark.walk
def test_a_namespace_that_does_not_exist_is_named(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_NAMESPACE", "harbour")
    patience = Patience(connect=60.0)

    with pytest.raises(ServerRefused, match="harbour"):
        Connection(ServerSettings(cluster.address, patience=patience), "p").__enter__()

    worker = cluster.worker("astray", namespace="harbour")
    assert worker.wait() == 5
    assert "harbour" in worker.output
    assert "takes calls" not in worker.output


@pytest.mark.walk
def test_a_worker_that_waits_for_its_server_ends_at_the_first_interrupt(
    cluster: LocalCluster,
) -> None:
    (port,) = free_ports(1)
    worker = cluster.worker("early", address=f"127.0.0.1:{port}")
    cluster.until(lambda: "waiting up to 60 s" in worker.output, worker)

    worker.send(signal.SIGINT)

    assert worker.wait(_SOON) == 0, worker.output


@pytest.mark.walk
def test_a_run_that_waits_for_its_server_ends_at_the_first_interrupt(
    cluster: LocalCluster,
) -> None:
    project = cluster.project("early-run", some_plans(1))
    (port,) = free_ports(1)
    astray = LocalCluster(cluster.folder, port, cluster.ui_port, cluster.machines)
    coordinator = astray.coordinator(project)
    cluster.until(lambda: "waiting up to 60 s" in coordinator.output, coordinator)

    coordinator.send(signal.SIGINT)

    assert coordinator.wait(_SOON) == 130, coordinator.output


@pytest.mark.walk
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
