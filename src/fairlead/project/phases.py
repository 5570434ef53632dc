"""Phases: add, insert, remove, complete and renumber, each in one transaction.

What follows from a change is derived before it is written: the future roadmap and the future
folders give the numbers that STATE.md gets in the same transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime

from fairlead.core.clock import Clock
from fairlead.core.ids import PhaseId
from fairlead.core.values import dataclass, replace
from fairlead.project import naming, requirements
from fairlead.project.derive.inventory import Completion, Inventory, Phase, PhaseFolder
from fairlead.project.derive.position import Position, position_of
from fairlead.project.derive.scope import Certainty, is_counted
from fairlead.project.errors import (
    MilestoneShipped,
    NoPlans,
    NotRenumbered,
    NotVerified,
    PhaseStarted,
    PlansOpen,
)
from fairlead.project.paths import COMPLETED_TODOS, PENDING_TODOS, PHASES_NAME
from fairlead.project.roadmap.edit import NewPhase, with_phase, without_phase
from fairlead.project.roadmap.phase_details import requirements_of
from fairlead.project.roadmap.renumber import (
    lines_naming,
    renamed,
    renumbered_roadmap,
    renumbered_table,
)
from fairlead.project.service import ProjectService, ProjectSnapshot, edit_of
from fairlead.project.state import edits as events
from fairlead.project.state import metrics
from fairlead.project.state.activity import with_moved_focus
from fairlead.project.state.digest import phase_in_scope, with_fresh_position
from fairlead.project.state.documents import RoadmapChange, add_roadmap_change
from fairlead.project.todos import without_todos
from fairlead.store import layout
from fairlead.store.files import ChangeSet, Edit, Files, WriteOutcome
from fairlead.store.intent import TreeChanges
from fairlead.store.moves import Move
from fairlead.store.staging import removed_path
from fairlead.text.document import Document

ExtraEdits = Callable[[PhaseId], Mapping[str, Edit]]
PhaseEvent = Callable[[Document, Position, str, datetime], Document]


@dataclass(frozen=True, slots=True)
class PhaseChange:
    """The result of changing a phase."""

    outcome: WriteOutcome
    phase: str
    name: str
    folder: str  # its path, also after removal; empty if it has none
    notes: tuple[str, ...] = ()  # what a person should snapshot at


@dataclass(frozen=True, slots=True)
class PhaseEdit:
    """A decided change of a phase."""

    changes: ChangeSet
    phase: PhaseId | None = None
    name: str = ""
    folder: str = ""
    notes: tuple[str, ...] = ()


class Phases(ProjectService):
    """Changes the phases of one project."""

    def __init__(self, files: Files, clock: Clock, workstream: str = "") -> None:
        super().__init__(files, clock, workstream)
        _, self._roadmap, _, self._requirements = layout.documents_of(workstream)

    def add(
        self, name: str, *, goal: str = "", also: ExtraEdits | None = None, dry_run: bool = False
    ) -> PhaseChange:
        """Add a phase after the last one of the milestone.

        The edits that `also` returns for its number belong to the same transaction.
        """

        def decide(snapshot: ProjectSnapshot) -> PhaseEdit:
            _require_open(snapshot)
            number = next_number(snapshot.inventory, snapshot.position)
            before = _last_before(snapshot.position, number)
            depends = f"Phase {before.id.short}" if before else "Nothing (first phase)"
            phase = NewPhase(number, name, home_of(snapshot), goal, depends)
            more = also(number) if also else None
            return self._written(snapshot, phase, RoadmapChange(name, number.short, "added"), more)

        return self._carry_out("phase add", decide, dry_run=dry_run)

    def insert(
        self, after: str, name: str, *, goal: str = "", dry_run: bool = False
    ) -> PhaseChange:
        """Insert a phase after another one, with a decimal number."""

        def decide(snapshot: ProjectSnapshot) -> PhaseEdit:
            _require_open(snapshot)
            here = phase_in_scope(snapshot.position, after)
            number = decimal_after(here.id, taken_numbers(snapshot.inventory))
            home = here.listed.milestone if here.listed else home_of(snapshot)
            phase = NewPhase(number, name, home, goal, f"Phase {here.id.short}", True)
            entry = RoadmapChange(name, number.short, "inserted", here.id.short)
            return self._written(snapshot, phase, entry)

        return self._carry_out("phase insert", decide, dry_run=dry_run)

    def remove(
        self, phase: str, *, force: bool = False, renumber: bool = False, dry_run: bool = False
    ) -> PhaseChange:
        """Remove a phase. Its folder is moved to the removed files, never deleted."""

        def decide(snapshot: ProjectSnapshot) -> PhaseEdit:
            gone = phase_in_scope(snapshot.position, phase)
            if snapshot.position.scope.is_archived:
                raise MilestoneShipped(snapshot.position.scope.milestone)
            work = tuple(name for each in _folders_of(snapshot, gone) for name in _work_in(each))
            if work and not force:
                raise PhaseStarted(gone.id.short, work)
            numbers = shifted(snapshot.position, gone.id) if renumber else {}
            return self._removed(snapshot, gone, numbers)

        return self._carry_out("phase remove", decide, dry_run=dry_run)

    def complete(self, phase: str, *, dry_run: bool = False) -> PhaseChange:
        """Mark a phase complete in ROADMAP.md, REQUIREMENTS.md, STATE.md and the todos."""

        def decide(snapshot: ProjectSnapshot) -> PhaseEdit:
            done = phase_in_scope(snapshot.position, phase)
            require_complete(done, snapshot.position.policy)
            return self._completed(snapshot, done)

        return self._carry_out("phase complete", decide, dry_run=dry_run)

    def update_progress(self, phase: str = "", *, dry_run: bool = False) -> PhaseChange:
        """Raise the marks of ROADMAP.md to what the files prove."""

        def decide(snapshot: ProjectSnapshot) -> PhaseEdit:
            position = snapshot.position
            self._files.load(self._roadmap)  # fails if it is missing
            chosen = (phase_in_scope(position, phase),) if phase else position.scope.phases
            edits, notes = snapshot.roadmap_marks(chosen)
            return PhaseEdit(ChangeSet(edits), notes=notes)

        return self._carry_out("roadmap update-progress", decide, dry_run=dry_run)

    # -- the parts of a decision ----------------------------------------------------------

    def _written(
        self,
        snapshot: ProjectSnapshot,
        phase: NewPhase,
        entry: RoadmapChange,
        more: Mapping[str, Edit] | None = None,
    ) -> PhaseEdit:
        edit = edit_of(lambda document: with_phase(document, phase))
        after = self._after(snapshot, edit)
        home = f"{layout.planning_of(self._workstream)}/{PHASES_NAME}"
        names = [each.path.rpartition("/")[2] for each in snapshot.inventory.folders]
        folder = f"{home}/{naming.folder_for(phase.id, phase.name, names)}"
        edits = {self._roadmap: edit, **(more or {})}
        draft = self._draft(snapshot, edits, after, entry, TreeChanges(folders=(folder,)))
        draft = replace(draft, may_create=draft.may_create | frozenset(more or ()))
        return PhaseEdit(draft, phase.id, phase.name, folder)

    def _removed(
        self, snapshot: ProjectSnapshot, gone: Phase, numbers: dict[PhaseId, PhaseId]
    ) -> PhaseEdit:
        milestone = gone.listed.milestone if gone.listed else ""
        homes = {each.listed.milestone for each in snapshot.position.scope.phases if each.listed}

        def change(document: Document) -> Document:
            shorter = without_phase(document, gone.id, milestone)
            if not numbers:
                return shorter
            return renumbered_roadmap(shorter, numbers, homes, removed=gone.id)

        edit = edit_of(change)
        edits: dict[str, Edit] = {}
        if self._files.exists(self._roadmap):
            edits[self._roadmap] = edit
        if numbers and self._files.exists(self._requirements):
            edits[self._requirements] = edit_of(
                lambda document: renumbered_table(document, numbers, removed=gone.id)
            )
        moves = self._out_of_the_way(snapshot, gone) + self._renames(snapshot, numbers)
        folders = _folders_of(snapshot, gone)
        kept = tuple(each for each in snapshot.inventory.folders if each not in folders)
        after = self._after(snapshot, edit if edits else None, _renumbered(kept, numbers))
        if snapshot.position.scope.certainty is not Certainty.UNVERIFIABLE:
            # The removed files proved what STATE.md counts: it is no claim without files now.
            after = replace(after, claims=after.claims.without_work())
        entry = RoadmapChange(gone.name or f"phase {gone.id.short}", gone.id.short, "removed")
        touched = {gone.id, *numbers, *numbers.values()}
        draft = self._draft(snapshot, edits, after, entry, TreeChanges(moves=moves), touched)
        folder = gone.folder.path if gone.folder else ""
        notes = self._still_named(gone.id, milestone, homes) if edits else ()
        return PhaseEdit(draft, gone.id, gone.name, folder, notes)

    def _still_named(
        self, gone: PhaseId, milestone: str, homes: Collection[str]
    ) -> tuple[str, ...]:
        """The lines that still name a removed phase; they are a person's and stay."""
        left = without_phase(Document(self._files.load(self._roadmap).text), gone, milestone)
        return tuple(
            f"{self._roadmap}:{number}: phase {gone.short} was removed, but is still named: {text}"
            for number, text in lines_naming(left, gone, homes)
        )

    def _completed(
        self, snapshot: ProjectSnapshot, done: Phase, event: PhaseEvent = events.phase_completed
    ) -> PhaseEdit:
        edits, notes = snapshot.roadmap_marks((done,))
        roadmap = self._files.load_if_present(self._roadmap)
        if roadmap and self._files.exists(self._requirements):
            ids = _requirements_met_by(done, snapshot.position, Document(roadmap.text))
            complete = _complete_ids(snapshot, done)
            edits[self._requirements] = edit_of(
                lambda document: requirements.completed(document, ids, complete)
            )
        if not (done.folder and done.folder.verification and done.folder.verification.is_passed):
            notes += (
                f"phase {done.id.short} is not verified: fairlead phase verify {done.id.short}",
            )

        todos = self._todos(done.id)

        def change(state: Document, at: ProjectSnapshot) -> Document:
            moved = event(state, at.position, done.id.short, at.now)
            moved = without_todos(moved, (each.source for each in todos))
            return metrics.with_velocity(moved, at.durations)

        changes = (
            snapshot.state_change(change)
            if self._files.exists(snapshot.state_path)
            else ChangeSet({})
        )
        draft = ChangeSet({**edits, **changes.edits}, TreeChanges(moves=todos), changes.may_create)
        return PhaseEdit(draft, done.id, done.name, done.folder.path if done.folder else "", notes)

    def _todos(self, phase: PhaseId) -> tuple[Move, ...]:
        """Moves of the pending todos that this phase resolves."""
        home = layout.planning_of(self._workstream)
        moves = []
        for name in self._files.names(f"{home}/{PENDING_TODOS}"):
            path = f"{home}/{PENDING_TODOS}/{name}"
            loaded = self._files.load_for_display(path) if name.endswith(".md") else None
            value = Document(loaded.text).value("resolves_phase") if loaded else None
            if isinstance(value, str) and naming.phase_number(value) == phase:
                target = f"{home}/{COMPLETED_TODOS}/{name}"
                if not self._files.exists(target):
                    moves.append(Move(path, target))
        return tuple(moves)

    def _out_of_the_way(self, snapshot: ProjectSnapshot, gone: Phase) -> tuple[Move, ...]:
        return tuple(
            Move(each.path, removed_path(each.path, snapshot.stamp))
            for each in _folders_of(snapshot, gone)
        )

    def _renames(
        self, snapshot: ProjectSnapshot, numbers: dict[PhaseId, PhaseId]
    ) -> tuple[Move, ...]:
        """Moves of renumbered folders in rising order, then of the files inside them."""
        folders: list[Move] = []
        files: list[Move] = []
        inside = {each.folder.path for each in snapshot.position.scope.phases if each.folder}
        inside |= {each.path for each in snapshot.position.scope.duplicates}
        for folder in sorted(
            snapshot.inventory.folders, key=lambda each: each.id or PhaseId.parse("0")
        ):
            new = numbers.get(folder.id) if folder.id and folder.path in inside else None
            if new is None or folder.id is None:
                continue
            parent, _, name = folder.path.rpartition("/")
            target = f"{parent}/{renamed(name, folder.id, new)}"
            folders.append(Move(folder.path, target))
            for below in ("", "/plans"):
                names = {
                    each: renamed(each, folder.id, new)
                    for each in self._files.names(f"{folder.path}{below}")
                }
                files += [
                    Move(f"{target}{below}/{each}", f"{target}{below}/{other}")
                    for each, other in names.items()
                    if other != each
                ]
        return (*folders, *files)

    def _after(
        self,
        snapshot: ProjectSnapshot,
        edit: Edit | None,
        folders: tuple[PhaseFolder, ...] | None = None,
    ) -> Inventory:
        """The inventory after the transaction."""
        inventory = snapshot.with_edits({self._roadmap: edit} if edit else {}).inventory
        return inventory if folders is None else replace(inventory, folders=folders)

    def _draft(
        self,
        snapshot: ProjectSnapshot,
        edits: dict[str, Edit],
        after: Inventory,
        entry: RoadmapChange,
        places: TreeChanges,
        touched: Collection[PhaseId] = (),
    ) -> ChangeSet:
        position = position_of(after)

        def change(state: Document, at: ProjectSnapshot) -> Document:
            placed = with_fresh_position(state, position, touched)
            placed = with_moved_focus(placed, at.position, position)
            placed = metrics.with_plans_completed(placed, position, after)
            return add_roadmap_change(events.synced(placed, position, at.now), entry, at.now)

        changes = (
            snapshot.state_change(change)
            if self._files.exists(snapshot.state_path)
            else ChangeSet({})
        )
        return ChangeSet({**edits, **changes.edits}, places, changes.may_create)

    def _carry_out(
        self, command: str, decide: Callable[[ProjectSnapshot], PhaseEdit], *, dry_run: bool
    ) -> PhaseChange:
        decided: list[PhaseEdit] = []  # the last decision is the one that was written

        def changes(snapshot: ProjectSnapshot) -> ChangeSet:
            decided.append(decide(snapshot))
            return decided[-1].changes

        outcome = self._transact(command, changes, dry_run=dry_run)
        edit = decided[-1]
        number = edit.phase.short if edit.phase else ""
        return PhaseChange(outcome, number, edit.name, edit.folder, edit.notes)


