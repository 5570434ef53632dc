"""Repairs: a document with the lines put right that findings name, and no other line touched.

Nothing a person wrote is lost: where a value of theirs has to go, it is returned with the
document, so that the caller can keep it in the archive in the same step.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from fairlead.model.divergence import Finding, Kind
from fairlead.model.standing import Standing
from fairlead.records.activity import displaced
from fairlead.records.compare_requirements import is_met
from fairlead.records.digest import with_progress, with_words
from fairlead.records.recorded import (
    further_positions,
    holds_fields_only,
    position_section,
    repeated,
)
from fairlead.records.requirements import boxes_of, phases_in, traced, traces_of
from fairlead.records.roadmap_words import ROW_DONE
from fairlead.records.truths import untrue_words
from fairlead.text.document import Document
from fairlead.text.lists import items_of, set_checked
from fairlead.text.outline import Line
from fairlead.text.tables import Cell, set_cell, tables_of

_NUMBERS = {
    "Progress",
    "progress.percent",
    "progress.total_phases",
    "progress.completed_phases",
    "progress.total_plans",
    "progress.completed_plans",
}
_NUMBER = re.compile(r"[0-9]+")
_COUNTS = re.compile(r"[0-9]+\s*/\s*(?:[0-9]+|TBD|\?)", re.IGNORECASE)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")


class Repaired(NamedTuple):
    """A document after its repair, and what a person had written in place of derived values."""

    document: Document
    replaced: tuple[str, ...] = ()


def repaired_state(
    document: Document, findings: Iterable[Finding], standing: Standing, path: str
) -> Repaired:
    """STATE.md with the values of these findings as the files prove them."""
    chosen = [finding for finding in findings if finding.path == path]
    whats = {finding.what for finding in chosen if finding.kind is not Kind.TWICE}
    after = with_progress(document, standing) if whats & _NUMBERS else document
    if "Total plans completed" in whats:
        field = after.field("Total plans completed")
        if field:
            count = str(standing.progress.completed_plans)
            after = after.set_field(field, _NUMBER.sub(count, field.value, count=1))
    scope = {"milestone": standing.scope.milestone, "milestone_name": standing.scope.milestone_name}
    words = untrue_words(document, standing) | scope
    after = with_words(after, {name: words[name] for name in words if name in whats})
    kept = [f"- {path}, {line}" for line in displaced(document, after)]
    if any(finding.kind is Kind.TWICE for finding in chosen):
        after, lines = _without_repeated(after)
        kept += [f"- {path}: {line}" for line in lines]
    if any(finding.kind is Kind.SECTION for finding in chosen):
        after, lines = _without_further(after)
        kept += [f"- {path}: {line}" for line in lines]
    return Repaired(after, tuple(kept))


def _without_repeated(document: Document) -> tuple[Document, list[str]]:
    position = position_section(document)
    lines = [line for _, line in repeated(document, position)] if position else []
    text = document.text
    for line in sorted(lines, key=lambda each: each.start, reverse=True):
        text = text[: line.start] + text[line.next :]
    return document.replaced(text), [line.text.strip() for line in lines]


def _without_further(document: Document) -> tuple[Document, list[str]]:
    """The position once; a second section that says more than a position is left to a person."""
    text, lines = document.text, document.lines
    gone: list[str] = []
    for section in reversed(further_positions(document)):
        if holds_fields_only(document, section):
            first = section.heading
            while section.last == len(lines) and not lines[first - 1].text.strip():
                first -= 1  # blank lines before the last section end the document no more
            text = text[: lines[first].start] + text[lines[section.last - 1].next :]
            gone = [*(each.text for each in lines[first : section.last]), *gone]
    return document.replaced(text), [line.strip() for line in gone if line.strip()]


def repaired_roadmap(document: Document, findings: Iterable[Finding], path: str) -> Repaired:
    """ROADMAP.md with the boxes, rows and counts of these findings as the files prove them."""
    replaced: list[str] = []
    for finding in findings:
        is_mine = finding.path == path and finding.true
        if not is_mine or not 0 < finding.line <= len(document.lines):
            continue
        line = document.lines[finding.line - 1]
        if finding.what.endswith(" box"):
            document = _box(document, line, finding)
        elif finding.what.endswith(" count"):
            at = _COUNTS.search(line.text)
            if at:
                start, end = line.start + at.start(), line.start + at.end()
                document = document.replaced(
                    document.text[:start] + finding.true + document.text[end:]
                )
        else:
            document, old = _row(document, line, finding)
            replaced += [f"- {path}, {finding.what}: {old}"] if old else []
    return Repaired(document, tuple(replaced))


def repaired_requirements(
    document: Document, findings: Iterable[Finding], standing: Standing, path: str
) -> Repaired:
    """REQUIREMENTS.md with the boxes and rows of these findings put right."""
    replaced: list[str] = []
    # From below, so that the lines of those still to come stay where they are.
    mine = [each for each in findings if each.path == path and each.true]
    for finding in sorted(mine, key=lambda each: each.line, reverse=True):
        line = document.lines[finding.line - 1]
        if finding.what.endswith(" box"):
            document = _box(document, line, finding)
        elif cell := _traced_cell(document, line, finding):
            replaced.append(f"- {path}, {finding.what}: {cell.text.strip()}")
            document = document.replaced(set_cell(document.text, cell, finding.true))
    for finding in mine:
        if finding.kind is Kind.UNMAPPED:
            boxes = [each for each in boxes_of(document) if each.requirement == finding.what]
            is_ticked = any(each.item.is_checked for each in boxes)
            done = is_met(is_ticked, phases_in(finding.true), standing)
            document = traced(document, finding.what, finding.true, is_met=done)
    return Repaired(document, tuple(replaced))


def _traced_cell(document: Document, line: Line, finding: Finding) -> Cell | None:
    for trace in traces_of(document) if finding.kind is not Kind.UNMAPPED else ():
        cell = trace.phase if finding.kind is Kind.TRACE else trace.status
        if line.start <= cell.start < line.next:
            return cell
    return None


def _box(document: Document, line: Line, finding: Finding) -> Document:
    for item in items_of(document.lines):
        if line.start <= item.start < line.next:
            is_done = finding.said == "open"
            return document.replaced(set_checked(document.text, item, is_done))
    return document


def _row(document: Document, line: Line, finding: Finding) -> tuple[Document, str]:
    """One cell of a progress row put right, and what a person had written there, if anything."""
    for table in tables_of(document.lines):
        row = next((each for each in table.rows if each and each[0].start >= line.start), None)
        if row is None or row[0].start >= line.next:
            continue
        titles = [cell.text.strip("*").casefold() for cell in table.header]
        if finding.what.endswith(" plans"):
            at = next((at for at, title in enumerate(titles) if title.startswith("plans")), -1)
            return document.replaced(_set_counts(document.text, row[at], finding.true)), ""
        status = row[titles.index("status")]
        text, old = document.text, ""
        is_open = finding.kind is Kind.CLAIM and finding.true != ROW_DONE
        if is_open and titles[-1].startswith("complete"):
            # The day on which an unfinished phase was finished. Last cell first: offsets.
            old = row[-1].text if _DATE.match(row[-1].text) else ""
            text = set_cell(text, row[-1], "-") if old else text
        text = set_cell(text, status, finding.true)
        return document.replaced(text), f"{status.text}, {old}" if old else ""
    return document, ""


def _set_counts(text: str, cell: Cell, counts: str) -> str:
    """The counts of a cell; words beside them stay."""
    return set_cell(text, cell, _COUNTS.sub(counts, cell.text, count=1))
