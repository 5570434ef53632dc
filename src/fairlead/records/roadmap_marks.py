"""The marks of ROADMAP.md: boxes, plan counts and progress rows, as the files prove them.

A mark is raised to what is proven. One that claims more is left for a person, who may have done
the work without writing its summary, and is reported with its line. Only where plans were added to
a phase whose marks were right do they go back.
"""

import re
from collections.abc import Iterable, Iterator

from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Completion, Listed, Phase
from fairlead.model.progress import folder_counts
from fairlead.records import naming
from fairlead.records.keys import count
from fairlead.records.roadmap_lines import Form, Mention, Row, Sheet, own_lines, read_sheet
from fairlead.records.roadmap_words import (
    ROW_BEGUN,
    ROW_DONE,
    is_silent,
    says_done,
    says_unbegun,
    says_unfinished,
)
from fairlead.text.document import Document
from fairlead.text.fields import Field, find_field
from fairlead.text.inline import table_cell
from fairlead.text.splice import Splice, spliced
from fairlead.text.tables import Cell
from fairlead.values import dataclass, replace

_COUNTS = re.compile(
    r"(?:TBD|(?P<done>[0-9]+)\s*/\s*(?P<total>[0-9]+|TBD)|(?P<planned>[0-9]+))"
    r"(?:\s+plans?)?(?:\s+(?:complete|completed|executed))?(?=\s|\Z|[,;(.])",
    re.IGNORECASE,
)
_CELL_COUNTS = re.compile(r"(?P<done>[0-9]+)\s*/\s*(?:[0-9]+|TBD|\?)\s*\Z", re.IGNORECASE)
_BESIDE = re.compile(r"\((?P<counts>(?P<done>[0-9]+)/[0-9]+)(?= plans?\b)", re.IGNORECASE)
_PLAN = re.compile(r"[*`\[]*(?P<plan>[\w.-]+?)(?:\.md)?(?=[*`\]:\s]|\Z)")
_DATED = re.compile(r"\bcompleted\b|\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b", re.IGNORECASE)
_WRITTEN_DATE = re.compile(r"\s*\(completed [0-9]{4}-[0-9]{2}-[0-9]{2}\)\Z")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_NO_DATE = ("", "-", "—", "–", "tbd", "n/a")


@dataclass(frozen=True, slots=True)
class Proven:
    """What the files prove of one phase."""

    id: PhaseId
    milestone: str  # as the roadmap lists it; empty if under none
    done: int
    total: int
    is_complete: bool
    plans: frozenset[str] = frozenset()  # the ids of its complete plans
    is_reopened: bool = False  # plans were added: marks that were right go back


@dataclass(frozen=True, slots=True)
class Marked:
    """The roadmap with its marks raised, and the marks that claim more than is proven."""

    document: Document
    claims: tuple[str, ...] = ()  # `12: the box of phase 3 is ticked`


def proven_of(phase: Phase, policy: Completion) -> Proven:
    """What the files prove of a phase."""
    plans = phase.folder.live_plans if phase.folder else ()
    done, total = folder_counts(phase.folder) if phase.folder else (0, 0)
    return Proven(
        id=phase.id,
        milestone=phase.listed.milestone if phase.listed else "",
        done=done,
        total=total,
        is_complete=phase.is_complete(policy) and done == total,
        plans=frozenset(plan.id for plan in plans if plan.is_complete),
    )


def reopened_of(phase: Phase, policy: Completion) -> Proven:
    """The same of a phase that is worked on again; one that counts more as done only claims it."""
    told = proven_of(phase, policy)
    claimed = _claimed(phase.listed) if phase.listed else 0
    return replace(told, is_reopened=0 < told.done < told.total and claimed <= told.done)


def _claimed(listed: Listed) -> int:
    """The most plans that a count of the phase, or the boxes of its plans, say are done."""
    said = (listed.plans_cell, *(each.text for each in listed.counts))
    counts = [match["done"] for each in said if (match := _COUNTS.match(each))]
    ticked = {each.text for each in listed.plan_boxes if each.is_checked}
    return max([len(ticked), *(count(each) for each in counts if each)])


def marked(document: Document, proven: Iterable[Proven], date: str) -> Marked:
    """Raise every mark of these phases to what is proven."""
    document.require_writable()
    sheet = read_sheet(document)
    by_key = {(each.milestone, each.id): each for each in proven}
    # A phase that was marked complete before was not completed today, and nobody knows when.
    old = {(each.milestone, each.id) for each in sheet.mentions if _is_marked_done(each)}
    splices: list[Splice] = []
    claims: list[str] = []
    for mention in sheet.mentions:
        told = by_key.get((mention.milestone, mention.id))
        if told is None or mention.is_retired:
            continue
        day = "" if (mention.milestone, mention.id) in old else date
        match mention.form:
            case Form.BULLET:
                splices += _box(mention, told, day, claims)
            case Form.HEADING:
                splices += _details(sheet, mention, told, claims)
            case _:
                splices += _row(mention, told, day, claims)
    return Marked(document.replaced(spliced(document.text, splices)), tuple(claims))


