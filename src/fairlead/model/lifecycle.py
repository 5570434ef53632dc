"""Lifecycle: which event a gate can take, and what it becomes.

A gate is the way of one task through executor, verify command and architect. Each transition is
a row of the table below; `advance` refuses everything else by name, so no step can be left out
and a retry always begins at step 1. A blocked task has used no attempt.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from fairlead.errors import GateTransition, NoAttemptsLeft

MOST_ATTEMPTS = 3


class GateStatus(StrEnum):
    """Where a gate is."""

    EXECUTING = "EXECUTING"
    VERIFYING = "VERIFYING"
    REVIEWING = "REVIEWING"
    APPROVED = "APPROVED"
    FAILED = "FAILED"
    BLOCKED = "BLOCKED"
    SKIPPED = "SKIPPED"


class GateEvent(StrEnum):
    """What can happen to a gate."""

    START = "start"
    EXECUTOR_SUCCESS = "executor-success"
    EXECUTOR_FAILURE = "executor-failure"
    EXECUTOR_BLOCKED = "executor-blocked"
    MALFORMED = "malformed"
    TIMEOUT = "timeout"
    VERIFY_PASSED = "verify-passed"
    VERIFY_FAILED = "verify-failed"
    APPROVED = "approved"
    REJECTED = "rejected"
    RETRY = "retry"
    UNBLOCKED = "unblocked"
    SKIP = "skip"


class FailureClass(StrEnum):
    """Why a gate failed."""

    EXECUTION = "EXECUTION_FAILURE"
    MALFORMED = "MALFORMED"
    TIMEOUT = "TIMEOUT"
    VERIFY = "VERIFY_FAILURE"
    REJECTION = "ARCHITECT_REJECTION"


@dataclass(frozen=True, slots=True)
class Gate:
    """One task on its way; the words of the three steps are those of the files."""

    status: GateStatus | None = None  # None: the task has not started
    step: int = 0  # 1 executor, 2 verify, 3 architect
    executor: str = "pending"  # pending running success failure blocked
    verify: str = "pending"  # pending running passed failed skipped
    architect: str = "pending"  # pending reviewing approved rejected
    attempt: int = 1  # the one that runs, or would run next
    max_attempts: int = MOST_ATTEMPTS
    failures: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it is still on its way: a task may not begin beside it."""
        return self.status in _WORKING or (self.status is GateStatus.FAILED and has_attempts(self))


@dataclass(frozen=True, slots=True)
class Transition:
    """One row of the table: what an event sets, besides the status."""

    sources: tuple[GateStatus | None, ...]
    event: GateEvent
    target: GateStatus
    step: int = 0  # 0: stays
    executor: str = ""  # empty: stays
    verify: str = ""
    architect: str = ""
    failure: FailureClass | None = None


_FINAL = (GateStatus.APPROVED, GateStatus.SKIPPED)
_WORKING = (GateStatus.EXECUTING, GateStatus.VERIFYING, GateStatus.REVIEWING)
_UNFINISHED = (*_WORKING, GateStatus.FAILED, GateStatus.BLOCKED)

TRANSITIONS = (
    Transition((None,), GateEvent.START, GateStatus.EXECUTING, 1, "running", "pending", "pending"),
    Transition(
        (GateStatus.EXECUTING,),
        GateEvent.EXECUTOR_SUCCESS,
        GateStatus.VERIFYING,
        2,
        "success",
        "running",
    ),
    Transition(
        (GateStatus.EXECUTING,),
        GateEvent.EXECUTOR_FAILURE,
        GateStatus.FAILED,
        executor="failure",
        failure=FailureClass.EXECUTION,
    ),
    Transition(
        (GateStatus.EXECUTING,), GateEvent.EXECUTOR_BLOCKED, GateStatus.BLOCKED, executor="blocked"
    ),
    Transition(
        (GateStatus.EXECUTING,),
        GateEvent.MALFORMED,
        GateStatus.FAILED,
        executor="failure",
        failure=FailureClass.MALFORMED,
    ),
    Transition(_WORKING, GateEvent.TIMEOUT, GateStatus.FAILED, failure=FailureClass.TIMEOUT),
    Transition(
        (GateStatus.VERIFYING,),
        GateEvent.VERIFY_PASSED,
        GateStatus.REVIEWING,
        3,
        verify="passed",
        architect="reviewing",
    ),
    Transition(
        (GateStatus.VERIFYING,),
        GateEvent.VERIFY_FAILED,
        GateStatus.FAILED,
        verify="failed",
        failure=FailureClass.VERIFY,
    ),
    Transition(
        (GateStatus.REVIEWING,), GateEvent.APPROVED, GateStatus.APPROVED, architect="approved"
    ),
    Transition(
        (GateStatus.REVIEWING,),
        GateEvent.REJECTED,
        GateStatus.FAILED,
        architect="rejected",
        failure=FailureClass.REJECTION,
    ),
    Transition(
        (GateStatus.FAILED,),
        GateEvent.RETRY,
        GateStatus.EXECUTING,
        1,
        "running",
        "pending",
        "pending",
    ),
    Transition(
        (GateStatus.BLOCKED,),
        GateEvent.UNBLOCKED,
        GateStatus.EXECUTING,
        1,
        "running",
        "pending",
        "pending",
    ),
    Transition(_UNFINISHED, GateEvent.SKIP, GateStatus.SKIPPED),
)


def advance(gate: Gate, event: GateEvent, *, task: str = "the task") -> Gate:
    """The gate after an event; an event that it cannot take is refused."""
    row = _row(gate.status, event)
    if row is None:
        raise GateTransition(gate.status or "not started", event, allowed_events(gate))
    if event is GateEvent.RETRY and not has_attempts(gate):
        raise NoAttemptsLeft(task, len(gate.failures))
    after = replace(
        gate,
        status=row.target,
        step=row.step or gate.step,
        executor=row.executor or gate.executor,
        verify=row.verify or gate.verify,
        architect=row.architect or gate.architect,
    )
    return _failed(after, row.failure) if row.failure else after


def has_attempts(gate: Gate) -> bool:
    """Whether a failed task may be tried again."""
    return len(gate.failures) < gate.max_attempts


def allowed_events(gate: Gate) -> tuple[str, ...]:
    """The events that a gate can take now."""
    allowed = [row.event for row in TRANSITIONS if gate.status in row.sources]
    if not has_attempts(gate):
        allowed = [event for event in allowed if event is not GateEvent.RETRY]
    return tuple(allowed)


def _row(status: GateStatus | None, event: GateEvent) -> Transition | None:
    rows = (row for row in TRANSITIONS if row.event is event and status in row.sources)
    return next(rows, None)


def _failed(gate: Gate, failure: FailureClass) -> Gate:
    """A failure uses its attempt; the number counts on only while another one may follow."""
    failures = (*gate.failures, f"attempt {len(gate.failures) + 1}: {failure}")
    attempt = min(len(failures) + 1, gate.max_attempts)
    return replace(gate, failures=failures, attempt=attempt)
