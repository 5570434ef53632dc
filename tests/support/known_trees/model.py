"""The truth of a generated project: its milestones, phases and plans, and what was done to it.

A truth is drawn first (`draw.py`) and written as documents and files afterwards (`roadmap_text.py`,
`state_text.py`, `make.py`), so every answer can be compared with it (`judge.py`).
"""

from dataclasses import dataclass
from enum import StrEnum


class MilestoneState(StrEnum):
    """Where a milestone stands."""

    SHIPPED = "shipped"
    RUNNING = "running"
    PARKED = "parked"
    PLANNED = "planned"


class Place(StrEnum):
    """Where the phase folders of a milestone are, below the planning folder."""

    PHASES = "phases"
    MILESTONES = "milestones/{name}-phases"
    ARCHIVES = "archives/{name}-phases"
    ARCHIVE = "archive/{name}-phases"
    FLAT = "phases-archive"
    JOINED = "milestones/{first}-{last}-phases"  # one archive of several milestones


class Spoiling(StrEnum):
    """What the generator took away after the truth was drawn."""

    NOTHING = "nothing"
    RANGES = "the ranges of milestones"
    MARKS = "the marks of milestones"
    SECTIONS = "ranges, sections and the milestone column"
    FRESHNESS = "the last update of the milestone list"
    STATE = "STATE.md"
    ROADMAP = "ROADMAP.md"
    FOLDERS = "every folder of the current milestone"
    SOME_FOLDERS = "some folders of finished phases"
    SUMMARIES = "some summaries, with their plans left"


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of a milestone."""

    completed_phases: int
    total_phases: int
    completed_plans: int
    total_plans: int

    @property
    def percent(self) -> int:
        """The lesser ratio, rounded half up, at most 99 until both are complete."""
        ratios = [
            (self.completed_phases, self.total_phases),
            (self.completed_plans, self.total_plans),
        ]
        least = min((200 * done + all_) // (2 * all_) if all_ else 0 for done, all_ in ratios)
        is_done = all(all_ and done == all_ for done, all_ in ratios)
        return 100 if is_done else min(99, least)


@dataclass(frozen=True, slots=True)
class KnownPhase:
    """One phase: how many plans it has and how many of them are done."""

    number: str
    name: str
    plans: int
    done: int
    is_verified: bool = False
    form: str = "plain"  # the form of its plan and summary names
    has_folder: bool = True

    @property
    def is_complete(self) -> bool:
        """Whether it has plans and all of them are done."""
        return 0 < self.plans == self.done

    @property
    def padded(self) -> str:
        """The number as in file names."""
        whole, dot, rest = self.number.partition(".")
        return whole.zfill(2) + dot + rest

    @property
    def slug(self) -> str:
        """The name as in folder names."""
        return self.name.lower().replace(" ", "-").replace("&", "and")

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return f"{self.padded}-{self.slug}"

    @property
    def has_numbered_plans(self) -> bool:
        """Whether the names of its plan files have numbers."""
        return self.form not in ("single", "phase")

    def plan_name(self, index: int) -> str:
        """The name of a plan, from 1."""
        if self.form == "single":
            return "PLAN.md"
        if self.form == "phase":
            return f"{self.padded}-PLAN.md"
        middle = f"-{self.slug}" if self.form == "named" else ""
        return f"{self.padded}-{index:02d}{middle}-PLAN.md"

    def summary_name(self, index: int) -> str:
        """The name of the summary of a plan."""
        if self.form == "unpadded":
            return f"{self.number}-{index:02d}-SUMMARY.md"
        return self.plan_name(index).replace(f"-{self.slug}-", "-").replace("PLAN", "SUMMARY")


@dataclass(frozen=True, slots=True)
class KnownMilestone:
    """One milestone with the phases that belong to it."""

    name: str
    title: str
    state: MilestoneState
    shipped_on: str
    phases: tuple[KnownPhase, ...]
    place: Place = Place.PHASES
    has_leftovers: bool = False  # archived, with a copy still in phases/
    has_earlier: bool = False  # its archive also holds the phases of earlier milestones

    @property
    def label(self) -> str:
        """Its name and title."""
        return f"{self.name} {self.title}".strip()

    @property
    def counts(self) -> Counts:
        """The numbers of its phases."""
        return Counts(
            sum(each.is_complete for each in self.phases),
            len(self.phases),
            sum(each.done for each in self.phases),
            sum(each.plans for each in self.phases),
        )

    @property
    def current(self) -> KnownPhase | None:
        """The first phase that is not complete."""
        return next((each for each in self.phases if not each.is_complete), None)


@dataclass(frozen=True, slots=True)
class KnownProject:
    """A project and everything that is true about it."""

    title: str
    milestones: tuple[KnownMilestone, ...]
    restarts: bool  # phase numbers start at 1 in every milestone
    is_listed: bool  # ROADMAP.md has a list of milestones
    has_future: bool = False  # the list ends with a milestone that has no phases yet
    workstream: str = ""

    @property
    def current(self) -> KnownMilestone:
        """The running milestone; else the last shipped one in the order of the list."""
        running = [each for each in self.milestones if each.state is MilestoneState.RUNNING]
        shipped = [each for each in self.milestones if each.state is MilestoneState.SHIPPED]
        return (running or shipped)[-1]

    @property
    def is_between(self) -> bool:
        """Whether every milestone that was begun is shipped."""
        return self.current.state is MilestoneState.SHIPPED

    @property
    def home(self) -> str:
        """The folder of STATE.md and ROADMAP.md, below the planning folder."""
        return f"workstreams/{self.workstream}/" if self.workstream else ""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a document, and a false line of the same form if a tool could write one."""

    text: str
    false: str = ""
    is_neutral: bool = False  # neither a true nor a false statement after the spoiling
    depends_on: str = ""  # the first word of lines that decide what this one is about


Lines = list[Line]
