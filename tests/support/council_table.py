"""A council at one table, in the test's own process: every voice says what a test tells it to."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fairlead.adapters.commands import Shell, command_fault
from fairlead.adapters.scratch import Scratch
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
from fairlead.engine.execution import Execution
from fairlead.engine.fanout import Signal
from fairlead.engine.site import GateLimits, Happening
from fairlead.engine.undertaking import Crew, Terms
from fairlead.model.agent_events import AgentEvent, Ending, EndKind, Usage
from fairlead.model.agent_orders import Order
from fairlead.model.budget import Caps
from fairlead.model.council_job import CouncilJob
from fairlead.model.seats import NAMES
from fairlead.store import layout
from fairlead.store.files import Files
from fairlead.wiring import App, workspace_of
from tests.support.execution import Ticking, Told
from tests.support.execution import a_project as a_project_with_plans

GOAL = "Lamps follow the tide"
Says = Callable[[str], str | Ending]  # from a prompt to an answer, or to how the call ended
_ROLE = re.compile(r"You hold the (\w+) seat|(synthesiser) of a council|(project manager)")


_GARBAGE = "verdict?? APPROVE!! \x1b[2J " + "lorem ipsum " * 40
WAYS: Mapping[str, Ending] = {  # to fail
    "dead": Ending(EndKind.FAILED, error="exit code 139"),
    "busy": Ending(EndKind.OVERLOADED, error="529"),
    "slow": Ending(EndKind.TIMEOUT, error="nothing within 180 s"),
    "unpaid": Ending(EndKind.AUTH, error="credit balance is too low"),
    "refusing": Ending(EndKind.OK, "I'm sorry, but I can't help with that."),
    "blind": Ending(EndKind.OK, "I cannot access the plan file you mention."),
    "garbled": Ending(EndKind.OK, _GARBAGE),
}


def is_ballot(prompt: str) -> bool:
    """Whether a seat is asked to vote."""
    return "Vote on the master plan" in prompt


def fails(way: str, *, only_ballots: bool = False) -> Says:
    """Somebody who fails in one way: always, or only when it comes to the vote."""
    return lambda prompt: WAYS[way] if is_ballot(prompt) or not only_ballots else answer(prompt)


@dataclass(slots=True)
class Speaker:
    """An agent that says what it is told, and remembers who was asked what."""

    says: Mapping[str, Says] = field(default_factory=dict)  # by seat, pm or synthesiser
    name: str = "speaker"
    asked: list[tuple[str, str]] = field(default_factory=list)  # who, and the prompt
    folders: set[str] = field(default_factory=set)  # where they were asked

    def start(
        self,
        order: Order,
        watch: Callable[[AgentEvent], None],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Ending:
        """See the port."""
        who = who_of(order.prompt)
        self.asked.append((who, order.prompt))
        self.folders.add(order.folder)
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
        execution = Execution(files, state, self.clock, workspace, self._fresh, command_fault)
        scratch = Scratch(workspace)
        return Council(files, state, self.clock, workspace, scratch, self._fresh, execution)

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
        self,
        job: str = "",
        *,
        may_execute: bool = False,
        stop: Signal | None = None,
        over: Signal | None = None,
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
            over=over or Signal(),
            may_execute=may_execute,
        )
        return self.council.carry_on(job or self.begin(), meeting)

    def kinds(self, kind: str) -> list[str]:
        """Whom happenings of a kind were about."""
        return [each.subject for each in self.happened if each.kind == kind]

    def page(self, job: CouncilJob) -> str:
        """What `job show` says of it."""
        from fairlead.interfaces.cli.council_pages import council_page

        lines = council_page(App(str(self.project)).jobs.council(job))
        told = (
            "".join(part if isinstance(part, str) else part.text for part in line) for line in lines
        )
        return "\n".join(told)

    @property
    def _state(self) -> Files:
        return Files(str(self.project.parent / "state"), desk=layout.USER_DESK)

    def _fresh(self) -> str:
        self.names += 1
        return f"{self.names:08d}-nonce-for-this-call"


def a_meeting(folder: Path, **more: object) -> Meetings:
    """A council over a fresh project."""
    return Meetings(a_project_with_plans(folder / "project"), **more)  # type: ignore[arg-type]


def a_plain_meeting(folder: Path, **more: object) -> Meetings:
    """A council over a project without git, which is quickly made."""
    planning = folder / "project/.planning"
    planning.mkdir(parents=True)
    (planning / "STATE.md").write_text("# State\n", "utf-8")
    (folder / "project/app.py").write_text("print(1)\n", "utf-8")
    return Meetings(folder / "project", **more)  # type: ignore[arg-type]


def wrong_with(
    folder: Path,
    failed: Collection[str],
    way: str,
    *,
    only_ballots: bool = False,
    allow_absent: int = 0,
) -> list[str]:
    """What is not as it should be after a council whose seats fail in this way."""
    speaker = Speaker(dict.fromkeys(failed, fails(way, only_ballots=only_ballots)))
    table = a_plain_meeting(folder, speaker=speaker, terms=CouncilTerms(allow_absent=allow_absent))
    job = table.run()
    page = table.page(job)
    # Nobody who answers holds out against the plan, so that only the absent are in its way.
    wanted = "review_quorum"
    if not failed or (allow_absent and len(failed) == 1 and "security" not in failed):
        wanted = "APPROVED"
    elif not only_ballots and (len(failed) > 2 or "security" in failed):
        wanted = "planning_quorum"
    ended = job.blocker_reason or str(job.status)
    wrong = [] if ended.startswith(wanted) else [f"{ended}, not {wanted}"]
    counts = f"{6 - len(failed)} of 6 seats " + ("voted" if only_ballots else "planned")
    if failed and counts not in page:
        wrong.append(f"the page does not say {counts!r}")
    if failed and "! degraded" not in page.partition("\n\n")[0]:
        wrong.append("the page does not say above all that the council was degraded")
    wrong += [f"the page does not name {seat}" for seat in failed if seat not in page]
    if "\x1b" in "".join(each.note for each in job.cumulative_votes):
        wrong.append("a control character came through")
    return wrong