def _requirements_met_by(done: Phase, position: Position, roadmap: Document) -> frozenset[str]:
    if done.listed is None:
        return frozenset()
    still_open = [
        (phase.listed.milestone, phase.id)
        for phase in position.scope.phases
        if phase.listed and phase.id != done.id and not phase.is_complete(position.policy)
    ]
    return requirements_of(roadmap, (done.listed.milestone, done.id), still_open)


def _require_open(snapshot: ProjectSnapshot) -> None:
    """Refuse to add a phase to a shipped milestone."""
    version = snapshot.position.scope.milestone
    milestones = snapshot.inventory.roadmap.milestones
    is_closed = any(each.version == version and each.is_closed for each in milestones)
    if snapshot.position.scope.is_archived or is_closed:
        raise MilestoneShipped(version)


def home_of(snapshot: ProjectSnapshot) -> str:
    """The milestone heading that a new phase goes under; empty if there is none."""
    scope = snapshot.position.scope
    listed = [phase.listed for phase in scope.phases if phase.listed]
    if listed:
        return listed[-1].milestone
    known = {each.version for each in snapshot.inventory.roadmap.milestones}
    return scope.milestone if scope.milestone in known else ""


def require_complete(phase: Phase, policy: Completion) -> None:
    """Refuse to complete a phase unless its files prove it."""
    plans = phase.folder.live_plans if phase.folder else ()
    if not plans:
        raise NoPlans(phase.id.short)
    still_open = [plan for plan in plans if not plan.is_complete]
    if still_open:
        raise PlansOpen.of(phase.id.short, still_open)
    if not phase.is_complete(policy):
        raise NotVerified(phase.id.short)