def _is_marked_done(mention: Mention) -> bool:
    if mention.item and mention.item.is_checked:
        return True
    status = mention.row.cell("status") if mention.row else None
    return bool(status and says_done(status.text))


def _box(mention: Mention, told: Proven, date: str, claims: list[str]) -> Iterator[Splice]:
    item = mention.item
    if item is None:
        return
    beside = _BESIDE.search(item.text)
    if beside and told.total and count(beside["done"]) > told.done:
        claims.append(f"{mention.line}: phase {told.id.short} counts {beside['counts']} plans")
    elif beside and told.total and beside["counts"] != f"{told.done}/{told.total}":
        start = item.start + beside.start("counts")
        yield Splice(start, start + len(beside["counts"]), f"{told.done}/{told.total}")
    if item.box < 0:
        return
    if item.is_checked and told.is_reopened:
        yield Splice(item.box, item.box + 1, " ")
        written = _WRITTEN_DATE.search(item.text)
        if written:
            yield Splice(item.start + written.start(), item.start + written.end(), "")
    elif item.is_checked and not told.is_complete:
        claims.append(f"{mention.line}: the box of phase {told.id.short} is ticked")
    if item.is_checked or not told.is_complete:
        return
    yield Splice(item.box, item.box + 1, "x")
    if date and not _DATED.search(item.text):
        end = item.start + len(item.text)
        yield Splice(end, end, f" (completed {date})")


def _details(sheet: Sheet, mention: Mention, told: Proven, claims: list[str]) -> Iterator[Splice]:
    assert mention.section is not None
    lines = [line for _, line in own_lines(sheet, mention.section)]
    counts = find_field(lines, "Plans")
    if counts and counts.value:
        yield from _counts(counts, mention, told, claims)
    for number, _ in own_lines(sheet, mention.section):
        item = sheet.bullets.get(number)
        match = _PLAN.match(item.text) if item and item.box >= 0 else None
        if not item or not match:
            continue
        name = match["plan"] if "PLAN" in match["plan"] else f"{match['plan']}-PLAN"
        plan = naming.plan_id(f"{name}.md", told.id)
        if plan in told.plans and not item.is_checked:
            yield Splice(item.box, item.box + 1, "x")


def _counts(counts: Field, mention: Mention, told: Proven, claims: list[str]) -> Iterator[Splice]:
    match = _COUNTS.match(counts.value)
    if not match or not told.total:
        return
    if match["done"] and count(match["done"]) > told.done:
        claims.append(f"{mention.line}: phase {told.id.short} counts {match[0]}")
        return
    if match["planned"] == str(told.total) and not told.done:
        return
    new = f"{told.done}/{told.total} plans complete"
    if match[0] != new:
        yield Splice(counts.start, counts.start + match.end(), new)


def _row(mention: Mention, told: Proven, date: str, claims: list[str]) -> Iterator[Splice]:
    row = mention.row
    assert row is not None
    if not told.total:
        return
    plans = row.cell("plans")
    said = _CELL_COUNTS.match(plans.text) if plans else None
    if said and count(said["done"]) > told.done:
        claims.append(f"{mention.line}: the row of phase {told.id.short} counts {said[0]}")
        return
    if plans and (said or plans.text.casefold() in _NO_DATE):
        yield from _set(plans, f"{told.done}/{told.total}")
    yield from _row_status(row, mention, told, claims)
    completed = row.cell("completed")
    if completed and _goes_back(row, told) and _DAY.match(completed.text):
        yield from _set(completed, "-")
    if completed and date and told.is_complete and completed.text.casefold() in _NO_DATE:
        yield from _set(completed, date)


def _goes_back(row: Row, told: Proven) -> bool:
    """Whether the row's status is one of ours that is taken back; a person's own words stay."""
    status = row.cell("status")
    return told.is_reopened and status is not None and says_done(status.text)


def _row_status(row: Row, mention: Mention, told: Proven, claims: list[str]) -> Iterator[Splice]:
    status = row.cell("status")
    if status is None:
        return
    said = status.text
    if _goes_back(row, told):
        yield from _set(status, ROW_BEGUN)
    elif says_done(said) and not told.is_complete:
        claims.append(f"{mention.line}: the row of phase {told.id.short} says {status.text}")
    elif told.is_complete and says_unfinished(said):
        yield from _set(status, ROW_DONE)
    elif told.done and not told.is_complete and (is_silent(said) or says_unbegun(said)):
        yield from _set(status, ROW_BEGUN)


def _set(cell: Cell, value: str) -> Iterator[Splice]:
    if cell.text != value:
        # Tables drawn with a bare pipe have no blank to write after.
        yield Splice(cell.start, cell.end, table_cell(value))
