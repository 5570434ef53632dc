"""The connection to a Temporal server, for code that is not asynchronous.

One thread runs the event loop. Address, namespace, TLS and API key come from `temporalio.envconfig`
(environment variables or a profile file); nothing secret is an argument. A monitor asks the server
and the queues in use every few seconds, because a waiting call does not notice that nobody is there.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from importlib.metadata import entry_points
from typing import Any, TypeVar

from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import PendingActivityState, TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    DescribeTaskQueueRequest,
    ListTaskQueuePartitionsRequest,
)
from temporalio.client import (
    Client,
    WorkflowExecution,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
)
from temporalio.common import WorkflowIDReusePolicy
from temporalio.converter import DataConverter, PayloadCodec
from temporalio.envconfig import ClientConfig
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.runtime import Runtime, TelemetryConfig
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Worker

from fairlead.cluster.errors import IdInUse, NoWorker, ServerGone, UnknownCodec
from fairlead.cluster.model import (
    MOST_SLOTS,
    CallEnd,
    CallOrder,
    QueueState,
    WorkerIdentity,
    coordinator_queue,
    digest_of,
    own_version,
    presence_queue,
    task_queue,
)
from fairlead.cluster.workflow import LONGEST_PAUSE, REFUSED, WORKFLOW, CallWorkflow
from fairlead.core.concurrency import ThreadGroup
from fairlead.core.values import dataclass, field, replace

CODECS = "fairlead.cluster.codecs"  # the group of entry points of packages with a payload codec
_DEFAULT_ADDRESS, _DEFAULT_NAMESPACE = "127.0.0.1:7233", "default"
# A server that ends, starts or has too much to do; every other status is an answer to the request.
_AWAY = (
    RPCStatusCode.UNAVAILABLE,
    RPCStatusCode.DEADLINE_EXCEEDED,
    RPCStatusCode.CANCELLED,
    RPCStatusCode.UNKNOWN,  # it was cut off in the middle of the request
    RPCStatusCode.INTERNAL,
    RPCStatusCode.ABORTED,
    RPCStatusCode.RESOURCE_EXHAUSTED,
)
_TICK_SECONDS = 0.25
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the coordinator waits for others, in seconds."""

    connect: float = 10.0
    worker: float = 60.0  # for a worker to ask a queue
    server: float = 600.0
    heartbeat: float = 30.0  # of a worker, until its attempt counts as lost
    poll: float = 75.0  # a worker that waits for a call asks at least this often
    look: float = 5.0  # between two looks of the monitor
    pause: float = 60.0  # between two looks at a call that has not ended
    stop: float = 60.0  # for a cancelled call to end its processes