def _last_before(position: Position, number: PhaseId) -> Phase | None:
    before = [phase for phase in position.scope.phases if phase.id < number]
    return before[-1] if before else None


def _folders_of(snapshot: ProjectSnapshot, phase: Phase) -> tuple[PhaseFolder, ...]:
    """The folder of a phase, and others with the same number."""
    doubles = (each for each in snapshot.position.scope.duplicates if each.id == phase.id)
    return (*((phase.folder,) if phase.folder else ()), *doubles)


def _work_in(folder: PhaseFolder) -> tuple[str, ...]:
    paths = (*(plan.path for plan in folder.plans), *folder.orphans)
    return tuple(path.rpartition("/")[2] for path in paths)


def _renumbered(
    folders: tuple[PhaseFolder, ...], numbers: dict[PhaseId, PhaseId]
) -> tuple[PhaseFolder, ...]:
    return tuple(
        replace(each, id=numbers[each.id]) if each.id in numbers else each for each in folders
    )


def _complete_ids(snapshot: ProjectSnapshot, done: Phase) -> set[PhaseId]:
    policy = snapshot.position.policy
    inside = {each.id for each in snapshot.position.scope.phases}
    complete = {each.id for each in snapshot.position.scope.phases if each.is_complete(policy)}
    before = {
        each.id
        for each in snapshot.inventory.roadmap.phases
        if each.is_checked and each.id not in inside
    }
    return complete | before | {done.id}


