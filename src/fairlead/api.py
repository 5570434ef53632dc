"""The public Python API: a project as an object, with the same results as the command line.

Every property reads the files again, so two values differ when the project changed in between.
Documents are written through the same store as everywhere else.
"""

from __future__ import annotations

from fairlead.app import App
from fairlead.project.derive.inventory import Inventory
from fairlead.project.derive.position import Position
from fairlead.project.derive.progress import Progress
from fairlead.project.events import Events
from fairlead.project.health.findings import Finding
from fairlead.project.memory import Memory
from fairlead.project.overview import StatusReport
from fairlead.project.state.documents import Decision
from fairlead.store.files import WriteOutcome


class Project:
    """The memory of one project."""

    def __init__(self, app: App, workstream: str = "") -> None:
        self._app = app
        self._workstream = workstream

    @property
    def memory(self) -> Memory:
        """The service behind this object, for operations that this class does not offer."""
        return self._app.memory

    @property
    def status(self) -> StatusReport:
        """Position, progress and open points, as shown by `fairlead status`."""
        return self._app.overview.status(self._workstream)

    @property
    def inventory(self) -> Inventory:
        """The phases, plans and summaries on disk and in the roadmap."""
        return self._app.overview.comparison(self._workstream).inventory

    @property
    def standing(self) -> Position:
        """Scope, position and next step, derived from the files."""
        return self._app.overview.comparison(self._workstream).position

    @property
    def progress(self) -> Progress:
        """The counts and percentages of the current milestone."""
        return self.standing.progress

    @property
    def drift(self) -> tuple[Finding, ...]:
        """The places where the documents and the files differ."""
        return self._app.overview.comparison(self._workstream).drift

    @property
    def events(self) -> Events:
        """The service that records events. Each call is durable when it returns."""
        return self._app.events

    def add_decision(self, phase: str, summary: str, rationale: str = "") -> WriteOutcome:
        """Record a decision. It is durable when this returns."""
        return self.memory.add_decision(Decision(phase, summary, rationale))


def open_project(folder: str = ".", *, workstream: str = "") -> Project:
    """Open the project that a folder belongs to."""
    app = App(folder, workstream)
    app.overview  # noqa: B018  # raises NoProject now and not at the first property
    return Project(app, workstream)
