"""Questions of a workflow to a person: answered earlier, answered now, or waited for.

A workflow runs from its beginning every time, so a question that has an answer is not asked
again. An answer is valid only for the same text and subject matter.
"""

from __future__ import annotations

import hashlib

from fairlead.core.values import dataclass, replace
from fairlead.execution.decide import ABORT, question_id
from fairlead.jobs.context import JobContext
from fairlead.jobs.model import Job, Question, QuestionKind

WorkflowContext = JobContext[Job]


class WaitsForAnswer(Exception):
    """A person has to answer a question first."""

    def __init__(self, question: Question) -> None:
        super().__init__(question.text)
        self.question = question


class RunStopped(Exception):
    """A person stopped the run; the step is repeated when the job is resumed."""


class EndedByPerson(Exception):  # not an error: a person chose to abort
    """A person ended the workflow."""


@dataclass(frozen=True, slots=True)
class PendingQuestion:
    """A question to a person."""

    subject: str
    text: str
    options: tuple[str, ...] = ()
    policy: str = ""  # the answer of `--auto`; empty if only a person may answer
    kind: QuestionKind = QuestionKind.CHOICE
    about: str = ""  # digest of what is decided, if the text does not contain all of it


def answer_to(context: WorkflowContext, pending: PendingQuestion) -> str:
    """The answer to a question; without one, the workflow waits."""
    return answered_question(context, pending).answer


def answered_question(context: WorkflowContext, pending: PendingQuestion) -> Question:
    """A question with its answer and its author; without an answer, the workflow waits."""
    with context.turn:  # roles run in parallel, but a person answers one question at a time
        question = _answered(context, pending)
    if question.answer == ABORT:
        raise EndedByPerson(pending.text)
    return question


def digest_of(*texts: str) -> str:
    """A digest of what a question or a call is about."""
    return hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()


def _answered(context: WorkflowContext, pending: PendingQuestion) -> Question:
    id_ = question_id(pending.kind, pending.subject)
    stored = next((question for question in context.questions() if question.id == id_), None)
    if stored and stored.answer and (stored.text, stored.about) == (pending.text, pending.about):
        return stored
    now = context.now()
    by = "policy" if context.options.is_auto and pending.policy else "person"
    question = Question(
        id_,
        pending.kind,
        pending.subject,
        pending.text,
        pending.options,
        stored.asked_at if stored and not stored.answer else now,
        about=pending.about,
        by=by,
    )
    answer = pending.policy if by == "policy" else context.person(question)
    question = replace(question, answer=answer, answered_at=now if answer else "")
    if answer:
        context.answers.remember(context.job.id, question)
    context.folder.save_question(question)
    event = "answered" if answer else "question"
    context.tell(event, pending.subject, answer or pending.text, by=by)
    if not answer:
        raise WaitsForAnswer(question)
    return question
