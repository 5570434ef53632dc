"""A council in the test's own process: six voices that answer by the book, or fail in one way."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

from fairlead.adapters.scripted_council import answer
from fairlead.engine.asking import Voice
from fairlead.engine.council import Council
from fairlead.engine.council_site import PM, SYNTHESISER, CouncilTerms, Meeting, Table
from fairlead.model.agent_events import AgentEvent, Ending, EndKind, Usage
from fairlead.model.agent_orders import Order
from fairlead.model.council_job import CouncilJob
from fairlead.model.seats import NAMES
from fairlead.wiring import App
from fairlead.wiring_council import council_of

_GARBAGE = "verdict?? APPROVE!! \x1b[2J " + "lorem ipsum " * 40
WAYS: dict[str, Ending] = {
    "dead": Ending(EndKind.FAILED, error="exit code 139"),
    "slow": Ending(EndKind.TIMEOUT, error="nothing within 180 s"),
    "unpaid": Ending(EndKind.AUTH, error="credit balance is too low"),
    "refusing": Ending(EndKind.OK, "I'm sorry, but I can't help with that."),
    "blind": Ending(EndKind.OK, "I cannot access the plan file you mention."),
    "garbled": Ending(EndKind.OK, _GARBAGE),
}


@dataclass
class Speaker:
    """An agent that speaks for one role: by the book, or in the one way that it was told."""

    role: str
    name: str
    fails: Callable[[Order], Ending | None] = lambda _: None
    orders: list[Order] = field(default_factory=list)

    def start(
        self,
        order: Order,
        watch: Callable[[AgentEvent], None],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Ending:
        """See the port."""
        self.orders.append(order)
        told = self.fails(order)
        return told or Ending(EndKind.OK, answer(order.prompt), usage=Usage(900, 0, 100))


def is_ballot(order: Order) -> bool:
    """Whether a seat is asked to vote."""
    return "Vote on the master plan" in order.prompt


@dataclass
class Rig:
    """A project with a council of two model families, some of whose seats fail."""

    folder: Path
    failed: Collection[str] = ()
    way: str = "dead"
    only_ballots: bool = False
    allow_absent: int = 0

    def __post_init__(self) -> None:
        (self.folder / ".planning").mkdir(parents=True)
        (self.folder / ".planning/STATE.md").write_text("# State\n", "utf-8")
        (self.folder / "app.py").write_text("print(1)\n", "utf-8")
        self.speakers = {
            role: Speaker(role, ("claude", "codex")[at % 2], self._failing(role))
            for at, role in enumerate((PM, SYNTHESISER, *NAMES))
        }

    def _failing(self, role: str) -> Callable[[Order], Ending | None]:
        def fails(order: Order) -> Ending | None:
            is_hit = role in self.failed and (is_ballot(order) or not self.only_ballots)
            return WAYS[self.way] if is_hit else None

        return fails

    @property
    def council(self) -> Council:
        """The council of the project."""
        return council_of(App(str(self.folder)))

    def run(self) -> CouncilJob:
        """A job, as far as it goes without anything being executed."""
        voices = {
            role: (Voice(each, f"model-{each.name}", each.name),)
            for role, each in self.speakers.items()
        }
        terms = CouncilTerms(allow_absent=self.allow_absent)
        meeting = Meeting(Table(voices, lambda _: None, lambda _: 0), terms)
        council = self.council
        job = council.begin("Write the goal down", meeting.table, terms)
        return council.carry_on(job, meeting)

    def page(self, job: CouncilJob) -> str:
        """What `job show` says of it."""
        from fairlead.interfaces.cli.council_pages import council_page

        lines = council_page(App(str(self.folder)).jobs.council(job))
        told = (
            "".join(part if isinstance(part, str) else part.text for part in line) for line in lines
        )
        return "\n".join(told)


def wrong_with(rig: Rig) -> list[str]:
    """What is not as it should be after a run with these failing seats."""
    job = rig.run()
    page = rig.page(job)
    failed = sorted(rig.failed, key=NAMES.index)
    wanted = _wanted(rig)
    wrong = (
        []
        if (job.blocker_reason or str(job.status)).startswith(wanted)
        else [f"{job.status}, not {wanted}"]
    )
    counts = f"{6 - len(failed)} of 6 seats " + ("voted" if rig.only_ballots else "planned")
    if failed and counts not in page:
        wrong.append(f"the page does not say {counts!r}")
    if failed and "! degraded" not in page.partition("\n\n")[0]:
        wrong.append("the page does not say above all that the council was degraded")
    wrong += [f"the page does not name {seat}" for seat in failed if seat not in page]
    if "\x1b" in "".join(each.note for each in job.cumulative_votes):
        wrong.append("a control character came through")
    return wrong


def _wanted(rig: Rig) -> str:
    """How a job ends with these seats failing, by the specification."""
    count = len(rig.failed)
    if not count:
        return "APPROVED"
    if not rig.only_ballots and (count > 2 or "security" in rig.failed):
        return "planning_quorum"
    # Nobody who answers holds out against the plan, so that only the absent are in its way.
    is_borne = rig.allow_absent and count == 1 and "security" not in rig.failed
    return "APPROVED" if is_borne else "review_quorum"
