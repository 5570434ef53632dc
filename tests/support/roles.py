"""Roles played by a test: an agent in the test's own process that answers by the name of its role."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fairlead.adapters.scratch import Scratch
from fairlead.engine.fanout import Signal
from fairlead.engine.jobs import Jobs
from fairlead.engine.role_jobs import RoleJobs
from fairlead.engine.role_site import Cast, Company
from fairlead.model.agent_events import AgentEvent, Ending, EndKind, Usage
from fairlead.model.agent_orders import Order
from fairlead.model.budget import Caps
from fairlead.model.job import Question
from fairlead.store import layout
from fairlead.store.files import Files
from fairlead.wiring import workspace_of
from tests.support.execution import Ticking
from tests.support.repositories import written

_NONCE = re.compile(r'"nonce": "([^"]+)"')

Answer = Ending | Mapping[str, object] | str
Play = Callable[[Order, int], Answer]


@dataclass(slots=True)
class Player:
    """An agent that plays every role as a test tells it, and remembers every order."""

    plays: Mapping[str, Play]
    name: str = "player"
    orders: list[Order] = field(default_factory=list)

    def start(
        self,
        order: Order,
        watch: Callable[[AgentEvent], None],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Ending:
        """See the port."""
        self.orders.append(order)
        count = sum(each.role == order.role for each in self.orders)
        answer = self.plays[order.role](order, count)
        if isinstance(answer, Ending):
            return answer
        text = answer if isinstance(answer, str) else block(order, answer)
        return Ending(EndKind.OK, text, usage=Usage(900, 0, 100), exit_code=0)

    def asked(self, role: str) -> list[Order]:
        """Every order for a role."""
        return [each for each in self.orders if each.role == role]


def nonce_of(order: Order) -> str:
    """The nonce of a call."""
    found = _NONCE.findall(order.prompt)
    assert found
    return str(found[-1])


def block(order: Order, answer: Mapping[str, object]) -> str:
    """An answer in the block that the prompt asked for."""
    return f"Here.\n\n```json\n{json.dumps({'nonce': nonce_of(order), **answer})}\n```\n"


def writes(name: str, text: str) -> Play:
    """A role that writes one document and says that it is done."""

    def play(order: Order, _: int) -> Answer:
        written(Path(order.folder) / "fairlead-output" / name, text)
        return {"status": "done", "reason": ""}

    return play


@dataclass(slots=True)
class Stage:
    """A project, and everything that a workflow in it needs."""

    project: Path
    agent: Player
    clock: Ticking = field(default_factory=Ticking)
    caps: Caps = field(default_factory=Caps)
    is_auto: bool = True
    is_rehearsed: bool = False
    answers: dict[str, str] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    over: Signal = field(default_factory=Signal)
    names: int = 0

    @property
    def jobs(self) -> RoleJobs:
        """The workflows of the project."""
        workspace = workspace_of(str(self.project))
        state = Files(str(self.project.parent / "state"), desk=layout.USER_DESK)
        files = Files(str(self.project))
        return RoleJobs(files, state, self.clock, workspace, Scratch(workspace), self.fresh)

    @property
    def person(self) -> Jobs:
        """The jobs of the project, as a person meets them."""
        return Jobs(self.jobs.files, self.jobs.state, self.clock, lambda: None)

    @property
    def company(self) -> Company:
        """Who works."""
        return Company(
            cast=lambda _: Cast(self.agent, "model"),
            caps=self.caps,
            person=self._said,
            over=self.over,
            is_auto=self.is_auto,
            is_rehearsed=self.is_rehearsed,
        )

    def _said(self, question: Question) -> str:
        self.questions.append(question)
        return self.answers.get(question.id, "")

    def fresh(self) -> str:
        """A name nobody had before."""
        self.names += 1
        return f"{self.names:08d}-nonce-for-this-call"