def next_number(inventory: Inventory, position: Position) -> PhaseId:
    """The first free whole number after the last phase of the milestone."""
    taken = {phase.number for phase in taken_numbers(inventory)}
    mine = [phase.id.number for phase in position.scope.phases if not position.scope.is_archived]
    if not mine:
        # Numbers go on from one milestone to the next.
        mine = [each.number for each in _all_numbers(inventory)]
    number = max(mine, default=0) + 1
    while number in taken or not is_counted(PhaseId.parse(str(number))):
        number += 1
    return PhaseId.parse(str(number))


def decimal_after(phase: PhaseId, taken: set[PhaseId]) -> PhaseId:
    """The next free decimal: after 4 comes 4.1; after 4.1 comes 4.2, or 4.1.1 if there is one."""
    if phase.decimals:
        sibling = replace(phase, decimals=(*phase.decimals[:-1], phase.decimals[-1] + 1))
        if sibling not in taken:
            return PhaseId.parse(sibling.short)
    depth = len(phase.decimals)
    used = [
        each.decimals[depth]
        for each in taken
        if (each.number, each.letter, each.decimals[:depth])
        == (phase.number, phase.letter, phase.decimals)
        and len(each.decimals) > depth
    ]
    return PhaseId.parse(f"{phase.short}.{max(used, default=0) + 1}")


