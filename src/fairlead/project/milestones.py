"""Milestones: open one, close one, each in one transaction.

Closing moves the phase folders and the requirements into the archive, keeps a copy of the roadmap
beside them and marks the milestone wherever it is named. Nothing that a person wrote is deleted,
and foreign keys of STATE.md stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from fairlead.core.clock import Clock
from fairlead.core.errors import Located, MalformedId
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass, replace
from fairlead.project.derive.inventory import Inventory, Stage
from fairlead.project.derive.position import Position, position_of
from fairlead.project.derive.progress import proven_of
from fairlead.project.derive.scope import Scope
from fairlead.project.errors import (
    MilestoneNotClosed,
    MilestoneOpen,
    MilestoneShipped,
    MilestoneUnnamed,
    UnknownMilestone,
)
from fairlead.project.first_documents import fresh_requirements
from fairlead.project.paths import AUDIT, SHIPPED_NAME, archived_document, archived_phases
from fairlead.project.roadmap.documents import read_roadmap
from fairlead.project.roadmap.marks import marked
from fairlead.project.roadmap.milestone_edit import Closing, Shipped, closed, opened, with_shipped
from fairlead.project.service import Change, ProjectService, ProjectSnapshot, edit_of
from fairlead.project.state.activity import with_activity, with_moved_focus
from fairlead.project.state.digest import awaiting_verification, is_paused, with_status
from fairlead.project.state.documents import stamped, with_milestone
from fairlead.project.state.edits import synced
from fairlead.project.templates import template
from fairlead.store import layout
from fairlead.store.errors import FileExists
from fairlead.store.files import ChangeSet, Edit, Files, WriteOutcome
from fairlead.store.intent import TreeChanges
from fairlead.store.moves import Move
from fairlead.text.document import Document
from fairlead.text.errors import UnwritableValue
from fairlead.text.inline import one_line

_VERSION = lazy_pattern(r"v[0-9]{1,6}(?:\.[0-9]{1,6})+\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MilestoneChange:
    """The result of opening or closing a milestone."""

    outcome: WriteOutcome
    version: str
    name: str
    phases: int
    plans: int


@dataclass(frozen=True, slots=True)
class _MilestoneView:
    """The milestone that a decision is about."""

    snapshot: ProjectSnapshot
    position: Position
    version: str
    name: str

    @property
    def scope(self) -> Scope:
        return self.position.scope

    @property
    def date(self) -> str:
        return f"{self.snapshot.now:%Y-%m-%d}"


class Milestones(ProjectService):
    """Changes the milestones of one project."""

    def __init__(self, files: Files, clock: Clock, workstream: str = "") -> None:
        super().__init__(files, clock, workstream)
        self._home = layout.planning_of(workstream)
        _, self._roadmap, self._project, self._requirements = layout.documents_of(workstream)

    def require_name(self, name: str) -> None:
        """Refuse a name that looks like a version."""
        if _VERSION.match(name.strip()):
            raise MilestoneUnnamed(name.strip())

    def new(self, version: str, name: str, *, dry_run: bool = False) -> MilestoneChange:
        """Open a milestone; the current one must be closed or have no phases."""
        version = _normal(version)
        one_line(name, "the name")
        template(layout.REQUIREMENTS_NAME)

        def decide(snapshot: ProjectSnapshot) -> ChangeSet:
            view = _MilestoneView(snapshot, snapshot.position, version, name)
            known = {each.version: each for each in snapshot.inventory.roadmap.milestones}
            if version in known and known[version].is_closed:
                raise MilestoneShipped(version)
            is_current = view.scope.milestone == version
            if not is_current and view.scope.phases and not view.scope.is_archived:
                raise MilestoneNotClosed(view.scope.milestone)
            if is_current and version in known:
                return ChangeSet({})
            return self._opening(view)

        return self._carry_out("milestone new", decide, version, name, dry_run=dry_run)

    def follow(
        self, name: str, version: str = "", *, dry_run: bool = False
    ) -> tuple[MilestoneChange, ...]:
        """Archive the current milestone if all its phases are complete, and open the next one.

        These are two transactions: after a crash between them, the same call does the second. A
        dry run shows only the first, because the second depends on what it leaves.
        """
        snapshot = ProjectSnapshot(self._files, self._clock.now(), self._workstream)
        position = snapshot.position
        scope, changes = position.scope, []
        is_done = position.is_complete and not scope.is_archived
        if is_done and scope.milestone and _normal(version or "v0.0") != scope.milestone:
            changes.append(self.complete(scope.milestone, dry_run=dry_run))
            if dry_run:
                return tuple(changes)
        changes.append(
            self.new(version or _next_version(snapshot.inventory), name, dry_run=dry_run)
        )
        return tuple(changes)

    def complete(
        self, version: str, *, force: bool = False, reason: str = "", dry_run: bool = False
    ) -> MilestoneChange:
        """Close the current milestone and archive its phases and documents."""
        if force and not reason.strip():
            raise UnwritableValue("--reason", "is needed with --force")

        def decide(snapshot: ProjectSnapshot) -> ChangeSet:
            scope = snapshot.position.scope
            chosen = _chosen(version, scope)
            if scope.is_archived and chosen == scope.milestone:
                return ChangeSet({})
            name = scope.milestone_name or _recorded_name(snapshot)
            view = _MilestoneView(snapshot, snapshot.position, chosen, name)
            still_open = tuple(
                each.id.short
                for each in scope.phases
                if not each.is_complete(snapshot.position.policy)
            )
            if (still_open or not scope.phases) and not force:
                raise MilestoneOpen(chosen, still_open)
            return self._closing(view, reason if still_open else "")

        return self._carry_out("milestone complete", decide, version, "", dry_run=dry_run)

    # -- opening --------------------------------------------------------------------------

    def _opening(self, view: _MilestoneView) -> ChangeSet:
        snapshot, version, name = view.snapshot, view.version, view.name
        edit = edit_of(lambda document: opened(document, version, name))
        new = self._edited(self._roadmap, edit)
        roadmap = read_roadmap(Document(new))
        after = replace(snapshot.inventory, roadmap=roadmap, milestone=version)
        position = position_of(after)

        state = snapshot.state_change(_recording(view, position, "started"))
        edits: dict[str, Edit] = {self._roadmap: edit, **state.edits}
        may_create = state.may_create
        if not self._files.exists(self._requirements):
            text = fresh_requirements(*self._identity(), snapshot.now)
            edits[self._requirements] = lambda existing: existing or text
            may_create |= {self._requirements}
        return ChangeSet(edits, may_create=may_create)

    def _identity(self) -> tuple[str, str]:
        """The title and the core value that PROJECT.md gives."""
        loaded = self._files.load_for_display(self._project)
        if loaded is None:
            return "", ""
        document = Document(loaded.text)
        title = next((each.title for each in document.sections if each.level == 1), "")
        value = document.section("Core Value")
        lines = document.section_lines(value, own=True) if value else ()
        return title, next((line.text.strip() for line in lines if line.text.strip()), "")

    # -- closing --------------------------------------------------------------------------

    def _closing(self, view: _MilestoneView, override: str) -> ChangeSet:
        snapshot, scope, version = view.snapshot, view.scope, view.version
        span = _span(scope)
        policy = view.position.policy
        phases = tuple(
            (each.id.short, each.name, each.is_complete(policy)) for each in scope.phases
        )
        closing = Closing(version, view.name, view.date, phases, span)
        proofs = [proven_of(each, policy) for each in scope.phases if each.listed]
        is_closed = any(
            each.version == version and each.is_closed
            for each in snapshot.inventory.roadmap.milestones
        )

        def change(document: Document) -> Document:
            proven = marked(document, proofs, view.date).document
            return proven if is_closed else closed(proven, closing)

        edit = edit_of(change)
        roadmap = self._files.load(self._roadmap).text
        new = self._edited(self._roadmap, edit)
        moves = self._moves(view, is_closed=is_closed)
        after = self._archived(snapshot.inventory, view, new)
        shipped = _shipped(view, span, override)
        log = f"{self._home}/{SHIPPED_NAME}"
        archive = archived_document(self._workstream, version, "ROADMAP")
        head = _archive_head(view, span)
        edits: dict[str, Edit] = {
            self._roadmap: edit,
            log: edit_of(lambda document: with_shipped(document, shipped)),
        }
        if not (is_closed and self._files.exists(archive)):
            edits[archive] = _creating(archive, head + roadmap)
        position = position_of(after)

        state = snapshot.state_change(_recording(view, position, "complete"))
        return ChangeSet(
            {**edits, **state.edits}, TreeChanges(moves=moves), state.may_create | {log, archive}
        )

    def _moves(self, view: _MilestoneView, *, is_closed: bool) -> tuple[Move, ...]:
        """Moves into the archive, except for files that another tool has already put there."""
        target = archived_phases(self._workstream, view.version)
        folders = [each.folder.path for each in view.scope.phases if each.folder]
        folders += [each.path for each in view.scope.duplicates]
        moves = [Move(path, f"{target}/{path.rpartition('/')[2]}") for path in folders]
        audit = f"{self._home}/{view.version}-{AUDIT}.md"
        for path, kind in ((self._requirements, "REQUIREMENTS"), (audit, AUDIT)):
            archived = archived_document(self._workstream, view.version, kind)
            is_archived = is_closed and self._files.exists(archived)
            if self._files.exists(path) and not is_archived:
                moves.append(Move(path, archived))
        return tuple(moves)

    def _archived(self, inventory: Inventory, view: _MilestoneView, roadmap: str) -> Inventory:
        gone = {each.folder.path for each in view.scope.phases if each.folder}
        gone |= {each.path for each in view.scope.duplicates}
        moved = tuple(
            replace(each, milestone=view.version) for each in inventory.folders if each.path in gone
        )
        return replace(
            inventory,
            folders=tuple(each for each in inventory.folders if each.path not in gone),
            archived=inventory.archived + moved,
            roadmap=read_roadmap(Document(roadmap)),
            milestone=view.version,
        )

    # -- doing ----------------------------------------------------------------------------

    def _edited(self, path: str, edit: Edit) -> str:
        with Located(path):
            return edit(self._files.load(path).text)

    def _carry_out(
        self,
        command: str,
        decide: Callable[[ProjectSnapshot], ChangeSet],
        version: str,
        name: str,
        *,
        dry_run: bool,
    ) -> MilestoneChange:
        snapshots: list[ProjectSnapshot] = []

        def changes(snapshot: ProjectSnapshot) -> ChangeSet:
            snapshots.append(snapshot)
            return decide(snapshot)

        outcome = self._transact(command, changes, dry_run=dry_run)
        position = snapshots[-1].position
        progress = position.progress
        shown_name = name or position.scope.milestone_name
        if command == "milestone complete":
            version = _chosen(version, position.scope)
        return MilestoneChange(
            outcome, version, shown_name, progress.total_phases, progress.total_plans
        )


def _chosen(version: str, scope: Scope) -> str:
    """The current version in the spelling of the project; refused if another one was named."""
    if scope.milestone and version.lstrip("vV") == scope.milestone.lstrip("vV"):
        return scope.milestone
    listed = {each.listed.milestone for each in scope.phases if each.listed}
    others = ", ".join(sorted(listed - {"", version}))
    if scope.milestone or others:
        raise UnknownMilestone(version, scope.milestone or others)
    return _normal(version)


def _normal(version: str) -> str:
    written = version.strip()
    with_letter = written if written[:1] in ("v", "V") else f"v{written}"
    if not _VERSION.match(with_letter):
        raise MalformedId("milestone", version, "v1.0 or v1.2.3")
    return with_letter


def _next_version(inventory: Inventory) -> str:
    """The version after the latest one: v1.2 gives v1.3."""
    known = [inventory.milestone, *(each.version for each in inventory.roadmap.milestones)]
    numbers = [
        tuple(map(int, each.lstrip("vV").split("."))) for each in known if _VERSION.match(each)
    ]
    if not numbers:
        return "v1.0"
    first, second, *_ = max(numbers)
    return f"v{first}.{second + 1}"


def _recorded_name(snapshot: ProjectSnapshot) -> str:
    loaded = snapshot.files.load_for_display(snapshot.state_path)
    name = Document(loaded.text).value("milestone_name") if loaded else None
    return name if isinstance(name, str) and name != "milestone" else ""


def _span(scope: Scope) -> str:
    if not scope.phases:
        return "none"
    first, last = scope.phases[0].id.short, scope.phases[-1].id.short
    return first if first == last else f"{first}-{last}"


def _shipped(view: _MilestoneView, span: str, override: str) -> Shipped:
    policy, progress = view.position.policy, view.position.progress
    done = [each for each in view.scope.phases if each.is_complete(policy)]
    return Shipped(
        version=view.version,
        name=view.name,
        date=view.date,
        phases=span,
        phase_count=len(done),
        plan_count=progress.completed_plans,
        task_count=progress.completed_tasks,
        accomplishments=tuple(
            f"Phase {each.id.short}: {(each.listed.goal if each.listed else '') or each.name}"
            for each in done
        ),
        unverified=sum(each.stage is not Stage.VERIFIED for each in view.scope.phases),
        override=override,
    )


def _archive_head(view: _MilestoneView, span: str) -> str:
    lines = (
        f"# Milestone {view.version}: {view.name}".rstrip(": "),
        "",
        f"**Status:** ✅ SHIPPED {view.date}",
        f"**Phases:** {span}",
        f"**Total Plans:** {view.position.progress.total_plans}",
        "",
        "The roadmap as it stood:",
        "",
        "---",
        "",
        "",
    )
    return "\n".join(lines)


def _recording(view: _MilestoneView, position: Position, event: str) -> Change:
    """The change of STATE.md: the milestone, and everything derived from the future files."""

    def change(state: Document, snapshot: ProjectSnapshot) -> Document:
        changed = with_milestone(state, view.version, view.name)
        changed = with_moved_focus(changed, snapshot.position, position)
        changed = with_activity(changed, f"Milestone {view.version} {event}", snapshot.now)
        if not is_paused(changed):
            changed = with_status(changed, awaiting_verification(position))
        return stamped(synced(changed, position, snapshot.now), snapshot.now)

    return change


def _creating(path: str, text: str) -> Edit:
    """An edit that creates a document and refuses to overwrite another one."""

    def edit(existing: str) -> str:
        if existing and existing != text:
            raise FileExists(path)
        return text

    return edit
