"""The documents of one phase: what a workflow reads, and what it writes in one step with the state.

A role never writes here. Its text was read and judged before; the step that puts it in its place
also moves STATE.md and ROADMAP.md, so that no reader ever sees one without the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from fairlead.engine.look import Change, Look, Steps, editing
from fairlead.engine.role_jobs import Outcome as Ended
from fairlead.errors import ChangedMeanwhile, UnknownPhase
from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Folder, Inventory, Phase, Plan, Proof
from fairlead.model.job import JobStatus
from fairlead.model.standing import Standing, standing_of
from fairlead.records import events, naming
from fairlead.records.activity import with_stop
from fairlead.records.position import phase_of
from fairlead.records.requirements_sheet import read_requirements
from fairlead.records.roadmap_marks import marked, reopened_of
from fairlead.records.roadmap_plans import PlanLine, with_plans
from fairlead.records.roadmap_read import Told, told_of
from fairlead.store import layout
from fairlead.store.files import Draft, Edit, Outcome
from fairlead.store.intent import Places
from fairlead.store.layout_roles import artefact_path
from fairlead.store.moves import Move
from fairlead.store.scan import scan
from fairlead.text.document import Document
from fairlead.values import dataclass, replace


@dataclass(frozen=True, slots=True)
class Subject:
    """A phase as a workflow needs it."""

    id: PhaseId
    name: str
    folder: str  # where it is, or will be
    told: Told
    goal: str
    plans: tuple[Plan, ...] = ()
    project: str = ""  # PROJECT.md
    state: str = (
        ""  # decisions, todos and blockers of STATE.md: what steps of a workflow do not move
    )
    requirements: tuple[tuple[str, str], ...] = ()  # of this phase: id and text
    artefacts: Mapping[str, str] | None = (
        None  # CONTEXT, RESEARCH, PATTERNS, VERIFICATION that are there
    )
    places: Mapping[str, str] | None = None  # of the artefacts that are there
    workstream: str = ""

    @property
    def padded(self) -> str:
        """Its number as files have it."""
        return self.id.padded

    def artefact(self, kind: str) -> str:
        """The text of an artefact; empty if there is none."""
        return (self.artefacts or {}).get(kind, "")

    def path(self, kind: str) -> str:
        """Where an artefact of this phase stands."""
        return (self.places or {}).get(kind) or artefact_path(self.folder, self.padded, kind)


@dataclass(frozen=True, slots=True)
class PlanDocument:
    """A plan that is to be written."""

    id: str
    path: str
    text: str
    brief: str
    wave: int


class PhaseDocuments(Steps):
    """Reads and writes the documents of phases."""

    # -- reading ---------------------------------------------------------------------------

    def subject(self, number: str) -> Subject:
        """Everything that is known of a phase now."""
        wanted = PhaseId.parse(number)
        inventory = scan(self._files.folder, workstream=self._workstream)
        standing = standing_of(inventory)
        here = next((each for each in standing.scope.phases if each.id == wanted), None)
        if here is None:
            raise UnknownPhase(number, [each.id.short for each in standing.scope.phases])
        state, roadmap, project, requirements = layout.documents_of(self._workstream)
        milestone = here.listed.milestone if here.listed else ""
        told = told_of(Document(self._text(roadmap)), here.id, milestone)
        sheet = (
            read_requirements(requirements, held) if (held := self._text(requirements)) else None
        )
        wished = {each.id: each.text for each in sheet.now} if sheet else {}
        folder = self._folder(inventory, here)
        names = self._files.names(folder)
        places = {
            kind: f"{folder}/{name}"
            for kind in ("CONTEXT", "RESEARCH", "PATTERNS", "VERIFICATION")
            for name in names
            if naming.is_artefact(name, kind)
        }
        return Subject(
            here.id,
            here.name or here.id.short,
            folder,
            told,
            here.listed.goal if here.listed else "",
            here.folder.plans if here.folder else (),
            self._text(project),
            _accumulated(Document(self._text(state))),
            tuple((each, wished.get(each, "")) for each in told.requirements),
            {kind: self._text(path) for kind, path in places.items()},
            places,
            self._workstream,
        )

    def _folder(self, inventory: Inventory, here: Phase) -> str:
        if here.folder:
            return here.folder.path
        home = f"{layout.planning_of(self._workstream)}/{layout.PHASES_NAME}"
        names = [each.path.rpartition("/")[2] for each in inventory.folders]
        return f"{home}/{naming.folder_for(here.id, here.name, names)}"

    def _text(self, path: str) -> str:
        loaded = self._files.load_if_present(path)
        return loaded.text if loaded else ""

    # -- writing ---------------------------------------------------------------------------

    def write_artefact(
        self, subject: Subject, kind: str, text: str, told: str, *, is_last: bool = False
    ) -> Outcome:
        """An artefact in its place, and STATE.md that tells of it; the last ends the step."""
        path = subject.path(kind)
        before = subject.artefact(kind)

        def decide(look: Look) -> Draft:
            flag = {"CONTEXT": "has_context", "RESEARCH": "has_research"}.get(kind)
            after = _with_folder(look, subject, **({flag: True} if flag else {}))
            standing = standing_of(after)

            def state(held: Document, at: Look) -> Document:
                if is_last:
                    return events.step_left(held, standing, subject.id.short, at.now, told=told)
                return events.artefact_ready(held, standing, told, at.now)

            return self._drafted(look, {path: _over(path, before, text)}, state, subject)

        return self._step(f"write {kind} of phase {subject.id.short}", decide, dry_run=False)

    def texts(self, paths: Iterable[str]) -> dict[str, str]:
        """What stands in documents now; empty: nothing."""
        return {path: self._text(path) for path in paths}

    def write_plans(
        self,
        subject: Subject,
        plans: Sequence[PlanDocument],
        before: Mapping[str, str],
        *,
        is_fit: bool,
    ) -> Outcome:
        """The plans of a phase, the roadmap that lists them, and the state that follows: one step.

        `before` is what stood in their places; anything else there is somebody's work.
        """
        new = {each.path for each in plans}

        def decide(look: Look) -> Draft:
            here = phase_of(look.standing, subject.id.short)
            old = here.folder.live_plans if here.folder else ()
            kept = [each for each in old if each.proof is not Proof.NONE]
            if any(each.path in new for each in kept):  # carried out while others were made
                raise ChangedMeanwhile(subject.folder)
            gone = [each for each in old if each not in kept and each.path not in new]
            made = [
                Plan(each.id, each.path, "", Proof.NONE, False, 1, not is_fit) for each in plans
            ]
            after = _with_folder(look, subject, plans=(*kept, *made))
            standing = standing_of(after)
            edits: dict[str, Edit] = {
                each.path: _over(each.path, before[each.path], each.text) for each in plans
            }
            edits |= self._listed(look, subject, standing, kept, plans)
            moves = tuple(
                Move(each.path, layout.removed_path(each.path, look.stamp)) for each in gone
            )

            def state(held: Document, at: Look) -> Document:
                if is_fit:
                    ready = events.plans_ready(held, standing, subject.id.short, at.now)
                    return with_stop(ready, f"Phase {subject.id.short} planning complete")
                told = f"Phase {subject.id.short} planned — the plans failed their check"
                return events.step_left(held, standing, subject.id.short, at.now, told=told)

            return self._drafted(look, edits, state, subject, moves)

        return self._step(f"phase plan {subject.id.short}", decide, dry_run=False)

    def worked_on(self, subject: Subject, step: str, work: Callable[[], Ended]) -> Ended:
        """A phase is the active one while a workflow lasts; who leaves it undone says so."""
        number = subject.id.short
        begins, name = {
            "plan": (events.planning_started, "planning"),
            "discuss": (events.discussion_started, "discussion"),
        }[step]
        self._told(
            f"{step} phase {number}", lambda held, at: begins(held, at.standing, number, at.now)
        )
        ended = None
        try:
            ended = work()
        finally:
            if ended is None or ended.status is not JobStatus.DONE:
                told = f"Phase {number} {name} stopped"
                self._told(
                    f"leave phase {number}",
                    lambda held, at: events.step_left(held, at.standing, number, at.now, told=told),
                )
        return ended

    def _told(self, command: str, state: Change) -> None:
        def decide(look: Look) -> Draft:
            return look.draft(state) if self._files.exists(look.state_path) else Draft({})

        self._step(command, decide, dry_run=False)

    def _listed(
        self,
        look: Look,
        subject: Subject,
        standing: Standing,
        kept: Sequence[Plan],
        plans: Sequence[PlanDocument],
    ) -> dict[str, Edit]:
        _, roadmap, _, _ = layout.documents_of(self._workstream)
        if not self._files.exists(roadmap):
            return {}
        after = phase_of(standing, subject.id.short)
        milestone = after.listed.milestone if after.listed else ""
        done = [PlanLine(each.id, "", 1, each.is_complete) for each in kept]
        lines = [*done, *(PlanLine(each.id, each.brief, each.wave) for each in plans)]
        proven = [reopened_of(after, standing.policy)]

        def change(held: Document) -> Document:
            listed = with_plans(held, subject.id, milestone, lines)
            return marked(listed, proven, f"{look.now:%Y-%m-%d}").document

        return {roadmap: editing(change)}

    def _drafted(
        self,
        look: Look,
        edits: Mapping[str, Edit],
        state: Change,
        subject: Subject,
        moves: tuple[Move, ...] = (),
    ) -> Draft:
        held = look.draft(state) if self._files.exists(look.state_path) else Draft({})
        places = Places(moves=moves, folders=() if not edits else (subject.folder,))
        may_create = frozenset((*edits, *held.may_create)) - {
            layout.documents_of(self._workstream)[1]
        }
        return Draft({**edits, **held.edits}, places, may_create)


def _accumulated(document: Document) -> str:
    section = document.section("Accumulated Context")
    lines = document.section_lines(section) if section else ()
    return "\n".join(line.text for line in lines).strip()


def _over(path: str, before: str, text: str) -> Edit:
    """Put a text in the place of what was there; what somebody wrote since then stays."""

    def edit(old: str) -> str:
        if old not in (before, text):
            raise ChangedMeanwhile(path)
        return text

    return edit


def _with_folder(look: Look, subject: Subject, **changes: object) -> Inventory:
    """The inventory as it will be when the documents of this phase are there."""
    inventory = look.inventory
    old = next((each for each in inventory.folders if each.path == subject.folder), None)
    if old is None:
        slug = subject.folder.rpartition("/")[2].partition("-")[2]
        empty = Folder(subject.id, slug, subject.folder, "", (), (), None, False, False)
        folders = (*inventory.folders, replace(empty, **changes))  # type: ignore[arg-type]
    else:
        new = replace(old, **changes)  # type: ignore[arg-type]
        folders = tuple(new if each is old else each for each in inventory.folders)
    return replace(inventory, folders=folders)
