"""Waiting: calls without a result are paid for, and a service that refuses calls is waited for."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from fairlead.agents.model import AgentCall, CallResult, EndKind, TokenUsage
from fairlead.core.concurrency import OneTimeEvent
from fairlead.core.serialization import plain, revived
from fairlead.execution.decide import LONGEST_WAIT, MAX_WAITS, decide, service_pause
from fairlead.execution.model import Act
from fairlead.jobs.model import JobStatus, QuestionKind, Run, TaskGate
from fairlead.project.state.gate_rules import Gate, GateEvent, advance
from tests.execution.test_decide import STARTED, VERIFIED, a_gate, a_snapshot, decided
from tests.execution.test_decide import a_plan as a_fact
from tests.support.execution import Act as Does
from tests.support.execution import (
    ExecutionTrial,
    FakeAgent,
    SteppingClock,
    a_plan,
    a_project,
    succeeds,
)
from tests.support.repositories import written

PAID = CallResult(
    EndKind.RATE_LIMITED,
    usage=TokenUsage(50_000, 0, 900),
    cost_usd=1.25,
    error="later",
    retry_after=0.1,
)
AT_NIGHT = "2026-06-02T03:00:00.000Z"  # fifteen hours after the snapshots of test_decide


@pytest.fixture(autouse=True)
def _no_identity_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def a_trial(tmp_path: Path, does: Does, step_seconds: float = 3600) -> ExecutionTrial:
    project = a_project(tmp_path / "p", a_plan("01-01", "a.txt"))
    return ExecutionTrial(project, FakeAgent(does), SteppingClock(step_seconds))


def gate_of(trial: ExecutionTrial) -> TaskGate:
    [path] = trial.project.glob(".planning/jobs/*/gates/*.json")
    return revived(TaskGate, json.loads(path.read_text()))


def refuses(times: int, *, is_review: bool, ending: CallResult = PAID) -> Does:
    def act(order: AgentCall, call: int) -> object:
        if order.is_read_only is is_review and call <= times:
            return ending
        return succeeds(order, call)

    return act  # type: ignore[return-value]


# -- what is paid --------------------------------------------------------------------------------


@pytest.mark.parametrize("is_review", [False, True])
def test_a_refused_call_is_paid_for(tmp_path: Path, is_review: bool) -> None:
    report = a_trial(tmp_path, refuses(1, is_review=is_review)).run()
    assert report.job.status is JobStatus.DONE
    assert report.spent.tokens == 50_900 + 2 * 1100
    assert report.spent.usd > 1.25


@pytest.mark.parametrize("is_review", [False, True])
def test_a_call_that_a_person_stopped_is_paid_for(tmp_path: Path, is_review: bool) -> None:
    stop, over = OneTimeEvent(), OneTimeEvent()

    def stopped(order: AgentCall, call: int) -> object:
        if order.is_read_only is is_review:
            stop.set()
            over.set()
            return replace(PAID, kind=EndKind.KILLED)
        return succeeds(order, call)

    report = a_trial(tmp_path, stopped).run(stop, over)  # type: ignore[arg-type]
    assert report.spent.tokens == 50_900 + 1100 * is_review


@pytest.mark.parametrize("name", [".planning/config.json", ".planning/ledger/01-01.jsonl"])
def test_a_call_that_changed_guarded_files_is_paid_for(tmp_path: Path, name: str) -> None:
    project = tmp_path / "p"

    def meddles(order: AgentCall, call: int) -> object:
        written(project / name, '{"mine": 1}\n')
        return replace(PAID, kind=EndKind.OK)

    report = a_trial(tmp_path, meddles).run()  # type: ignore[arg-type]
    assert [each.kind for each in report.questions] == [QuestionKind.TOUCHED]
    assert report.spent.tokens == 50_900  # a forged ledger is restored before its next line


# -- waiting -------------------------------------------------------------------------------------


class Heard(list[str]):
    """The events of a run that is asked to stop as soon as it waits."""

    def __init__(self, stop: OneTimeEvent) -> None:
        super().__init__()
        self._stop = stop

    def append(self, each: str) -> None:
        super().append(each)
        if each.endswith("waiting"):
            self._stop.set()


def test_a_stop_request_ends_a_wait_of_five_hours(tmp_path: Path) -> None:
    ending = replace(PAID, retry_after=5 * 3600.0)
    trial = a_trial(tmp_path, refuses(1, is_review=False, ending=ending), step_seconds=1)
    stop = OneTimeEvent()
    trial.happened = Heard(stop)
    assert trial.run(stop).job.status is JobStatus.EXECUTING
    assert gate_of(trial).not_before.startswith("2026-06-01T17:0")
    assert sum(each.endswith("waiting") for each in trial.happened) == 1


@pytest.mark.parametrize("is_review", [False, True])
def test_a_service_that_always_refuses_leads_to_a_question_and_uses_no_attempt(
    tmp_path: Path, is_review: bool
) -> None:
    trial = a_trial(tmp_path, refuses(MAX_WAITS + 1, is_review=is_review))
    report = trial.run()
    assert report.job.status is JobStatus.BLOCKED
    assert [each.kind for each in report.questions] == [QuestionKind.PATIENCE]
    gate = gate_of(trial)
    assert (gate.gate.interruptions, gate.gate.attempt, gate.waits) == (0, 1, MAX_WAITS + 1)
    trial.answer("retry")
    assert trial.run().job.status is JobStatus.DONE
    assert gate_of(trial).waits == 0


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    ("retry_after", "waits", "seconds"),
    [(None, 0, 60), (7.0, 0, 7), (7.0, 1, 60), (None, 5, 960), (5 * 3600.0, 2, 5 * 3600)],
)
def test_the_wait_follows_the_service_and_grows_with_each_refusal(
    retry_after: float | None, waits: int, seconds: int
) -> None:
    assert service_pause(retry_after, waits) == timedelta(seconds=seconds)


# -- deciding ------------------------------------------------------------------------------------


def refused(plan: str, *events: GateEvent, until: str = AT_NIGHT) -> TaskGate:
    return replace(a_gate(plan, *events), not_before=until, waits=1, note="rate_limited: no")


@pytest.mark.parametrize("events", [STARTED, VERIFIED])
def test_a_person_decides_about_a_wait_beyond_the_limit(events: tuple[GateEvent, ...]) -> None:
    snapshot = a_snapshot(a_fact("01-01"), gates=(refused("01-01", *events),))
    [ask] = decide(snapshot)
    assert ask.question
    assert (ask.question.options, AT_NIGHT in ask.question.text) == (
        ("wait", "retry", "abort"),
        True,
    )
    assert decided(replace(snapshot, questions=(ask.question,))) == ["finish:BLOCKED"]
    call = "execute" if events is STARTED else "review"
    ways = {"wait": "wait:execute-01", "retry": f"{call}:01-01-01", "abort": "finish:FAILED"}
    for answer, way in ways.items():
        said = replace(ask.question, answer=answer)
        assert decided(replace(snapshot, questions=(said,))) == [way]


def test_a_service_that_refuses_one_task_is_not_called_for_another() -> None:
    near, plans = "2026-06-01T12:10:00.000Z", (a_fact("01-01"), a_fact("01-02"))
    waiting = a_snapshot(*plans, gates=(refused("01-01", *STARTED, until=near),))
    assert decide(waiting)[0].until == near
    assert decided(replace(waiting, now=near)) == ["execute:01-01-01", "execute:01-02-01"]
    reviewed = (refused("01-01", *VERIFIED, until=near),)
    other = replace(waiting, job=replace(waiting.job, reviewer="other"), gates=reviewed)
    assert decided(other) == ["execute:01-02-01"]
    far = replace(waiting, gates=(refused("01-01", *STARTED),))
    assert [each.act for each in decide(far)] == [Act.ASK]


def test_a_refused_call_in_a_gate_of_an_older_version_is_no_interruption() -> None:
    gate = Gate()
    for event in (GateEvent.START, *[GateEvent.INTERRUPTED] * 5):
        gate = advance(gate, event)
    run = Run(1, 1, "base", "branch", "s", "", "rate_limited", "c")
    stored = plain(TaskGate("01-01-01", "01-01", 1, "Task 1: it", gate, (run,)))
    del stored["waits"]
    read = revived(TaskGate, stored)
    assert decided(a_snapshot(a_fact("01-01"), gates=(read,))) == ["execute:01-01-01"]


def test_the_longest_wait_exceeds_the_usage_windows_of_services() -> None:
    assert timedelta(hours=5) < LONGEST_WAIT


def test_a_refused_call_that_changed_nothing_leaves_no_branch(tmp_path: Path) -> None:
    report = a_trial(tmp_path, refuses(1, is_review=False)).run()
    assert (report.job.status, report.kept_branches) == (JobStatus.DONE, ())
