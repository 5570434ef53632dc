"""STATE-ARCHIVE.md, and pruning: how old or replaced text leaves STATE.md without getting lost.

Pruning moves resolved blockers first, then the oldest metrics rows, then the oldest decisions,
one by one until STATE.md is short enough; the latest of each stay. The archive grows at its end
and is not deduplicated: an entry that was recorded twice is archived twice.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from datetime import datetime

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.project.state.documents import stamped
from fairlead.project.state.entries import entries_of, is_resolved, without_entries
from fairlead.project.state.fields import BLOCKERS, DECISIONS
from fairlead.project.state.metrics import SECTION
from fairlead.text.document import Document
from fairlead.text.lines import common_ending, split_lines, without_ending
from fairlead.text.outline import Line, Splice, spliced
from fairlead.text.tables import tables_of

_TITLE = "# State Archive"


def archived(text: str, entries: Sequence[str], why: str, now: datetime) -> str:
    """The archive with these lines under a new dated heading."""
    if not entries:
        return text
    head = text.rstrip("\r\n") or _TITLE
    lines = (head, "", f"## {now:%Y-%m-%d}: {why}", "", *entries, "")
    return (common_ending(text) if text else "\n").join(lines)


def kept_in_archive(text: str, moved: Mapping[str, Sequence[str]], why: str, now: datetime) -> str:
    """The archive with these entries, each under the title of the section it came from."""
    ending = common_ending(text)
    lines: list[str] = []
    for title, entries in moved.items():
        lines += ["", f"### {title}", "", *(_as_entry(entry, ending) for entry in entries)]
    return archived(text, lines[1:], why, now)


def _as_entry(entry: str, ending: str) -> str:
    joined = ending.join(without_ending(line) for line in split_lines(entry))
    return joined if joined.lstrip().startswith(("-", "*", "+")) else f"- {joined}"


TARGET_LINES = 100
KEPT_DECISIONS = 5
KEPT_ROWS = 5
_PLAN_ROW = lazy_pattern(r"\|\s*Phase\s+\S+\s+P\d+\s*\|", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pruned:
    """The shorter document and the entries that left it, by the title of their list."""

    document: Document
    moved: dict[str, tuple[str, ...]]

    @property
    def count(self) -> int:
        """How many entries moved."""
        return sum(len(entries) for entries in self.moved.values())


def pruned(
    document: Document, now: datetime, *, target: int = TARGET_LINES, keep: int = KEPT_DECISIONS
) -> Pruned:
    """The document within its target length, as far as it has old entries to move."""
    document.require_writable()
    moved: dict[str, tuple[str, ...]] = {}
    before = document
    for title, take in (
        (BLOCKERS[0], _without_resolved),
        (SECTION, _without_oldest_rows),
        (DECISIONS[0], lambda state, most: _without_decisions(state, most, keep)),
    ):
        document, entries = take(document, len(document.lines) - target)
        moved |= {title: entries} if entries else {}
    return Pruned(stamped(document, now) if moved else before, moved)


def _without_resolved(document: Document, lines: int) -> tuple[Document, tuple[str, ...]]:
    items = [item for item in entries_of(document, BLOCKERS) if is_resolved(document, item)]
    return without_entries(document, BLOCKERS, items, lines)


def _without_decisions(
    document: Document, lines: int, keep: int
) -> tuple[Document, tuple[str, ...]]:
    items = entries_of(document, DECISIONS)
    return without_entries(document, DECISIONS, items[: max(len(items) - keep, 0)], lines)


def _without_oldest_rows(document: Document, lines: int) -> tuple[Document, tuple[str, ...]]:
    rows = _plan_rows(document)
    taken = rows[: max(min(len(rows) - KEPT_ROWS, lines), 0)]
    text = spliced(document.text, (Splice(row.start, row.next, "") for row in taken))
    return document.replaced(text), tuple(row.text.strip() for row in taken)


def _plan_rows(document: Document) -> list[Line]:
    section = document.section(SECTION)
    lines = document.section_lines(section) if section else ()
    cells = (row[0].start for table in tables_of(lines) for row in table.rows if row)
    starts = sorted(cells)
    return [
        line
        for line in lines
        if _PLAN_ROW.match(line.text)
        and bisect_left(starts, line.next) > bisect_left(starts, line.start)
    ]
