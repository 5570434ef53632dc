"""The progress marks in ROADMAP.md: check boxes, plan counts and rows of the progress table.

Marks are raised to what the files prove. A mark that claims more stays and is reported with its
line, because the work may be done and only its summary missing. Marks are lowered only when plans
were added to a phase whose marks were right.
"""

import re
from collections.abc import Iterable, Iterator

from fairlead.core.ids import PhaseId
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.project import naming
from fairlead.project.roadmap.entries import (
    PhaseEntry,
    PhaseRow,
    RoadmapEntries,
    own_lines,
    parse_entries,
)
from fairlead.project.roadmap.milestone_lines import EntryForm
from fairlead.project.roadmap.model import ListedPhase
from fairlead.project.roadmap.row_status import (
    ROW_DONE,
    ROW_IN_PROGRESS,
    is_blank,
    says_done,
    says_not_started,
    says_unfinished,
)
from fairlead.text.document import Document
from fairlead.text.fields import Field, find_field
from fairlead.text.frontmatter_values import count_of_digits
from fairlead.text.inline import table_cell
from fairlead.text.outline import Splice, spliced
from fairlead.text.tables import Cell

_COUNTS = lazy_pattern(
    r"(?:TBD|(?P<done>[0-9]+)\s*/\s*(?P<total>[0-9]+|TBD)|(?P<planned>[0-9]+))"
    r"(?:\s+plans?)?(?:\s+(?:complete|completed|executed))?(?=\s|\Z|[,;(.])",
    re.IGNORECASE,
)
_CELL_COUNTS = lazy_pattern(r"(?P<done>[0-9]+)\s*/\s*(?:[0-9]+|TBD|\?)\s*\Z", re.IGNORECASE)
_BESIDE = lazy_pattern(r"\((?P<counts>(?P<done>[0-9]+)/[0-9]+)(?= plans?\b)", re.IGNORECASE)
_PLAN = lazy_pattern(r"[*`\[]*(?P<plan>[\w.-]+?)(?:\.md)?(?=[*`\]:\s]|\Z)")
_DATED = lazy_pattern(r"\bcompleted\b|\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b", re.IGNORECASE)
_WRITTEN_DATE = lazy_pattern(r"\s*\(completed [0-9]{4}-[0-9]{2}-[0-9]{2}\)\Z")
_DAY = lazy_pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_NO_DATE = ("", "-", "—", "–", "tbd", "n/a")


@dataclass(frozen=True, slots=True)
class PhaseProof:
    """The progress of one phase that the files prove."""

    id: PhaseId
    milestone: str  # as the roadmap lists it; empty if under none
    done: int
    total: int
    is_complete: bool
    plans: frozenset[str] = frozenset()  # the ids of its complete plans
    is_reopened: bool = False  # plans were added, so its marks may be lowered


@dataclass(frozen=True, slots=True)
class MarkedRoadmap:
    """The roadmap with raised marks, and the marks that claim more than the files prove."""

    document: Document
    claims: tuple[str, ...] = ()  # `12: the box of phase 3 is ticked`


def claimed_plans_of(listed: ListedPhase) -> int:
    """The most plans that a count of the phase, or the boxes of its plans, say are done."""
    written = (listed.plans_cell, *(each.text for each in listed.counts))
    counts = [match["done"] for each in written if (match := _COUNTS.match(each))]
    ticked = {each.text for each in listed.plan_boxes if each.is_checked}
    return max([len(ticked), *(count_of_digits(each) for each in counts if each)])


def marked(document: Document, proven: Iterable[PhaseProof], date: str) -> MarkedRoadmap:
    """Raise every mark of these phases to what the files prove."""
    document.require_writable()
    entries = parse_entries(document)
    proofs = {(each.milestone, each.id): each for each in proven}
    # A phase that was already marked complete gets no date: its day is unknown.
    old = {(each.milestone, each.id) for each in entries.phases if _is_marked_done(each)}
    splices: list[Splice] = []
    claims: list[str] = []
    for entry in entries.phases:
        proof = proofs.get((entry.milestone, entry.id))
        if proof is None or entry.is_retired:
            continue
        day = "" if (entry.milestone, entry.id) in old else date
        match entry.form:
            case EntryForm.BULLET:
                splices += _box(entry, proof, day, claims)
            case EntryForm.HEADING:
                splices += _details(entries, entry, proof, claims)
            case _:
                splices += _row(entry, proof, day, claims)
    return MarkedRoadmap(document.replaced(spliced(document.text, splices)), tuple(claims))


def _is_marked_done(entry: PhaseEntry) -> bool:
    if entry.item and entry.item.is_checked:
        return True
    status = entry.row.cell("status") if entry.row else None
    return bool(status and says_done(status.text))


