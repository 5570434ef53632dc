"""Repairs: a document with the lines put right that findings name, and no other line touched.

Nothing a person wrote is lost: where a value of theirs has to go, it is returned with the
document, so that the caller can keep it in the archive in the same step.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from fairlead.model.divergence import Finding, Kind
from fairlead.model.standing import Standing
from fairlead.model.status import is_default
from fairlead.records.compare_requirements import is_met
from fairlead.records.digest import lifecycle_of, plan_line, position_line, with_progress
from fairlead.records.recorded import position_section, repeated
from fairlead.records.requirements import boxes_of, phases_in, traced, traces_of
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
# Positions and plans in the forms that commands write.
_WRITTEN = re.compile(
    r"(?:Phase\s+)?[0-9][\w.-]*(?:\s+of\s+[0-9\w.]+)?(?:\s+in current phase)?(?:\s+\([^()]*\))?"
    r"(?:\s+[—–-]{1,2}\s+(?:EXECUTING|COMPLETED?|PLANNING|VERIFYING|PLANNED))?"
    r"|Not started|All plans complete|All phases complete|Milestone v\S+ complete|[—–-]|null|none",
    re.IGNORECASE,
)


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
    repair = _State(document, standing, path)
    if whats & _NUMBERS:
        repair.document = with_progress(repair.document, standing)
    if "Total plans completed" in whats:
        field = repair.document.field("Total plans completed")
        if field:
            count = str(standing.progress.completed_plans)
            repair.document = repair.document.set_field(
                field, _NUMBER.sub(count, field.value, count=1)
            )
    for what in sorted(whats):
        repair.word(what, chosen)
    if any(finding.kind is Kind.TWICE for finding in chosen):
        repair.remove_repeated()
    return Repaired(repair.document, tuple(repair.replaced))


class _State:
    """One repair of one STATE.md."""

    def __init__(self, document: Document, standing: Standing, path: str) -> None:
        self.document = document
        self.standing = standing
        self.path = path
        self.replaced: list[str] = []

    def word(self, what: str, chosen: list[Finding]) -> None:
        """Put one text right: a field of the position, or a key of the frontmatter."""
        current, scope = self.standing.current, self.standing.scope
        # A second field that names another phase follows the first one, which is right.
        agreed = next((each.true for each in chosen if each.what == what), "")
        number = agreed.removeprefix("phase ") if agreed.startswith("phase ") else ""
        match what:
            case "Phase":
                is_current = current is not None and number == current.id.short
                line = position_line(self.standing) if is_current or not number else number
                self.field("Phase", line)
            case "Current Phase":
                self.field("Current Phase", number or position_line(self.standing))
            case "Plan":
                self.field("Plan", plan_line(self.standing))
            case "Status":
                self.field("Status", self.standing.words)
            case "current_phase":
                self.front("current_phase", number or None)
            case "current_phase_name":
                self.front("current_phase_name", current.name if current else None)
            case "status":
                self.front("status", str(self.standing.status))
            case "milestone":
                self.front("milestone", scope.milestone)
            case "milestone_name":
                self.front("milestone_name", scope.milestone_name)
            case "active_phase" | "next_action" | "next_phases":
                self.front(what, lifecycle_of(self.standing)[what])
            case _:
                pass

    def field(self, name: str, value: str) -> None:
        found = self.document.field(name, position_section(self.document))
        if not found:
            return
        is_written = is_default if name == "Status" else _WRITTEN.fullmatch
        if found.value and not is_written(found.value):
            self.replaced.append(f"- {self.path}, {name}: {found.value}")
        self.document = self.document.set_field(found, value)

    def front(self, key: str, value: str | list[str] | None) -> None:
        self.document = self.document.set_front((key,), value)

    def remove_repeated(self) -> None:
        position = position_section(self.document)
        lines = [line for _, line in repeated(self.document, position)] if position else []
        text = self.document.text
        for line in sorted(lines, key=lambda each: each.start, reverse=True):
            self.replaced.append(f"- {self.path}: {line.text.strip()}")
            text = text[: line.start] + text[line.next :]
        self.document = self.document.replaced(text)


def repaired_roadmap(document: Document, findings: Iterable[Finding], path: str) -> Repaired:
    """ROADMAP.md with the boxes, rows and counts of these findings as the files prove them."""
    replaced: list[str] = []
    for finding in findings:
        if finding.path != path or not 0 < finding.line <= len(document.lines):
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
        if finding.kind is Kind.CLAIM and titles[-1].startswith("complete"):
            # The day on which an unfinished phase was finished. Last cell first: offsets.
            old = row[-1].text if _DATE.match(row[-1].text) else ""
            text = set_cell(text, row[-1], "-") if old else text
        text = set_cell(text, status, finding.true)
        return document.replaced(text), f"{status.text}, {old}" if old else ""
    return document, ""


def _set_counts(text: str, cell: Cell, counts: str) -> str:
    """The counts of a cell; words beside them stay."""
    return set_cell(text, cell, _COUNTS.sub(counts, cell.text, count=1))
