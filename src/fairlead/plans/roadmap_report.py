"""Reports the roadmap, its phases and milestones, as proved by the files of the project.

Every interface shows these values. Field names are the keys of the JSON output, so they do not
change. It is in this package, not in `project`, because a phase report includes its plans.
"""

from __future__ import annotations

from collections.abc import Collection

from fairlead.core.ids import PhaseId
from fairlead.core.values import dataclass
from fairlead.plans.service import PlanIndex, index_of
from fairlead.project.derive.inventory import Inventory, Phase, PhaseFolder, Stage
from fairlead.project.derive.position import Position, position_of
from fairlead.project.derive.progress import folder_counts
from fairlead.project.derive.scan import scan
from fairlead.project.derive.scope import Scope
from fairlead.project.errors import UnknownPhase
from fairlead.project.roadmap.phase_details import PhaseSection, phase_section_of
from fairlead.store import layout
from fairlead.store.reader import Reader
from fairlead.text.document import Document

_NOT_BEGUN = (Stage.NO_FOLDER, Stage.EMPTY, Stage.DISCUSSED, Stage.RESEARCHED)


@dataclass(frozen=True, slots=True)
class PhaseReport:
    """One phase of the roadmap."""

    number: str
    name: str
    milestone: str
    goal: str
    depends_on: str
    stage: str
    disk_status: str  # the stage, ignoring verification
    is_complete: bool
    plan_count: int
    summary_count: int  # plans with a valid summary
    has_context: bool
    has_research: bool
    verification: str
    roadmap_complete: bool  # its box is ticked, even if the files say otherwise
    has_box: bool
    folder: str
    line: int  # in the roadmap; 0 if it is not listed there


@dataclass(frozen=True, slots=True)
class RoadmapMilestone:
    """One milestone of the roadmap."""

    version: str
    name: str
    is_closed: bool
    is_current: bool


@dataclass(frozen=True, slots=True)
class RoadmapReport:
    """The roadmap of the current scope."""

    scope: str  # as text
    milestones: tuple[RoadmapMilestone, ...]
    phases: tuple[PhaseReport, ...]
    current_phase: str
    next_phase: str  # the first phase that has not begun
    phase_count: int
    completed_phases: int
    total_plans: int
    total_summaries: int
    progress_percent: int
    archived_phases: int
    missing_phase_details: tuple[str, ...]  # folders that the roadmap does not list


@dataclass(frozen=True, slots=True)
class PlanReport:
    """A plan and its proof."""

    id: str
    path: str
    proof: str
    summary: str
    tasks: int
    is_superseded: bool


@dataclass(frozen=True, slots=True)
class PhaseDetails:
    """All details of one phase."""

    phase: PhaseReport
    plans: tuple[PlanReport, ...]
    orphan_summaries: tuple[str, ...]
    verification_file: str
    files: tuple[str, ...]
    requirements: tuple[str, ...]
    success_criteria: tuple[str, ...]
    risk: str  # LOW, MEDIUM or HIGH with its reason; empty if the roadmap does not say
    section: str  # the text of the roadmap


@dataclass(frozen=True, slots=True)
class MilestoneReport:
    """A milestone and its progress."""

    version: str
    name: str
    is_current: bool
    is_closed: bool
    phases: int
    plans: int
    completed_plans: int
    archive: str  # the folder of its phases; empty if they are not archived


