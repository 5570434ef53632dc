"""A council at one table, in the test's own process: every voice says what a test tells it to."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fairlead.adapters.commands import Shell, unknown_program
from fairlead.adapters.scripted_council import answer
from fairlead.engine.asking import Voice
from fairlead.engine.council import Council
from fairlead.engine.council_site import (
    PM,
    SYNTHESISER,
    CouncilTerms,
    CouncilWatcher,
    Hands,
    Meeting,
    Table,
)
from fairlead.engine.execution import Crew, Execution, Terms
from fairlead.engine.fanout import Signal
from fairlead.engine.site import GateLimits, Happening
from fairlead.model.agent_events import AgentEvent, Ending, EndKind, Usage
from fairlead.model.agent_orders import Order
from fairlead.model.budget import Caps
from fairlead.model.council_job import CouncilJob
from fairlead.model.seats import NAMES
from fairlead.store import layout
from fairlead.store.files import Files
from fairlead.wiring import workspace_of
from tests.support.execution import Ticking, Told
from tests.support.execution import a_project as a_project_with_plans

GOAL = "Lamps follow the tide"
Says = Callable[[str], str | Ending]  # from a prompt to an answer, or to how the call ended
_ROLE = re.compile(r"You hold the (\w+) seat|(synthesiser) of a council|(project manager)")


def dead(_: str) -> Ending:
    """A service that does not answer."""
    return Ending(EndKind.OVERLOADED, error="529")


def slow(_: str) -> Ending:
    """A service that takes too long."""
    return Ending(EndKind.TIMEOUT, error="180 s are over")


def refusing(_: str) -> Ending:
    """A key that is not valid."""
    return Ending(EndKind.AUTH, error="401")


def garbled(_: str) -> str:
    """An answer that is none."""
    return "I think that this is fine. VERDICT: probably APPROVE?"


FAULTS: Mapping[str, Says] = {"dead": dead, "slow": slow, "refusing": refusing, "garbled": garbled}


@dataclass(slots=True)
class Speaker:
    """An agent that says what it is told, and remembers who was asked what."""

    says: Mapping[str, Says] = field(default_factory=dict)  # by seat, pm or synthesiser
    name: str = "speaker"
    asked: list[tuple[str, str]] = field(default_factory=list)  # who, and the prompt

    def start(
        self,
        order: Order,
        watch: Callable[[AgentEvent], None],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Ending:
        """See the port."""
        who = who_of(order.prompt)
        self.asked.append((who, order.prompt))
        said = self.says.get(who, answer)(order.prompt)
        if isinstance(said, Ending):
            return said
        usage = Usage(len(order.prompt) // 4, 0, len(said) // 4)
        return Ending(EndKind.OK, said, usage=usage, cost_usd=0.01, exit_code=0, model=order.model)


def who_of(prompt: str) -> str:
    """Who a prompt speaks to."""
    found = _ROLE.search(prompt)
    assert found, prompt[:80]
    return found[1] or (SYNTHESISER if found[2] else PM)


@dataclass(slots=True)
class Meetings:
    """A project with a council, and everything that a job of it needs."""

    project: Path
    speaker: Speaker = field(default_factory=Speaker)
    stand_in: Speaker | None = None
    terms: CouncilTerms = field(default_factory=CouncilTerms)
    clock: Ticking = field(default_factory=Ticking)
    hands: Told = field(default_factory=Told)
    happened: list[Happening] = field(default_factory=list)
    names: int = 0

    @property
    def council(self) -> Council:
        """The council over the project."""
        files, state = Files(str(self.project)), self._state
        workspace = workspace_of(str(self.project))
        execution = Execution(files, state, self.clock, workspace, self._fresh, unknown_program)
        return Council(files, state, self.clock, workspace, self._fresh, execution)

    @property
    def table(self) -> Table:
        """Everybody, two families among the seats."""
        voices = {}
        for at, role in enumerate((PM, SYNTHESISER, *NAMES)):
            family = ("claude", "gpt")[at % 2]
            others = [Voice(self.stand_in, "m9", "gemini")] if self.stand_in else []
            voices[role] = (Voice(self.speaker, f"{family}-1", family), *others)
        return Table(voices, lambda _: None, lambda _: 0)

    def begin(self, goal: str = GOAL) -> str:
        """A job for a goal."""
        return self.council.begin(goal, self.table, self.terms)

    def run(
        self, job: str = "", *, may_execute: bool = False, stop: Signal | None = None
    ) -> CouncilJob:
        """Carry a job on as far as it goes; without a name, the one for the goal."""
        crew = Crew(self.hands, self.hands, Shell(), lambda _: 0)
        terms = Terms(Caps(), GateLimits(), is_rehearsed=self.terms.is_rehearsed)
        meeting = Meeting(
            self.table,
            self.terms,
            Hands(crew, terms, self.hands),
            CouncilWatcher(self.happened.append),
            stop=stop or Signal(),
            may_execute=may_execute,
        )
        return self.council.carry_on(job or self.begin(), meeting)

    def kinds(self, kind: str) -> list[str]:
        """Whom happenings of a kind were about."""
        return [each.subject for each in self.happened if each.kind == kind]

    @property
    def _state(self) -> Files:
        return Files(str(self.project.parent / "state"), desk=layout.USER_DESK)

    def _fresh(self) -> str:
        self.names += 1
        return f"{self.names:08d}-nonce-for-this-call"


def a_meeting(folder: Path, **more: object) -> Meetings:
    """A council over a fresh project."""
    return Meetings(a_project_with_plans(folder / "project"), **more)  # type: ignore[arg-type]
