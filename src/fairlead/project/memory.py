"""Creating a project and recording a decision, the two writes that must start fast.

`Memory` imports the rest of the package only when a call needs it. Each call is one transaction
and durable when it returns.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from fairlead.core.clock import Clock
from fairlead.core.ids import PhaseId
from fairlead.core.values import replace
from fairlead.project.errors import ProjectExists
from fairlead.project.state.documents import VERSION, Decision, add_decision, with_key_decision
from fairlead.store import layout
from fairlead.store.atomic import HidesOuterProject
from fairlead.store.errors import FileExists, NoProject
from fairlead.store.files import ChangeSet, Edit, Files, WriteOutcome
from fairlead.text import frontmatter
from fairlead.text.document import Document
from fairlead.text.errors import FrontmatterSyntax, UnclosedFrontmatter
from fairlead.text.yaml_scalars import is_null

if TYPE_CHECKING:
    from fairlead.project.first_documents import NewProject


class _NeedsMore(Exception):
    """STATE.md lacks a required field, or would become longer than its limit."""


class Memory:
    """The memory of one project."""

    def __init__(self, files: Files, clock: Clock, workstream: str = "", *, lines: int = 0) -> None:
        self._files = files
        self._clock = clock
        self._workstream = workstream
        self._lines = lines

    def init(self, project: NewProject, *, dry_run: bool = False) -> WriteOutcome:
        """Create a project: all of its documents, or none."""
        from fairlead.project.first_documents import first_documents

        texts = first_documents(project, self._clock.now())
        hidden = self._hidden()
        try:
            outcome = self._files.create_all(
                texts, command="init", folders=project.folders, dry_run=dry_run
            )
        except FileExists:
            raise ProjectExists(layout.PLANNING) from None
        return replace(outcome, notices=(*hidden, *outcome.notices))

    def _hidden(self) -> tuple[HidesOuterProject, ...]:
        """The enclosing project that a new one would hide; refused inside a worktree of a project."""
        here = self._files.folder
        try:
            found = layout.find_project(here)
        except NoProject:
            return ()
        if found == layout.main_tree_of(here):
            raise ProjectExists(f"{found}/{layout.PLANNING}")
        return () if found == here else (HidesOuterProject(found),)

    def add_decision(self, decision: Decision, *, dry_run: bool = False) -> WriteOutcome:
        """Record a decision in STATE.md."""
        self._require_phase(PhaseId.parse(decision.phase))
        now = self._clock.now()
        frontmatter.prepare()
        command = "state add-decision"

        def edit(text: str) -> str:
            before = Document(text).require_text()
            if not _has_header(before):
                raise _NeedsMore
            changed = add_decision(before, decision, now).text
            if self._lines and changed.count("\n") > max(self._lines, text.count("\n")):
                raise _NeedsMore
            return changed

        try:
            path = layout.documents_of(self._workstream)[0]
            edits = {path: edit, **self._key_decision(decision, now)}
            return self._files.update_all(edits, command=command, dry_run=dry_run)
        except _NeedsMore:
            pass
        except (FrontmatterSyntax, UnclosedFrontmatter) as problem:
            from fairlead.project.service import suggest_repair

            suggest_repair(problem, self._files, self._workstream)
            raise
        # Rare, and it needs more imports: a header is written, or the oldest entries are archived.
        from fairlead.project.service import ProjectSnapshot

        def decide() -> ChangeSet:
            snapshot = ProjectSnapshot(self._files, now, self._workstream, lines=self._lines)
            state = snapshot.state_change(lambda state, _: add_decision(state, decision, now))
            return replace(state, edits={**state.edits, **self._key_decision(decision, now)})

        return self._files.carry_out(decide, command=command, dry_run=dry_run)

    def _require_phase(self, phase: PhaseId) -> None:
        """Refuse a phase after the last one; an earlier one may have left no trace."""
        names = self._files.names(f"{layout.planning_of(self._workstream)}/phases")
        if any(name.partition("-")[0].lstrip("0") == phase.short for name in names):
            return
        from fairlead.project.derive.scan import scan  # rare, and it needs more imports

        scan(self._files.folder, workstream=self._workstream).require_phase(phase)

    def _key_decision(self, decision: Decision, now: datetime) -> dict[str, Edit]:
        """The edit of PROJECT.md, which keeps the full list, if its table lacks the decision."""
        loaded = self._files.load_for_display(layout.PROJECT)
        before = Document(loaded.text) if loaded else None
        if before is None or with_key_decision(before, decision, now) is before:
            return {}
        return {layout.PROJECT: lambda text: with_key_decision(Document(text), decision, now).text}


def _has_header(document: Document) -> bool:
    front = document.shown_front
    return not any(is_null(front.get(name)) for name in (VERSION, "status"))
