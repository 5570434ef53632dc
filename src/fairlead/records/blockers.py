"""Blockers and concerns: lines that say what stands in the way, and that go when it is gone."""

from collections.abc import Iterable
from datetime import datetime

from fairlead.errors import NoBlocker, SeveralBlockers
from fairlead.model.ids import PhaseId
from fairlead.records.entries import (
    BLOCKER_WORDS,
    BLOCKERS_ABROAD,
    Listing,
    entries_of,
    is_resolved,
    with_entry,
    without_entry,
)
from fairlead.records.state import stamped, told_items
from fairlead.text.document import Document
from fairlead.text.inline import one_line, plain_text
from fairlead.text.lists import Item

BLOCKERS = Listing(
    (
        *("Blockers/Concerns", "Blockers", "Concerns", "Blockers & Concerns"),
        *("Blockers & Risk Items", *BLOCKERS_ABROAD),
    ),
    "Blockers/Concerns",
)


def add_blocker(document: Document, text: str, now: datetime, *, phase: str = "") -> Document:
    """Record a blocker, with the phase it comes from where that is told."""
    document.require_writable()
    origin = f"[Phase {PhaseId.parse(phase)}]: " if phase else ""
    changed = with_entry(document, BLOCKERS, origin + one_line(text, "the blocker"))
    return stamped(changed, now) if changed is not document else document


def resolve_blocker(document: Document, text: str, now: datetime) -> Document:
    """Remove the one blocker that holds this text, wherever it is told, and however often.

    The one that is the text is meant before those that hold it, and of either kind one that is
    still open before one that is marked as resolved. With none or several different ones nothing
    is removed.
    """
    document.require_writable()
    wanted = one_line(text, "the text of the blocker")
    items = _told_items(document)
    still_open = tuple(item for item in items if not is_resolved(document, item))
    found = (
        _same(still_open, wanted)
        or _same(items, wanted)
        or _holding(still_open, wanted)
        or _holding(items, wanted)
    )
    if not found:
        raise NoBlocker(text, _told(tuple(items)))
    if len({plain_text(each.text).casefold() for each in found}) > 1:
        raise SeveralBlockers(text, _told(found))
    for item in reversed(found):  # from the end, so that the places before it stay
        document = without_entry(document, items[item], item)
    return stamped(document, now)


def _told_items(document: Document) -> dict[Item, Listing]:
    """Every blocker that is shown, with the list it stands in, under whatever title."""
    return {
        item: Listing((section.title,), section.title)
        for section, items in told_items(document, *BLOCKER_WORDS)
        for item in items
    }


def without_task(document: Document, task: str) -> Document:
    """The document without the lines that results of this task left."""
    prefix = f"{one_line(task, 'the task')}: "
    while True:
        left = [item for item in entries_of(document, BLOCKERS) if item.text.startswith(prefix)]
        if not left:
            return document
        document = without_entry(document, BLOCKERS, left[0])


def _same(items: Iterable[Item], text: str) -> tuple[Item, ...]:
    """The entries that are the text, without regard to case."""
    wanted = plain_text(text).casefold()
    return tuple(item for item in items if plain_text(item.text).casefold() == wanted)


def _holding(items: Iterable[Item], text: str) -> tuple[Item, ...]:
    """The entries that contain the text, without regard to case."""
    wanted = plain_text(text).casefold()
    return tuple(item for item in items if wanted in plain_text(item.text).casefold())


def _told(items: tuple[Item, ...]) -> tuple[str, ...]:
    return tuple(plain_text(item.text) for item in items)
