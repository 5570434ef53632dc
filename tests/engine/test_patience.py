"""Patience: a call that came to nothing is paid for, and a service that refuses is waited for."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from fairlead.engine.decide import decide
from fairlead.engine.fanout import Signal
from fairlead.model.agent_events import Ending, EndKind, Usage
from fairlead.model.agent_orders import Order
from fairlead.model.job import JobStatus, QuestionKind, Run, TaskGate
from fairlead.model.lifecycle import Gate, GateEvent, advance
from fairlead.model.plain import plain, revived
from fairlead.model.policy import LONGEST_WAIT, MOST_WAITS, pause
from fairlead.model.snapshot import Act
from tests.engine.test_decide import STARTED, VERIFIED, a_gate, a_snapshot, decided
from tests.engine.test_decide import a_plan as a_fact
from tests.support.execution import Act as Does
from tests.support.execution import Ticking, Told, Works, a_plan, a_project, does_it
from tests.support.repositories import written

PAID = Ending(
    EndKind.RATE_LIMITED, usage=Usage(50_000, 0, 900), cost_usd=1.25, error="later", retry_after=0.1
)
AT_NIGHT = "2026-06-02T03:00:00.000Z"  # fifteen hours after the snapshots of test_decide


@pytest.fixture(autouse=True)
def _no_identity_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def works(tmp_path: Path, does: Does, step_seconds: float = 3600) -> Works:
    project = a_project(tmp_path / "p", a_plan("01-01", "a.txt"))
    return Works(project, Told(does), Ticking(step_seconds))


def gate_of(site: Works) -> TaskGate:
    [path] = site.project.glob(".planning/jobs/*/gates/*.json")
    return revived(TaskGate, json.loads(path.read_text()))


def refuses(times: int, *, is_review: bool, ending: Ending = PAID) -> Does:
    def act(order: Order, call: int) -> object:
        if order.is_read_only is is_review and call <= times:
            return ending
        return does_it(order, call)

    return act  # type: ignore[return-value]


# -- what is paid --------------------------------------------------------------------------------


@pytest.mark.parametrize("is_review", [False, True])
def test_a_refused_call_is_paid_for(tmp_path: Path, is_review: bool) -> None:
    report = works(tmp_path, refuses(1, is_review=is_review)).run()
    assert report.job.status is JobStatus.DONE
    assert report.spent.tokens == 50_900 + 2 * 1100
    assert report.spent.usd > 1.25


@pytest.mark.parametrize("is_review", [False, True])
def test_a_call_that_a_person_stopped_is_paid_for(tmp_path: Path, is_review: bool) -> None:
    stop, over = Signal(), Signal()

    def stopped(order: Order, call: int) -> object:
        if order.is_read_only is is_review:
            stop.give()
            over.give()
            return replace(PAID, kind=EndKind.KILLED)
        return does_it(order, call)

    report = works(tmp_path, stopped).run(stop, over)  # type: ignore[arg-type]
    assert report.spent.tokens == 50_900 + 1100 * is_review


@pytest.mark.parametrize("name", [".planning/config.json", ".planning/ledger/01-01.jsonl"])
def test_a_call_that_touched_what_is_not_its_own_is_paid_for(tmp_path: Path, name: str) -> None:
    project = tmp_path / "p"

    def meddles(order: Order, call: int) -> object:
        written(project / name, '{"mine": 1}\n')
        return replace(PAID, kind=EndKind.OK)

    report = works(tmp_path, meddles).run()  # type: ignore[arg-type]
    assert [each.kind for each in report.questions] == [QuestionKind.TOUCHED]
    assert report.spent.tokens == (
        50_900 if "config" in name else 0
    )  # no line follows a broken one


# -- waiting -------------------------------------------------------------------------------------


class Heard(list[str]):
    """What happened; a wish to stop follows as soon as somebody waits."""

    def __init__(self, stop: Signal) -> None:
        super().__init__()
        self._stop = stop

    def append(self, each: str) -> None:
        super().append(each)
        if each.endswith("waiting"):
            self._stop.give()


def test_one_wish_to_stop_ends_a_wait_for_a_reset_five_hours_away(tmp_path: Path) -> None:
    ending = replace(PAID, retry_after=5 * 3600.0)
    site = works(tmp_path, refuses(1, is_review=False, ending=ending), step_seconds=1)
    stop = Signal()
    site.happened = Heard(stop)
    assert site.run(stop).job.status is JobStatus.EXECUTING
    assert gate_of(site).not_before.startswith("2026-06-01T17:0")
    assert sum(each.endswith("waiting") for each in site.happened) == 1


@pytest.mark.parametrize("is_review", [False, True])
def test_a_service_that_always_refuses_is_a_question_and_uses_no_attempt(
    tmp_path: Path, is_review: bool
) -> None:
    site = works(tmp_path, refuses(MOST_WAITS + 1, is_review=is_review))
    report = site.run()
    assert report.job.status is JobStatus.BLOCKED
    assert [each.kind for each in report.questions] == [QuestionKind.PATIENCE]
    held = gate_of(site)
    assert (held.gate.interruptions, held.gate.attempt, held.waits) == (0, 1, MOST_WAITS + 1)
    site.answer("retry")
    assert site.run().job.status is JobStatus.DONE
    assert gate_of(site).waits == 0


@pytest.mark.parametrize(
    ("told", "waits", "seconds"),
    [(None, 0, 60), (7.0, 0, 7), (7.0, 1, 60), (None, 5, 960), (5 * 3600.0, 2, 5 * 3600)],
)
def test_a_service_is_left_alone_as_it_says_and_longer_each_time(
    told: float | None, waits: int, seconds: int
) -> None:
    assert pause(told, waits) == timedelta(seconds=seconds)


# -- deciding ------------------------------------------------------------------------------------


def refused(plan: str, *events: GateEvent, until: str = AT_NIGHT) -> TaskGate:
    return replace(a_gate(plan, *events), not_before=until, waits=1, note="rate_limited: no")


@pytest.mark.parametrize("events", [STARTED, VERIFIED])
def test_about_a_wait_beyond_the_limit_a_person_decides(events: tuple[GateEvent, ...]) -> None:
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


def test_a_service_that_refused_one_task_is_not_asked_for_another() -> None:
    near, plans = "2026-06-01T12:10:00.000Z", (a_fact("01-01"), a_fact("01-02"))
    waiting = a_snapshot(*plans, gates=(refused("01-01", *STARTED, until=near),))
    assert decide(waiting)[0].until == near
    assert decided(replace(waiting, now=near)) == ["execute:01-01-01", "execute:01-02-01"]
    reviewed = (refused("01-01", *VERIFIED, until=near),)
    other = replace(waiting, job=replace(waiting.job, reviewer="other"), gates=reviewed)
    assert decided(other) == ["execute:01-02-01"]
    far = replace(waiting, gates=(refused("01-01", *STARTED),))
    assert [each.act for each in decide(far)] == [Act.ASK]


def test_a_gate_of_an_older_version_was_not_interrupted_by_its_wait() -> None:
    gate = Gate()
    for event in (GateEvent.START, *[GateEvent.INTERRUPTED] * 5):
        gate = advance(gate, event)
    run = Run(1, 1, "base", "branch", "s", "", "rate_limited", "c")
    held = plain(TaskGate("01-01-01", "01-01", 1, "Task 1: it", gate, (run,)))
    del held["waits"]
    read = revived(TaskGate, held)
    assert decided(a_snapshot(a_fact("01-01"), gates=(read,))) == ["execute:01-01-01"]


def test_the_longest_wait_is_longer_than_the_windows_of_services() -> None:
    assert timedelta(hours=5) < LONGEST_WAIT


def test_a_refused_call_that_changed_nothing_leaves_no_branch(tmp_path: Path) -> None:
    report = works(tmp_path, refuses(1, is_review=False)).run()
    assert (report.job.status, report.kept_branches) == (JobStatus.DONE, ())
