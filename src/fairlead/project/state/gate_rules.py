"""The gate of a task: which events it accepts and what each of them does.

A gate takes one task through executor, verify command and architect. Every transition is a row of
the table; `advance` refuses any other event, so no step can be skipped and a retry starts at step
1. A blocked or interrupted task has used no attempt, but interruptions have a limit too. `RETRIES`
says how often each kind of failure is retried; three attempts in all.
"""

import re
from datetime import timedelta
from enum import StrEnum

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass, replace
from fairlead.project.errors import GateTransition, NoAttemptsLeft

MOST_ATTEMPTS = 3
MOST_INTERRUPTIONS = 5
LONGEST_SUMMARY = 200


class GateStatus(StrEnum):
    """The state of a gate."""

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
    PERMISSION_DENIED = "permission-denied"
    PLAN_MALFORMED = "plan-malformed"
    INTERRUPTED = "interrupted"  # the process of the step is gone and left no result
    ABANDONED = "abandoned"  # interrupted too often
    ABORT = "abort"  # a person decided, as in the next two
    RESTART = "restart"  # all attempts again
    FIX = "fix"  # one more attempt, with a person's instructions


class FailureClass(StrEnum):
    """Why a gate failed."""

    EXECUTION = "EXECUTION_FAILURE"
    MALFORMED = "MALFORMED"
    TIMEOUT = "TIMEOUT"
    VERIFY = "VERIFY_FAILURE"
    REJECTION = "ARCHITECT_REJECTION"
    PERMISSION = "PERMISSION_DENIED"
    PLAN = "MALFORMED_PLAN"
    INTERRUPTED = "INTERRUPTED"
    ABORTED = "ABORTED"


class SkipKind(StrEnum):
    """What was skipped; a skipped verify command and a forced task count as complete."""

    VERIFY = "verify"
    TASK = "task"
    FORCED = "forced"


