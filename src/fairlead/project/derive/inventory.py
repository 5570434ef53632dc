"""The inventory of a project: its phase folders, its roadmap and the settings that matter.

`scan` fills it, and every number Fairlead shows is derived from it and from nothing else. A phase
is known from its folder, from the roadmap, or from both.
"""

from collections.abc import Collection
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from fairlead.core.errors import DocumentError
from fairlead.core.ids import PhaseId
from fairlead.core.values import dataclass, replace
from fairlead.project.derive.state_claims import StateClaims
from fairlead.project.errors import UnknownPhase
from fairlead.project.roadmap.model import ListedPhase, Milestone, Roadmap, is_counted


@dataclass(frozen=True, slots=True)
class ScopeSource:
    """A place that the scope rests on."""

    path: str
    line: int  # 0: the whole file or folder
    text: str


# The reference tool writes the first; people and other tools write the others.
_PASSED = ("passed", "pass", "verified", "approved", "complete", "completed")
_FOREIGN_ENDS = ("DONE.MD", "COMPLETE.MD", "COMPLETED.MD")  # files of other tools


class Completion(StrEnum):
    """When a phase counts as complete."""

    SUMMARISED = "summarised"  # every live plan has a valid summary
    VERIFIED = "verified"  # and the verification of the phase passed


class Proof(StrEnum):
    """What the summary of a plan proves."""

    NONE = "none"  # there is no summary
    EMPTY = "empty"
    BLOCKED = "blocked"  # it says that the plan could not be done
    FAILED = "failed"  # its self-check failed
    REHEARSED = "rehearsed"  # written by a rehearsal, which proves nothing
    UNCHECKED = "unchecked"  # it appeared while an agent worked, and nobody has checked it
    COMPLETE = "complete"


class Stage(StrEnum):
    """The progress of a phase, according to its files."""

    NO_FOLDER = "no_directory"
    EMPTY = "empty"
    DISCUSSED = "discussed"
    RESEARCHED = "researched"
    PLANNED = "planned"
    PARTIAL = "partial"
    COMPLETE = "complete"
    VERIFIED = "verified"


class Plan(NamedTuple):
    """One plan and the proof that it is done."""

    id: str
    path: str
    summary: str  # path; empty if there is none
    proof: Proof
    is_superseded: bool
    tasks: int
    is_unfit: bool = False  # it says that it failed its check, so it must not be executed
    is_rehearsed: bool = False  # a rehearsal wrote it, so only a rehearsal executes it

    @property
    def number(self) -> int:
        """Its number in the phase; 0 if its name has none."""
        last = self.id.rpartition("-")[2]
        return int(last) if last.isascii() and last.isdigit() else 0

    @property
    def is_complete(self) -> bool:
        """Whether its summary exists, is not empty, and does not report a failure."""
        return self.proof is Proof.COMPLETE


class Verification(NamedTuple):
    """The verification of a phase."""

    path: str
    status: str  # passed, gaps_found, human_needed, or any other word in the file
    is_stale: bool  # a plan is open, or was finished after the verification

    @property
    def says_passed(self) -> bool:
        """Whether its status means that the phase passed, now or before."""
        return self.status.casefold() in _PASSED

    @property
    def is_passed(self) -> bool:
        """Whether it passed and is not stale."""
        return self.says_passed and not self.is_stale


