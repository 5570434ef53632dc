"""Deciding: pure and repeatable, and a finished action is not offered again."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from fairlead.agents.budget import Caps, Cost
from fairlead.core.errors import SettingValue
from fairlead.core.serialization import plain, revived
from fairlead.execution.decide import Decider, decide
from fairlead.execution.model import Act, PlanFacts, Snapshot, TaskFacts
from fairlead.jobs.model import Job, JobStatus, Question, QuestionKind, Run, TaskGate, shares_of
from fairlead.plans.model import TaskKind
from fairlead.project.state.gate_rules import Gate, GateEvent, advance

NOW = "2026-06-01T12:00:00.000Z"


def a_task(plan: str, number: int = 1, kind: TaskKind = TaskKind.AUTO) -> TaskFacts:
    return TaskFacts(f"{plan}-{number:02d}", number, f"Task {number}: it", kind)


def a_plan(name: str, *needs: str, files: tuple[str, ...] = (), **more: object) -> PlanFacts:
    facts: dict[str, object] = {
        "tasks": (a_task(name),),
        "estimate": Cost(10, 0.01),
        "is_approved": True,
        "is_merged": False,
        "is_summarised": False,
    }
    return PlanFacts(name, needs, files or (f"{name}.txt",), **{**facts, **more})  # type: ignore[arg-type]


def a_gate(plan: str, *events: GateEvent, runs: int = 1) -> TaskGate:
    gate = Gate()
    for event in events:
        gate = advance(gate, event)
    made = tuple(Run(at, at, "base", "branch", "s", NOW, "ok", "c") for at in range(1, runs + 1))
    return TaskGate(f"{plan}-01", plan, 1, "Task 1: it", gate, made)


def a_snapshot(*plans: PlanFacts, gates: tuple[TaskGate, ...] = (), **more: object) -> Snapshot:
    defaults: dict[str, object] = {
        "questions": (),
        "running": (),
        "now": NOW,
        "spent": Cost(),
        "spent_today": Cost(),
        "caps": Caps(),
    }
    job = Job("execute-01", "01", JobStatus.EXECUTING, NOW, "fake", "main", "base", slots=2)
    return Snapshot(job, plans, gates, **{**defaults, **more})  # type: ignore[arg-type]


def decided(snapshot: Snapshot) -> list[str]:
    return [action.key for action in decide(snapshot)]


STARTED = (GateEvent.START,)
BUILT = (*STARTED, GateEvent.EXECUTOR_SUCCESS)
VERIFIED = (*BUILT, GateEvent.VERIFY_PASSED)
DONE = (*VERIFIED, GateEvent.APPROVED)
FAILED = (*BUILT, GateEvent.VERIFY_FAILED)


@pytest.mark.parametrize(
    ("events", "wanted"),
    [
        ((), "execute:01-01-01"),
        (STARTED, "execute:01-01-01"),
        (BUILT, "verify:01-01-01"),
        (VERIFIED, "review:01-01-01"),
        (DONE, "merge:01-01"),
        (FAILED, "execute:01-01-01"),
    ],
)
def test_the_next_step_follows_from_the_gate(events: tuple[GateEvent, ...], wanted: str) -> None:
    gates = (a_gate("01-01", *events),) if events else ()
    assert decided(a_snapshot(a_plan("01-01"), gates=gates)) == [wanted]


def test_a_merged_plan_is_summarised_and_then_the_job_ends() -> None:
    gates = (a_gate("01-01", *DONE),)
    merged = a_plan("01-01", is_merged=True)
    assert decided(a_snapshot(merged, gates=gates)) == ["summarise:01-01"]
    assert decided(a_snapshot(replace(merged, is_summarised=True), gates=gates)) == ["finish:DONE"]


def test_running_actions_are_not_offered_again_and_take_slots() -> None:
    plans = [a_plan(f"01-0{number}") for number in (1, 2, 3)]
    first = decided(a_snapshot(*plans))
    assert first == ["execute:01-01-01", "execute:01-02-01"]
    gates = (a_gate("01-01", *STARTED), a_gate("01-02", *STARTED))
    assert decided(a_snapshot(*plans, gates=gates, running=tuple(first))) == []


def test_running_and_chosen_calls_count_against_the_caps() -> None:
    plans = [a_plan(f"01-0{number}") for number in (1, 2, 3)]
    snapshot = a_snapshot(*plans, caps=Caps(run_usd=0.015))
    assert decided(snapshot) == ["execute:01-01-01"]
    running = replace(snapshot, gates=(a_gate("01-01", *STARTED),), running=("execute:01-01-01",))
    assert decided(running) == []  # it may turn out cheaper: nobody is asked yet
    cheap = replace(running, gates=(a_gate("01-01", *BUILT),), running=(), spent=Cost(1, 0.001))
    assert decided(cheap) == ["verify:01-01-01", "execute:01-02-01"]
    dear = replace(cheap, spent=Cost(1, 0.01))
    assert decided(dear) == [
        "ask:budget-01-02-01",
        "ask:budget-01-03-01",
        "verify:01-01-01",
    ]


@pytest.mark.parametrize(
    "caps", [Caps(run_tokens=15), Caps(run_usd=0.015), Caps(day_tokens=15), Caps(day_usd=0.015)]
)
def test_every_cap_counts_running_calls(caps: Caps) -> None:
    plans = (a_plan("01-01"), a_plan("01-02"))
    gates = (a_gate("01-01", *VERIFIED),)
    assert decided(a_snapshot(*plans, gates=gates, caps=caps)) == ["review:01-01-01"]
    running = a_snapshot(*plans, gates=gates, caps=caps, running=("review:01-01-01",))
    assert decided(running) == []
    verifies = replace(running, gates=(*gates, a_gate("01-02", *BUILT)))
    assert decided(verifies) == ["verify:01-02-01"]  # which costs nothing


def test_a_call_that_a_person_allowed_does_not_wait_for_running_calls() -> None:
    id_ = "budget-01-02-01"
    allowed = Question(id_, QuestionKind.BUDGET, "01-02-01", "too much", (), answer="accept")
    plans = [a_plan(f"01-0{number}") for number in (1, 2)]
    snapshot = a_snapshot(*plans, caps=Caps(run_usd=0.015), questions=(allowed,))
    assert decided(snapshot) == ["execute:01-01-01", "execute:01-02-01"]


def test_an_agent_runs_no_more_calls_at_once_than_its_share() -> None:
    snapshot = a_snapshot(*(a_plan(f"01-0{number}") for number in (1, 2, 3)))
    job = replace(snapshot.job, slots=3, shares=shares_of("fake=1, other=2"), reviewer="other")
    limited = replace(snapshot, job=job)
    assert decided(limited) == ["execute:01-01-01"]
    assert decided(replace(limited, running=("execute:01-01-01",))) == []
    gates = tuple(a_gate(f"01-0{number}", *VERIFIED) for number in (1, 2, 3))
    assert decided(replace(limited, gates=gates)) == ["review:01-01-01", "review:01-02-01"]
    assert job.share_notes == (
        "fake runs at most 1 at once, although there are 3 slots",
        "other runs at most 2 at once, although there are 3 slots",
    )


@pytest.mark.parametrize("text", ["claude", "claude=0", "=1", "claude=many", "claude=65"])
def test_an_invalid_share_is_refused(text: str) -> None:
    with pytest.raises(SettingValue, match="cannot be"):
        shares_of(text)


def test_dependent_plans_and_plans_with_the_same_files_wait() -> None:
    plans = (
        a_plan("01-01", files=("same.txt",)),
        a_plan("01-02", files=("same.txt",)),
        a_plan("01-03", "01-01"),
    )
    assert decided(a_snapshot(*plans)) == ["execute:01-01-01"]


def test_a_plan_that_needs_an_unfinished_plan_begins_with_a_note() -> None:
    undone = a_plan("01-01", is_merged=True, is_summarised=True, is_sound=False)
    [action] = decide(a_snapshot(undone, a_plan("01-02", "01-01")))
    assert action.key == "execute:01-02-01"
    assert action.note == "01-02 needs what is not done, as its summary says: 01-01"
    done = a_plan("01-02", "01-01", is_merged=True, is_summarised=True)
    [end] = decide(a_snapshot(undone, done))
    assert (end.key, "done without what it needs: 01-02" in end.note) == ("finish:FAILED", True)


def test_one_plan_lands_at_a_time() -> None:
    plans = (a_plan("01-01"), a_plan("01-02"))
    gates = (a_gate("01-01", *DONE), a_gate("01-02", *DONE))
    assert decided(a_snapshot(*plans, gates=gates)) == ["merge:01-01"]
    running = ("merge:01-01",)
    assert decided(a_snapshot(*plans, gates=gates, running=running)) == []


def test_a_question_is_asked_once_and_stops_only_its_plan() -> None:
    plans = (a_plan("01-01", is_approved=False), a_plan("01-02"))
    assert decided(a_snapshot(*plans)) == ["ask:plan-changed-01-01", "execute:01-02-01"]
    asked = Question("plan-changed-01-01", QuestionKind.PLAN_CHANGED, "01-01", "it changed")
    assert decided(a_snapshot(*plans, questions=(asked,))) == ["execute:01-02-01"]


def test_after_the_last_failure_the_answer_decides_the_next_step() -> None:
    gate = a_gate(
        "01-01", *FAILED, GateEvent.RETRY, *FAILED[1:], GateEvent.RETRY, *FAILED[1:], runs=3
    )
    snapshot = a_snapshot(a_plan("01-01"), gates=(gate,))
    [ask] = decide(snapshot)
    assert ask.act is Act.ASK
    assert ask.question
    for answer, wanted in (("retry", "execute:01-01-01"), ("skip", "skip:01-01-01")):
        answered = replace(ask.question, answer=answer)
        assert decided(replace(snapshot, questions=(answered,))) == [wanted]
    ended = replace(ask.question, answer="abort")
    assert decided(replace(snapshot, questions=(ended,))) == ["finish:FAILED"]


@pytest.mark.parametrize("events", [STARTED, BUILT, VERIFIED, DONE, FAILED])
def test_a_gate_with_another_digest_does_not_count(events: tuple[GateEvent, ...]) -> None:
    gate = replace(a_gate("01-01", *events), digest="as it was")
    task = replace(a_task("01-01"), digest="as it is")
    snapshot = a_snapshot(a_plan("01-01", tasks=(task,)), gates=(gate,))
    assert decided(snapshot) == ["execute:01-01-01"]
    assert not snapshot.passed
    for same in (replace(gate, digest="as it is"), replace(gate, digest="")):  # or an older version
        judged = replace(snapshot, gates=(same,))
        assert decided(judged) == decided(replace(judged, gates=(a_gate("01-01", *events),)))


def test_an_answer_holds_only_for_the_text_it_was_given_to() -> None:
    task = replace(a_task("01-01", 1, TaskKind.HUMAN_VERIFY), digest="as it is")
    snapshot = a_snapshot(a_plan("01-01", tasks=(task,), is_merged=True))
    [ask] = decide(snapshot)
    assert ask.question
    said = replace(ask.question, answer="approved")
    assert decided(replace(snapshot, questions=(said,))) == ["summarise:01-01"]
    assert decided(replace(snapshot, questions=(replace(said, about=""),))) == ["summarise:01-01"]
    other = replace(snapshot, questions=(replace(said, about="as it was"),))
    assert decide(other) == (ask,)


def test_no_plan_begins_after_three_failed_tasks() -> None:
    asked = tuple(
        Question(f"escalation-{n}", QuestionKind.ESCALATION, f"01-0{n}-01.3", "?")
        for n in (1, 2, 3)
    )
    assert decided(a_snapshot(a_plan("01-04"), questions=asked)) == ["finish:BLOCKED"]


def test_a_wait_is_an_action_and_ends() -> None:
    gate = replace(a_gate("01-01", *FAILED), not_before="2026-06-01T12:00:30.000Z")
    snapshot = a_snapshot(a_plan("01-01"), gates=(gate,))
    assert decided(snapshot) == ["wait:execute-01"]
    later = replace(snapshot, now="2026-06-01T12:00:31.000Z")
    assert decided(later) == ["execute:01-01-01"]

    decider = Decider()  # what it keeps between decisions must not keep the wait
    assert [action.act for action in decider.decide(snapshot)] == [Act.WAIT]
    assert [action.act for action in decider.decide(later)] == [Act.EXECUTE]


def test_a_snapshot_survives_json() -> None:
    snapshot = a_snapshot(
        a_plan("01-01", tasks=(replace(a_task("01-01", 1, TaskKind.DECISION), digest="d"),)),
        a_plan("01-02", "01-01"),
        gates=(replace(a_gate("01-02", *FAILED), digest="d"),),
        questions=(Question("q", QuestionKind.CLASH, "01-02", "?", ("a", "b")),),
    )
    back = revived(Snapshot, json.loads(json.dumps(plain(snapshot))))
    assert back == snapshot
    assert decide(back) == decide(snapshot)


_LOCKED_IN = """
import json, sys
from fairlead.execution.decide import decide
from fairlead.core.serialization import plain, revived
from fairlead.execution.model import Snapshot
text = sys.stdin.read()
def forbid(event, args):
    if event.startswith(("open", "os.", "subprocess.", "socket.", "shutil.", "tempfile.", "ctypes.")):
        raise SystemExit(f"deciding did {event} {args}")
