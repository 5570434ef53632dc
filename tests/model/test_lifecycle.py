"""The gate: every row of the transition table, and everything that is not in it."""

import pytest

from fairlead.errors import GateTransition, NoAttemptsLeft
from fairlead.model.lifecycle import TRANSITIONS, Gate, GateEvent, GateStatus, advance

EXECUTING = Gate(GateStatus.EXECUTING, 1, "running")
VERIFYING = Gate(GateStatus.VERIFYING, 2, "success", "running")
REVIEWING = Gate(GateStatus.REVIEWING, 3, "success", "passed", "reviewing")
FAILED = Gate(GateStatus.FAILED, 2, "success", "failed", attempt=2, failures=("attempt 1: x",))
BLOCKED = Gate(GateStatus.BLOCKED, 1, "blocked")
APPROVED = Gate(GateStatus.APPROVED, 3, "success", "passed", "approved")
SKIPPED = Gate(GateStatus.SKIPPED, 1)
EVERY = {
    gate.status: gate
    for gate in (Gate(), EXECUTING, VERIFYING, REVIEWING, FAILED, BLOCKED, APPROVED, SKIPPED)
}


@pytest.mark.parametrize(
    ("gate", "event", "expected"),
    [
        pytest.param(
            Gate(),
            "start",
            ("EXECUTING", 1, "running", "pending", "pending", 1),
            id="task starts execution",
        ),
        pytest.param(
            EXECUTING,
            "executor-success",
            ("VERIFYING", 2, "success", "running", "pending", 1),
            id="executor completes and the verify command runs",
        ),
        pytest.param(
            EXECUTING,
            "executor-failure",
            ("FAILED", 1, "failure", "pending", "pending", 2),
            id="executor fails",
        ),
        pytest.param(
            EXECUTING,
            "executor-blocked",
            ("BLOCKED", 1, "blocked", "pending", "pending", 1),
            id="executor is blocked, and no attempt is used",
        ),
        pytest.param(
            EXECUTING,
            "malformed",
            ("FAILED", 1, "failure", "pending", "pending", 2),
            id="a result that cannot be read",
        ),
        pytest.param(
            EXECUTING,
            "timeout",
            ("FAILED", 1, "running", "pending", "pending", 2),
            id="executor takes too long",
        ),
        pytest.param(
            VERIFYING,
            "timeout",
            ("FAILED", 2, "success", "running", "pending", 2),
            id="verify takes too long",
        ),
        pytest.param(
            REVIEWING,
            "timeout",
            ("FAILED", 3, "success", "passed", "reviewing", 2),
            id="architect takes too long",
        ),
        pytest.param(
            VERIFYING,
            "verify-passed",
            ("REVIEWING", 3, "success", "passed", "reviewing", 1),
            id="verify passes and the architect starts",
        ),
        pytest.param(
            VERIFYING,
            "verify-failed",
            ("FAILED", 2, "success", "failed", "pending", 2),
            id="verify fails",
        ),
        pytest.param(
            REVIEWING,
            "approved",
            ("APPROVED", 3, "success", "passed", "approved", 1),
            id="architect approves and the gate passes",
        ),
        pytest.param(
            REVIEWING,
            "rejected",
            ("FAILED", 3, "success", "passed", "rejected", 2),
            id="architect rejects and the gate fails",
        ),
        pytest.param(
            FAILED,
            "retry",
            ("EXECUTING", 1, "running", "pending", "pending", 2),
            id="retry starts with all steps reset",
        ),
        pytest.param(
            BLOCKED,
            "unblocked",
            ("EXECUTING", 1, "running", "pending", "pending", 1),
            id="the dependency is done",
        ),
        pytest.param(
            VERIFYING,
            "skip",
            ("SKIPPED", 2, "success", "running", "pending", 1),
            id="a person skips the gate",
        ),
    ],
)
def test_a_gate_takes_its_events(gate: Gate, event: str, expected: tuple[object, ...]) -> None:
    after = advance(gate, GateEvent(event))

    assert (
        after.status,
        after.step,
        after.executor,
        after.verify,
        after.architect,
        after.attempt,
    ) == expected


@pytest.mark.parametrize("event", list(GateEvent), ids=str)
@pytest.mark.parametrize("status", list(EVERY), ids=str)
def test_a_gate_refuses_what_is_not_in_the_table(
    status: GateStatus | None, event: GateEvent
) -> None:
    is_there = any(row.event is event and status in row.sources for row in TRANSITIONS)
    if is_there:
        assert advance(EVERY[status], event).status is not None
    else:
        with pytest.raises(GateTransition, match=event):
            advance(EVERY[status], event)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("EXECUTING", "APPROVED"),
        ("EXECUTING", "REVIEWING"),
        ("VERIFYING", "APPROVED"),
        ("FAILED", "VERIFYING"),
        ("BLOCKED", "APPROVED"),
    ],
)
def test_no_step_can_be_left_out(source: str, target: str) -> None:
    assert not any(
        GateStatus(source) in row.sources and row.target == target for row in TRANSITIONS
    )


def test_a_gate_is_tried_three_times_in_all() -> None:
    gate = advance(Gate(), GateEvent.START)
    for _ in range(2):
        gate = advance(advance(gate, GateEvent.EXECUTOR_FAILURE), GateEvent.RETRY)
    last = advance(gate, GateEvent.EXECUTOR_FAILURE)

    assert (last.attempt, len(last.failures)) == (3, 3)
    with pytest.raises(NoAttemptsLeft):
        advance(last, GateEvent.RETRY)


def test_a_blocked_task_has_used_no_attempt() -> None:
    gate = advance(advance(EXECUTING, GateEvent.EXECUTOR_BLOCKED), GateEvent.UNBLOCKED)

    assert (gate.attempt, gate.failures) == (1, ())