@dataclass(frozen=True)  # without slots, because cached_property needs __dict__
class PhaseFolder:
    """One phase folder."""

    id: PhaseId | None
    slug: str
    path: str
    milestone: str  # the version it is archived under; empty if it is active
    plans: tuple[Plan, ...]
    orphans: tuple[str, ...]  # summaries without a plan
    verification: Verification | None
    has_context: bool
    has_research: bool
    unread: tuple[str, ...] = ()  # paths of plans and summaries that are links or special files
    others: tuple[str, ...] = ()  # names of the files that are neither plan nor summary
    lost: tuple[Plan, ...] = ()  # plans whose file is gone; their summaries are among the orphans

    @cached_property
    def live_plans(self) -> tuple[Plan, ...]:
        """The plans that are not superseded; only these count."""
        if any(plan.is_superseded for plan in self.plans):
            return tuple(plan for plan in self.plans if not plan.is_superseded)
        return self.plans

    @cached_property
    def completed(self) -> int:
        """The number of complete live plans."""
        return [plan.proof for plan in self.live_plans].count(Proof.COMPLETE)

    @cached_property
    def tasks(self) -> int:
        """The number of tasks of the live plans."""
        return sum([plan.tasks for plan in self.live_plans])

    @cached_property
    def completed_tasks(self) -> int:
        """The number of tasks of the complete live plans."""
        return sum([plan.tasks for plan in self.live_plans if plan.proof is Proof.COMPLETE])

    def without(self, unchecked: Collection[str]) -> "PhaseFolder":
        """This folder, in which these summaries and verifications prove nothing."""
        verified = self.verification
        plans, lost = (
            tuple(
                plan._replace(proof=Proof.UNCHECKED) if plan.summary in unchecked else plan
                for plan in group
            )
            for group in (self.plans, self.lost)
        )
        if verified is not None and (verified.path in unchecked or plans != self.plans):
            kept = None if verified.path in unchecked else verified._replace(is_stale=True)
            return replace(self, plans=plans, lost=lost, verification=kept)
        return replace(self, plans=plans, lost=lost)

    def with_lost(self, listed: Collection[str], counted: Collection[int] = ()) -> "PhaseFolder":
        """This folder with the lost plans that count: the phase passed, or the roadmap has them.

        `listed` are the plans that the roadmap names, `counted` the numbers of plans it gives.
        """
        if not self.lost:
            return self
        passed = self.verification is not None and self.verification.says_passed
        is_known = passed or len(self.plans) + len(self.lost) in counted
        found = tuple(plan for plan in self.lost if is_known or plan.id in listed)
        if not found:
            return self
        gone = {plan.summary for plan in found}
        orphans = tuple(path for path in self.orphans if path not in gone)
        plans = tuple(sorted((*self.plans, *found), key=lambda plan: plan.id))
        return replace(self, plans=plans, orphans=orphans, lost=())

    @property
    def is_foreign(self) -> bool:
        """Whether another tool marked it as done, in a file that proves nothing here."""
        return not self.completed and any(name.upper() in _FOREIGN_ENDS for name in self.others)

    @property
    def is_implemented(self) -> bool:
        """Whether it has plans and every live one is complete."""
        return bool(self.plans) and self.completed == len(self.live_plans)


@dataclass(frozen=True)  # without slots, because cached_property needs __dict__
class Phase:
    """A phase that is listed in the roadmap, has a folder, or both."""

    id: PhaseId
    name: str
    listed: ListedPhase | None
    folder: PhaseFolder | None

    @cached_property
    def stage(self) -> Stage:
        """Its progress, according to its files."""
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
    """Everything that the position of a project is derived from."""

    folders: tuple[PhaseFolder, ...]  # the active ones
    archived: tuple[PhaseFolder, ...]
    roadmap: Roadmap
    milestone: str  # the version in STATE.md; empty if it names none
    policy: Completion
    pending_todos: tuple[str, ...] = ()
    workstreams: tuple[str, ...] = ()
    workstream: str = ""  # the workstream it belongs to; empty: the project itself
    unread: tuple[str, ...] = ()  # paths that should be folders, but are links or files
    fault: DocumentError | None = None  # unreadable settings, which make the policy a guess
    closed: tuple[ScopeSource, ...] = ()  # archives, each with the name of its milestone as text
    shipped: tuple[Milestone, ...] = ()  # of MILESTONES.md
    shipped_path: str = ""
    state_path: str = ".planning/STATE.md"
    roadmap_path: str = ".planning/ROADMAP.md"
    has_roadmap: bool = True
    foreign: tuple[str, ...] = ()  # folders with summaries in the layout of another tool
    claims: StateClaims = StateClaims()

    @property
    def known(self) -> frozenset[PhaseId]:
        """Every phase that is listed or has a folder, including archived ones."""
        folders = {each.id for each in (*self.folders, *self.archived) if each.id}
        return frozenset(folders | {each.id for each in self.roadmap.phases})

    def require_phase(self, phase: PhaseId) -> None:
        """Refuse a number after the last phase. An earlier one may have left no trace."""
        last = max(filter(is_counted, self.known), default=None)
        if last and phase > last:
            raise UnknownPhase(phase.short, [each.short for each in sorted(self.known)])

    def for_writing(self) -> "Inventory":
        """This inventory; raises if derived values must not be written because settings are bad."""
        if self.fault:
            raise self.fault
        return self
