"""Milestones: opened and closed.

Closing moves the phases' folders and the requirements into the archive, keeps the roadmap as it
stood beside them, and marks the milestone wherever it is named, all in one step. Nothing that a
person wrote is deleted, and the keys of STATE.md that are not ours stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from fairlead.engine.look import Change, Look, Steps, editing
from fairlead.engine.ports import Clock
from fairlead.engine.templates import fresh_requirements
from fairlead.errors import (
    FileExists,
    Located,
    MalformedId,
    MilestoneNotClosed,
    MilestoneOpen,
    MilestoneShipped,
    MilestoneUnnamed,
    UnknownMilestone,
    UnwritableValue,
)
from fairlead.model.inventory import Inventory, Stage
from fairlead.model.scope import Scope
from fairlead.model.standing import Standing, standing_of
from fairlead.records import events
from fairlead.records.activity import with_activity, with_moved_focus
from fairlead.records.digest import with_status
from fairlead.records.milestone_edit import Closing, closed, opened
from fairlead.records.milestones import Shipped, with_shipped
from fairlead.records.position import is_paused, settled
from fairlead.records.roadmap import read_roadmap
from fairlead.records.roadmap_marks import marked, proven_of
from fairlead.records.state import stamped, with_milestone
from fairlead.store import layout
from fairlead.store.files import Draft, Files, Outcome
from fairlead.store.intent import Places
from fairlead.store.moves import Move
from fairlead.store.templates import template
from fairlead.text.document import Document
from fairlead.text.inline import one_line
from fairlead.values import dataclass, replace

Edit = Callable[[str], str]
_VERSION = re.compile(r"v[0-9]{1,6}(?:\.[0-9]{1,6})+\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MilestoneChange:
    """What became of a milestone."""

    outcome: Outcome
    version: str
    name: str
    phases: int
    plans: int


@dataclass(frozen=True, slots=True)
class _Sight:
    """One decision's view: the files, and what the milestone is called."""

    look: Look
    standing: Standing
    version: str
    name: str

    @property
    def scope(self) -> Scope:
        return self.standing.scope

    @property
    def date(self) -> str:
        return f"{self.look.now:%Y-%m-%d}"


