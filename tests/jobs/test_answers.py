"""Answers: only those of a person count, and they are recorded as evidence."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from fairlead.agents.model import AgentCall, CallResult
from fairlead.core.serialization import plain
from fairlead.jobs.errors import NoQuestion
from fairlead.jobs.ledger import EntryKind, LedgerEntry, read_ledger
from fairlead.jobs.model import JobStatus, Question, QuestionKind
from fairlead.jobs.paths import answers_path
from tests.support.daily import QuickProject, a_quick_project, plays, quick_plan
from tests.support.execution import (
    ExecutionTrial,
    FakeAgent,
    SteppingClock,
    a_plan,
    a_project,
    succeeds,
)
from tests.support.repositories import git, written

Answer = Mapping[str, object] | CallResult
LOOK = (
    '<task type="checkpoint:human-verify" gate="blocking">\n<what-built>A page</what-built>\n'
    "<how-to-verify>Open it</how-to-verify>\n<resume-signal>Say so</resume-signal>\n</task>\n"
)
ASKED = "human-verify-01-01-02"


@pytest.fixture(autouse=True)
def _no_identity_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def a_trial(tmp_path: Path, *plans: str, agent: FakeAgent | None = None) -> ExecutionTrial:
    texts = [a_plan(each, f"{each}.txt", extra=LOOK) for each in plans or ("01-01",)]
    return ExecutionTrial(
        a_project(tmp_path / "p", *texts), agent or FakeAgent(), SteppingClock(60)
    )


def question_of(trial: ExecutionTrial, name: str = ASKED) -> Path:
    [job] = (trial.project / ".planning/jobs").iterdir()
    return job / "questions" / f"{name}.json"


def forged(answer: str = "approved") -> str:
    options = ("approved", "abort")
    when = "2026-01-01T00:00:00.000Z"
    kind = QuestionKind.HUMAN_VERIFY
    question = Question(ASKED, kind, "01-01-02", "x", options, when, answer, when)
    return json.dumps({"version": 1, **plain(question)})


def evidence(trial: ExecutionTrial, plan: str = "01-01") -> list[LedgerEntry]:
    entries = read_ledger((trial.project / f".planning/ledger/{plan}.jsonl").read_text())
    return [each for each in entries if each.kind is EntryKind.ANSWER]


# -- whose word it is ----------------------------------------------------------------------------


def test_an_agent_that_answers_for_a_person_stops_the_job(tmp_path: Path) -> None:
    def forges(order: AgentCall, call: int) -> Answer:
        written(question_of(trial), forged())
        return succeeds(order, call)

    trial = a_trial(tmp_path, agent=FakeAgent(forges))
    report = trial.run()
    assert report.job.status is JobStatus.BLOCKED
    [touched] = [each for each in report.questions if each.kind is QuestionKind.TOUCHED]
    assert touched.text.endswith(f"questions/{ASKED}.json")
    assert trial.agent.orders[-1].is_read_only is False


def test_a_question_with_a_forged_answer_is_asked_again(tmp_path: Path) -> None:
    trial = a_trial(tmp_path)
    trial.run()
    path = question_of(trial)
    stored = json.loads(path.read_text())
    written(path, json.dumps({**stored, "answer": "approved", "answered_at": stored["asked_at"]}))
    waits = trial.run()
    assert waits.job.status is JobStatus.BLOCKED
    assert [each.answer for each in waits.questions] == [""]
    assert [question.id for _, question, _ in trial.jobs.waiting()] == [ASKED]
    trial.answer("approved")
    assert trial.run().job.status is JobStatus.DONE


def test_a_checkpoint_accepts_only_answers_to_the_question_of_its_plan(tmp_path: Path) -> None:
    def forges(order: AgentCall, call: int) -> Answer:
        if len(trial.agent.orders) == 1:
            written(question_of(trial), forged(answer=""))
        return succeeds(order, call)

    trial = a_trial(tmp_path, agent=FakeAgent(forges))
    [touched] = trial.run().questions  # the forgery was put aside
    job = trial.jobs.report("").job.id
    trial.jobs.answer(job, "accept", touched.id)  # and is put back
    assert [each.text for each in trial.jobs.report("").questions if not each.answer] == ["x"]
    trial.jobs.answer(job, "approved", ASKED)
    waits = trial.run()
    assert waits.job.status is JobStatus.BLOCKED
    assert [each.text for each in waits.questions if not each.answer] == ["A page — Open it"]


@pytest.mark.parametrize("field", ["text", "subject", "answer", "asked_at", "options"])
def test_an_answer_digest_covers_the_question_and_the_answer(tmp_path: Path, field: str) -> None:
    trial = a_trial(tmp_path)
    trial.run()
    trial.answer("fix: make it blue")
    path = question_of(trial)
    stored = json.loads(path.read_text())
    written(path, json.dumps({**stored, field: ["x"] if field == "options" else "approved"}))
    assert [each.answer for each in trial.jobs.report("").questions] == [""]


def test_a_person_may_answer_while_agents_work(tmp_path: Path) -> None:
    def meanwhile(order: AgentCall, call: int) -> Answer:
        if "01-02" in order.prompt and question_of(trial).exists() and not said:
            said.append("approved")
            trial.jobs.answer(trial.jobs.report("").job.id, "approved", ASKED)
        return succeeds(order, call)

    said: list[str] = []
    trial = a_trial(tmp_path, "01-01", "01-02", agent=FakeAgent(meanwhile))
    trial.slots = 1
    report = trial.run()
    assert said == ["approved"]
    assert [each.kind for each in report.questions] == [QuestionKind.HUMAN_VERIFY] * 2
    assert dict(report.plans) == {"01-01": True, "01-02": False}


def test_the_record_of_answers_is_private_to_the_user(tmp_path: Path) -> None:
    trial = a_trial(tmp_path)
    trial.run()
    trial.answer("approved")
    path = Path(trial.state.folder) / answers_path(str(trial.project))
    assert path.stat().st_mode & 0o777 == 0o600
    assert not path.is_relative_to(trial.project)


def test_an_ended_job_is_shown_as_recorded(tmp_path: Path) -> None:
    trial = a_trial(tmp_path)
    trial.run()
    trial.answer("approved")
    trial.run()
    (Path(trial.state.folder) / answers_path(str(trial.project))).unlink()
    assert [each.answer for each in trial.jobs.report("").questions] == ["approved"]


def test_a_quick_task_ignores_consent_written_by_its_planner(tmp_path: Path) -> None:
    workshop: QuickProject = a_quick_project(tmp_path, plays(quick_plan("hello.txt")))
    quick = workshop.quick
    task = quick.new("Add a greeting")
    waits = quick.carry_out(task, workshop.stage.setup, workshop.execution(is_approved=False))
    [path] = workshop.stage.project.glob(".planning/jobs/*/questions/choice-commands.json")
    written(path, json.dumps({**json.loads(path.read_text()), "answer": "accept"}))
    again = workshop.quick
    again_report = again.carry_out(
        again.find(task.id), workshop.stage.setup, workshop.execution(is_approved=False)
    )
    assert (waits.job.status, again_report.job.status) == (JobStatus.BLOCKED, JobStatus.BLOCKED)
    assert workshop.stage.agent.asked("executor") == []


# -- what stands in the ledger -------------------------------------------------------------------


def test_an_answer_at_a_checkpoint_is_recorded_once(tmp_path: Path) -> None:
    trial = a_trial(tmp_path)
    for answer in ("fix: make it blue", "approved"):
        trial.run()
        trial.answer(answer)
    assert trial.run().job.status is JobStatus.DONE
    entries = [(each.task, each.actor, each.verdict) for each in evidence(trial)]
    assert entries == [
        ("01-01-02", "a person", "human-verify: fix: make it blue"),
        ("01-01-02", "a person", "human-verify: approved"),
    ]
    assert evidence(trial)[0].tail == "A page — Open it"


def test_accepting_tampering_is_recorded_in_the_ledger(tmp_path: Path) -> None:
    def branches(order: AgentCall, call: int) -> Answer:
        if len(trial.agent.orders) == 1:
            git(trial.project, "branch", "mine")
        return succeeds(order, call)

    project = a_project(tmp_path / "p", a_plan("01-01", "a.txt"))
    trial = ExecutionTrial(project, FakeAgent(branches), SteppingClock(60))
    trial.run()
    trial.answer("accept")
    assert trial.run().job.status is JobStatus.DONE
    assert [(each.task, each.verdict) for each in evidence(trial)] == [
        ("01-01-01", "touched: accept")
    ]


def test_ending_a_job_is_recorded_in_the_ledger(tmp_path: Path) -> None:
    trial = a_trial(tmp_path)
    trial.run()
    trial.answer("abort")
    assert trial.run().job.status is JobStatus.FAILED
    assert [each.verdict for each in evidence(trial)] == ["human-verify: abort"]


def test_abort_needs_no_question_where_several_wait(tmp_path: Path) -> None:
    def asks(order: AgentCall, call: int) -> Answer:
        return {"status": "blocked", "question": "Which colour?", "options": ["red", "blue"]}

    project = a_project(tmp_path / "p", a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt"))
    trial = ExecutionTrial(project, FakeAgent(asks), SteppingClock(60))
    assert len(trial.run().questions) == 2
    with pytest.raises(NoQuestion):
        trial.answer("red")
    trial.answer("abort")
    assert trial.run().job.status is JobStatus.FAILED
