"""Blockers and concerns: lines that say what stands in the way, and that go when it is gone."""

from datetime import datetime

from fairlead.errors import NoBlocker, SeveralBlockers
from fairlead.model.ids import PhaseId
from fairlead.records.entries import Listing, entries_of, with_entry, without_entry
from fairlead.records.state import stamped
from fairlead.text.document import Document
from fairlead.text.inline import one_line, plain_text
from fairlead.text.lists import Item

BLOCKERS = Listing(
    ("Blockers/Concerns", "Blockers", "Concerns", "Blockers & Concerns", "Blockers & Risk Items"),
    "Blockers/Concerns",
)


def add_blocker(document: Document, text: str, now: datetime, *, phase: str = "") -> Document:
    """Record a blocker, with the phase it comes from where that is told."""
    document.require_writable()
    origin = f"[Phase {PhaseId.parse(phase)}]: " if phase else ""
    changed = with_entry(document, BLOCKERS, origin + one_line(text, "the blocker"))
    return stamped(changed, now) if changed is not document else document


def resolve_blocker(document: Document, text: str, now: datetime) -> Document:
    """Remove the one blocker that holds this text; with none or several nothing is removed."""
    document.require_writable()
    items = entries_of(document, BLOCKERS)
    found = _matching(items, one_line(text, "the text of the blocker"))
    if not found:
        raise NoBlocker(text, _told(items))
    if len(found) > 1:
        raise SeveralBlockers(text, _told(found))
    return stamped(without_entry(document, BLOCKERS, found[0]), now)


def without_task(document: Document, task: str) -> Document:
    """The document without the lines that results of this task left."""
    prefix = f"{one_line(task, 'the task')}: "
    while True:
        left = [item for item in entries_of(document, BLOCKERS) if item.text.startswith(prefix)]
        if not left:
            return document
        document = without_entry(document, BLOCKERS, left[0])


def _matching(items: tuple[Item, ...], text: str) -> tuple[Item, ...]:
    """The entry that is the text; else all that contain it, without regard to case."""
    wanted = plain_text(text).casefold()
    same = tuple(item for item in items if plain_text(item.text).casefold() == wanted)
    if same:
        return same
    return tuple(item for item in items if wanted in plain_text(item.text).casefold())


def _told(items: tuple[Item, ...]) -> tuple[str, ...]:
    return tuple(plain_text(item.text) for item in items)