class Milestones(Steps):
    """Changes the milestones of one project."""

    def __init__(self, files: Files, clock: Clock, workstream: str = "") -> None:
        super().__init__(files, clock, workstream)
        self._home = layout.planning_of(workstream)
        _, self._roadmap, self._project, self._requirements = layout.documents_of(workstream)

    def require_name(self, name: str) -> None:
        """Refuse a version in the place of a name."""
        if _VERSION.match(name.strip()):
            raise MilestoneUnnamed(name.strip())

    def new(self, version: str, name: str, *, dry_run: bool = False) -> MilestoneChange:
        """Open a milestone. The one before must be closed, or have no phases."""
        version = _normal(version)
        one_line(name, "the name")
        template(layout.REQUIREMENTS_NAME)

        def decide(look: Look) -> Draft:
            sight = _Sight(look, look.standing, version, name)
            known = {each.version: each for each in look.inventory.roadmap.milestones}
            if version in known and known[version].is_closed:
                raise MilestoneShipped(version)
            is_current = sight.scope.milestone == version
            if not is_current and sight.scope.phases and not sight.scope.is_archived:
                raise MilestoneNotClosed(sight.scope.milestone)
            if is_current and version in known:
                return Draft({})
            return self._opening(sight)

        return self._carry_out("milestone new", decide, version, name, dry_run=dry_run)

    def follow(
        self, name: str, version: str = "", *, dry_run: bool = False
    ) -> tuple[MilestoneChange, ...]:
        """Archive the milestone whose phases are all complete, and open the next one.

        Two steps, each durable: killed in between, the same call goes on with the second. In a
        dry run only the first is shown, since the second follows from what it leaves.
        """
        look = Look(self._files, self._clock.now(), self._workstream)
        standing = look.standing
        scope, made = standing.scope, []
        is_done = standing.is_complete and not scope.is_archived
        if is_done and scope.milestone and _normal(version or "v0.0") != scope.milestone:
            made.append(self.complete(scope.milestone, dry_run=dry_run))
            if dry_run:
                return tuple(made)
        made.append(self.new(version or _following(look.inventory), name, dry_run=dry_run))
        return tuple(made)

    def complete(
        self, version: str, *, force: bool = False, reason: str = "", dry_run: bool = False
    ) -> MilestoneChange:
        """Close the milestone that is worked on, and archive what belongs to it."""
        if force and not reason.strip():
            raise UnwritableValue("--reason", "is needed with --force")

        def decide(look: Look) -> Draft:
            scope = look.standing.scope
            chosen = _chosen(version, scope)
            if scope.is_archived and chosen == scope.milestone:
                return Draft({})
            name = scope.milestone_name or _recorded_name(look)
            sight = _Sight(look, look.standing, chosen, name)
            still_open = tuple(
                each.id.short for each in scope.phases if not each.is_complete(look.standing.policy)
            )
            if (still_open or not scope.phases) and not force:
                raise MilestoneOpen(chosen, still_open)
            return self._closing(sight, reason if still_open else "")

        return self._carry_out("milestone complete", decide, version, "", dry_run=dry_run)

    # -- opening --------------------------------------------------------------------------

    def _opening(self, sight: _Sight) -> Draft:
        look, version, name = sight.look, sight.version, sight.name
        edit = editing(lambda held: opened(held, version, name))
        new = self._edited(self._roadmap, edit)
        roadmap = read_roadmap(Document(new))
        after = replace(look.inventory, roadmap=roadmap, milestone=version)
        standing = standing_of(after)

        held = look.draft(_recording(sight, standing, "started"))
        edits: dict[str, Edit] = {self._roadmap: edit, **held.edits}
        may_create = held.may_create
        if not self._files.exists(self._requirements):
            text = fresh_requirements(*self._identity(), look.now)
            edits[self._requirements] = lambda there: there or text
            may_create |= {self._requirements}
        return Draft(edits, may_create=may_create)

    def _identity(self) -> tuple[str, str]:
        """The project's title and core value, as PROJECT.md gives them."""
        loaded = self._files.load_for_display(self._project)
        if loaded is None:
            return "", ""
        document = Document(loaded.text)
        title = next((each.title for each in document.sections if each.level == 1), "")
        value = document.section("Core Value")
        lines = document.section_lines(value, own=True) if value else ()
        return title, next((line.text.strip() for line in lines if line.text.strip()), "")

    # -- closing --------------------------------------------------------------------------

    def _closing(self, sight: _Sight, override: str) -> Draft:
        look, scope, version = sight.look, sight.scope, sight.version
        span = _span(scope)
        policy = sight.standing.policy
        phases = tuple(
            (each.id.short, each.name, each.is_complete(policy)) for each in scope.phases
        )
        closing = Closing(version, sight.name, sight.date, phases, span)
        proven = [proven_of(each, policy) for each in scope.phases if each.listed]
        is_closed = any(
            each.version == version and each.is_closed for each in look.inventory.roadmap.milestones
        )

        def change(held: Document) -> Document:
            told = marked(held, proven, sight.date).document
            return told if is_closed else closed(told, closing)

        edit = editing(change)
        roadmap = self._files.load(self._roadmap).text
        new = self._edited(self._roadmap, edit)
        moves = self._moves(sight, is_closed=is_closed)
        after = self._archived(look.inventory, sight, new)
        shipped = _shipped(sight, span, override)
        log = f"{self._home}/{layout.SHIPPED_NAME}"
        archive = layout.archived_document(self._workstream, version, "ROADMAP")
        head = _archive_head(sight, span)
        edits: dict[str, Edit] = {
            self._roadmap: edit,
            log: editing(lambda held: with_shipped(held, shipped)),
        }
        if not (is_closed and self._files.exists(archive)):
            edits[archive] = _creating(archive, head + roadmap)
        standing = standing_of(after)

        held = look.draft(_recording(sight, standing, "complete"))
        return Draft({**edits, **held.edits}, Places(moves=moves), held.may_create | {log, archive})

    def _moves(self, sight: _Sight, *, is_closed: bool) -> tuple[Move, ...]:
        """What goes to the archive; what another tool has put there already stays as it is."""
        target = layout.archived_phases(self._workstream, sight.version)
        folders = [each.folder.path for each in sight.scope.phases if each.folder]
        folders += [each.path for each in sight.scope.duplicates]
        moves = [Move(path, f"{target}/{path.rpartition('/')[2]}") for path in folders]
        audit = f"{self._home}/{sight.version}-{layout.AUDIT}.md"
        for path, kind in ((self._requirements, "REQUIREMENTS"), (audit, layout.AUDIT)):
            archived = layout.archived_document(self._workstream, sight.version, kind)
            is_there = is_closed and self._files.exists(archived)
            if self._files.exists(path) and not is_there:
                moves.append(Move(path, archived))
        return tuple(moves)

    def _archived(self, inventory: Inventory, sight: _Sight, roadmap: str) -> Inventory:
        gone = {each.folder.path for each in sight.scope.phases if each.folder}
        gone |= {each.path for each in sight.scope.duplicates}
        moved = tuple(
            replace(each, milestone=sight.version)
            for each in inventory.folders
            if each.path in gone
        )
        return replace(
            inventory,
            folders=tuple(each for each in inventory.folders if each.path not in gone),
            archived=inventory.archived + moved,
            roadmap=read_roadmap(Document(roadmap)),
            milestone=sight.version,
        )

    # -- doing ----------------------------------------------------------------------------

    def _edited(self, path: str, edit: Edit) -> str:
        with Located(path):
            return edit(self._files.load(path).text)

    def _carry_out(
        self,
        command: str,
        decide: Callable[[Look], Draft],
        version: str,
        name: str,
        *,
        dry_run: bool,
    ) -> MilestoneChange:
        looks: list[Look] = []

        def draft(look: Look) -> Draft:
            looks.append(look)
            return decide(look)

        outcome = self._step(command, draft, dry_run=dry_run)
        standing = looks[-1].standing
        progress = standing.progress
        told = name or standing.scope.milestone_name
        if command == "milestone complete":
            version = _chosen(version, standing.scope)
        return MilestoneChange(outcome, version, told, progress.total_phases, progress.total_plans)