# How often a failure of each class is retried without asking. The other classes are limited by
# the attempts of the task alone, which are the setting `fairlead.execution.attempts`.
RETRIES = {
    FailureClass.REJECTION: 1,
    FailureClass.TIMEOUT: 1,
    FailureClass.PERMISSION: 0,
    FailureClass.PLAN: 0,
    FailureClass.INTERRUPTED: 0,
    FailureClass.ABORTED: 0,
}
DELAYS = {FailureClass.TIMEOUT: timedelta(seconds=30)}
_FAILURE = lazy_pattern(r"attempt ([0-9]{1,4}): ([A-Z_]+)(?:: (.*))?\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed attempt; an unknown class only uses up the attempt."""

    number: int
    kind: FailureClass | None
    summary: str = ""

    def __str__(self) -> str:
        if self.kind is None:
            return self.summary
        return f"attempt {self.number}: {self.kind}" + (self.summary and f": {self.summary}")

    @classmethod
    def read(cls, text: str, number: int) -> "Failure":
        """Read a failure from its line; other text becomes a failure of unknown class."""
        match = _FAILURE.match(text)
        if match and match[2] in tuple(FailureClass):
            return cls(int(match[1]), FailureClass(match[2]), match[3] or "")
        return cls(number, None, text)


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate of one task, with the step states as the files spell them."""

    status: GateStatus | None = None  # None: the task has not started
    step: int = 0  # 1 executor, 2 verify, 3 architect
    executor: str = "pending"  # pending running success failure blocked
    verify: str = "pending"  # pending running passed failed skipped
    architect: str = "pending"  # pending reviewing approved rejected
    attempt: int = 1  # the current or the next one
    max_attempts: int = MOST_ATTEMPTS
    failures: tuple[Failure, ...] = ()  # all failures, also those that no longer count
    forgiven: int = 0  # how many of them a restart has forgiven
    interruptions: int = 0
    skip_kind: SkipKind | None = None

    @property
    def is_open(self) -> bool:
        """Whether it is still in progress, so that no other task may start."""
        return self.status in _WORKING or (self.status is GateStatus.FAILED and has_attempts(self))

    @property
    def is_complete(self) -> bool:
        """Whether the task counts as done for its plan."""
        return self.status is GateStatus.APPROVED or self.skip_kind in (
            SkipKind.VERIFY,
            SkipKind.FORCED,
        )

    @property
    def counted(self) -> tuple[Failure, ...]:
        """The failures that count against the limits."""
        return self.failures[self.forgiven :]

    @property
    def serial(self) -> int:
        """The number of the attempt over all restarts, unique per attempt."""
        return len(self.failures) + (0 if self.status is GateStatus.FAILED else 1)


@dataclass(frozen=True, slots=True)
class Retry:
    """Try again after this delay."""

    delay: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class Escalate:
    """Ask a person."""

    reason: str


@dataclass(frozen=True, slots=True)
class Transition:
    """One row of the table; 0 and empty leave a value as it is."""

    sources: tuple[GateStatus | None, ...]
    event: GateEvent
    target: GateStatus
    step: int = 0
    executor: str = ""
    verify: str = ""
    architect: str = ""
    failure: FailureClass | None = None


_S, _E, _F = GateStatus, GateEvent, FailureClass  # short names keep each row on one line
_WORKING = (_S.EXECUTING, _S.VERIFYING, _S.REVIEWING)
_UNFINISHED = (*_WORKING, _S.FAILED, _S.BLOCKED)
_FRESH = (1, "running", "pending", "pending")  # a retry always begins at step 1

TRANSITIONS = (
    Transition((None,), _E.START, _S.EXECUTING, *_FRESH),
    Transition((_S.EXECUTING,), _E.EXECUTOR_SUCCESS, _S.VERIFYING, 2, "success", "running"),
    Transition((_S.EXECUTING,), _E.EXECUTOR_FAILURE, _S.FAILED, 0, "failure", failure=_F.EXECUTION),
    Transition((_S.EXECUTING,), _E.EXECUTOR_BLOCKED, _S.BLOCKED, 0, "blocked"),
    Transition((_S.EXECUTING,), _E.MALFORMED, _S.FAILED, 0, "failure", failure=_F.MALFORMED),
    Transition((_S.VERIFYING,), _E.VERIFY_PASSED, _S.REVIEWING, 3, "", "passed", "reviewing"),
    Transition((_S.VERIFYING,), _E.VERIFY_FAILED, _S.FAILED, 0, "", "failed", failure=_F.VERIFY),
    Transition((_S.REVIEWING,), _E.APPROVED, _S.APPROVED, 0, "", "", "approved"),
    Transition((_S.REVIEWING,), _E.REJECTED, _S.FAILED, 0, "", "", "rejected", _F.REJECTION),
    # An unreadable review is not an approval.
    Transition((_S.REVIEWING,), _E.MALFORMED, _S.FAILED, failure=_F.MALFORMED),
    Transition(_WORKING, _E.TIMEOUT, _S.FAILED, failure=_F.TIMEOUT),
    Transition(_WORKING, _E.PERMISSION_DENIED, _S.FAILED, failure=_F.PERMISSION),
    Transition((None, _S.EXECUTING), _E.PLAN_MALFORMED, _S.FAILED, failure=_F.PLAN),
    *(Transition((status,), _E.INTERRUPTED, status) for status in _WORKING),
    Transition(_WORKING, _E.ABANDONED, _S.FAILED, failure=_F.INTERRUPTED),
    Transition((_S.FAILED,), _E.RETRY, _S.EXECUTING, *_FRESH),
    Transition((_S.BLOCKED,), _E.UNBLOCKED, _S.EXECUTING, *_FRESH),
    Transition((_S.FAILED,), _E.RESTART, _S.EXECUTING, *_FRESH),
    Transition((_S.FAILED, _S.BLOCKED), _E.FIX, _S.EXECUTING, *_FRESH),
    Transition(_UNFINISHED, _E.ABORT, _S.FAILED, failure=_F.ABORTED),
    Transition(_UNFINISHED, _E.SKIP, _S.SKIPPED),
)


def advance(
    gate: Gate,
    event: GateEvent,
    *,
    task: str = "the task",
    summary: str = "",
    skip: SkipKind = SkipKind.TASK,
    attempts: int = MOST_ATTEMPTS,
) -> Gate:
    """The gate after an event; an event that is not allowed is refused.

    A gate that starts anew has this number of attempts.
    """
    row = _row(gate.status, event)
    if row is None:
        raise GateTransition(gate.status or "not started", event, allowed_events(gate))
    if event is GateEvent.RETRY and not has_attempts(gate):
        raise NoAttemptsLeft(task, len(gate.counted))
    if event is GateEvent.INTERRUPTED and isinstance(next_after_interruption(gate), Escalate):
        raise NoAttemptsLeft(task, gate.interruptions)
    after = replace(
        gate,
        status=row.target,
        step=row.step or gate.step,
        executor=row.executor or gate.executor,
        verify=row.verify or gate.verify,
        architect=row.architect or gate.architect,
    )
    if row.failure:
        return _failed(after, row.failure, summary)
    match event:
        case GateEvent.SKIP:
            return replace(after, skip_kind=skip)
        case GateEvent.INTERRUPTED:
            return replace(after, interruptions=gate.interruptions + 1)
        case GateEvent.RESTART:
            return replace(
                after,
                forgiven=len(gate.failures),
                interruptions=0,
                attempt=1,
                max_attempts=attempts,
            )
        case GateEvent.START:
            return replace(after, max_attempts=attempts)
        case GateEvent.FIX:
            number = len(gate.counted) + 1
            return replace(after, attempt=number, max_attempts=max(number, gate.max_attempts))
    return after


def next_after_failure(gate: Gate) -> Retry | Escalate:
    """Whether a failure is retried or escalated to a person."""
    if not gate.counted:
        return Retry()
    last = gate.counted[-1].kind
    for kind, most in RETRIES.items():
        times = sum(failure.kind is kind for failure in gate.counted)
        if times > most:
            return Escalate(f"{times} x {kind}, at most {most} retries")
    if len(gate.counted) >= gate.max_attempts:
        return Escalate(f"{len(gate.counted)} failed attempts of {gate.max_attempts}")
    return Retry(DELAYS.get(last, timedelta(0)) if last else timedelta(0))


def next_after_interruption(gate: Gate) -> Retry | Escalate:
    """Whether an interrupted attempt runs again or is escalated to a person."""
    if gate.interruptions >= MOST_INTERRUPTIONS:
        return Escalate(f"interrupted {gate.interruptions} times")
    return Retry()


def has_attempts(gate: Gate) -> bool:
    """Whether a failed task may be retried without asking."""
    return isinstance(next_after_failure(gate), Retry)


def allowed_events(gate: Gate) -> tuple[str, ...]:
    """The events that a gate accepts now."""
    allowed = dict.fromkeys(row.event for row in TRANSITIONS if gate.status in row.sources)
    if not has_attempts(gate):
        allowed.pop(GateEvent.RETRY, None)
    return tuple(allowed)


def _row(status: GateStatus | None, event: GateEvent) -> Transition | None:
    rows = (row for row in TRANSITIONS if row.event is event and status in row.sources)
    return next(rows, None)


def _failed(gate: Gate, kind: FailureClass, summary: str) -> Gate:
    """The gate after a failure; the attempt number rises only while another may follow."""
    number = len(gate.counted) + 1
    if kind is FailureClass.ABORTED:  # it ends the last attempt and begins none
        number = min(number, gate.max_attempts)
    failure = Failure(number, kind, " ".join(summary.split())[:LONGEST_SUMMARY])
    after = replace(gate, failures=(*gate.failures, failure))
    following = len(after.counted) + (1 if has_attempts(after) else 0)
    return replace(after, attempt=min(following, gate.max_attempts))