@dataclass(frozen=True, slots=True)
class RunningCall:
    """A call that has not ended."""

    id: str
    queue: str
    age: timedelta


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How to reach the server; everything else comes from `temporalio.envconfig`."""

    address: str = ""  # empty: as configured there
    codec: str = ""  # the entry point of a payload codec
    identity: str = ""
    patience: Patience = field(default_factory=Patience)


def configured_address(address: str) -> tuple[str, str]:
    """The address and the namespace that a connection would use."""
    config = ClientConfig.load_client_connect_config()
    found = address or config.get("target_host") or _DEFAULT_ADDRESS
    return found, config.get("namespace") or _DEFAULT_NAMESPACE


async def connected(settings: ServerSettings) -> Client:
    """Connect, or raise `ServerGone`."""
    _silence_logs()
    config: dict[str, Any] = {**ClientConfig.load_client_connect_config()}
    config["target_host"], config["namespace"] = configured_address(settings.address)
    if settings.identity:
        config["identity"] = settings.identity
    runtime = Runtime(telemetry=TelemetryConfig(logging=None, metrics=None))
    patience = settings.patience.connect
    until = time.monotonic() + patience
    while True:
        try:
            return await asyncio.wait_for(
                Client.connect(
                    **config, runtime=runtime, data_converter=_converter(settings.codec)
                ),
                patience,
            )
        except (RuntimeError, RPCError, TimeoutError) as error:
            if time.monotonic() > until:
                raise ServerGone(config["target_host"], round(patience)) from error
            await asyncio.sleep(_TICK_SECONDS)


async def repeated(
    attempt: Callable[[], Awaitable[Value]],
    seconds: float,
    address: str,
    tick: float = _TICK_SECONDS,
) -> Value:
    """The result of a request, repeated while the server is away, but not for longer."""
    began = time.monotonic()
    while True:
        try:
            return await attempt()
        except RPCError as error:
            gone = time.monotonic() - began
            if error.status not in _AWAY or gone > seconds:
                raise ServerGone(address, round(gone)) from error
            await asyncio.sleep(tick)


def _silence_logs() -> None:
    """The SDK writes warnings for what the coordinator reports itself."""
    logger = logging.getLogger("temporalio")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False


def _converter(name: str) -> DataConverter:
    if not name:
        return DataConverter.default
    found = {entry.name: entry for entry in entry_points(group=CODECS)}
    if name not in found:
        raise UnknownCodec(name, tuple(found))
    codec = found[name].load()()
    assert isinstance(codec, PayloadCodec)
    return DataConverter(payload_codec=FailingCodec(codec))


class FailingCodec(PayloadCodec):
    """A codec whose payloads end the call if they cannot be decoded: others try for ever."""

    def __init__(self, codec: PayloadCodec) -> None:
        self._codec = codec

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """See the base class."""
        return await self._codec.encode(payloads)

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """See the base class."""
        try:
            return await self._codec.decode(payloads)
        except Exception as error:
            message = f"the payload codec cannot decode a payload: {error}"
            raise ApplicationError(message, type=REFUSED, non_retryable=True) from error


class Connection:
    """One connection, with the worker for the workflow tasks of one project."""

    def __init__(self, settings: ServerSettings, project: str = "") -> None:
        self.address, self.namespace = configured_address(settings.address)
        self._settings, self._patience = settings, settings.patience
        self._project = project
        self._threads = ThreadGroup()
        self._used: dict[str, float] = {}  # queues with calls, and since when
        self._seen: dict[str, float] = {}  # queues, and when a worker was last seen
        self._answered = time.monotonic()

    # -- the thread ------------------------------------------------------------------------

    def __enter__(self) -> Connection:
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._ready: asyncio.Future[Client] = self._loop.create_future()
        self._threads.start("cluster", lambda: self._loop.run_until_complete(self._serve()))
        try:
            self._client = self._sync(self._wait_ready())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        while self._threads.running:
            self._threads.wait()
        self._loop.close()

    async def _wait_ready(self) -> Client:
        return await asyncio.shield(self._ready)

    async def _serve(self) -> None:
        try:
            client = await connected(self._settings)
        except BaseException as error:  # noqa: BLE001 - the thread that opens it raises it
            self._ready.set_exception(error)
            await self._stop.wait()
            return
        monitor = asyncio.create_task(self._monitor(client))
        self._ready.set_result(client)
        if self._project:
            queue = coordinator_queue(self._project)
            # Without a cache a call is not bound to the coordinator that started it.
            async with Worker(
                client, task_queue=queue, workflows=[CallWorkflow], max_cached_workflows=0
            ):
                await self._stop.wait()
        else:
            await self._stop.wait()
        monitor.cancel()
        await asyncio.gather(monitor, return_exceptions=True)

    def _sync(
        self, work: Coroutine[Any, Any, Value], is_wanted: Callable[[], bool] = lambda: True
    ) -> Value:
        """Run a coroutine in the thread of the connection; CancelledError if it is not wanted."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        while True:
            try:
                return future.result(_TICK_SECONDS)
            except TimeoutError:
                if future.done():
                    raise
                if not is_wanted():
                    future.cancel()
                    raise asyncio.CancelledError from None

    async def _monitor(self, client: Client) -> None:
        while True:
            with suppress(RPCError):
                await self._look(client)
            await asyncio.sleep(self._patience.look)

    async def _look(self, client: Client) -> None:
        await client.service_client.check_health(timeout=timedelta(seconds=5))
        self._answered = time.monotonic()
        for name in tuple(self._used):
            if await self._pollers(client, name):
                self._seen[name] = time.monotonic()

    def _require_others(self, queue: str) -> None:
        """Raise if the server has been gone for too long, or nobody takes calls from a queue."""
        now, patience = time.monotonic(), self._patience
        if now - self._answered > patience.server:
            raise ServerGone(self.address, round(patience.server))
        last = max(self._seen.get(queue, 0.0), self._used[queue])
        # While the server is gone, nobody can be seen.
        if last + patience.worker < min(now, self._answered):
            raise NoWorker(queue, round(patience.worker), self.address, own_version())

    async def _patiently(self, attempt: Callable[[], Awaitable[Value]]) -> Value:
        return await repeated(attempt, self._patience.server, self.address)

    # -- calls -----------------------------------------------------------------------------

    def start(self, order: CallOrder, text: str) -> bool:
        """Start the execution of an order, or attach to the one with exactly this input."""
        is_new = self._sync(self._patiently(lambda: self._start(order, text)))
        self._used.setdefault(order.queue, time.monotonic())
        return is_new

    async def _start(self, order: CallOrder, text: str) -> bool:
        digest, id_ = digest_of(text), order.address.id
        try:
            await self._client.start_workflow(
                WORKFLOW,
                args=[
                    text,
                    task_queue(order.queue),
                    order.limits.wall,
                    self._patience.heartbeat,
                ],
                id=id_,
                task_queue=coordinator_queue(order.address.project),
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                memo={"digest": digest, "queue": order.queue},
            )
        except WorkflowAlreadyStartedError:
            if await self._digest(id_) != digest:
                raise IdInUse(id_) from None
            return False
        return True

    def digest(self, id_: str) -> str:
        """The digest of the input of an execution; empty if there is none."""
        return self._sync(self._patiently(lambda: self._digest(id_)))

    async def _digest(self, id_: str) -> str:
        try:
            described = await self._client.get_workflow_handle(id_).describe()
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return ""
            raise
        return await _noted(described, "digest")

    def wait(self, order: CallOrder, is_wanted: Callable[[], bool]) -> CallEnd:
        """Wait for the end of an execution; cancel it once it is not wanted."""
        handle = self._client.get_workflow_handle(order.address.id, result_type=str)
        looked, pause = time.monotonic(), timedelta(0)

        def is_awaited() -> bool:
            nonlocal looked, pause
            self._require_others(order.queue)
            if time.monotonic() - looked > self._patience.pause:
                pause = self._sync(self._patiently(lambda: self._pause(order.address.id)))
                looked = time.monotonic()
            return is_wanted() and pause <= LONGEST_PAUSE

        try:
            return self._sync(self._patiently(lambda: _end(handle)), is_awaited)
        except asyncio.CancelledError:
            end = self.cancel(order.address.id)
            if pause <= LONGEST_PAUSE:
                return end
            failure = f"its worker asks for a pause of {pause}"
            return replace(end, failure=failure, is_cancelled=False)

    async def _pause(self, id_: str) -> timedelta:
        """How long the server waits between the last attempt of a call and the next one."""
        described = await self._client.get_workflow_handle(id_).describe()
        pending = described.raw_description.pending_activities
        pauses = (each.current_retry_interval.ToTimedelta() for each in pending)
        return max(pauses, default=timedelta(0))

    def cancel(self, id_: str) -> CallEnd:
        """Cancel an execution, and wait until its worker has ended the processes."""
        return self._sync(self._cancel(id_))

    async def _cancel(self, id_: str) -> CallEnd:
        handle = self._client.get_workflow_handle(id_, result_type=str)
        with suppress(RPCError):
            await handle.cancel()
        try:
            return await asyncio.wait_for(_end(handle), self._patience.stop)
        except (TimeoutError, RPCError):
            return CallEnd(1, failure="it was stopped", is_cancelled=True)

    def cancel_all(self, ids: Iterable[str]) -> None:
        """Cancel executions together; see `cancel`."""

        async def cancel() -> None:
            await asyncio.gather(*map(self._cancel, ids))

        self._sync(cancel())

    def open_calls(self) -> tuple[str, ...]:
        """The ids of the executions of this project that have not ended."""
        queue = coordinator_queue(self._project)
        query = f"WorkflowType='{WORKFLOW}' AND ExecutionStatus='Running' AND TaskQueue='{queue}'"

        async def look() -> tuple[str, ...]:
            return tuple([each.id async for each in self._client.list_workflows(query)])

        return self._sync(self._patiently(look))

    def started_attempts(self, id_: str) -> int:
        """How many attempts of a running execution were started."""

        async def count() -> int:
            described = await self._client.get_workflow_handle(id_).describe()
            if described.status is not WorkflowExecutionStatus.RUNNING:
                return (await _end(self._client.get_workflow_handle(id_, result_type=str))).attempt
            started = PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
            pending = described.raw_description.pending_activities
            return max((each.attempt - (each.state == started) for each in pending), default=0)

        return self._sync(self._patiently(count))

    # -- the server's view -----------------------------------------------------------------

    def queue_state(self, name: str) -> QueueState:
        """The workers that take calls from a queue, and how many calls wait in it."""

        async def look() -> QueueState:
            described = await self._describe(self._client, task_queue(name), with_stats=True)
            workers = await self._pollers(self._client, name)
            return QueueState(name, workers, described.stats.approximate_backlog_count)

        return self._sync(self._patiently(look))

    def await_workers(self, name: str, is_wanted: Callable[[], bool] = lambda: True) -> int:
        """The slots of all workers of a queue, up to a limit; raises if none appears in time."""
        since = time.monotonic()
        while not (workers := self.queue_state(name).workers):
            if time.monotonic() - since > self._patience.worker or not is_wanted():
                patience = round(self._patience.worker)
                raise NoWorker(name, patience, self.address, own_version())
            self._sync(asyncio.sleep(min(1.0, self._patience.look)))
        return min(sum(worker.slots for worker in workers), MOST_SLOTS)

    def running_calls(self) -> tuple[RunningCall, ...]:
        """Every call that has not ended, the oldest first."""
        query = f"WorkflowType='{WORKFLOW}' AND ExecutionStatus='Running'"

        async def look() -> tuple[RunningCall, ...]:
            now, calls = datetime.now(UTC), []
            async for each in self._client.list_workflows(query, limit=1000):
                queue = await _noted(each, "queue")
                calls.append(RunningCall(each.id, queue, now - each.start_time))
            return tuple(sorted(calls, key=lambda call: call.age, reverse=True))

        return self._sync(self._patiently(look))

    async def _pollers(self, client: Client, name: str) -> tuple[WorkerIdentity, ...]:
        oldest = datetime.now(UTC) - timedelta(seconds=self._patience.poll)
        parts = await self._partitions(client, presence_queue(name))
        described = await asyncio.gather(*(self._describe(client, each) for each in parts))
        found = {
            identity
            for part in described
            for each in part.pollers
            if (identity := WorkerIdentity.parse(each.identity))
            and each.last_access_time.ToDatetime(UTC) > oldest
        }
        return tuple(sorted(found, key=str))

    async def _partitions(self, client: Client, queue: str) -> tuple[str, ...]:
        """The parts of a queue: each one knows only the workers that wait in it."""
        listed = await client.workflow_service.list_task_queue_partitions(
            ListTaskQueuePartitionsRequest(
                namespace=self.namespace, task_queue=TaskQueue(name=queue)
            )
        )
        return tuple(each.key for each in listed.activity_task_queue_partitions)

    async def _describe(self, client: Client, queue: str, *, with_stats: bool = False) -> Any:
        request = DescribeTaskQueueRequest(
            namespace=self.namespace,
            task_queue=TaskQueue(name=queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
            report_stats=with_stats,
        )
        return await client.workflow_service.describe_task_queue(request)


async def _end(handle: WorkflowHandle[Any, str]) -> CallEnd:
    """The end of an execution, with the attempt that the server reports."""
    report = failure = ""
    is_cancelled = False
    try:
        report = await handle.result()
    except ApplicationError as error:  # of the codec
        failure = str(error)
    except WorkflowFailureError as error:
        causes = _causes(error)
        failure = "; ".join(map(str, causes[1:])) or str(error)
        is_cancelled = any(type(each).__name__ == "CancelledError" for each in causes)
    history = await handle.fetch_history()
    attempts = [
        event.activity_task_started_event_attributes.attempt
        for event in history.events
        if event.HasField("activity_task_started_event_attributes")
    ]
    return CallEnd(max(attempts, default=0), report, failure, is_cancelled)


async def _noted(execution: WorkflowExecution, name: str) -> str:
    """What was noted when an execution was started; empty if nothing that we can read was.

    Others may start executions too, and may use another codec.
    """
    try:
        memo: Mapping[str, object] = await execution.memo()
    except (ApplicationError, ValueError, RuntimeError, LookupError, TypeError):
        return ""
    return str(memo.get(name, ""))


def _causes(error: BaseException | None) -> list[BaseException]:
    found = []
    while error is not None:
        found.append(error)
        error = getattr(error, "cause", None)
    return found
