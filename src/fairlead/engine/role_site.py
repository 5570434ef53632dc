"""The site of a workflow: everything that calls of roles are made with, and who answers questions.

A question has one of three ends: it was answered before, a policy or a person answers it now, or
the workflow waits. Nothing else is remembered: going on is beginning again over the same files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Protocol

from fairlead.engine.decide import ABORT, question_id
from fairlead.engine.fanout import Signal, Turn
from fairlead.engine.ports import Agent, Clock
from fairlead.engine.purse import Purse
from fairlead.engine.site import Happening
from fairlead.model.agent_events import AgentEvent
from fairlead.model.budget import Caps
from fairlead.model.job import Job, Question, QuestionKind
from fairlead.model.roles import Role
from fairlead.records.state import moment
from fairlead.store.files import Files
from fairlead.store.jobs import JobFiles


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


@dataclass(frozen=True, slots=True)
class RoleSite:
    """Where a workflow works, and with whom."""

    job: Job
    files: Files
    jobs: JobFiles
    scratch: Scratch
    cast: Callable[[Role], Cast]
    clock: Clock
    purse: Purse
    caps: Caps
    private: str  # the person's own folder for this job: scratch folders and raw output
    new_nonce: Callable[[], str]
    report: Callable[[Happening], None] = lambda _: None
    watch: Callable[[str, AgentEvent], None] = lambda _key, _event: None
    person: Callable[[Question], str] = lambda _: ""  # empty: nobody is there
    is_auto: bool = False  # the documented policy answers
    slots: int = 4
    idle: timedelta = timedelta(minutes=5)  # how long a role may be silent
    turn: Turn = field(default_factory=Turn)
    is_over: Signal = field(default_factory=Signal)
    guarded: tuple[str, ...] = ()  # files that no agent may change

    def tell(self, kind: str, subject: str, text: str = "", **facts: object) -> None:
        """Write a line in the journal, and show it to whoever watches."""
        at = self.clock.now().isoformat()
        self.jobs.tell({"at": at, "kind": kind, "subject": subject, "text": text, **facts})
        self.report(Happening(kind, subject, text, facts))


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


def asked(site: RoleSite, wish: Wish) -> str:
    """The answer to a question, now or from before; without one the workflow waits."""
    with site.turn:  # roles work at once, people answer one thing after another
        answer = _answered(site, wish)
    if answer == ABORT:
        raise Ended(wish.text)
    return answer


def _answered(site: RoleSite, wish: Wish) -> str:
    question = Question(
        question_id(wish.kind, wish.subject), wish.kind, wish.subject, wish.text, wish.options
    )
    held = next((each for each in site.jobs.load_questions() if each.id == question.id), question)
    if held.answer:
        return held.answer
    answer = wish.policy if site.is_auto and wish.policy else site.person(question)
    now = moment(site.clock.now())
    held = replace(held, text=wish.text, options=wish.options, asked_at=held.asked_at or now)
    if answer:
        held = replace(held, answer=answer, answered_at=now)
    site.jobs.save_question(held)
    who = "policy" if site.is_auto and wish.policy else "person"
    site.tell("answered" if answer else "question", wish.subject, answer or wish.text, by=who)
    if not answer:
        raise Waits(held)
    return answer
