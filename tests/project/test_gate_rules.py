"""The gate: every row of the transition table, and everything that is not in it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from fairlead.project.errors import GateTransition, NoAttemptsLeft
from fairlead.project.state.gate_rules import (
    MOST_INTERRUPTIONS,
    TRANSITIONS,
    Escalate,
    Failure,
    FailureClass,
    Gate,
    GateEvent,
    GateStatus,
    Retry,
    SkipKind,
    advance,
    next_after_failure,
    next_after_interruption,
)

EXECUTING = Gate(GateStatus.EXECUTING, 1, "running")
VERIFYING = Gate(GateStatus.VERIFYING, 2, "success", "running")
REVIEWING = Gate(GateStatus.REVIEWING, 3, "success", "passed", "reviewing")
FAILED = Gate(
    GateStatus.FAILED, 2, "success", "failed", attempt=2, failures=(Failure(1, None, "x"),)
)
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


WORKING = "timeout permission-denied interrupted abandoned abort skip"
ALLOWED = {
    None: "start plan-malformed",
    GateStatus.EXECUTING: "executor-success executor-failure executor-blocked malformed "
    f"plan-malformed {WORKING}",
    GateStatus.VERIFYING: f"verify-passed verify-failed {WORKING}",
    GateStatus.REVIEWING: f"approved rejected malformed {WORKING}",
    GateStatus.FAILED: "retry restart fix abort skip",
    GateStatus.BLOCKED: "unblocked fix abort skip",
    GateStatus.APPROVED: "",
    GateStatus.SKIPPED: "",
}


@pytest.mark.parametrize("status", list(EVERY), ids=str)
def test_a_gate_takes_what_is_allowed_and_refuses_every_other_pair(
    status: GateStatus | None,
) -> None:
    for event in GateEvent:
        takes_or_refuses(status, event)


def takes_or_refuses(status: GateStatus | None, event: GateEvent) -> None:
    if event in ALLOWED[status].split():
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


@pytest.mark.parametrize("attempts", [1, 2, 5])
def test_a_gate_has_the_attempts_that_it_started_with(attempts: int) -> None:
    gate = advance(Gate(), GateEvent.START, attempts=attempts)
    for _ in range(attempts - 1):
        gate = advance(advance(gate, GateEvent.EXECUTOR_FAILURE), GateEvent.RETRY)
    last = advance(gate, GateEvent.EXECUTOR_FAILURE)

    with pytest.raises(NoAttemptsLeft):
        advance(last, GateEvent.RETRY)
    assert advance(last, GateEvent.RESTART, attempts=attempts).max_attempts == attempts


def test_a_blocked_task_has_used_no_attempt() -> None:
    gate = advance(advance(EXECUTING, GateEvent.EXECUTOR_BLOCKED), GateEvent.UNBLOCKED)

    assert (gate.attempt, gate.failures) == (1, ())


CLASSES = {
    "E": (EXECUTING, "executor-failure"),
    "M": (EXECUTING, "malformed"),
    "V": (VERIFYING, "verify-failed"),
    "R": (REVIEWING, "rejected"),
    "T": (EXECUTING, "timeout"),
    "P": (EXECUTING, "permission-denied"),
    "X": (EXECUTING, "plan-malformed"),
    "A": (EXECUTING, "abort"),
}


def failed_by(letters: str) -> Gate:
    """A gate after failures of these classes, one an attempt."""
    gate = EXECUTING
    for letter in letters:
        at, event = CLASSES[letter]
        gate = advance(
            replace(at, failures=gate.failures, attempt=gate.attempt), GateEvent(event), summary="x"
        )
    return gate


@pytest.mark.parametrize(
    ("letters", "goes_on"),
    [
        ("V", True), ("VV", True), ("VVV", False),
        ("E", True), ("EE", True), ("EEE", False),
        ("M", True), ("MM", True), ("MMM", False),
        ("R", True), ("RR", False),
        ("T", True), ("TT", False),
        ("TVR", False), ("TV", True), ("VR", True), ("VRR", False), ("RT", True), ("RTV", False),
        ("EVM", False), ("EV", True),
        ("P", False), ("X", False), ("A", False), ("VP", False), ("VA", False),
    ],
)  # fmt: skip
def test_attempts_end_at_three_or_at_the_ceiling_of_a_class(letters: str, goes_on: bool) -> None:
    assert isinstance(next_after_failure(failed_by(letters)), Retry) is goes_on


@pytest.mark.parametrize(("letters", "seconds"), [("V", 0), ("E", 0), ("T", 30), ("VT", 30)])
def test_only_a_timeout_waits_before_the_next_attempt(letters: str, seconds: int) -> None:
    after = next_after_failure(failed_by(letters))

    assert isinstance(after, Retry)
    assert after.delay == timedelta(seconds=seconds)


def test_an_escalation_says_which_limit_was_reached() -> None:
    after = next_after_failure(failed_by("VRR"))

    assert after == Escalate("2 x ARCHITECT_REJECTION, at most 1 retries")


def test_the_answer_retry_restores_all_attempts_and_keeps_the_failures() -> None:
    gate = advance(failed_by("RR"), GateEvent.RESTART)

    assert (gate.status, gate.attempt, gate.max_attempts) == (GateStatus.EXECUTING, 1, 3)
    assert (len(gate.failures), gate.counted, gate.serial) == (2, (), 3)
    assert isinstance(next_after_failure(advance(gate, GateEvent.EXECUTOR_FAILURE)), Retry)


def test_the_answer_fix_gives_one_more_attempt_and_no_second() -> None:
    gate = advance(failed_by("VVV"), GateEvent.FIX)

    assert (gate.status, gate.attempt, gate.max_attempts) == (GateStatus.EXECUTING, 4, 4)
    assert isinstance(next_after_failure(advance(gate, GateEvent.EXECUTOR_FAILURE)), Escalate)


def test_interruptions_use_no_attempt_and_have_a_limit_of_their_own() -> None:
    gate = REVIEWING
    for _ in range(MOST_INTERRUPTIONS):
        assert isinstance(next_after_interruption(gate), Retry)
        gate = advance(gate, GateEvent.INTERRUPTED)

    assert (gate.status, gate.attempt, gate.failures) == (GateStatus.REVIEWING, 1, ())
    assert isinstance(next_after_interruption(gate), Escalate)
    with pytest.raises(NoAttemptsLeft):
        advance(gate, GateEvent.INTERRUPTED)


@pytest.mark.parametrize(
    ("kind", "complete"),
    [(SkipKind.VERIFY, True), (SkipKind.FORCED, True), (SkipKind.TASK, False)],
)
def test_a_skipped_task_is_complete_only_when_its_work_was_kept(
    kind: SkipKind, complete: bool
) -> None:
    gate = advance(VERIFYING, GateEvent.SKIP, skip=kind)

    assert (gate.status, gate.is_complete) == (GateStatus.SKIPPED, complete)


@pytest.mark.parametrize(
    "failure",
    [Failure(2, FailureClass.VERIFY, "npm test: 1 failed"), Failure(1, FailureClass.TIMEOUT)],
)
def test_a_failure_is_read_back_from_its_words(failure: Failure) -> None:
    assert Failure.read(str(failure), 9) == failure


def test_foreign_text_is_a_failure_of_unknown_class() -> None:
    assert str(Failure.read("broke somehow", 1)) == "broke somehow"


def test_an_abort_after_the_last_attempt_is_no_further_attempt() -> None:
    gate = advance(Gate(), GateEvent.START)
    for _ in range(2):
        gate = advance(advance(gate, GateEvent.EXECUTOR_FAILURE), GateEvent.RETRY)
    gate = advance(advance(gate, GateEvent.EXECUTOR_FAILURE), GateEvent.ABORT)

    assert [failure.number for failure in gate.failures] == [1, 2, 3, 3]
    assert gate.attempt == gate.max_attempts
