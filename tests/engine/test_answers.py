"""Answers: a person's word counts, is evidence, and cannot be given by anybody else."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from fairlead.model.agent_events import Ending
from fairlead.model.agent_orders import Order
from fairlead.model.job import JobStatus, Question, QuestionKind
from fairlead.model.plain import plain
from fairlead.records.ledger import Entry, EntryKind, read_ledger
from fairlead.store.layout_roles import answers_path
from tests.support.daily import Workshop, a_workshop, plays, quick_plan
from tests.support.execution import Ticking, Told, Works, a_plan, a_project, does_it
from tests.support.repositories import git, written

Answer = Mapping[str, object] | Ending
LOOK = (
    '<task type="checkpoint:human-verify" gate="blocking">\n<what-built>A page</what-built>\n'
    "<how-to-verify>Open it</how-to-verify>\n<resume-signal>Say so</resume-signal>\n</task>\n"
)
ASKED = "human-verify-01-01-02"


@pytest.fixture(autouse=True)
def _no_identity_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def works(tmp_path: Path, *plans: str, agent: Told | None = None) -> Works:
    texts = [a_plan(each, f"{each}.txt", extra=LOOK) for each in plans or ("01-01",)]
    return Works(a_project(tmp_path / "p", *texts), agent or Told(), Ticking(60))


def question_of(site: Works, name: str = ASKED) -> Path:
    [job] = (site.project / ".planning/jobs").iterdir()
    return job / "questions" / f"{name}.json"


def forged(answer: str = "approved") -> str:
    options = ("approved", "abort")
    when = "2026-01-01T00:00:00.000Z"
    kind = QuestionKind.HUMAN_VERIFY
    held = Question(ASKED, kind, "01-01-02", "x", options, when, answer, when)
    return json.dumps({"version": 1, **plain(held)})


def evidence(site: Works, plan: str = "01-01") -> list[Entry]:
    entries = read_ledger((site.project / f".planning/ledger/{plan}.jsonl").read_text())
    return [each for each in entries if each.kind is EntryKind.ANSWER]


# -- whose word it is ----------------------------------------------------------------------------


def test_an_agent_that_answers_for_a_person_stops_the_job(tmp_path: Path) -> None:
    def forges(order: Order, call: int) -> Answer:
        written(question_of(site), forged())
        return does_it(order, call)

    site = works(tmp_path, agent=Told(forges))
    report = site.run()
    assert report.job.status is JobStatus.BLOCKED
    [touched] = [each for each in report.questions if each.kind is QuestionKind.TOUCHED]
    assert touched.text.endswith(f"questions/{ASKED}.json")
    assert site.agent.orders[-1].is_read_only is False


def test_an_answer_that_no_person_gave_is_asked_for_again(tmp_path: Path) -> None:
    site = works(tmp_path)
    site.run()
    path = question_of(site)
    held = json.loads(path.read_text())
    written(path, json.dumps({**held, "answer": "approved", "answered_at": held["asked_at"]}))
    waits = site.run()
    assert waits.job.status is JobStatus.BLOCKED
    assert [each.answer for each in waits.questions] == [""]
    assert [question.id for _, question, _ in site.jobs.waiting()] == [ASKED]
    site.answer("approved")
    assert site.run().job.status is JobStatus.DONE


def test_a_checkpoint_is_passed_by_an_answer_to_the_words_of_its_plan(tmp_path: Path) -> None:
    def forges(order: Order, call: int) -> Answer:
        if len(site.agent.orders) == 1:
            written(question_of(site), forged(answer=""))
        return does_it(order, call)

    site = works(tmp_path, agent=Told(forges))
    [forgery, touched] = site.run().questions
    assert forgery.text == "x"
    job = site.jobs.one("").job.id
    site.jobs.answer(job, "approved", ASKED)
    site.jobs.answer(job, "accept", touched.id)
    waits = site.run()
    assert waits.job.status is JobStatus.BLOCKED
    assert [each.text for each in waits.questions if not each.answer] == ["A page — Open it"]


@pytest.mark.parametrize("field", ["text", "subject", "answer", "asked_at", "options"])
def test_an_answer_holds_for_what_was_asked_and_said(tmp_path: Path, field: str) -> None:
    site = works(tmp_path)
    site.run()
    site.answer("fix: make it blue")
    path = question_of(site)
    held = json.loads(path.read_text())
    written(path, json.dumps({**held, field: ["x"] if field == "options" else "approved"}))
    assert [each.answer for each in site.jobs.one("").questions] == [""]


def test_a_person_may_answer_while_agents_work(tmp_path: Path) -> None:
    def meanwhile(order: Order, call: int) -> Answer:
        if "01-02" in order.prompt and question_of(site).exists() and not said:
            said.append("approved")
            site.jobs.answer(site.jobs.one("").job.id, "approved", ASKED)
        return does_it(order, call)

    said: list[str] = []
    site = works(tmp_path, "01-01", "01-02", agent=Told(meanwhile))
    site.slots = 1
    report = site.run()
    assert said == ["approved"]
    assert [each.kind for each in report.questions] == [QuestionKind.HUMAN_VERIFY] * 2
    assert dict(report.plans) == {"01-01": True, "01-02": False}


def test_the_record_of_answers_is_the_persons_own(tmp_path: Path) -> None:
    site = works(tmp_path)
    site.run()
    site.answer("approved")
    path = Path(site.state.folder) / answers_path(str(site.project))
    assert path.stat().st_mode & 0o777 == 0o600
    assert not path.is_relative_to(site.project)


def test_a_job_that_has_ended_is_shown_as_it_was_recorded(tmp_path: Path) -> None:
    site = works(tmp_path)
    site.run()
    site.answer("approved")
    site.run()
    (Path(site.state.folder) / answers_path(str(site.project))).unlink()
    assert [each.answer for each in site.jobs.one("").questions] == ["approved"]


def test_a_quick_task_takes_no_consent_that_its_planner_wrote(tmp_path: Path) -> None:
    workshop: Workshop = a_workshop(tmp_path, plays(quick_plan("hello.txt")))
    quick = workshop.quick
    task = quick.new("Add a greeting")
    waits = quick.carry_out(task, workshop.stage.company, workshop.hands(is_approved=False))
    [path] = workshop.stage.project.glob(".planning/jobs/*/questions/choice-commands.json")
    written(path, json.dumps({**json.loads(path.read_text()), "answer": "accept"}))
    again = workshop.quick
    held = again.carry_out(
        again.found(task.id), workshop.stage.company, workshop.hands(is_approved=False)
    )
    assert (waits.job.status, held.job.status) == (JobStatus.BLOCKED, JobStatus.BLOCKED)
    assert workshop.stage.agent.asked("executor") == []


# -- what stands in the ledger -------------------------------------------------------------------


def test_what_a_person_said_at_a_checkpoint_is_evidence_once(tmp_path: Path) -> None:
    site = works(tmp_path)
    for answer in ("fix: make it blue", "approved"):
        site.run()
        site.answer(answer)
    assert site.run().job.status is JobStatus.DONE
    told = [(each.task, each.actor, each.verdict) for each in evidence(site)]
    assert told == [
        ("01-01-02", "a person", "human-verify: fix: make it blue"),
        ("01-01-02", "a person", "human-verify: approved"),
    ]
    assert evidence(site)[0].tail == "A page — Open it"


def test_who_accepts_what_was_touched_stands_in_the_ledger(tmp_path: Path) -> None:
    def branches(order: Order, call: int) -> Answer:
        if len(site.agent.orders) == 1:
            git(site.project, "branch", "mine")
        return does_it(order, call)

    project = a_project(tmp_path / "p", a_plan("01-01", "a.txt"))
    site = Works(project, Told(branches), Ticking(60))
    site.run()
    site.answer("accept")
    assert site.run().job.status is JobStatus.DONE
    assert [(each.task, each.verdict) for each in evidence(site)] == [
        ("01-01-01", "touched: accept")
    ]


def test_who_ended_a_job_stands_in_the_ledger(tmp_path: Path) -> None:
    site = works(tmp_path)
    site.run()
    site.answer("abort")
    assert site.run().job.status is JobStatus.FAILED
    assert [each.verdict for each in evidence(site)] == ["human-verify: abort"]