def _chosen(version: str, scope: Scope) -> str:
    """The version that is meant, in the spelling that the project uses."""
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


def _following(inventory: Inventory) -> str:
    """The version after the latest one: v1.2 gives v1.3."""
    known = [inventory.milestone, *(each.version for each in inventory.roadmap.milestones)]
    numbers = [
        tuple(map(int, each.lstrip("vV").split("."))) for each in known if _VERSION.match(each)
    ]
    if not numbers:
        return "v1.0"
    first, second, *_ = max(numbers)
    return f"v{first}.{second + 1}"


def _recorded_name(look: Look) -> str:
    loaded = look.files.load_for_display(look.state_path)
    name = Document(loaded.text).value("milestone_name") if loaded else None
    return name if isinstance(name, str) and name != "milestone" else ""


def _span(scope: Scope) -> str:
    if not scope.phases:
        return "none"
    first, last = scope.phases[0].id.short, scope.phases[-1].id.short
    return first if first == last else f"{first}-{last}"


def _shipped(sight: _Sight, span: str, override: str) -> Shipped:
    policy, progress = sight.standing.policy, sight.standing.progress
    done = [each for each in sight.scope.phases if each.is_complete(policy)]
    return Shipped(
        version=sight.version,
        name=sight.name,
        date=sight.date,
        phases=span,
        phase_count=len(done),
        plan_count=progress.completed_plans,
        task_count=progress.completed_tasks,
        accomplishments=tuple(
            f"Phase {each.id.short}: {(each.listed.goal if each.listed else '') or each.name}"
            for each in done
        ),
        unverified=sum(each.stage is not Stage.VERIFIED for each in sight.scope.phases),
        override=override,
    )


def _archive_head(sight: _Sight, span: str) -> str:
    lines = (
        f"# Milestone {sight.version}: {sight.name}".rstrip(": "),
        "",
        f"**Status:** ✅ SHIPPED {sight.date}",
        f"**Phases:** {span}",
        f"**Total Plans:** {sight.standing.progress.total_plans}",
        "",
        "The roadmap as it stood:",
        "",
        "---",
        "",
        "",
    )
    return "\n".join(lines)


def _recording(sight: _Sight, standing: Standing, word: str) -> Change:
    """STATE.md with the milestone, and what follows from the files as they will be."""

    def state(held: Document, at: Look) -> Document:
        named = with_milestone(held, sight.version, sight.name)
        named = with_moved_focus(named, at.standing, standing)
        told = with_activity(named, f"Milestone {sight.version} {word}", at.now)
        told = told if is_paused(told) else with_status(told, settled(standing))
        return stamped(events.synced(told, standing, at.now), at.now)

    return state


def _creating(path: str, text: str) -> Edit:
    """A document that must not be there yet."""

    def edit(there: str) -> str:
        if there and there != text:
            raise FileExists(path)
        return text

    return edit