def _box(entry: PhaseEntry, proof: PhaseProof, date: str, claims: list[str]) -> Iterator[Splice]:
    item = entry.item
    if item is None:
        return
    beside = _BESIDE.search(item.text)
    if beside and proof.total and count_of_digits(beside["done"]) > proof.done:
        claims.append(f"{entry.line}: phase {proof.id.short} counts {beside['counts']} plans")
    elif beside and proof.total and beside["counts"] != f"{proof.done}/{proof.total}":
        start = item.start + beside.start("counts")
        yield Splice(start, start + len(beside["counts"]), f"{proof.done}/{proof.total}")
    if item.box < 0:
        return
    if item.is_checked and proof.is_reopened:
        yield Splice(item.box, item.box + 1, " ")
        written = _WRITTEN_DATE.search(item.text)
        if written:
            yield Splice(item.start + written.start(), item.start + written.end(), "")
    elif item.is_checked and not proof.is_complete:
        claims.append(f"{entry.line}: the box of phase {proof.id.short} is ticked")
    if item.is_checked or not proof.is_complete:
        return
    yield Splice(item.box, item.box + 1, "x")
    if date and not _DATED.search(item.text):
        end = item.start + len(item.text)
        yield Splice(end, end, f" (completed {date})")


def _details(
    entries: RoadmapEntries, entry: PhaseEntry, proof: PhaseProof, claims: list[str]
) -> Iterator[Splice]:
    assert entry.section is not None
    lines = [line for _, line in own_lines(entries, entry.section)]
    counts = find_field(lines, "Plans")
    if counts and counts.value:
        yield from _counts(counts, entry, proof, claims)
    for number, _ in own_lines(entries, entry.section):
        item = entries.bullets.get(number)
        match = _PLAN.match(item.text) if item and item.box >= 0 else None
        if not item or not match:
            continue
        name = match["plan"] if "PLAN" in match["plan"] else f"{match['plan']}-PLAN"
        plan = naming.plan_id(f"{name}.md", proof.id)
        if plan in proof.plans and not item.is_checked:
            yield Splice(item.box, item.box + 1, "x")


def _counts(
    counts: Field, entry: PhaseEntry, proof: PhaseProof, claims: list[str]
) -> Iterator[Splice]:
    match = _COUNTS.match(counts.value)
    if not match or not proof.total:
        return
    if match["done"] and count_of_digits(match["done"]) > proof.done:
        claims.append(f"{entry.line}: phase {proof.id.short} counts {match[0]}")
        return
    if match["planned"] == str(proof.total) and not proof.done:
        return
    new = f"{proof.done}/{proof.total} plans complete"
    if match[0] != new:
        yield Splice(counts.start, counts.start + match.end(), new)


def _row(entry: PhaseEntry, proof: PhaseProof, date: str, claims: list[str]) -> Iterator[Splice]:
    row = entry.row
    assert row is not None
    if not proof.total:
        return
    plans = row.cell("plans")
    written = _CELL_COUNTS.match(plans.text) if plans else None
    if written and count_of_digits(written["done"]) > proof.done:
        claims.append(f"{entry.line}: the row of phase {proof.id.short} counts {written[0]}")
        return
    if plans and (written or plans.text.casefold() in _NO_DATE):
        yield from _set(plans, f"{proof.done}/{proof.total}")
    yield from _row_status(row, entry, proof, claims)
    completed = row.cell("completed")
    if completed and _is_lowered(row, proof) and _DAY.match(completed.text):
        yield from _set(completed, "-")
    if completed and date and proof.is_complete and completed.text.casefold() in _NO_DATE:
        yield from _set(completed, date)


def _is_lowered(row: PhaseRow, proof: PhaseProof) -> bool:
    """Whether the row's status must be lowered; a status in a person's own words stays."""
    status = row.cell("status")
    return proof.is_reopened and status is not None and says_done(status.text)


def _row_status(
    row: PhaseRow, entry: PhaseEntry, proof: PhaseProof, claims: list[str]
) -> Iterator[Splice]:
    status = row.cell("status")
    if status is None:
        return
    written = status.text
    if _is_lowered(row, proof):
        yield from _set(status, ROW_IN_PROGRESS)
    elif says_done(written) and not proof.is_complete:
        claims.append(f"{entry.line}: the row of phase {proof.id.short} says {status.text}")
    elif proof.is_complete and says_unfinished(written):
        yield from _set(status, ROW_DONE)
    elif proof.done and not proof.is_complete and (is_blank(written) or says_not_started(written)):
        yield from _set(status, ROW_IN_PROGRESS)


def _set(cell: Cell, value: str) -> Iterator[Splice]:
    if cell.text != value:
        # The cells of a table without padding have no blank around the value.
        yield Splice(cell.start, cell.end, table_cell(value))
