"""A look at the project from inside a step: the files as they are while the lock is held.

The scan is made when it is first needed and kept for this one decision, so that an event which
needs nothing derived costs nothing, and two writers cannot take a counter back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cached_property

from fairlead.engine.ports import Clock
from fairlead.errors import DocumentError, FrontmatterSyntax, Located, UnclosedFrontmatter
from fairlead.model.inventory import Inventory, Phase
from fairlead.model.standing import Standing, standing_of
from fairlead.records.activity import displaced
from fairlead.records.archive import kept_in_archive
from fairlead.records.prune import pruned
from fairlead.records.roadmap_marks import marked, proven_of, reopened_of
from fairlead.store import layout
from fairlead.store.files import Draft, Edit, Files, Outcome
from fairlead.store.scan import scan
from fairlead.text import front
from fairlead.text.document import Document

Change = Callable[[Document, "Look"], Document]


class Look:
    """What one decision sees."""

    def __init__(
        self,
        files: Files,
        now: datetime,
        workstream: str = "",
        *,
        lines: int = 0,
        inventory: Inventory | None = None,
    ) -> None:
        self.files = files
        self.now = now
        self.workstream = workstream
        self._inventory = inventory  # as it will be when the step is made; else what is there
        self.lines = lines  # how long STATE.md may become; 0: as long as it likes
        self.state_path = layout.documents_of(workstream)[0]

    @cached_property
    def inventory(self) -> Inventory:
        """What is on disk; settings that cannot be read are refused, since numbers hang on them."""
        return self._inventory or scan(self.files.folder, workstream=self.workstream).for_writing()

    @cached_property
    def standing(self) -> Standing:
        """What follows from it."""
        return standing_of(self.inventory)

    def after(self, inventory: Inventory) -> Look:
        """The same look at the project as it will be."""
        return Look(self.files, self.now, self.workstream, lines=self.lines, inventory=inventory)

    @property
    def stamp(self) -> str:
        """The time as a part of a file's name."""
        return f"{self.now:%Y%m%dT%H%M%S}{self.now.microsecond // 1000:03d}Z"

    def state(self) -> Document:
        """STATE.md as it is."""
        return self._state

    @cached_property
    def _state(self) -> Document:
        with Located(self.state_path):
            return Document(self.files.load(self.state_path).text).require_text()

    def changed(self, before: Document, change: Change) -> Document:
        """STATE.md after a change; what is wrong with the document is said with its path."""
        with Located(self.state_path):
            return change(before, self)

    def marking(
        self, phases: Iterable[Phase], *, reopens: bool = False
    ) -> tuple[dict[str, Edit], tuple[str, ...]]:
        """The edit that raises the marks of phases in ROADMAP.md, and the marks that claim more.

        Those of a phase that is worked on again go back as well.
        """
        path = layout.documents_of(self.workstream)[1]
        told_of = reopened_of if reopens else proven_of
        proven = [told_of(each, self.standing.policy) for each in phases if each.listed]
        if not proven:
            return {}, ()
        date = f"{self.now:%Y-%m-%d}"
        with Located(path):
            claims = marked(Document(self.files.load(path).text), proven, date).claims
        edit = editing(lambda held: marked(held, proven, date).document)
        return {path: edit}, tuple(f"{path}:{claim}" for claim in claims)

    def draft(self, change: Change) -> Draft:
        """One change of STATE.md; what had to go, or made it too long, is kept in the archive."""
        before = self.state()
        after = self.changed(before, change)
        lost = displaced(before, after)
        kept = [("replaced", {"Current Position": lost})] if lost else []
        after, moved = self._shortened(before, after)
        kept += [("pruned", moved)] if moved else []
        edits = {self.state_path: self.edit_from(before, after, change)}
        if not kept:
            return Draft(edits)

        def keep(text: str) -> str:
            for why, entries in kept:
                text = kept_in_archive(text, entries, why, self.now)
            return text

        archive = layout.archive_of(self.workstream)
        return Draft({**edits, archive: keep}, may_create=frozenset((archive,)))

    def _shortened(
        self, before: Document, after: Document
    ) -> tuple[Document, dict[str, tuple[str, ...]]]:
        """A document that this event made too long, and what left it.

        One that was too long before is not cut behind a person's back, but grows no further.
        """
        target = max(self.lines, len(before.lines))
        if not self.lines or len(after.lines) <= target:
            return after, {}
        cut = pruned(after, self.now, target=target)
        return cut.document, cut.moved

    def edit_from(self, before: Document, after: Document, change: Change) -> Callable[[str], str]:
        """The edit that gives what was decided; on another text it decides anew."""

        def edit(text: str) -> str:
            return after.text if text == before.text else change(Document(text), self).text

        return edit


class Steps:
    """Changes of one project, each decided from a look at it and made in one step."""

    def __init__(self, files: Files, clock: Clock, workstream: str = "", *, lines: int = 0) -> None:
        self._files = files
        self._clock = clock
        self._workstream = workstream
        self._lines = lines

    def _step(self, command: str, decide: Callable[[Look], Draft], *, dry_run: bool) -> Outcome:
        front.prepare()
        now = self._clock.now()

        def draft() -> Draft:
            return decide(Look(self._files, now, self._workstream, lines=self._lines))

        try:
            return self._files.carry_out(draft, command=command, dry_run=dry_run)
        except (FrontmatterSyntax, UnclosedFrontmatter) as problem:
            offer_mending(problem, self._files, self._workstream)
            raise


def offer_mending(problem: DocumentError, files: Files, workstream: str) -> None:
    """Where doctor can put the frontmatter of a document in order, nobody needs an editor."""
    from fairlead.records.mend import mended

    is_ours = problem.path in layout.documents_of(workstream)
    if is_ours and mended(files.load(problem.path).text):
        problem.hint = "put it in order with: fairlead doctor --fix; nothing was changed"


def editing(change: Callable[[Document], Document]) -> Edit:
    """A change of a document as an edit; of the same text it is made once."""
    known: dict[str, str] = {}

    def edit(text: str) -> str:
        if text not in known:
            known[text] = change(Document(text)).text
        return known[text]

    return edit
