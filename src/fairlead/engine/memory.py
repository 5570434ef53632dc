"""Memory: a project's beginning, and what is recorded in it.

Every call is one transaction and durable when it returns; nothing is remembered between calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairlead.engine.ports import Clock
from fairlead.errors import FileExists, ProjectExists
from fairlead.model.ids import PhaseId
from fairlead.records.state import Decision, add_decision
from fairlead.store import layout
from fairlead.store.files import Files, Outcome
from fairlead.text import front
from fairlead.text.document import Document

if TYPE_CHECKING:
    from fairlead.engine.templates import NewProject


class Memory:
    """The memory of one project."""

    def __init__(self, files: Files, clock: Clock) -> None:
        self._files = files
        self._clock = clock

    def init(self, project: NewProject, *, dry_run: bool = False) -> Outcome:
        """Make a new project: all of its documents, or none."""
        from fairlead.engine.templates import first_documents

        texts = first_documents(project, self._clock.now())
        try:
            return self._files.create_all(
                texts, command="init", folders=project.folders, dry_run=dry_run
            )
        except FileExists:
            raise ProjectExists(layout.PLANNING) from None

    def add_decision(self, decision: Decision, *, dry_run: bool = False) -> Outcome:
        """Record a decision in STATE.md."""
        PhaseId.parse(decision.phase)
        now = self._clock.now()
        front.prepare()
        return self._files.update(
            layout.STATE,
            lambda text: add_decision(Document(text), decision, now).text,
            command="state add-decision",
            dry_run=dry_run,
        )
