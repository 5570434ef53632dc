"""The site of a workflow: everything that calls of roles are made with, and who answers questions.

A question has one of three ends: it was answered before, a policy or a person answers it now, or
the workflow waits. Nothing else is remembered: going on is beginning again over the same files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Protocol

from fairlead.engine.asking import Voice
from fairlead.engine.decide import ABORT, question_id
from fairlead.engine.fanout import Signal, Turn
from fairlead.engine.ports import Agent, Clock
from fairlead.engine.purse import Purse
from fairlead.engine.site import Happening
from fairlead.model.agent_events import AgentEvent
from fairlead.model.budget import Caps, Spent
from fairlead.model.job import Job, Question, QuestionKind
from fairlead.model.roles import Role
from fairlead.records.state import moment
from fairlead.store.approvals import Answers
from fairlead.store.files import Files
from fairlead.store.jobs import JobFiles
from fairlead.values import dataclass, field, replace


class Scratch(Protocol):
    """Makes folders for roles to work in, which nobody keeps."""

    def make(self, place: str) -> None:
        """A clean copy of the project."""
        ...

    def remove(self, place: str) -> None:
        """It goes."""
        ...

    def guard(self) -> Mapping[str, str]:
        """What no agent has any business with, as digests."""
        ...


@dataclass(frozen=True, slots=True)
class Cast:
    """Who plays a role."""

    agent: Agent
    model: str = ""
    stand_ins: tuple[Voice, ...] = ()  # asked in their order while nobody gives anything

    @property
    def voices(self) -> tuple[Voice, ...]:
        """Everybody who may be asked."""
        return Voice(self.agent, self.model, ""), *self.stand_ins


@dataclass(frozen=True, slots=True)
class Company:
    """Who works, who looks on, who answers, and under which terms."""

    cast: Callable[[Role], Cast]
    caps: Caps
    reap: Callable[[str], int] = lambda _: 0
    report: Callable[[Happening], None] = lambda _: None
    watch: Callable[[str, AgentEvent], None] = lambda _key, _event: None
    person: Callable[[Question], str] = lambda _: ""  # empty: nobody is there
    over: Signal = field(default_factory=Signal)
    is_auto: bool = False  # the documented policy answers
    is_rehearsed: bool = False
    slots: int = 4
    idle: timedelta = timedelta(minutes=5)  # how long a role may be silent
    guarded: tuple[str, ...] = ()  # files that no agent may change
    keeps_documents: bool = True
    estimate: Spent = field(default_factory=Spent)


@dataclass(frozen=True, slots=True)
class RoleSite:
    """Where a workflow works, and with whom."""

    company: Company
    job: Job
    files: Files
    jobs: JobFiles
    scratch: Scratch
    clock: Clock
    purse: Purse
    answers: Answers  # the person's own record of them
    private: str  # the person's own folder for this job: scratch folders and raw output
    new_nonce: Callable[[], str]
    turn: Turn = field(default_factory=Turn)

    def tell(self, kind: str, subject: str, text: str = "", **facts: object) -> None:
        """Write a line in the journal, and show it to whoever watches."""
        at = self.clock.now().isoformat()
        self.jobs.tell({"at": at, "kind": kind, "subject": subject, "text": text, **facts})
        self.company.report(Happening(kind, subject, text, facts))

    def questions(self) -> tuple[Question, ...]:
        """Every question that was asked, with the answers that count."""
        return self.answers.believed(self.job, self.jobs.load_questions())

    def put_aside(self, before: Mapping[str, str], after: Mapping[str, str]) -> str:
        """Keep what is about to be replaced, and say where; empty: nothing is."""
        gone = {path: old for path, old in before.items() if old and old != after[path]}
        kept = [self.jobs.keep(path, old) for path, old in gone.items()]
        return f"; what was there before: {', '.join(kept)}" if kept else ""


class Waits(Exception):
    """A person has to answer first."""

    def __init__(self, question: Question) -> None:
        super().__init__(question.text)
        self.question = question


class Stopped(Exception):
    """A person wants everything to end now; the step is repeated when the job goes on."""


class Ended(Exception):  # no error: a person wants no more of it
    """A person ended the workflow."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked; `policy` is what `--auto` answers, and empty where only a person may."""

    subject: str
    text: str
    options: tuple[str, ...] = ()
    policy: str = ""
    kind: QuestionKind = QuestionKind.CHOICE
    about: str = ""  # what is decided, where the text does not hold all of it


def asked(site: RoleSite, wish: Wish) -> str:
    """The answer to a question, now or from before; without one the workflow waits."""
    return settled(site, wish).answer


def settled(site: RoleSite, wish: Wish) -> Question:
    """A question with its answer, and who gave it."""
    with site.turn:  # roles work at once, people answer one thing after another
        held = _answered(site, wish)
    if held.answer == ABORT:
        raise Ended(wish.text)
    return held


def digest_of(*texts: str) -> str:
    """What tells one thing that is decided about from another."""
    return hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()


def _answered(site: RoleSite, wish: Wish) -> Question:
    id_ = question_id(wish.kind, wish.subject)
    held = next((each for each in site.questions() if each.id == id_), None)
    # An answer holds for what was asked: about anything else it was never given.
    if held and held.answer and (held.text, held.about) == (wish.text, wish.about):
        return held
    now = moment(site.clock.now())
    asked_at = held.asked_at if held and not held.answer else now
    by = "policy" if site.company.is_auto and wish.policy else "person"
    question = Question(
        id_, wish.kind, wish.subject, wish.text, wish.options, asked_at, about=wish.about, by=by
    )
    answer = wish.policy if by == "policy" else site.company.person(question)
    question = replace(question, answer=answer, answered_at=now if answer else "")
    if answer:
        site.answers.remember(site.job.id, question)
    site.jobs.save_question(question)
    site.tell("answered" if answer else "question", wish.subject, answer or wish.text, by=by)
    if not answer:
        raise Waits(question)
    return question