class Roadmaps:
    """Builds the reports of one project; read-only."""

    def __init__(self, reader: Reader, workstream: str = "") -> None:
        self._reader = reader
        self._workstream = workstream

    def report(self) -> RoadmapReport:
        """Report the roadmap of the current scope."""
        inventory = self._scan()
        position = position_of(inventory)
        progress, scope = position.progress, position.scope
        phases = tuple(_phase(each, position) for each in scope.phases)
        ahead = [each for each in scope.phases if each.stage in _NOT_BEGUN]
        return RoadmapReport(
            scope=scope.words,
            milestones=tuple(
                RoadmapMilestone(
                    each.version, each.name, each.is_closed, each.version == scope.milestone
                )
                for each in inventory.roadmap.milestones
            ),
            phases=phases,
            current_phase=position.current.id.short if position.current else "",
            next_phase=ahead[0].id.short if ahead else "",
            phase_count=progress.total_phases,
            completed_phases=progress.completed_phases,
            total_plans=progress.total_plans,
            total_summaries=progress.completed_plans,
            progress_percent=progress.percent,
            archived_phases=len(inventory.archived),
            missing_phase_details=tuple(
                each.id.short for each in scope.phases if each.listed is None
            ),
        )

    def phases(self, *, archived: bool = False) -> tuple[PhaseReport, ...]:
        """Report the phases of the current scope, or those of the archive."""
        inventory = self._scan()
        position = position_of(inventory)
        if not archived:
            return tuple(_phase(each, position) for each in position.scope.phases)
        return tuple(
            _phase(each, position)
            for each in map(_archived_phase, inventory.archived)
            if each is not None
        )

    def details(self, number: str) -> PhaseDetails:
        """Report all details of one phase, in the current scope or outside it."""
        inventory = self._scan()
        position = position_of(inventory)
        phase = _find_phase(PhaseId.parse(number), inventory, position)
        folder = phase.folder
        section = self._section(phase)
        return PhaseDetails(
            phase=_phase(phase, position),
            plans=tuple(
                PlanReport(
                    each.id,
                    each.path,
                    str(each.proof),
                    each.summary,
                    each.tasks,
                    each.is_superseded,
                )
                for each in (folder.plans if folder else ())
            ),
            orphan_summaries=folder.orphans if folder else (),
            verification_file=folder.verification.path if folder and folder.verification else "",
            files=self._reader.names(folder.path) if folder else (),
            requirements=section.requirements,
            success_criteria=section.success_criteria,
            risk=section.risk,
            section=section.section,
        )

    def plans(self, number: str) -> PlanIndex:
        """Report the plans of one phase in waves."""
        inventory = self._scan()
        phase = _find_phase(PhaseId.parse(number), inventory, position_of(inventory))
        return index_of(self._reader, phase.id.short, phase.folder)

    def phase_of_plan(self, plan: str) -> str:
        """The phase of the current scope that has a plan; empty: none."""
        for phase in position_of(self._scan()).scope.phases:
            if phase.folder and any(each.id == plan for each in phase.folder.live_plans):
                return phase.id.short
        return ""

    def all_plans(self, numbers: Collection[str] | None = None) -> tuple[PlanIndex, ...]:
        """Report the plans of every phase of the current scope, or of those with these numbers."""
        phases = position_of(self._scan()).scope.phases
        return tuple(
            index_of(self._reader, each.id.short, each.folder)
            for each in phases
            if numbers is None or each.id.short in numbers
        )

    def milestones(self) -> tuple[MilestoneReport, ...]:
        """Report every milestone of the roadmap and of the archive."""
        inventory = self._scan()
        scope = position_of(inventory).scope
        versions = dict.fromkeys(
            [each.version for each in inventory.roadmap.milestones]
            + [each.milestone for each in inventory.archived]
            + ([scope.milestone] if scope.milestone else [])
        )
        return tuple(_milestone(version, inventory, scope) for version in versions)

    def _section(self, phase: Phase) -> PhaseSection:
        path = layout.documents_of(self._workstream)[1]
        loaded = self._reader.load_for_display(path)
        if loaded is None or phase.listed is None:
            return PhaseSection(0, "", (), (), "")
        return phase_section_of(Document(loaded.text), phase.id, phase.listed.milestone)

    def _scan(self) -> Inventory:
        reader = self._reader
        return scan(
            reader.folder,
            workstream=self._workstream,
            cache=reader.cache,
            unchecked=reader.unchecked(),
        )


def _find_phase(number: PhaseId, inventory: Inventory, position: Position) -> Phase:
    """Find a phase in the scope, else elsewhere in the roadmap or in the archive."""
    for phase in position.scope.phases:
        if phase.id == number:
            return phase
    listed = next((each for each in inventory.roadmap.phases if each.id == number), None)
    folders = (*inventory.folders, *inventory.archived)
    folder = next((each for each in folders if each.id == number), None)
    if listed is None and folder is None:
        raise UnknownPhase(number.short, [each.id.short for each in position.scope.phases])
    name = listed.name if listed else folder.slug.replace("-", " ") if folder else ""
    return Phase(number, name, listed, folder)


def _archived_phase(folder: PhaseFolder) -> Phase | None:
    if folder.id is None:
        return None
    return Phase(folder.id, folder.slug.replace("-", " "), None, folder)


def _phase(phase: Phase, position: Position) -> PhaseReport:
    listed, folder = phase.listed, phase.folder
    done, total = folder_counts(folder) if folder else (0, 0)
    stage = phase.stage
    verification = folder.verification if folder else None
    is_stale = verification is not None and verification.is_stale
    home = listed.milestone if listed else folder.milestone if folder else ""
    return PhaseReport(
        number=phase.id.short,
        name=phase.name,
        milestone=home,
        goal=listed.goal if listed else "",
        depends_on=listed.depends_on if listed else "",
        stage=str(stage),
        disk_status=str(Stage.COMPLETE if stage is Stage.VERIFIED else stage),
        is_complete=phase.is_complete(position.policy),
        plan_count=total,
        summary_count=done,
        has_context=bool(folder and folder.has_context),
        has_research=bool(folder and folder.has_research),
        verification=("stale" if is_stale else verification.status) if verification else "",
        roadmap_complete=bool(listed and listed.is_checked),
        has_box=bool(listed and listed.is_checked is not None),
        folder=folder.path if folder else "",
        line=listed.line if listed else 0,
    )


def _milestone(version: str, inventory: Inventory, scope: Scope) -> MilestoneReport:
    named = next((each for each in inventory.roadmap.milestones if each.version == version), None)
    is_current = version == scope.milestone
    archived = [each for each in inventory.archived if each.milestone == version]
    listed = [each for each in inventory.roadmap.phases if each.milestone == version]
    folders = archived
    if is_current and not archived:
        folders = [each.folder for each in scope.phases if each.folder]
    plans = [plan for folder in folders for plan in folder.live_plans]
    return MilestoneReport(
        version=version,
        name=named.name if named else "",
        is_current=is_current,
        is_closed=named.is_closed if named else bool(archived),
        phases=len(scope.phases) if is_current else max(len(listed), len(archived)),
        plans=len(plans),
        completed_plans=sum(plan.is_complete for plan in plans),
        archive=archived[0].path.rpartition("/")[0] if archived else "",
    )
