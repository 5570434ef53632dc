"""Inventory: what is on disk and in the roadmap, as values.

`store.scan` fills it; every number this program shows is derived from it and from nothing
else. A phase is known from its folder, from the roadmap, or from both.
"""

from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from fairlead.errors import DocumentError
from fairlead.model.ids import PhaseId
from fairlead.values import dataclass


class Completion(StrEnum):
    """When a phase counts as complete."""

    SUMMARISED = "summarised"  # every live plan is complete
    VERIFIED = "verified"  # and its verification passed


class Proof(StrEnum):
    """What a plan's summary proves."""

    NONE = "none"  # there is no summary
    EMPTY = "empty"
    BLOCKED = "blocked"  # it says itself that the plan could not be done
    FAILED = "failed"  # its own self-check failed
    REHEARSED = "rehearsed"  # made by a rehearsal, which changes nothing for real
    COMPLETE = "complete"


class Stage(StrEnum):
    """How far a phase has come, by its files."""

    NO_FOLDER = "no_directory"
    EMPTY = "empty"
    DISCUSSED = "discussed"
    RESEARCHED = "researched"
    PLANNED = "planned"
    PARTIAL = "partial"
    COMPLETE = "complete"
    VERIFIED = "verified"


class Plan(NamedTuple):
    """One plan and what proves it."""

    id: str
    path: str
    summary: str  # path; empty if there is none
    proof: Proof
    is_superseded: bool
    tasks: int
    is_unfit: bool = False  # it failed its check, and says so: nobody may carry it out

    @property
    def number(self) -> int:
        """Its number in the phase; 0: its name has none."""
        last = self.id.rpartition("-")[2]
        return int(last) if last.isascii() and last.isdigit() else 0

    @property
    def is_complete(self) -> bool:
        """Its summary exists, is not empty, and does not say otherwise."""
        return self.proof is Proof.COMPLETE


class Verification(NamedTuple):
    """What a phase's verification says."""

    path: str
    status: str  # passed, gaps_found, human_needed, or whatever stands there
    is_stale: bool  # a plan was finished, or is open, after it

    @property
    def is_passed(self) -> bool:
        """It passed, and still speaks of what is there."""
        return self.status == "passed" and not self.is_stale


@dataclass(frozen=True)  # without slots: what is derived from it is kept
class Folder:
    """One phase folder."""

    id: PhaseId | None
    slug: str
    path: str
    milestone: str  # the version it is archived under; empty for an active one
    plans: tuple[Plan, ...]
    orphans: tuple[str, ...]  # summaries without a plan
    verification: Verification | None
    has_context: bool
    has_research: bool
    unread: tuple[str, ...] = ()  # plans and summaries, and their folder, that are links or special
    others: tuple[str, ...] = ()  # the names of the files that are neither

    @cached_property
    def live_plans(self) -> tuple[Plan, ...]:
        """The plans that count: not the superseded ones."""
        if any(plan.is_superseded for plan in self.plans):
            return tuple(plan for plan in self.plans if not plan.is_superseded)
        return self.plans

    @cached_property
    def completed(self) -> int:
        """How many of them are complete."""
        return [plan.proof for plan in self.live_plans].count(Proof.COMPLETE)

    @property
    def is_implemented(self) -> bool:
        """It has plans, and every live one is complete."""
        return bool(self.plans) and self.completed == len(self.live_plans)


class Mark(NamedTuple):
    """A place in the roadmap that says how far something has come."""

    line: int
    text: str  # what is marked: a plan's name, or the counts of a line
    is_checked: bool = False


class Listed(NamedTuple):
    """What the roadmap says of a phase."""

    id: PhaseId
    name: str
    milestone: str  # version of the milestone it stands under; empty if none
    line: int
    goal: str = ""
    depends_on: str = ""
    requirements: str = ""  # as the line names them
    is_checked: bool | None = None  # None: there is no box
    is_retired: bool = False
    status: str = ""  # the cell of the progress table
    plans_cell: str = ""  # "2/3" in the progress table
    row_line: int = 0  # of the progress table; 0: the phase has no row there
    boxes: tuple[Mark, ...] = ()  # every box of the phase itself
    plan_boxes: tuple[Mark, ...] = ()  # the boxes of its plans
    counts: tuple[Mark, ...] = ()  # lines such as `**Plans:** 2/3 plans complete`
    clashes: tuple[Mark, ...] = ()  # the places that give its number to phases of different names


class Milestone(NamedTuple):
    """A milestone of the roadmap."""

    version: str
    name: str
    is_closed: bool
    is_marked_open: bool
    line: int


@dataclass(frozen=True, slots=True)
class Roadmap:
    """The roadmap as a whole."""

    phases: tuple[Listed, ...] = ()
    milestones: tuple[Milestone, ...] = ()
    unread_line: int = 0  # of its first text, where it has some and no phase was recognised


@dataclass(frozen=True)  # without slots: every number asks for its stage
class Phase:
    """A phase of the scope: listed, on disk, or both."""

    id: PhaseId
    name: str
    listed: Listed | None
    folder: Folder | None

    @cached_property
    def stage(self) -> Stage:
        """How far it has come."""
        folder = self.folder
        if folder is None:
            return Stage.NO_FOLDER
        if folder.is_implemented:
            passed = folder.verification is not None and folder.verification.is_passed
            return Stage.VERIFIED if passed else Stage.COMPLETE
        if folder.live_plans:
            return Stage.PARTIAL if folder.completed else Stage.PLANNED
        if folder.has_research:
            return Stage.RESEARCHED
        return Stage.DISCUSSED if folder.has_context else Stage.EMPTY

    def is_complete(self, policy: Completion) -> bool:
        """Whether it counts as complete under a policy."""
        if policy is Completion.VERIFIED:
            return self.stage is Stage.VERIFIED
        return self.stage in (Stage.COMPLETE, Stage.VERIFIED)


@dataclass(frozen=True, slots=True)
class Inventory:
    """Everything the derivation needs."""

    folders: tuple[Folder, ...]  # active ones
    archived: tuple[Folder, ...]
    roadmap: Roadmap
    milestone: str  # the version that STATE.md names; empty if none
    policy: Completion
    pending_todos: tuple[str, ...] = ()
    workstreams: tuple[str, ...] = ()
    workstream: str = ""  # whose memory it is; empty: the project's own
    unread: tuple[str, ...] = ()  # paths of folders that are links or files, and not looked into
    fault: DocumentError | None = None  # settings that cannot be read: the policy is a guess

    @property
    def known(self) -> frozenset[PhaseId]:
        """Every phase that is listed or has a folder, archived ones too."""
        folders = {each.id for each in (*self.folders, *self.archived) if each.id}
        return frozenset(folders | {each.id for each in self.roadmap.phases})

    def for_writing(self) -> "Inventory":
        """The same, if what is derived from it may be written down."""
        if self.fault:
            raise self.fault
        return self
