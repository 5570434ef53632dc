"""The base of the services that change a project: one snapshot, one decision, one transaction.

A service decides what to write while it holds the lock, from a snapshot taken inside it, so two
writers cannot undo each other's counters. The snapshot scans the disk on first use: an event that
needs nothing derived costs no scan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cached_property

from fairlead.core.clock import Clock
from fairlead.core.errors import DocumentError, Located
from fairlead.core.values import replace
from fairlead.project.derive.heads import HeadCache
from fairlead.project.derive.inventory import Inventory, Phase
from fairlead.project.derive.position import Position, position_of
from fairlead.project.derive.progress import proven_of, reopened_of
from fairlead.project.derive.scan import scan
from fairlead.project.paths import archive_of
from fairlead.project.roadmap.documents import read_roadmap
from fairlead.project.roadmap.marks import marked
from fairlead.project.state.activity import displaced_lines
from fairlead.project.state.archive import kept_in_archive, pruned
from fairlead.project.state.blockers import resolved_between
from fairlead.project.state.documents import stamped
from fairlead.project.state.fields import BLOCKERS
from fairlead.project.state.header import (
    missing_fields,
    require_front_in_place,
    with_header,
)
from fairlead.project.state.metrics import Recorded, archived_durations
from fairlead.store import layout
from fairlead.store.files import ChangeSet, Edit, Files, WriteOutcome
from fairlead.store.staging import REMOVED, STAGING
from fairlead.text import frontmatter
from fairlead.text.document import Document
from fairlead.text.errors import FrontmatterSyntax, UnclosedFrontmatter

Change = Callable[[Document, "ProjectSnapshot"], Document]
# Entries for the archive, from STATE.md before a change.
ArchiveLog = Callable[[Document, "ProjectSnapshot"], tuple[str, ...]]


def no_log(state: Document, snapshot: ProjectSnapshot) -> tuple[str, ...]:
    """Nothing to keep in the archive."""
    del state, snapshot
    return ()


class ProjectSnapshot:
    """The project as one decision sees it."""

    def __init__(
        self,
        files: Files,
        now: datetime,
        workstream: str = "",
        *,
        lines: int = 0,
        inventory: Inventory | None = None,
        heads: HeadCache | None = None,
    ) -> None:
        self.files = files
        self.now = now
        self.workstream = workstream
        self._inventory = inventory  # a future inventory; None: scan the disk
        self._heads = heads
        self.lines = lines  # the length STATE.md may reach; 0: no limit
        self.state_path = layout.documents_of(workstream)[0]

    @cached_property
    def inventory(self) -> Inventory:
        """What is on disk; refused if the settings that the numbers depend on are unreadable."""
        if self._inventory:
            return self._inventory
        unchecked = self.files.unchecked()
        found = scan(
            self.files.folder,
            workstream=self.workstream,
            unchecked=unchecked,
            heads=self._heads,
        )
        return found.for_writing()

    @cached_property
    def position(self) -> Position:
        """Where the project is, derived from the inventory."""
        return position_of(self.inventory)

    @cached_property
    def durations(self) -> Recorded:
        """What the velocity is computed from, beside the rows of STATE.md."""
        archive = self.files.load_for_display(archive_of(self.workstream))
        rows = archived_durations(archive.text) if archive else {}
        return Recorded(self.position, self.inventory, rows)

    def after(self, inventory: Inventory) -> ProjectSnapshot:
        """The project as it will be with this inventory."""
        return ProjectSnapshot(
            self.files, self.now, self.workstream, lines=self.lines, inventory=inventory
        )

    def with_edits(self, edits: Mapping[str, Edit]) -> ProjectSnapshot:
        """The project as it will be with these edits; those of ROADMAP.md change the inventory."""
        path = layout.documents_of(self.workstream)[1]
        if path not in edits:
            return self
        with Located(path):
            text = edits[path](self.files.load(path).text)
        return self.after(replace(self.inventory, roadmap=read_roadmap(Document(text))))

    @property
    def stamp(self) -> str:
        """The time as part of a file name that no removed file has; a clock may stand still."""
        time = f"{self.now:%Y%m%dT%H%M%S}{self.now.microsecond // 1000:03d}Z"
        taken = {name.partition("-")[0] for name in self.files.names(f"{STAGING}/{REMOVED}")}
        names = (time, *(f"{time}.{number}" for number in range(2, len(taken) + 2)))
        return next(name for name in names if name not in taken)

    def state(self) -> Document:
        """STATE.md."""
        return self._state

    @cached_property
    def _state(self) -> Document:
        with Located(self.state_path):
            document = Document(self.files.load(self.state_path).text).require_text()
            return require_front_in_place(document)

    def changed(self, before: Document, change: Change) -> Document:
        """STATE.md after a change; errors name its path."""
        with Located(self.state_path):
            return change(before, self)

    def roadmap_marks(
        self, phases: Iterable[Phase], *, reopens: bool = False
    ) -> tuple[dict[str, Edit], tuple[str, ...]]:
        """The edit that raises the marks of phases in ROADMAP.md, and the marks that claim more.

        A finished phase may be marked open until a later one has finished plans: then its marks
        are raised too. With `reopens`, the marks of a phase that is worked on again are also
        lowered.
        """
        path = layout.documents_of(self.workstream)[1]
        chosen, policy = tuple(phases), self.position.policy
        proof_of = reopened_of if reopens else proven_of
        proofs = [proof_of(phase, policy) for phase in chosen if phase.listed]
        settled = self.position.scope.settled_by(chosen)
        proofs += [proven_of(each, policy) for each in settled if each.listed]
        if not proofs:
            return {}, ()
        date = f"{self.now:%Y-%m-%d}"
        with Located(path):
            claims = marked(Document(self.files.load(path).text), proofs, date).claims
        edit = edit_of(lambda document: marked(document, proofs, date).document)
        return {path: edit}, tuple(f"{path}:{claim}" for claim in claims)

    def state_change(
        self, change: Change, *, completes: bool = False, log: ArchiveLog = no_log
    ) -> ChangeSet:
        """A change of STATE.md; lines that it displaces or that no longer fit go to the archive.

        With `completes`, missing fields of the frontmatter are written even if nothing else is.
        `log` is added to the archive if STATE.md changes.
        """
        before = self.state()
        change = _with_complete_header(change, completes=completes)
        after = self.changed(before, change)
        lost = displaced_lines(before, after)
        retired = [("replaced", {"Current Position": lost})] if lost else []
        resolved = resolved_between(before, after)
        retired += [("resolved", {BLOCKERS[0]: resolved})] if resolved else []
        after, moved = self._shortened(before, after)
        retired += [("pruned", moved)] if moved else []
        entries = log(before, self) if after.text != before.text else ()
        retired += [("for dependency reanalysis", {"Blocked tasks": entries})] if entries else []
        edits = {self.state_path: self.edit_from(before, after, change)}
        if not retired:
            return ChangeSet(edits)

        def keep(text: str) -> str:
            for why, entries in retired:
                text = kept_in_archive(text, entries, why, self.now)
            return text

        archive = archive_of(self.workstream)
        return ChangeSet({**edits, archive: keep}, may_create=frozenset((archive,)))

    def _shortened(
        self, before: Document, after: Document
    ) -> tuple[Document, dict[str, tuple[str, ...]]]:
        """The document within its limit, and the entries that left it.

        A document that was already too long is not cut, but it does not grow either.
        """
        target = max(self.lines, len(before.lines))
        if not self.lines or len(after.lines) <= target:
            return after, {}
        cut = pruned(after, self.now, target=target)
        return cut.document, cut.moved

    def edit_from(self, before: Document, after: Document, change: Change) -> Edit:
        """The edit with the decided result; if the file has other text by then, decide again."""

        def edit(text: str) -> str:
            return after.text if text == before.text else change(Document(text), self).text

        return edit


def _with_complete_header(change: Change, *, completes: bool) -> Change:
    """The change, made to a document that has every required field of the frontmatter."""

    def changed(state: Document, snapshot: ProjectSnapshot) -> Document:
        headed = with_header(state, snapshot.position) if missing_fields(state) else state
        after = change(headed, snapshot)
        if after.text != headed.text:
            return after
        return stamped(headed, snapshot.now) if completes and headed is not state else state

    return changed


class ProjectService:
    """Changes one project: each call decides from a snapshot and writes one transaction."""

    def __init__(
        self,
        files: Files,
        clock: Clock,
        workstream: str = "",
        *,
        lines: int = 0,
        heads: HeadCache | None = None,  # for a caller that makes many changes
    ) -> None:
        self._files = files
        self._heads = heads
        self._clock = clock
        self._workstream = workstream
        self._lines = lines

    def _transact(
        self, command: str, decide: Callable[[ProjectSnapshot], ChangeSet], *, dry_run: bool
    ) -> WriteOutcome:
        frontmatter.prepare()
        now = self._clock.now()

        def change_set() -> ChangeSet:
            snapshot = ProjectSnapshot(
                self._files, now, self._workstream, lines=self._lines, heads=self._heads
            )
            return decide(snapshot)

        try:
            return self._files.carry_out(change_set, command=command, dry_run=dry_run)
        except (FrontmatterSyntax, UnclosedFrontmatter) as problem:
            suggest_repair(problem, self._files, self._workstream)
            raise


def suggest_repair(problem: DocumentError, files: Files, workstream: str) -> None:
    """Point to `doctor --fix` if it can repair the frontmatter that caused this error."""
    from fairlead.project.health.frontmatter_repair import repaired_frontmatter

    is_ours = problem.path in layout.documents_of(workstream)
    if is_ours and repaired_frontmatter(files.load(problem.path).text):
        problem.hint = "nothing was changed; repair it with: fairlead doctor --fix"


def edit_of(change: Callable[[Document], Document]) -> Edit:
    """A change of a document as an edit of its text, computed once per text."""
    results: dict[str, str] = {}

    def edit(text: str) -> str:
        if text not in results:
            results[text] = change(Document(text)).text
        return results[text]

    return edit
