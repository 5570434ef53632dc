"""Memory: a project's beginning, and what is recorded in it.

Every call is one transaction and durable when it returns; nothing is remembered between calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairlead.engine.ports import Clock
from fairlead.errors import (
    FileExists,
    FrontmatterSyntax,
    NoProject,
    ProjectExists,
    UnclosedFrontmatter,
)
from fairlead.model.ids import PhaseId
from fairlead.records.state import Decision, add_decision
from fairlead.store import layout
from fairlead.store.files import Files, Outcome
from fairlead.store.notice import Hides
from fairlead.text import front
from fairlead.text.document import Document
from fairlead.values import replace

if TYPE_CHECKING:
    from fairlead.engine.templates import NewProject


class _TooLong(Exception):
    """The decision would make STATE.md longer than it may become."""


class Memory:
    """The memory of one project."""

    def __init__(self, files: Files, clock: Clock, workstream: str = "", *, lines: int = 0) -> None:
        self._files = files
        self._clock = clock
        self._workstream = workstream
        self._lines = lines

    def init(self, project: NewProject, *, dry_run: bool = False) -> Outcome:
        """Make a new project: all of its documents, or none."""
        from fairlead.engine.templates import first_documents

        texts = first_documents(project, self._clock.now())
        hidden = self._hidden()
        try:
            outcome = self._files.create_all(
                texts, command="init", folders=project.folders, dry_run=dry_run
            )
        except FileExists:
            raise ProjectExists(layout.PLANNING) from None
        return replace(outcome, notices=(*hidden, *outcome.notices))

    def _hidden(self) -> tuple[Hides, ...]:
        """The project above, which a new one here hides; that of a main tree is never hidden."""
        here = self._files.folder
        try:
            found = layout.find_project(here)
        except NoProject:
            return ()
        if found == layout.main_tree_of(here):
            raise ProjectExists(f"{found}/{layout.PLANNING}")
        return () if found == here else (Hides(found),)

    def add_decision(self, decision: Decision, *, dry_run: bool = False) -> Outcome:
        """Record a decision in STATE.md."""
        PhaseId.parse(decision.phase)
        now = self._clock.now()
        front.prepare()
        command = "state add-decision"

        def edit(text: str) -> str:
            changed = add_decision(Document(text).require_text(), decision, now).text
            if self._lines and changed.count("\n") > max(self._lines, text.count("\n")):
                raise _TooLong
            return changed

        try:
            path = layout.documents_of(self._workstream)[0]
            return self._files.update(path, edit, command=command, dry_run=dry_run)
        except _TooLong:
            pass
        except (FrontmatterSyntax, UnclosedFrontmatter) as problem:
            from fairlead.engine.look import offer_mending

            offer_mending(problem, self._files, self._workstream)
            raise
        # Seldom, and it needs more of the engine: the oldest entries go to the archive.
        from fairlead.engine.look import Look

        return self._files.carry_out(
            lambda: Look(self._files, now, self._workstream, lines=self._lines).draft(
                lambda held, _: add_decision(held, decision, now)
            ),
            command=command,
            dry_run=dry_run,
        )
