"""Answers to the questions of jobs: one of the options, or free text where an option allows it."""

import shlex
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fairlead.jobs.errors import NoQuestion
from fairlead.jobs.folder import JobFolder
from fairlead.jobs.model import Job, JobStatus, Question, QuestionKind
from fairlead.jobs.service import Jobs
from fairlead.store.files import Files
from fairlead.store.staging import USER_STAGING
from tests.support.execution import jobs_of


class Clock:
    def now(self) -> datetime:
        return datetime(2026, 6, 1, tzinfo=UTC)


def jobs(folder: Path, *options: str) -> Jobs:
    files = JobFolder(str(folder), "new-1")
    files.save_record(Job("new-1", "", JobStatus.BLOCKED, "2026-06-01T00:00:00Z", "", kind="new"))
    files.save_question(Question("choice-a", QuestionKind.CHOICE, "a", "Which?", options))
    state = Files(str(folder / "state"), staging=USER_STAGING)
    return jobs_of(Files(str(folder)), state, Clock())


@pytest.mark.parametrize(
    ("option", "answer"),
    [
        ("change: what to change", "change: add a login"),
        ("other: your words", "other: none at all"),
        ("fix: what to do", "fix: use one file"),
        ("REST: plain JSON", "REST: plain JSON"),
        ("a <Suspense> boundary", "a <Suspense> boundary"),
    ],
)
def test_an_answer_is_stored_as_given(tmp_path: Path, option: str, answer: str):
    assert jobs(tmp_path, "agree", option).answer("new-1", answer, "").answer == answer


@pytest.mark.parametrize("answer", ["change:", "other: x", "REST", "disagree"])
def test_an_answer_that_was_not_offered_is_refused(tmp_path: Path, answer: str):
    with pytest.raises(NoQuestion):
        jobs(tmp_path, "agree", "change: what to change", "REST: plain JSON").answer(
            "new-1", answer, ""
        )


@pytest.mark.parametrize("option", ['x"; touch stolen; "', "$(touch stolen)", "`id`", "it's"])
def test_the_command_of_a_question_contains_one_quoted_option(option: str):
    asked = Question("choice-a", QuestionKind.CHOICE, "a", "Which?", (option,))

    assert shlex.split(asked.command("new-1")) == ["fairlead", "job", "answer", "new-1", option]
    assert "$(" not in asked.command("new-1").replace("'$(touch stolen)'", "")


def test_the_command_of_each_of_several_open_questions_answers_it(tmp_path: Path):
    service = jobs(tmp_path, "agree")
    files = JobFolder(str(tmp_path), "new-1")
    files.save_question(Question("choice-b", QuestionKind.CHOICE, "b", "Who?", ("agree",)))
    files.save_question(
        Question("choice-c", QuestionKind.CHOICE, "c", "Why?", ("so",), answer="so")
    )

    for at, (job, asked, command) in enumerate(service.waiting()):
        fairlead, *verb, named, option, question, answer = shlex.split(command)
        assert [fairlead, *verb, named, option] == "fairlead job answer new-1 --question".split()
        assert service.answer(job, answer, question).id == asked.id
        assert len(service.waiting()) == 1 - at
        if not at:  # the last one that is open needs no name
            assert service.waiting()[0][2] == 'fairlead job answer new-1 "agree"'
