"""Approvals: what a person has agreed to, by digests: plans whose commands may run, and answers.

They are the person's own: outside the repository, readable by nobody else, so that neither a clone
nor an agent can bring or make one.
"""

import hashlib
import json
from collections.abc import Iterable

from fairlead.model.job import Job, Question
from fairlead.store import layout
from fairlead.store.files import Files
from fairlead.store.layout_roles import answers_path
from fairlead.values import replace


def approved_plans(state: Files, project: str) -> frozenset[str]:
    """The digests that were approved for a project."""
    return _digests(state, layout.approvals_path(project))


def approve_plans(state: Files, project: str, digests: tuple[str, ...]) -> None:
    """Remember that these plans, as they stand, were approved."""
    _remember(state, layout.approvals_path(project), digests, "approve plans")


class Answers:
    """What people answered to the jobs of one project.

    People answer while agents work, so a guard cannot know whose an answer is; this record can.
    """

    def __init__(self, state: Files, project: str) -> None:
        self._state = state
        self._path = answers_path(project)

    def remember(self, job: str, question: Question) -> None:
        """A question was answered so; to be called before the job's own file says it."""
        _remember(self._state, self._path, (answer_digest(job, question),), f"answer {job}")

    def believed(self, job: Job, questions: Iterable[Question]) -> tuple[Question, ...]:
        """The questions of a job, without the answers that nobody gave.

        An answer of an older version is not in the record either: it is asked for again.
        """
        held = tuple(questions)
        if not (job.carries_out and any(each.answer for each in held)):
            return held
        known = _digests(self._state, self._path)
        return tuple(
            each
            if not each.answer or answer_digest(job.id, each) in known
            else replace(each, answer="", answered_at="")
            for each in held
        )


def answer_digest(job: str, question: Question) -> str:
    """What an answer is known by: who was asked what, when, and what was said."""
    asked = (question.id, question.kind, question.subject, question.text, question.options)
    shown = (question.details, question.about, question.asked_at)
    said = (question.answer, question.answered_at, question.by)
    return hashlib.sha256(json.dumps((job, *asked, *shown, *said)).encode()).hexdigest()


def _digests(state: Files, path: str) -> frozenset[str]:
    loaded = state.load_if_present(path)
    return frozenset(loaded.text.split()) if loaded else frozenset()


def _remember(state: Files, path: str, digests: tuple[str, ...], command: str) -> None:
    def edit(text: str) -> str:
        known = text.split()
        return "".join(
            f"{each}\n" for each in (*known, *(new for new in digests if new not in known))
        )

    state.update(path, edit, command=command, may_create=True)
