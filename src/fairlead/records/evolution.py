"""Roadmap evolution: a line for each change of the roadmap, in the accumulated context."""

from datetime import datetime

from fairlead.model.ids import PhaseId
from fairlead.records.entries import Listing, with_entry
from fairlead.records.state import stamped
from fairlead.text.document import Document
from fairlead.text.inline import one_line
from fairlead.values import dataclass

EVOLUTION = Listing(("Roadmap Evolution",), "Roadmap Evolution")


@dataclass(frozen=True, slots=True)
class Evolution:
    """One change of the roadmap."""

    note: str
    phase: str = ""
    action: str = "changed"
    after: str = ""
    is_urgent: bool = False

    @property
    def entry(self) -> str:
        """`Phase 4.5 inserted after Phase 4: a note (URGENT)`."""
        note = one_line(self.note, "the note")
        urgent = " (URGENT)" if self.is_urgent else ""
        if not self.phase:
            return f"{note}{urgent}"
        after = f" after Phase {PhaseId.parse(self.after)}" if self.after else ""
        action = one_line(self.action, "the action")
        return f"Phase {PhaseId.parse(self.phase)} {action}{after}: {note}{urgent}"


def add_evolution(document: Document, evolution: Evolution, now: datetime) -> Document:
    """Record a change of the roadmap; one that stands there already is not added again."""
    document.require_writable()
    changed = with_entry(document, EVOLUTION, evolution.entry)
    return stamped(changed, now) if changed is not document else document
