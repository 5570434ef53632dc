"""Roles played by a test: an agent in the test's own process that answers by the name of its role."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from fairlead.agents.ask import Respondent
from fairlead.agents.budget import Caps
from fairlead.agents.model import AgentCall, AgentEvent, CallResult, EndKind, TokenUsage
from fairlead.core.concurrency import OneTimeEvent
from fairlead.jobs.context import Cancellation, JobSetup, RunOptions, TimeLimits
from fairlead.jobs.model import Question
from fairlead.jobs.roster import Roster
from fairlead.jobs.service import Jobs
from fairlead.store.files import Files
from fairlead.store.staging import USER_STAGING
from fairlead.workflows.service import Workflows
from tests.support.execution import SteppingClock, environment_of, jobs_of
from tests.support.repositories import written

_NONCE = re.compile(r'"nonce": "([^"]+)"')

Answer = CallResult | Mapping[str, object] | str
Play = Callable[[AgentCall, int], Answer]


@dataclass(slots=True)
class Player:
    """An agent that plays every role as a test tells it, and remembers every order."""

    plays: Mapping[str, Play]
    name: str = "player"
    orders: list[AgentCall] = field(default_factory=list)

    def start(
        self,
        order: AgentCall,
        watch: Callable[[AgentEvent], None],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> CallResult:
        """See the port."""
        self.orders.append(order)
        count = sum(each.role == order.role for each in self.orders)
        answer = self.plays[order.role](order, count)
        if isinstance(answer, CallResult):
            return answer
        text = answer if isinstance(answer, str) else block(order, answer)
        return CallResult(EndKind.OK, text, usage=TokenUsage(900, 0, 100), exit_code=0)

    def asked(self, role: str) -> list[AgentCall]:
        """Every order for a role."""
        return [each for each in self.orders if each.role == role]


def nonce_of(order: AgentCall) -> str:
    """The nonce of a call."""
    found = _NONCE.findall(order.prompt)
    assert found
    return str(found[-1])


def block(order: AgentCall, answer: Mapping[str, object]) -> str:
    """An answer in the block that the prompt asked for."""
    return f"Here.\n\n```json\n{json.dumps({'nonce': nonce_of(order), **answer})}\n```\n"


def writes(name: str, text: str) -> Play:
    """A role that writes one document and says that it is done."""

    def play(order: AgentCall, _: int) -> Answer:
        written(Path(order.folder) / "fairlead-output" / name, text)
        return {"status": "done", "reason": ""}

    return play


class EveryRole(dict[str, tuple[Respondent, ...]]):
    """The same respondents for any role."""

    def __init__(self, *respondents: Respondent) -> None:
        super().__init__()
        self._respondents = respondents

    def __missing__(self, role: str) -> tuple[Respondent, ...]:
        return self._respondents


@dataclass(slots=True)
class Stage:
    """A project, and everything that a workflow in it needs."""

    project: Path
    agent: Player
    clock: SteppingClock = field(default_factory=SteppingClock)
    caps: Caps = field(default_factory=Caps)
    is_auto: bool = True
    is_rehearsed: bool = False
    answers: dict[str, str] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    over: OneTimeEvent = field(default_factory=OneTimeEvent)
    names: int = 0

    @property
    def state(self) -> Files:
        """What the person's own folder remembers."""
        return Files(str(self.project.parent / "state"), staging=USER_STAGING)

    @property
    def jobs(self) -> Workflows:
        """The workflows of the project."""
        return Workflows(environment_of(self.project, self.state, self.clock, self.fresh))

    @property
    def person(self) -> Jobs:
        """The jobs of the project, as a person meets them."""
        return jobs_of(self.jobs.files, self.state, self.clock)

    @property
    def setup(self) -> JobSetup:
        """Who works: the one agent, in every role."""
        options = RunOptions(
            self.caps,
            limits=TimeLimits(idle=timedelta(minutes=5)),
            slots=4,
            is_auto=self.is_auto,
            is_rehearsed=self.is_rehearsed,
        )
        roster = Roster(EveryRole(Respondent(self.agent, "model", "")))
        ends = Cancellation(self.over, self.over)
        return JobSetup(roster, options, cancellation=ends, person=self._said)

    def _said(self, question: Question) -> str:
        self.questions.append(question)
        return self.answers.get(question.id, "")

    def fresh(self) -> str:
        """A name nobody had before."""
        self.names += 1
        return f"{self.names:08d}-nonce-for-this-call"
