"""Overview: looking at a project. Every call reads the files anew and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairlead.engine.reports import StatusReport, status_report
from fairlead.engine.truth import Truth, truth_of
from fairlead.errors import DocumentError
from fairlead.records.position import is_paused
from fairlead.records.state import read_state
from fairlead.records.waiting import question_of
from fairlead.store import layout
from fairlead.store.layout_daily import handover_paths
from fairlead.store.load import Reader
from fairlead.store.scan import scan
from fairlead.text.document import Document
from fairlead.text.inline import plain_text
from fairlead.values import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fairlead.engine.evidence import LedgerCheck
    from fairlead.engine.explain import Explainer
    from fairlead.model.inventory import Inventory


class Overview:
    """The truth about one project, and what its documents say otherwise."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def truth(self, workstream: str = "") -> Truth:
        """What the files say, and what the documents say otherwise."""
        return truth_of(self._reader, self.workstream(workstream))

    def truths(self, named: str = "") -> dict[str, Truth]:
        """The same of the workstream that is meant; where none is, of the project and all of them."""
        memories = (self.workstream(named), *self.beside(named))
        return {each: truth_of(self._reader, each) for each in memories}

    def beside(self, named: str = "") -> tuple[str, ...]:
        """The workstreams beside the project's own memory, where that is the one that is meant."""
        return () if self.workstream(named) else self._reader.streams()

    def status(self, workstream: str = "") -> StatusReport:
        """Where the project stands."""
        workstream = self.workstream(workstream)
        state = self._document(layout.documents_of(workstream)[0])
        truth = truth_of(self._reader, workstream)
        found = status_report(
            truth,
            folder=self._reader.folder,
            title=self._title(),
            workstream=workstream,
            state=read_state(state) if state else None,
        )
        waiting = self._reader.peek(layout.WAITING)
        return replace(
            found,
            continue_files=handover_paths(workstream, self._names(truth.inventory)),
            paused_at=str(state.value("paused_at")) if state and is_paused(state) else "",
            question=question_of(waiting.text) if waiting else "",
            plan_phase=self._plan_phase(),
            exec_phase=self._exec_phase(),
        )

    def _names(self, inventory: Inventory) -> Callable[[str], Iterable[str]]:
        """What is in a folder; those of phases have been looked through already."""
        seen = {folder.path: folder.others for folder in inventory.folders}
        return lambda path: seen[path] if path in seen else self._reader.names(path)

    def explainer(self, workstream: str = "") -> Explainer:
        """Explains the numbers of one moment."""
        from fairlead.engine.explain import Explainer

        roadmap = layout.documents_of(self.workstream(workstream))[1]
        return Explainer(self.truth(workstream), self._reader, roadmap)

    def ledgers(self, workstream: str = "") -> LedgerCheck:
        """The evidence of all plans, checked offline."""
        from fairlead.engine.evidence import check_ledgers

        inventory = scan(self._reader.folder, workstream=self.workstream(workstream))
        return check_ledgers(self._reader, inventory)

    def workstream(self, named: str) -> str:
        """The workstream asked for, else the active or only one; none where there is one memory."""
        return self._reader.workstream(named)

    def _plan_phase(self) -> str:
        loaded = self._reader.load_for_display(layout.PLAN_FILE)
        if loaded is None:
            return ""
        from fairlead.records.plan_read import read_plan

        try:
            plan = read_plan(loaded.text)
        except DocumentError:
            return "its file cannot be read"
        return "" if plan.is_approved else f"{plan.plan_id} is {plan.status}"

    def _exec_phase(self) -> str:
        loaded = self._reader.load_for_display(layout.EXEC_FILE)
        if loaded is None:
            return ""
        from fairlead.records.exec_read import read_exec

        try:
            found = read_exec(loaded.text)
        except DocumentError:
            return "its file cannot be read"
        completed, total, _ = found.counts
        return f"{found.plan_id}: {completed}/{total} modules complete"

    def _document(self, path: str) -> Document | None:
        loaded = self._reader.load_for_display(path)
        return Document(loaded.text) if loaded else None

    def _title(self) -> str:
        for path in (layout.PROJECT, layout.ROADMAP):
            try:
                document = self._document(path)
            except DocumentError:
                continue  # a link or a device: what it is called stands elsewhere
            title = document.title if document else ""
            if title:
                return plain_text(title.removeprefix("Roadmap: "))
        return ""
