"""The Python door: a project as an object, with the same answers as the command line.

Every property reads the files anew; nothing is remembered, so two looks may differ when the
project changed in between. Writing goes through the same one writer as every other door.
"""

from __future__ import annotations

from fairlead.engine.events import Events
from fairlead.engine.memory import Memory
from fairlead.engine.reports import StatusReport
from fairlead.model.divergence import Finding
from fairlead.model.inventory import Inventory
from fairlead.model.progress import Progress
from fairlead.model.standing import Standing
from fairlead.records.state import Decision
from fairlead.store.files import Outcome
from fairlead.wiring import App


class Project:
    """One project's memory."""

    def __init__(self, app: App, workstream: str = "") -> None:
        self._app = app
        self._workstream = workstream

    @property
    def memory(self) -> Memory:
        """The engine behind this object, for what is not offered here."""
        return self._app.memory

    @property
    def status(self) -> StatusReport:
        """Where the project stands, as one report."""
        return self._app.overview.status(self._workstream)

    @property
    def inventory(self) -> Inventory:
        """What is on disk and in the roadmap."""
        return self._app.overview.truth(self._workstream).inventory

    @property
    def standing(self) -> Standing:
        """Scope, position and next step, derived from the files."""
        return self._app.overview.truth(self._workstream).standing

    @property
    def progress(self) -> Progress:
        """The counts and percentages of the current milestone."""
        return self.standing.progress

    @property
    def drift(self) -> tuple[Finding, ...]:
        """Where the documents say something that the files do not."""
        return self._app.overview.truth(self._workstream).drift

    @property
    def events(self) -> Events:
        """Records what happens: each call is one step, and durable when it returns."""
        return self._app.events

    def add_decision(self, phase: str, summary: str, rationale: str = "") -> Outcome:
        """Record a decision; durable when this returns."""
        return self.memory.add_decision(Decision(phase, summary, rationale))


def open_project(folder: str = ".", *, workstream: str = "") -> Project:
    """Open the project that a folder belongs to."""
    app = App(folder, workstream)
    app.overview  # noqa: B018  # raises here, and not at the first look, when there is no project
    return Project(app, workstream)
