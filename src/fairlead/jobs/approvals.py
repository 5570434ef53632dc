"""Approvals: the plans whose commands may run, and the answers people gave, as digests.

Both are kept in the user's own state folder, outside the repository and readable only by the
user, so that neither a clone nor an agent can bring or forge one.
"""

import hashlib
import json
from collections.abc import Iterable

from fairlead.core.values import replace
from fairlead.jobs.model import JobRecord, Question
from fairlead.jobs.paths import answers_path, approvals_path
from fairlead.store.files import Files


def approved_plans(state: Files, project: str) -> frozenset[str]:
    """The digests of the plans that were approved for a project."""
    return _digests(state, approvals_path(project))


def approve_plans(state: Files, project: str, digests: tuple[str, ...]) -> None:
    """Record the approval of plans with these digests."""
    _remember(state, approvals_path(project), digests, "approve plans")


class Answers:
    """The answers that people gave to the jobs of one project.

    People answer while agents run, so the tamper check cannot tell who wrote an answer into a
    job's folder. This record can.
    """

    def __init__(self, state: Files, project: str) -> None:
        self._state = state
        self._path = answers_path(project)

    def remember(self, job: str, question: Question) -> None:
        """Record an answer; called before the answer is written to the job's folder."""
        _remember(self._state, self._path, (answer_digest(job, question),), f"answer {job}")

    def believed(self, job: JobRecord, questions: Iterable[Question]) -> tuple[Question, ...]:
        """The questions of a job, with only those answers that a person is recorded to have given.

        Older versions recorded no answers, so their questions are asked again.
        """
        asked = tuple(questions)
        if not (job.carries_out and any(question.answer for question in asked)):
            return asked
        recorded = _digests(self._state, self._path)
        return tuple(
            question
            if not question.answer or answer_digest(job.id, question) in recorded
            else replace(question, answer="", answered_at="")
            for question in asked
        )


def answer_digest(job: str, question: Question) -> str:
    """The digest of an answer: the job, the question as it was shown, and the answer itself."""
    asked = (question.id, question.kind, question.subject, question.text, question.options)
    shown = (question.details, question.about, question.asked_at)
    answered = (question.answer, question.answered_at, question.by)
    return hashlib.sha256(json.dumps((job, *asked, *shown, *answered)).encode()).hexdigest()


def _digests(state: Files, path: str) -> frozenset[str]:
    loaded = state.load_if_present(path)
    return frozenset(loaded.text.split()) if loaded else frozenset()


def _remember(state: Files, path: str, digests: tuple[str, ...], command: str) -> None:
    def edit(text: str) -> str:
        lines = dict.fromkeys((*text.split(), *digests))
        return "".join(f"{digest}\n" for digest in lines)

    state.update(path, edit, command=command, may_create=True)
