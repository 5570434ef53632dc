"""Phases: added, inserted, removed and completed, each in one step over all files it touches.

What follows from a change is derived before it is made: the roadmap as it will be and the
folders as they will stand give the numbers that STATE.md gets in the same step.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime

from fairlead.engine.look import Look, Steps, editing
from fairlead.engine.ports import Clock
from fairlead.errors import (
    Located,
    MilestoneShipped,
    NoPlans,
    NotVerified,
    PhaseStarted,
    PlansOpen,
)
from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Completion, Folder, Inventory, Phase
from fairlead.model.numbering import decimal_after, next_number, shifted, taken_numbers
from fairlead.model.standing import Standing, standing_of
from fairlead.records import events, metrics, naming, requirements
from fairlead.records.activity import with_moved_focus
from fairlead.records.evolution import Evolution, add_evolution
from fairlead.records.position import phase_of, with_fresh_position
from fairlead.records.renumber import lines_naming, renamed, renumbered_roadmap, renumbered_table
from fairlead.records.roadmap import read_roadmap
from fairlead.records.roadmap_edit import NewPhase, with_phase, without_phase
from fairlead.records.roadmap_read import requirements_of
from fairlead.records.todo import without_todos
from fairlead.store import layout
from fairlead.store.files import Draft, Edit, Files, Outcome
from fairlead.store.intent import Places
from fairlead.store.moves import Move
from fairlead.text.document import Document
from fairlead.values import dataclass, replace

Also = Callable[[PhaseId], Mapping[str, Edit]]
Event = Callable[[Document, Standing, str, datetime], Document]


@dataclass(frozen=True, slots=True)
class PhaseChange:
    """What became of a phase."""

    outcome: Outcome
    phase: str
    name: str
    folder: str  # where it is, or was; empty if it has none
    notes: tuple[str, ...] = ()  # what a person should look at


@dataclass(frozen=True, slots=True)
class Decision:
    """A draft, and what is told of it."""

    draft: Draft
    phase: PhaseId | None = None
    name: str = ""
    folder: str = ""
    notes: tuple[str, ...] = ()


class Phases(Steps):
    """Changes the phases of one project."""

    def __init__(self, files: Files, clock: Clock, workstream: str = "") -> None:
        super().__init__(files, clock, workstream)
        _, self._roadmap, _, self._requirements = layout.documents_of(workstream)

    def add(
        self, name: str, *, goal: str = "", also: Also | None = None, dry_run: bool = False
    ) -> PhaseChange:
        """A phase more, after the last one of the milestone; `also` is written in the same step."""

        def decide(look: Look) -> Decision:
            _require_open(look)
            number = next_number(look.inventory, look.standing)
            before = _last_before(look.standing, number)
            depends = f"Phase {before.id.short}" if before else "Nothing (first phase)"
            phase = NewPhase(number, name, home_of(look), goal, depends)
            more = also(number) if also else None
            return self._written(look, phase, Evolution(name, number.short, "added"), more)

        return self._carry_out("phase add", decide, dry_run=dry_run)

    def insert(
        self, after: str, name: str, *, goal: str = "", dry_run: bool = False
    ) -> PhaseChange:
        """A phase between two others, with a decimal number."""

        def decide(look: Look) -> Decision:
            _require_open(look)
            here = phase_of(look.standing, after)
            number = decimal_after(here.id, taken_numbers(look.inventory))
            home = here.listed.milestone if here.listed else home_of(look)
            phase = NewPhase(number, name, home, goal, f"Phase {here.id.short}", True)
            told = Evolution(name, number.short, "inserted", here.id.short)
            return self._written(look, phase, told)

        return self._carry_out("phase insert", decide, dry_run=dry_run)

    def remove(
        self, phase: str, *, force: bool = False, renumber: bool = False, dry_run: bool = False
    ) -> PhaseChange:
        """A phase less. Its folder is moved out of the way; what is in it is never deleted."""

        def decide(look: Look) -> Decision:
            gone = phase_of(look.standing, phase)
            if look.standing.scope.is_archived:
                raise MilestoneShipped(look.standing.scope.milestone)
            work = tuple(name for each in _folders_of(look, gone) for name in _work_in(each))
            if work and not force:
                raise PhaseStarted(gone.id.short, work)
            numbers = shifted(look.standing, gone.id) if renumber else {}
            return self._removed(look, gone, numbers)

        return self._carry_out("phase remove", decide, dry_run=dry_run)

    def complete(self, phase: str, *, dry_run: bool = False) -> PhaseChange:
        """A phase is done: roadmap, requirements, state and todos say so."""

        def decide(look: Look) -> Decision:
            done = phase_of(look.standing, phase)
            require_complete(done, look.standing.policy)
            return self._completed(look, done)

        return self._carry_out("phase complete", decide, dry_run=dry_run)

    def update_progress(self, phase: str = "", *, dry_run: bool = False) -> PhaseChange:
        """The marks of the roadmap as the files prove them."""

        def decide(look: Look) -> Decision:
            standing = look.standing
            self._files.load(self._roadmap)  # it must be there
            chosen = (phase_of(standing, phase),) if phase else standing.scope.phases
            edits, notes = look.marking(chosen)
            return Decision(Draft(edits), notes=notes)

        return self._carry_out("roadmap update-progress", decide, dry_run=dry_run)

    # -- the parts of a decision ----------------------------------------------------------

    def _written(
        self, look: Look, phase: NewPhase, told: Evolution, more: Mapping[str, Edit] | None = None
    ) -> Decision:
        edit = editing(lambda held: with_phase(held, phase))
        after = self._after(look, edit)
        home = f"{layout.planning_of(self._workstream)}/{layout.PHASES_NAME}"
        names = [each.path.rpartition("/")[2] for each in look.inventory.folders]
        folder = f"{home}/{naming.folder_for(phase.id, phase.name, names)}"
        edits = {self._roadmap: edit, **(more or {})}
        draft = self._draft(look, edits, after, told, Places(folders=(folder,)))
        draft = replace(draft, may_create=draft.may_create | frozenset(more or ()))
        return Decision(draft, phase.id, phase.name, folder)

    def _removed(self, look: Look, gone: Phase, numbers: dict[PhaseId, PhaseId]) -> Decision:
        milestone = gone.listed.milestone if gone.listed else ""
        homes = {each.listed.milestone for each in look.standing.scope.phases if each.listed}

        def change(held: Document) -> Document:
            shorter = without_phase(held, gone.id, milestone)
            if not numbers:
                return shorter
            return renumbered_roadmap(shorter, numbers, homes, removed=gone.id)

        edit = editing(change)
        edits: dict[str, Edit] = {}
        if self._files.exists(self._roadmap):
            edits[self._roadmap] = edit
        if numbers and self._files.exists(self._requirements):
            edits[self._requirements] = editing(
                lambda held: renumbered_table(held, numbers, removed=gone.id)
            )
        moves = self._out_of_the_way(look, gone) + self._renames(look, numbers)
        held = _folders_of(look, gone)
        kept = tuple(each for each in look.inventory.folders if each not in held)
        after = self._after(look, edit if edits else None, _renumbered(kept, numbers))
        told = Evolution(gone.name or f"phase {gone.id.short}", gone.id.short, "removed")
        touched = {gone.id, *numbers, *numbers.values()}
        draft = self._draft(look, edits, after, told, Places(moves=moves), touched)
        folder = gone.folder.path if gone.folder else ""
        notes = self._still_named(gone.id, milestone, homes) if edits else ()
        return Decision(draft, gone.id, gone.name, folder, notes)

    def _still_named(
        self, gone: PhaseId, milestone: str, homes: Collection[str]
    ) -> tuple[str, ...]:
        """What others say of a removed phase: their words are a person's, and stay."""
        left = without_phase(Document(self._files.load(self._roadmap).text), gone, milestone)
        return tuple(
            f"{self._roadmap}:{number}: phase {gone.short} is removed, and still named: {text}"
            for number, text in lines_naming(left, gone, homes)
        )

    def _completed(
        self, look: Look, done: Phase, event: Event = events.phase_completed
    ) -> Decision:
        edits, notes = look.marking((done,))
        roadmap = self._files.load_if_present(self._roadmap)
        if roadmap and self._files.exists(self._requirements):
            standing, document = look.standing, Document(roadmap.text)
            ids = requirements_of(document, standing.scope.phases, done, standing.policy)
            complete = _complete_ids(look, done)
            edits[self._requirements] = editing(
                lambda held: requirements.completed(held, ids, complete)
            )
        if not (done.folder and done.folder.verification and done.folder.verification.is_passed):
            notes += (
                f"phase {done.id.short} is not verified: fairlead phase verify {done.id.short}",
            )

        todos = self._todos(done.id)

        def state(held: Document, at: Look) -> Document:
            moved = event(held, at.standing, done.id.short, at.now)
            moved = without_todos(moved, (each.source for each in todos))
            return metrics.with_plans_completed(moved, at.standing, at.inventory)

        held = look.draft(state) if self._files.exists(look.state_path) else Draft({})
        draft = Draft({**edits, **held.edits}, Places(moves=todos), held.may_create)
        return Decision(draft, done.id, done.name, done.folder.path if done.folder else "", notes)

    def _todos(self, phase: PhaseId) -> tuple[Move, ...]:
        """The pending todos that this phase resolves go to the completed ones."""
        home = layout.planning_of(self._workstream)
        moves = []
        for name in self._files.names(f"{home}/{layout.PENDING_TODOS}"):
            path = f"{home}/{layout.PENDING_TODOS}/{name}"
            loaded = self._files.load_for_display(path) if name.endswith(".md") else None
            value = Document(loaded.text).value("resolves_phase") if loaded else None
            if isinstance(value, str) and naming.phase_number(value) == phase:
                target = f"{home}/{layout.COMPLETED_TODOS}/{name}"
                if not self._files.exists(target):
                    moves.append(Move(path, target))
        return tuple(moves)

    def _out_of_the_way(self, look: Look, gone: Phase) -> tuple[Move, ...]:
        return tuple(
            Move(each.path, layout.removed_path(each.path, look.stamp))
            for each in _folders_of(look, gone)
        )

    def _renames(self, look: Look, numbers: dict[PhaseId, PhaseId]) -> tuple[Move, ...]:
        """Folders first, in rising order, then the files in them at their new place."""
        folders: list[Move] = []
        files: list[Move] = []
        inside = {each.folder.path for each in look.standing.scope.phases if each.folder}
        inside |= {each.path for each in look.standing.scope.duplicates}
        for folder in sorted(
            look.inventory.folders, key=lambda each: each.id or PhaseId.parse("0")
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
        self, look: Look, edit: Edit | None, folders: tuple[Folder, ...] | None = None
    ) -> Inventory:
        """The inventory as it will be when the step is made."""
        inventory = look.inventory
        if edit is not None:
            with Located(self._roadmap):
                new = edit(self._files.load(self._roadmap).text)
            inventory = replace(inventory, roadmap=read_roadmap(Document(new)))
        return inventory if folders is None else replace(inventory, folders=folders)

    def _draft(
        self,
        look: Look,
        edits: dict[str, Edit],
        after: Inventory,
        told: Evolution,
        places: Places,
        touched: Collection[PhaseId] = (),
    ) -> Draft:
        standing = standing_of(after)

        def state(held: Document, at: Look) -> Document:
            placed = with_fresh_position(held, standing, touched)
            placed = with_moved_focus(placed, at.standing, standing)
            placed = metrics.with_plans_completed(placed, standing, after)
            return add_evolution(events.synced(placed, standing, at.now), told, at.now)

        held = look.draft(state) if self._files.exists(look.state_path) else Draft({})
        return Draft({**edits, **held.edits}, places, held.may_create)

    def _carry_out(
        self, command: str, decide: Callable[[Look], Decision], *, dry_run: bool
    ) -> PhaseChange:
        decided: list[Decision] = []

        def draft(look: Look) -> Draft:
            decided.append(decide(look))
            return decided[-1].draft

        outcome = self._step(command, draft, dry_run=dry_run)
        told = decided[-1]
        number = told.phase.short if told.phase else ""
        return PhaseChange(outcome, number, told.name, told.folder, told.notes)


