"""What travels between coordinator and workers: orders, reports, and the names of both.

An order and a report are one JSON text each, with a version. Texts above 256 kB travel by git: the
payload then names the object that holds them. No path of the coordinator is part of an order.
"""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from enum import StrEnum
from functools import cache
from importlib.metadata import version

from fairlead.agents.model import (
    AgentCall,
    CallLimits,
    CallResult,
    CallSource,
    CommandPermissions,
    EndKind,
)
from fairlead.core.patterns import lazy_pattern
from fairlead.core.serialization import plain, revived
from fairlead.core.values import dataclass, field, replace
from fairlead.plans.model import CommandResult
from fairlead.text.printable import visible

PROTOCOL = 1
LONGEST_TEXT = 256 << 10  # characters that a payload holds itself
LONGEST_PAYLOAD = 1 << 20  # characters of an order or a report
LONGEST_REASON = 2000  # characters of an error, as many as an agent on this machine may cause
MOST_SLOTS = 1000  # of a worker in each of its queues, and of a run: every call has a thread
VERIFY = "verify"  # the queue of verify commands; every other queue is named after an agent
REFS = "refs/fairlead"
_UNSAFE = lazy_pattern(r"[^A-Za-z0-9_-]+")
_ADDRESSABLE = lazy_pattern(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")
_COMMIT = lazy_pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_UNSAFE_HOST = lazy_pattern(r"[^A-Za-z0-9._-]+")
_PLACE = r"(?P<host>[A-Za-z0-9._-]{1,255})"
_IDENTITY = lazy_pattern(
    rf"fairlead/(?P<version>[A-Za-z0-9.+!_-]{{1,40}})/(?P<slots>[0-9]{{1,4}})/{_PLACE}/"
    r"(?P<process>[0-9]{1,10})"
)
_WORKER = lazy_pattern(rf"{_PLACE}:[0-9]{{1,10}}")


@cache
def own_version() -> str:
    """The version of this program."""
    return version("fairlead")


class CallKind(StrEnum):
    """What a worker is asked to do."""

    AGENT = "agent"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class CallAddress:
    """The names of one call: its execution, and its refs in the shared repository."""

    project: str
    job: str
    call: str

    @property
    def id(self) -> str:
        """The id of the execution."""
        return f"{self.project}/{self.job}/{self.call}"

    @property
    def refs(self) -> str:
        """Where the refs of the job are."""
        return f"{REFS}/{self.project}/{self.job}/"

    def base_ref(self, commit: str) -> str:
        """The ref of the commit that calls of this job work on."""
        return f"{self.refs}base/{commit}"

    def input_ref(self, name: str) -> str:
        """The ref of a text that is too long for the order."""
        return f"{self.refs}in/{self.call}/{name}"

    def output_ref(self, attempt: int) -> str:
        """The ref of the tree that an attempt made."""
        return f"{self.refs}out/{self.call}/{attempt}"

    def text_ref(self, attempt: int) -> str:
        """The ref of an answer that is too long for the report."""
        return f"{self.output_ref(attempt)}.text"

    @property
    def folder(self) -> str:
        """The name of a folder for the call; its parts together may be too long for one."""
        return hashlib.sha256(self.id.encode()).hexdigest()[:32]

    @property
    def is_safe(self) -> bool:
        """Whether the names can be parts of paths and refs."""
        names = (self.project, self.job, self.call)
        return all(_ADDRESSABLE.fullmatch(name) and ".." not in name for name in names)


@dataclass(frozen=True, slots=True)
class SentText:
    """A text, or the object in the shared repository that holds it."""

    text: str = ""
    object: str = ""


@dataclass(frozen=True, slots=True)
class SentLimits:
    """The limits of a call in seconds."""

    wall: float
    first_event: float
    idle: float
    after_end: float
    output_bytes: int

    @classmethod
    def of(cls, limits: CallLimits) -> SentLimits:
        """The limits as they travel."""
        return cls(
            wall=limits.wall.total_seconds(),
            first_event=limits.first_event.total_seconds(),
            idle=limits.idle.total_seconds(),
            after_end=limits.after_end.total_seconds(),
            output_bytes=limits.output_bytes,
        )

    @property
    def limits(self) -> CallLimits:
        """The limits as the supervisor takes them."""
        return CallLimits(
            wall=timedelta(seconds=self.wall),
            first_event=timedelta(seconds=self.first_event),
            idle=timedelta(seconds=self.idle),
            after_end=timedelta(seconds=self.after_end),
            output_bytes=self.output_bytes,
        )


@dataclass(frozen=True, slots=True)
class CallOrder:
    """What a worker is asked to do, on which commit."""

    address: CallAddress
    kind: CallKind
    queue: str
    remote: str
    source: CallSource
    limits: SentLimits
    prompt: SentText = field(default_factory=SentText)
    agent: str = ""
    role: str = ""
    model: str = ""
    session: str = ""
    is_read_only: bool = False
    max_tokens: int = 0
    environment: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    commands: CommandPermissions = field(default_factory=CommandPermissions)
    line: str = ""  # of a verify command
    version: str = field(default_factory=own_version)
    protocol: int = PROTOCOL

    def agent_call(self, prompt: str, folder: str, raw: str) -> AgentCall:
        """The call as the worker's own agent takes it."""
        return AgentCall(
            role=self.role,
            prompt=prompt,
            folder=folder,
            raw=raw,
            session=self.session,
            model=self.model,
            is_read_only=self.is_read_only,
            max_tokens=self.max_tokens,
            limits=self.limits.limits,
            environment=self.environment,
            tools=self.tools,
            commands=self.commands,
            id=self.address.call,
        )


@dataclass(frozen=True, slots=True)
class CallReport:
    """What a worker claims about a call."""

    call: str  # the id of the execution
    digest: str  # of the order
    attempt: int
    worker: str
    result: CallResult | None = None  # its text is in `text`
    text: SentText = field(default_factory=SentText)
    command: CommandResult | None = None
    ref: str = ""  # empty: nothing changed
    commit: str = ""
    tree: str = ""
    version: str = field(default_factory=own_version)
    protocol: int = PROTOCOL


def agent_order(
    call: AgentCall, agent: str, address: CallAddress, remote: str, prompt: SentText
) -> CallOrder:
    """The order for the call of an agent."""
    assert call.source is not None
    return CallOrder(
        address=address,
        kind=CallKind.AGENT,
        queue=agent,
        remote=remote,
        source=call.source,
        limits=SentLimits.of(call.limits),
        prompt=prompt,
        agent=agent,
        role=call.role,
        model=call.model,
        session=call.session,
        is_read_only=call.is_read_only,
        max_tokens=call.max_tokens,
        environment=call.environment,
        tools=call.tools,
        commands=call.commands,
    )


def encoded(value: CallOrder | CallReport) -> str:
    """The JSON text of an order or a report; equal values have equal texts."""
    return json.dumps(plain(value), sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def order_of(text: str) -> CallOrder:
    """The order of a text; raises `MalformedRecord` or `ValueError`."""
    return revived(CallOrder, _parsed(text), "order")


def report_of(text: str) -> CallReport:
    """The report of a text; raises `MalformedRecord` or `ValueError`."""
    return revived(CallReport, _parsed(text), "report")


def _parsed(text: str) -> object:
    """The value of a JSON text of another machine, with texts that any file can hold."""
    try:
        return _storable(json.loads(text))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _storable(value: object) -> object:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_storable(each) for each in value]
    if isinstance(value, dict):
        return {storable(name): _storable(each) for name, each in value.items()}
    return value


def storable(text: str) -> str:
    """A text without halves of surrogate pairs, which no file can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def shown(text: str) -> str:
    """What another machine says, as part of an error: one line of limited length, and visible."""
    return visible(" ".join(text[:LONGEST_REASON].split()))[:LONGEST_REASON]


def digest_of(text: str) -> str:
    """The digest by which an execution is recognised."""
    return hashlib.sha256(text.encode()).hexdigest()


def task_queue(name: str) -> str:
    """The task queue of a name: a worker of another version never sees our calls."""
    return f"fairlead-{own_version()}-{PROTOCOL}-{name}"


def presence_queue(name: str) -> str:
    """The queue that workers of `name` always ask, also while all their slots are in use."""
    return f"{task_queue(name)}.workers"


def coordinator_queue(project: str) -> str:
    """The queue of the workflow tasks, which only the coordinator of the project takes."""
    return f"fairlead-{own_version()}-{PROTOCOL}-calls-{project}"


def safe_name(text: str) -> str:
    """A text as part of an id, a path and a ref."""
    return _UNSAFE.sub("-", text).strip("-") or "call"


@dataclass(frozen=True, slots=True)
class WorkerIdentity:
    """A worker as the server knows it."""

    host: str
    process: int
    slots: int
    version: str = field(default_factory=own_version)

    def __str__(self) -> str:
        return f"fairlead/{self.version}/{self.slots}/{self.host}/{self.process}"

    @classmethod
    def parse(cls, text: str) -> WorkerIdentity | None:
        """The identity in a text; None if it is of another program."""
        found = _IDENTITY.fullmatch(text)
        if found is None or not 1 <= int(found["slots"]) <= MOST_SLOTS:
            return None
        return cls(found["host"], int(found["process"]), int(found["slots"]), found["version"])

    @property
    def place(self) -> str:
        """Where it runs, for people."""
        return f"{self.host}:{self.process}"


def is_commit(name: str) -> bool:
    """Whether a name is the id of a commit, and neither an option nor an expression of git."""
    return bool(_COMMIT.fullmatch(name))


def host_name(name: str) -> str:
    """The name of a machine, as part of an identity."""
    return _UNSAFE_HOST.sub("-", name)[:255] or "worker"


def is_worker(place: str) -> bool:
    """Whether a text is the place of a worker."""
    return bool(_WORKER.fullmatch(place))


def stopped(reason: str, attempts: int) -> CallResult:
    """The result of a call that has no report; only one that was never started is known to be free."""
    cost = None if attempts else 0.0
    lost = max(attempts - 1, 0)
    return CallResult(EndKind.KILLED, error=shown(reason), cost_usd=cost, lost=lost)


def refused(reason: str, report: CallReport | None = None) -> CallResult:
    """The result of a call whose report is not accepted; its cost is not believed either."""
    worker = f" of {report.worker}" if report else ""
    error = shown(f"the report{worker} is refused: {reason}")
    return CallResult(EndKind.INVALID_OUTPUT, error=error)


def without_text(result: CallResult) -> CallResult:
    """A result whose text travels beside it."""
    return replace(result, text="")


@dataclass(frozen=True, slots=True)
class CallEnd:
    """How an execution ended, according to the server."""

    attempt: int  # the last one that was started; 0: none
    report: str = ""
    failure: str = ""  # why there is no report
    is_cancelled: bool = False


@dataclass(frozen=True, slots=True)
class QueueState:
    """The workers of a queue and what waits in it."""

    name: str
    workers: tuple[WorkerIdentity, ...]
    depth: int
