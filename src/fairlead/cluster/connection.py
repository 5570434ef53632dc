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
    DescribeNamespaceRequest,
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
from temporalio.converter import (
    DataConverter,
    DefaultFailureConverterWithEncodedAttributes,
    PayloadCodec,
)
from temporalio.envconfig import ClientConfig
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.runtime import Runtime, TelemetryConfig
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Worker

from fairlead.cluster.errors import (
    BadServerSettings,
    IdInUse,
    NoWorker,
    ServerGone,
    ServerRefused,
    UnknownCodec,
)
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
from fairlead.core.patterns import lazy_pattern
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
_LONGEST_REASON = 300  # characters of what the SDK says about a failure
_SETTLING_SECONDS = 3.0  # a server that starts answers before it knows its namespaces
_ADDRESS = lazy_pattern(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})")
_STATUS = lazy_pattern(r'code: ([A-Za-z]+), message: "([^"]*)"')  # in the text of an error
_REFUSALS = ("NotFound", "PermissionDenied", "Unauthenticated")
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
    attempt: int = 0  # 0: its coordinator has not sent it to the queue
    worker: WorkerIdentity | None = None  # None: it waits for one


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How to reach the server; everything else comes from `temporalio.envconfig`."""

    address: str = ""  # empty: as configured there
    codec: str = ""  # the entry point of a payload codec
    identity: str = ""
    patience: Patience = field(default_factory=Patience)
    note: Callable[[str], None] = lambda _: None  # tells a person what is waited for


def configured_address(address: str) -> tuple[str, str]:
    """The address and the namespace that a connection would use."""
    config = _client_config(address)
    return config["target_host"], config["namespace"]


def _client_config(address: str) -> dict[str, Any]:
    try:
        config: dict[str, Any] = {**ClientConfig.load_client_connect_config()}
    except (RuntimeError, ValueError, OSError) as error:
        raise BadServerSettings(_in_one_line(error)) from error
    found = address or config.get("target_host") or _DEFAULT_ADDRESS
    port = _ADDRESS.fullmatch(found)
    if port is None or not 0 < int(port[1]) < 1 << 16:
        raise BadServerSettings(f"{found!r} is not HOST:PORT")
    namespace = config.get("namespace") or _DEFAULT_NAMESPACE
    return {**config, "target_host": found, "namespace": namespace}


async def connected(settings: ServerSettings) -> Client:
    """Connect, and make sure that the namespace exists and accepts us."""
    _silence_logs()
    config = _client_config(settings.address)
    address, patience = config["target_host"], settings.patience.connect
    if settings.identity:
        config["identity"] = settings.identity
    config["runtime"] = Runtime(telemetry=TelemetryConfig(logging=None, metrics=None))
    config["data_converter"] = _converter(settings.codec)
    began, is_noted, reason = time.monotonic(), False, ""
    while True:
        refused = ""
        try:
            return await asyncio.wait_for(_connected(config), patience)
        except TimeoutError:
            reason = reason or "it does not answer"
        except (ValueError, OSError) as error:
            raise BadServerSettings(_in_one_line(error)) from error
        except (RuntimeError, RPCError) as error:
            reason, refused = _in_one_line(error), refusal(error)
        waited = time.monotonic() - began
        if refused and waited > _SETTLING_SECONDS:
            raise ServerRefused(address, refused)
        if waited > patience:
            raise ServerGone(address, round(patience), reason)
        if not (refused or is_noted):
            settings.note(f"waiting up to {patience:.0f} s for the Temporal server at {address}")
            is_noted = True
        await asyncio.sleep(_TICK_SECONDS)


def _in_one_line(error: BaseException) -> str:
    text = " ".join(str(error).removeprefix("Failed client connect: ").split())
    return text[:_LONGEST_REASON] or type(error).__name__


async def _connected(config: dict[str, Any]) -> Client:
    """A client of a server that knows the namespace."""
    client = await Client.connect(**config)
    await client.workflow_service.describe_namespace(
        DescribeNamespaceRequest(namespace=config["namespace"])
    )
    return client


def refusal(error: BaseException) -> str:
    """Why the server refuses a request for good; empty if it is away."""
    if isinstance(error, RPCError):
        return "" if error.status in _AWAY else error.message or error.status.name
    status = _STATUS.search(str(error))
    return status[2] or status[1] if status and status[1] in _REFUSALS else ""


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
            if why := refusal(error):
                raise ServerRefused(address, why) from error
            if gone > seconds:
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
    if not isinstance(codec, PayloadCodec):
        raise UnknownCodec(name, tuple(found))
    # Errors are encoded as well: they hold paths and answers of programs.
    failures = DefaultFailureConverterWithEncodedAttributes
    return DataConverter(payload_codec=FailingCodec(codec), failure_converter_class=failures)


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
        self._refused: ServerRefused | None = None  # the worker for the workflow tasks has ended

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
        stopping = asyncio.ensure_future(self._stop.wait())
        connecting = asyncio.ensure_future(connected(self._settings))
        await asyncio.wait({stopping, connecting}, return_when=asyncio.FIRST_COMPLETED)
        connecting.cancel()  # an interrupt does not wait for the server
        try:
            client = await connecting
        except BaseException as error:  # noqa: BLE001 - the thread that opens it raises it
            if not self._stop.is_set():
                self._ready.set_exception(error)
            await self._stop.wait()
            return
        monitor = asyncio.create_task(self._monitor(client))
        self._ready.set_result(client)
        try:
            await self._answer_workflows(client)
            await self._stop.wait()
        finally:
            monitor.cancel()
            await asyncio.gather(monitor, return_exceptions=True)

    async def _answer_workflows(self, client: Client) -> None:
        """Take the workflow tasks of the project until the end, or until the server refuses us."""
        if not self._project:
            return
        queue = coordinator_queue(self._project)
        # Without a cache a call is not bound to the coordinator that started it.
        worker = Worker(client, task_queue=queue, workflows=[CallWorkflow], max_cached_workflows=0)
        try:
            async with worker:
                await self._stop.wait()
        except RuntimeError as error:  # for example a key that was withdrawn
            self._refused = ServerRefused(self.address, refusal(error) or _in_one_line(error))

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
                if self._refused is not None:
                    future.cancel()
                    raise self._refused from None
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
        started = 1  # a server that is away cannot say whether a worker has begun
        with suppress(RPCError):
            # Afterwards, the history leaves out attempts that were lost before the last one.
            started = await self._started(handle)
            await handle.cancel()
        try:
            end = await asyncio.wait_for(_end(handle), self._patience.stop)
        except (TimeoutError, RPCError):
            return CallEnd(started, failure="it was stopped", is_cancelled=True)
        return replace(end, attempt=max(started, end.attempt))

    async def _started(self, handle: WorkflowHandle[Any, str]) -> int:
        """How many attempts of an execution were started."""
        described = await handle.describe()
        if described.status is not WorkflowExecutionStatus.RUNNING:
            return (await _end(handle)).attempt
        waiting = PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
        pending = described.raw_description.pending_activities
        return max((each.attempt - (each.state == waiting) for each in pending), default=0)

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
        since, is_noted = time.monotonic(), False
        patience = round(self._patience.worker)
        while not (workers := self.queue_state(name).workers):
            if time.monotonic() - since > self._patience.worker or not is_wanted():
                raise NoWorker(name, patience, self.address, own_version())
            if not is_noted:
                self._settings.note(f"waiting up to {patience} s for a worker of queue {name}")
                is_noted = True
            self._sync(asyncio.sleep(min(1.0, self._patience.look)))
        return min(sum(worker.slots for worker in workers), MOST_SLOTS)

    def running_calls(self) -> tuple[RunningCall, ...]:
        """Every call that has not ended, the oldest first."""
        query = f"WorkflowType='{WORKFLOW}' AND ExecutionStatus='Running'"

        async def look() -> tuple[RunningCall, ...]:
            listed = [each async for each in self._client.list_workflows(query, limit=1000)]
            found = await asyncio.gather(*(self._running_call(each.id) for each in listed))
            calls = [call for call in found if call is not None]
            return tuple(sorted(calls, key=lambda call: call.age, reverse=True))

        return self._sync(self._patiently(look))

    async def _running_call(self, id_: str) -> RunningCall | None:
        """What a call does now; None if it has ended since it was listed."""
        described = await self._client.get_workflow_handle(id_).describe()
        if described.status is not WorkflowExecutionStatus.RUNNING:
            return None
        queue = await _noted(described, "queue")
        call = RunningCall(id_, queue, datetime.now(UTC) - described.start_time)
        for each in described.raw_description.pending_activities:
            is_waiting = each.state == PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
            worker = None if is_waiting else WorkerIdentity.parse(each.last_worker_identity)
            call = replace(call, attempt=each.attempt, worker=worker)
        return call

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
        failure = failure_text(error)
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


def failure_text(error: WorkflowFailureError) -> str:
    """Why an execution failed; the outer two errors say only that it and its activity failed."""
    causes = _causes(error)
    texts = (getattr(each, "message", "") or str(each) for each in causes[2:] or causes[-1:])
    return "; ".join(texts)


def _causes(error: BaseException | None) -> list[BaseException]:
    found = []
    while error is not None:
        found.append(error)
        error = getattr(error, "cause", None)
    return found