def _require_open(look: Look) -> None:
    """Refuse to add to a milestone that is over."""
    version = look.standing.scope.milestone
    milestones = look.inventory.roadmap.milestones
    is_closed = any(each.version == version and each.is_closed for each in milestones)
    if look.standing.scope.is_archived or is_closed:
        raise MilestoneShipped(version)


def home_of(look: Look) -> str:
    """The milestone that the roadmap lists the phases of the scope under; empty if under none."""
    scope = look.standing.scope
    listed = [phase.listed for phase in scope.phases if phase.listed]
    if listed:
        return listed[-1].milestone
    known = {each.version for each in look.inventory.roadmap.milestones}
    return scope.milestone if scope.milestone in known else ""


def require_complete(phase: Phase, policy: Completion) -> None:
    """Refuse to complete a phase whose files do not prove it."""
    plans = phase.folder.live_plans if phase.folder else ()
    if not plans:
        raise NoPlans(phase.id.short)
    still_open = tuple(plan.path.rpartition("/")[2] for plan in plans if not plan.is_complete)
    if still_open:
        raise PlansOpen(phase.id.short, still_open)
    if not phase.is_complete(policy):
        raise NotVerified(phase.id.short)


def _last_before(standing: Standing, number: PhaseId) -> Phase | None:
    before = [phase for phase in standing.scope.phases if phase.id < number]
    return before[-1] if before else None


def _folders_of(look: Look, phase: Phase) -> tuple[Folder, ...]:
    """Its folder, and others with the same number."""
    doubles = (each for each in look.standing.scope.duplicates if each.id == phase.id)
    return (*((phase.folder,) if phase.folder else ()), *doubles)


def _work_in(folder: Folder) -> tuple[str, ...]:
    paths = (*(plan.path for plan in folder.plans), *folder.orphans)
    return tuple(path.rpartition("/")[2] for path in paths)


def _renumbered(folders: tuple[Folder, ...], numbers: dict[PhaseId, PhaseId]) -> tuple[Folder, ...]:
    return tuple(
        replace(each, id=numbers[each.id]) if each.id in numbers else each for each in folders
    )


def _complete_ids(look: Look, done: Phase) -> set[PhaseId]:
    policy = look.standing.policy
    inside = {each.id for each in look.standing.scope.phases}
    complete = {each.id for each in look.standing.scope.phases if each.is_complete(policy)}
    before = {
        each.id
        for each in look.inventory.roadmap.phases
        if each.is_checked and each.id not in inside
    }
    return complete | before | {done.id}
