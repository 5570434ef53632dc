"""What an executor reports besides its status: questions, decisions, deviations and concerns."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from fairlead.agents.model import AgentCall, CallResult, EndKind
from fairlead.execution.answers import Malformed, executor_result
from fairlead.jobs.model import JobStatus, QuestionKind
from fairlead.plans.model import Task
from tests.support.execution import (
    ExecutionTrial,
    FakeAgent,
    PlanText,
    SteppingClock,
    a_plan,
    a_project,
    succeeds,
)
from tests.support.repositories import written

SUMMARY = ".planning/phases/01-work/01-01-SUMMARY.md"
ASKING = {"status": "blocked", "question": "Which database?", "options": ["postgres", "sqlite"]}
IN_PROSE = "I looked at the plan.\n\nShould I use postgres or sqlite?"


def a_trial(tmp_path: Path, act) -> ExecutionTrial:
    project = a_project(tmp_path / "p", a_plan("01-01", "a.txt"))
    return ExecutionTrial(project, FakeAgent(act), SteppingClock(60))


@pytest.mark.parametrize("reply", [ASKING, IN_PROSE], ids=["in its block", "in prose"])
def test_a_question_reaches_the_person_and_its_answer_the_executor(tmp_path: Path, reply) -> None:
    def asks(order: AgentCall, call: int) -> Mapping[str, object] | CallResult:
        if order.is_read_only or call > 1:
            return succeeds(order, call)
        return CallResult(EndKind.OK, reply) if isinstance(reply, str) else reply

    trial = a_trial(tmp_path, asks)
    report = trial.run()
    assert report.job.status is JobStatus.BLOCKED
    (question,) = report.questions
    assert question.kind is QuestionKind.ASKED
    assert question.text.endswith(("Which database?", "Should I use postgres or sqlite?"))
    trial.answer("sqlite")
    assert trial.run().job.status is JobStatus.DONE
    second = [order for order in trial.agent.orders if not order.is_read_only][1]
    assert "The answer is: sqlite" in second.prompt
    (gate,) = trial.execution._environment.folder(report.job.id).load_gates()
    assert (gate.gate.attempt, gate.gate.failures) == (1, ())  # a question uses no attempt
    assert "sqlite" in (trial.project / SUMMARY).read_text()


def test_a_fact_that_an_agent_tells_reaches_the_executor_and_is_marked(tmp_path: Path) -> None:
    def asks(order: AgentCall, call: int) -> Mapping[str, object] | CallResult:
        is_first = not order.is_read_only and call == 1
        return CallResult(EndKind.OK, IN_PROSE) if is_first else succeeds(order, call)

    trial = a_trial(tmp_path, asks)
    job = trial.run().job.id
    trial.jobs.answer(job, "sqlite", "", by="agent")
    assert trial.run().job.status is JobStatus.DONE
    assert "sqlite (an agent's answer)" in (trial.project / SUMMARY).read_text()


def test_only_an_answer_of_its_own_or_among_the_options_is_accepted(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, lambda order, call: succeeds(order, call) if call > 1 else ASKING)
    (question,) = trial.run().questions
    assert question.options == ("postgres", "sqlite", "other: your answer", "abort")
    trial.answer("other: the one of the host")
    assert trial.run().job.status is JobStatus.DONE


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("reply", "is_question"),
    [
        (IN_PROSE, True),
        ("**Which one?**", True),
        ("Is it done? It is done.", False),
        ("", False),
        ('What?\n\n```json\n{"nonce": "a-nonce-of-this-call-1"}\n```\nWhat?', False),
    ],
)
def test_only_a_reply_that_ends_with_a_question_and_has_no_answer_asks(
    reply: str, is_question: bool
) -> None:
    result = executor_result(reply, Task(1, "Task 1: A"), "a-nonce-of-this-call-1")
    assert isinstance(result, Malformed) is not is_question


def test_a_malformed_reply_is_shown_to_the_person(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, lambda _order, _call: CallResult(EndKind.OK, "I did everything."))
    (question,) = trial.run().questions
    assert "I did everything." in question.text


def test_the_summary_has_the_reports_of_the_landed_attempt_only(tmp_path: Path) -> None:
    def reports(order: AgentCall, call: int) -> Mapping[str, object]:
        done = succeeds(order, call)
        if order.is_read_only:
            verdict = "APPROVED" if call > 1 else "REJECTED"
            return {"verdict": verdict, "concerns": [f"reviewed {call}"], "feedback": "again"}
        words = {"decisions": "decided", "deviations": "deviated", "concerns": "worried"}
        return {**done, **{name: [f"{word} {call}"] for name, word in words.items()}}

    trial = a_trial(tmp_path, reports)
    assert trial.run().job.status is JobStatus.DONE
    text = (trial.project / SUMMARY).read_text()
    for word in ("decided", "deviated", "worried", "reviewed"):
        assert f"{word} 2" in text
        assert f"{word} 1" not in text
    assert "unknown field" not in text
    order = [text.index(f"## {part}") for part in ("Decisions", "Deviations", "Concerns")]
    assert order == sorted(order)
    assert text.index("worried 2") > order[2] > text.index("deviated 2")


def test_the_output_of_a_verify_command_leads_no_later_attempt_into_another_worktree(
    tmp_path: Path,
) -> None:
    def late(order: AgentCall, call: int) -> Mapping[str, object]:
        if not order.is_read_only and call > 1:
            written(Path(order.folder) / "b.txt", "x\n")
        return succeeds(order, call)

    verify = "echo at $PWD/b.txt in $PWD; test -f b.txt"
    project = a_project(tmp_path / "p", PlanText("01-01", [("a.txt", verify)], files=["b.txt"]))
    trial = ExecutionTrial(project, FakeAgent(late), SteppingClock(60))
    assert trial.run().job.status is JobStatus.DONE
    second = [order for order in trial.agent.orders if not order.is_read_only][1]
    assert "at b.txt in ." in second.prompt
    assert "/worktrees/" not in second.prompt