def shifted(position: Position, gone: PhaseId) -> dict[PhaseId, PhaseId]:
    """The new numbers of the phases after one of them is removed."""
    mine = [phase.id for phase in position.scope.phases if phase.id != gone]
    depth = len(gone.decimals)
    lead = (gone.number, gone.letter, *gone.decimals)
    dependants = tuple(
        each.short
        for each in mine
        if (each.number, each.letter, *each.decimals)[: len(lead)] == lead
        or (not depth and each.number == gone.number)
    )
    if dependants:
        raise NotRenumbered(gone.short, dependants)
    if not depth:
        later = [each for each in mine if each.number > gone.number]
        return {each: PhaseId.parse(replace(each, number=each.number - 1).short) for each in later}
    numbers = {}
    for each in mine:
        head, last = each.decimals[: depth - 1], each.decimals[depth - 1 : depth]
        is_sibling = (each.number, each.letter, head) == (
            gone.number,
            gone.letter,
            gone.decimals[:-1],
        )
        if is_sibling and last and last[0] > gone.decimals[-1]:
            decimals = (*head, last[0] - 1, *each.decimals[depth:])
            numbers[each] = PhaseId.parse(replace(each, decimals=decimals).short)
    return numbers


def taken_numbers(inventory: Inventory) -> set[PhaseId]:
    """The numbers in use: those of open milestones and of active folders."""
    closed = {each.version for each in inventory.roadmap.milestones if each.is_closed}
    listed = {each.id for each in inventory.roadmap.phases if each.milestone not in closed}
    return {
        each
        for each in listed | {folder.id for folder in inventory.folders if folder.id}
        if is_counted(each)
    }


def _all_numbers(inventory: Inventory) -> set[PhaseId]:
    """Every number that is or was in use."""
    listed = {each.id for each in inventory.roadmap.phases}
    folders = (*inventory.folders, *inventory.archived)
    return {
        each for each in listed | {folder.id for folder in folders if folder.id} if is_counted(each)
    }
