"""Memory: a project's beginning, its state, and what is recorded in it.

Every call reads the files anew and returns a value; nothing is remembered between calls.
"""

from dataclasses import dataclass

from fairlead.engine.ports import Clock
from fairlead.engine.templates import NewProject, first_documents
from fairlead.errors import DocumentError, FileExists, ProjectExists
from fairlead.model.ids import PhaseId
from fairlead.records.state import Decision, State, add_decision, read_state
from fairlead.store import layout
from fairlead.store.files import Files, Outcome
from fairlead.text import front
from fairlead.text.document import Document


@dataclass(frozen=True, slots=True)
class Status:
    """Where the project stands, as its documents say it."""

    folder: str
    title: str
    state: State | None  # None: there is no STATE.md
    problem: str  # why STATE.md cannot be written as it is; empty if it can
    documents: tuple[str, ...]  # those that are there


class Memory:
    """The memory of one project."""

    def __init__(self, files: Files, clock: Clock) -> None:
        self._files = files
        self._clock = clock

    def init(self, project: NewProject, *, dry_run: bool = False) -> Outcome:
        """Make a new project: all of its documents, or none."""
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

    def status(self) -> Status:
        """Where the project stands."""
        loaded = self._files.load_for_display(layout.STATE)
        document = Document(loaded.text) if loaded else None
        return Status(
            folder=self._files.folder,
            title=self._title(),
            state=read_state(document) if document else None,
            problem=self._problem(document) if document else "",
            documents=tuple(path for path in layout.DOCUMENTS if self._files.exists(path)),
        )

    def _title(self) -> str:
        for path in (layout.PROJECT, layout.ROADMAP):
            loaded = self._files.load_for_display(path)
            sections = Document(loaded.text).sections if loaded else ()
            for section in sections:
                if section.level == 1:
                    return section.title.removeprefix("Roadmap: ")
        return ""

    def _problem(self, document: Document) -> str:
        try:
            self._files.load(layout.STATE)
            document.require_writable()
        except DocumentError as problem:
            return str(problem.located(layout.STATE))
        return ""
