"""Pruning: STATE.md stays a digest, and what is old goes to the archive, never into nothing.

Resolved blockers go first, then the oldest rows of metrics and the oldest decisions, one by one
and only until the document is short enough; the latest of each stay. Entries that a person
wrote in another form than these lists have are left alone.
"""

import re
from datetime import datetime

from fairlead.records.blockers import BLOCKERS
from fairlead.records.entries import (
    Listing,
    entries_of,
    is_resolved,
    lines_of_entry,
    without_entry,
)
from fairlead.records.metrics import SECTION
from fairlead.records.state import DECISIONS, stamped
from fairlead.text.document import Document
from fairlead.text.lists import Item
from fairlead.text.outline import Line
from fairlead.text.tables import tables_of
from fairlead.values import dataclass

TARGET_LINES = 100
KEPT_DECISIONS = 5
KEPT_ROWS = 5
_PLAN_ROW = re.compile(r"\|\s*Phase\s+\S+\s+P\d+\s*\|", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pruned:
    """The shorter document, and what left it, by the list it stood in."""

    document: Document
    moved: dict[str, tuple[str, ...]]

    @property
    def count(self) -> int:
        """How many entries moved."""
        return sum(len(entries) for entries in self.moved.values())


def pruned(
    document: Document, now: datetime, *, target: int = TARGET_LINES, keep: int = KEPT_DECISIONS
) -> Pruned:
    """The document within its target, as far as there is anything old to move."""
    document.require_writable()
    moved: dict[str, tuple[str, ...]] = {}
    before = document
    for title, take in (
        ("Blockers/Concerns", _resolved),
        (SECTION, _oldest_row),
        ("Decisions", lambda held: _oldest_decision(held, keep)),
    ):
        while len(document.lines) > target:
            taken = take(document)
            if taken is None:
                break
            document, entry = taken
            moved[title] = (*moved.get(title, ()), entry)
    if moved:
        document = stamped(document, now)
    return Pruned(document if moved else before, moved)


def _resolved(document: Document) -> tuple[Document, str] | None:
    for item in entries_of(document, BLOCKERS):
        if is_resolved(document, item):
            return _without(document, BLOCKERS, item)
    return None


def _oldest_decision(document: Document, keep: int) -> tuple[Document, str] | None:
    items = entries_of(document, DECISIONS)
    return _without(document, DECISIONS, items[0]) if len(items) > keep else None


def _oldest_row(document: Document) -> tuple[Document, str] | None:
    rows = _plan_rows(document)
    if len(rows) <= KEPT_ROWS:
        return None
    row = rows[0]
    text = document.text[: row.start] + document.text[row.next :]
    return document.replaced(text), row.text.strip()


def _plan_rows(document: Document) -> list[Line]:
    section = document.section(SECTION)
    lines = document.section_lines(section) if section else ()
    tables = tables_of(lines)
    return [
        line
        for line in lines
        if _PLAN_ROW.match(line.text)
        and any(
            row and row[0].start > line.start and row[0].end < line.next
            for t in tables
            for row in t.rows
        )
    ]


def _without(document: Document, listing: Listing, item: Item) -> tuple[Document, str]:
    entry = lines_of_entry(document, item)
    return without_entry(document, listing, item), entry