sys.addaudithook(forbid)
answer = json.dumps(plain(decide(revived(Snapshot, json.loads(text)))))
sys.stdout.write(answer)
"""


def test_decide_uses_no_file_process_or_socket() -> None:
    snapshot = a_snapshot(
        a_plan("01-01"), a_plan("01-02", "01-01"), gates=(a_gate("01-01", *FAILED),)
    )
    done = subprocess.run(
        [sys.executable, "-c", _LOCKED_IN],
        input=json.dumps(plain(snapshot)),
        capture_output=True,
        text=True,
        env={"PYTHONPATH": "src"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(json.dumps(plain(decide(snapshot))))


@pytest.mark.parametrize(
    ("option", "typed"),
    [("the plain way", '"the plain way"'), ("$(rm x)", "'$(rm x)'"), ("`x`", "'`x`'")],
)
def test_options_from_an_agent_are_quoted_for_the_shell(option: str, typed: str) -> None:
    question = Question("q", QuestionKind.CHOICE, "s", "which?", (option,))
    assert question.command("j") == f"fairlead job answer j {typed}"


@pytest.mark.parametrize(("waiting", "begins"), [(2, True), (3, False)])
def test_no_plan_begins_while_more_plans_wait_to_land_than_there_are_slots(waiting, begins):
    names = [f"01-{at:02d}" for at in range(1, waiting + 1)]
    snapshot = a_snapshot(
        *(a_plan(name) for name in names),
        a_plan("01-09"),
        gates=tuple(a_gate(name, *DONE) for name in names),
        running=(f"{Act.MERGE}:{names[0]}",),
    )

    assert (f"{Act.EXECUTE}:01-09-01" in decided(snapshot)) is begins
