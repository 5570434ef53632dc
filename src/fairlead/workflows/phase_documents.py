"""The documents of one phase: reads them for a workflow, and writes them together with STATE.md.

A role never writes here: its text has been read and checked before. One transaction writes the
document, STATE.md and ROADMAP.md, so that no reader sees one without the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from fairlead.core.ids import PhaseId
from fairlead.core.values import dataclass, field, replace
from fairlead.jobs.model import JobStatus
from fairlead.jobs.paths import artefact_path
from fairlead.project import naming
from fairlead.project.derive.inventory import Inventory, Phase, PhaseFolder, Plan, Proof
from fairlead.project.derive.position import Position, position_of
from fairlead.project.derive.progress import reopened_of
from fairlead.project.derive.scan import scan
from fairlead.project.errors import UnknownPhase
from fairlead.project.paths import PHASES_NAME
from fairlead.project.roadmap.marks import marked
from fairlead.project.roadmap.phase_details import (
    PhaseSection,
    PlanLine,
    phase_section_of,
    with_plans,
)
from fairlead.project.service import Change, ProjectService, ProjectSnapshot, edit_of
from fairlead.project.state import edits as events
from fairlead.project.state.activity import with_stop
from fairlead.project.state.digest import phase_in_scope
from fairlead.store import layout
from fairlead.store.errors import ChangedMeanwhile
from fairlead.store.files import ChangeSet, Edit, WriteOutcome
from fairlead.store.intent import TreeChanges
from fairlead.store.moves import Move
from fairlead.store.staging import removed_path
from fairlead.text.document import Document
from fairlead.workflows.new_documents import read_requirements
from fairlead.workflows.service import WorkflowEnd

_KINDS = ("CONTEXT", "RESEARCH", "PATTERNS", "VERIFICATION")


@dataclass(frozen=True, slots=True)
class PhaseSubject:
    """A phase as a workflow needs it."""

    id: PhaseId
    name: str
    folder: str  # existing, or to be created
    details: PhaseSection
    goal: str
    plans: tuple[Plan, ...] = ()
    project: str = ""  # PROJECT.md
    # Decisions, todos and blockers of STATE.md: the part that a workflow itself does not change.
    state: str = ""
    requirements: tuple[tuple[str, str], ...] = ()  # of this phase: id and text
    artefacts: Mapping[str, str] = field(default_factory=dict)  # text by kind, see `_KINDS`
    places: Mapping[str, str] = field(default_factory=dict)  # path by kind
    workstream: str = ""

    @property
    def padded(self) -> str:
        """Its number as in file names."""
        return self.id.padded

    def artefact(self, kind: str) -> str:
        """The text of an artefact; empty if there is none."""
        return self.artefacts.get(kind, "")

    def path(self, kind: str) -> str:
        """The path of an artefact, existing or new."""
        return self.places.get(kind) or artefact_path(self.folder, self.padded, kind)

    @property
    def section_text(self) -> str:
        """Its section of the roadmap, for prompts."""
        return self.details.section or f"Phase {self.id.short}: {self.name}"

    @property
    def requirements_text(self) -> str:
        """Its requirements, for prompts."""
        return "\n".join(f"{name}: {text}" for name, text in self.requirements)


@dataclass(frozen=True, slots=True)
class NewPlanFile:
    """A plan to be written."""

    id: str
    path: str
    text: str
    brief: str
    wave: int


class PhaseDocuments(ProjectService):
    """Reads and writes the documents of phases."""

    # -- reading ---------------------------------------------------------------------------

    def subject(self, number: str) -> PhaseSubject:
        """Everything that the documents say about a phase."""
        id_ = PhaseId.parse(number)
        unchecked = self._files.unchecked()
        inventory = scan(self._files.folder, workstream=self._workstream, unchecked=unchecked)
        position = position_of(inventory)
        phases = position.scope.phases
        phase = next((each for each in phases if each.id == id_), None)
        if phase is None:
            raise UnknownPhase(number, [each.id.short for each in phases])
        state, roadmap, project, requirements = layout.documents_of(self._workstream)
        milestone = phase.listed.milestone if phase.listed else ""
        details = phase_section_of(Document(self._text(roadmap)), phase.id, milestone)
        text = self._text(requirements)
        listed = read_requirements(requirements, text).now if text else ()
        texts = {each.id: each.text for each in listed}
        folder = self._folder(inventory, phase)
        names = self._files.names(folder)
        places = {
            kind: f"{folder}/{name}"
            for kind in _KINDS
            for name in names
            if naming.is_artefact(name, kind)
        }
        return PhaseSubject(
            phase.id,
            phase.name or phase.id.short,
            folder,
            details,
            phase.listed.goal if phase.listed else "",
            phase.folder.plans if phase.folder else (),
            self._text(project),
            _accumulated(Document(self._text(state))),
            tuple((name, texts.get(name, "")) for name in details.requirements),
            {kind: self._text(path) for kind, path in places.items()},
            places,
            self._workstream,
        )

    def _folder(self, inventory: Inventory, phase: Phase) -> str:
        if phase.folder:
            return phase.folder.path
        parent = f"{layout.planning_of(self._workstream)}/{PHASES_NAME}"
        names = [folder.path.rpartition("/")[2] for folder in inventory.folders]
        return f"{parent}/{naming.folder_for(phase.id, phase.name, names)}"

    def _text(self, path: str) -> str:
        loaded = self._files.load_if_present(path)
        return loaded.text if loaded else ""

    # -- writing ---------------------------------------------------------------------------

    def write_artefact(
        self, subject: PhaseSubject, kind: str, text: str, event: str, *, is_last: bool = False
    ) -> WriteOutcome:
        """Write an artefact and record the event in STATE.md; the last one ends the step."""
        path = subject.path(kind)
        before = subject.artefact(kind)

        def decide(look: ProjectSnapshot) -> ChangeSet:
            flag = {"CONTEXT": "has_context", "RESEARCH": "has_research"}.get(kind)
            after = _with_folder(look, subject, **({flag: True} if flag else {}))
            position = position_of(after)

            def state(document: Document, at: ProjectSnapshot) -> Document:
                if is_last:
                    return events.step_stopped(
                        document, position, subject.id.short, at.now, event=event
                    )
                return events.artefact_ready(document, position, event, at.now)

            edits = {path: _replacement(path, before, text)}
            return self._with_state(look, edits, state, subject)

        return self._transact(f"write {kind} of phase {subject.id.short}", decide, dry_run=False)

    def texts(self, paths: Iterable[str]) -> dict[str, str]:
        """The present texts of documents; empty if a document does not exist."""
        return {path: self._text(path) for path in paths}

    def write_plans(
        self,
        subject: PhaseSubject,
        plans: Sequence[NewPlanFile],
        before: Mapping[str, str],
        *,
        is_fit: bool,
    ) -> WriteOutcome:
        """Write the plans of a phase with the roadmap that lists them and the state, in one step.

        `before` has the texts that the plans may replace; any other text is a conflict.
        """
        paths = {plan.path for plan in plans}

        def decide(look: ProjectSnapshot) -> ChangeSet:
            phase = phase_in_scope(look.position, subject.id.short)
            old = phase.folder.live_plans if phase.folder else ()
            kept = [plan for plan in old if plan.proof is not Proof.NONE]
            if any(plan.path in paths for plan in kept):  # executed while this run was planning
                raise ChangedMeanwhile(subject.folder)
            gone = [plan for plan in old if plan not in kept and plan.path not in paths]
            new = [Plan(each.id, each.path, "", Proof.NONE, False, 1, not is_fit) for each in plans]
            after = _with_folder(look, subject, plans=(*kept, *new))
            position = position_of(after)
            edits: dict[str, Edit] = {
                plan.path: _replacement(plan.path, before[plan.path], plan.text) for plan in plans
            }
            edits |= self._roadmap_edits(look, subject, position, kept, plans)
            moves = tuple(Move(plan.path, removed_path(plan.path, look.stamp)) for plan in gone)

            def state(document: Document, at: ProjectSnapshot) -> Document:
                number = subject.id.short
                if is_fit:
                    ready = events.plans_ready(document, position, number, at.now)
                    return with_stop(ready, f"Phase {number} planning complete")
                event = f"Phase {number} planned — the plans failed their check"
                return events.step_stopped(document, position, number, at.now, event=event)

            return self._with_state(look, edits, state, subject, moves)

        return self._transact(f"phase plan {subject.id.short}", decide, dry_run=False)

    def run_as_active(
        self, subject: PhaseSubject, step: str, work: Callable[[], WorkflowEnd]
    ) -> WorkflowEnd:
        """Run a step with the phase as the active one; record it if the step is not completed."""
        number = subject.id.short
        start, name = {
            "plan": (events.planning_started, "planning"),
            "discuss": (events.discussion_started, "discussion"),
        }[step]
        self._change_state(
            f"{step} phase {number}",
            lambda document, at: start(document, at.position, number, at.now),
        )
        end = None
        try:
            end = work()
        finally:
            if end is None or end.status is not JobStatus.DONE:
                event = f"Phase {number} {name} stopped"
                self._change_state(
                    f"leave phase {number}",
                    lambda document, at: events.step_stopped(
                        document, at.position, number, at.now, event=event
                    ),
                )
        return end

    def _change_state(self, command: str, change: Change) -> None:
        self._transact(command, lambda look: self._state_edits(look, change), dry_run=False)

    def _state_edits(self, look: ProjectSnapshot, change: Change) -> ChangeSet:
        """The change of STATE.md; nothing in a project that has none."""
        return look.state_change(change) if self._files.exists(look.state_path) else ChangeSet({})

    def _roadmap_edits(
        self,
        look: ProjectSnapshot,
        subject: PhaseSubject,
        position: Position,
        kept: Sequence[Plan],
        plans: Sequence[NewPlanFile],
    ) -> dict[str, Edit]:
        _, roadmap, _, _ = layout.documents_of(self._workstream)
        if not self._files.exists(roadmap):
            return {}
        after = phase_in_scope(position, subject.id.short)
        milestone = after.listed.milestone if after.listed else ""
        lines = [PlanLine(plan.id, "", 1, plan.is_complete) for plan in kept]
        lines += [PlanLine(plan.id, plan.brief, plan.wave) for plan in plans]
        proven = [reopened_of(after, position.policy)]

        def change(document: Document) -> Document:
            listed = with_plans(document, subject.id, milestone, lines)
            return marked(listed, proven, f"{look.now:%Y-%m-%d}").document

        return {roadmap: edit_of(change)}

    def _with_state(
        self,
        look: ProjectSnapshot,
        edits: Mapping[str, Edit],
        state: Change,
        subject: PhaseSubject,
        moves: tuple[Move, ...] = (),
    ) -> ChangeSet:
        """The edits of a phase together with the change of STATE.md."""
        change = self._state_edits(look, state)
        places = TreeChanges(moves=moves, folders=(subject.folder,) if edits else ())
        _, roadmap, _, _ = layout.documents_of(self._workstream)
        may_create = frozenset((*edits, *change.may_create)) - {roadmap}
        return ChangeSet({**edits, **change.edits}, places, may_create)


def _accumulated(document: Document) -> str:
    section = document.section("Accumulated Context")
    lines = document.section_lines(section) if section else ()
    return "\n".join(line.text for line in lines).strip()


def _replacement(path: str, before: str, text: str) -> Edit:
    """Replace a known text; raise if the document has changed since it was read."""

    def edit(old: str) -> str:
        if old not in (before, text):
            raise ChangedMeanwhile(path)
        return text

    return edit


def _with_folder(look: ProjectSnapshot, subject: PhaseSubject, **changes: object) -> Inventory:
    """The inventory as it will be once the documents of this phase are written."""
    inventory = look.inventory
    folders = inventory.folders
    old = next((folder for folder in folders if folder.path == subject.folder), None)
    if old is None:
        slug = subject.folder.rpartition("/")[2].partition("-")[2]
        empty = PhaseFolder(subject.id, slug, subject.folder, "", (), (), None, False, False)
        folders = (*folders, replace(empty, **changes))  # type: ignore[arg-type]
    else:
        new = replace(old, **changes)  # type: ignore[arg-type]
        folders = tuple(new if folder is old else folder for folder in folders)
    return replace(inventory, folders=folders)
