"""Repairs of documents, and summaries for plans that were done without one.

A repair changes only the lines that findings name. If it replaces a person's words, it returns
them, so that the caller can archive them in the same step. A missing summary is written for a plan
if the roadmap marks the plan or its phase as done, or if the claimed number is exactly what all
missing summaries together would prove. A summary that reports failure is never overruled.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass, replace
from fairlead.project.derive.inventory import Inventory, Phase, PhaseFolder, Plan, Proof
from fairlead.project.derive.position import Position
from fairlead.project.health.compare_requirements import is_met
from fairlead.project.health.findings import Finding, FindingKind
from fairlead.project.naming import summary_path
from fairlead.project.requirements import boxes_of, phases_in, traces_of, with_trace
from fairlead.project.roadmap.entries import parse_entries
from fairlead.project.roadmap.row_status import ROW_DONE
from fairlead.project.state.activity import displaced_lines
from fairlead.project.state.bars import find_bar
from fairlead.project.state.contradictions import contradicted_fields
from fairlead.project.state.digest import with_fields, with_progress
from fairlead.project.state.recorded import (
    further_positions,
    holds_fields_only,
    position_section,
    repeated_lines,
)
from fairlead.text.document import Document
from fairlead.text.lists import items_of, set_checked
from fairlead.text.outline import Line
from fairlead.text.tables import Cell, set_cell
from fairlead.text.yaml_emit import scalar_text

_NUMBERS = {
    "Progress",
    "progress.percent",
    "progress.total_phases",
    "progress.completed_phases",
    "progress.total_plans",
    "progress.completed_plans",
}
# What commands write behind a bar.
_BAR_COUNTS = lazy_pattern(
    r"[0-9]+\s*/\s*[0-9]+\s+(?:plans?|phases?|tasks?)(?:\s+complete)?", re.IGNORECASE
)
_MOST_WORDS = 2  # that may stand there beside it
_COUNTS = lazy_pattern(r"[0-9]+\s*/\s*(?:[0-9]+|TBD|\?)", re.IGNORECASE)
_DATE = lazy_pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_NAMING_FIELDS = ("status", "Status", "Phase", "Plan")  # their claims list what is missing
_UNPROVEN = (Proof.NONE, Proof.EMPTY)


class RepairedDocument(NamedTuple):
    """A repaired document, and the words of people that the repair replaced."""

    document: Document
    replaced: tuple[str, ...] = ()


def repaired_state(
    document: Document, findings: Iterable[Finding], position: Position, path: str
) -> RepairedDocument:
    """STATE.md with derived values in place of those the findings name."""
    chosen = [finding for finding in findings if finding.path == path]
    whats = {finding.what for finding in chosen if finding.kind is not FindingKind.TWICE}
    after = with_progress(document, position) if whats & _NUMBERS else document
    named = {each.line for each in chosen if each.what in _NUMBERS}
    after = _with_sentences(document, after, named)
    scope = {"milestone": position.scope.milestone, "milestone_name": position.scope.milestone_name}
    words = contradicted_fields(document, position) | scope
    after = with_fields(after, {name: words[name] for name in words if name in whats})
    kept = [f"- {path}, {line}" for line in displaced_lines(document, after)]
    if any(finding.kind is FindingKind.TWICE for finding in chosen):
        after, lines = _without_repeated_lines(after)
        kept += [f"- {path}: {line}" for line in lines]
    if any(finding.kind is FindingKind.SECTION for finding in chosen):
        after, lines = _without_further_sections(after)
        kept += [f"- {path}: {line}" for line in lines]
    return RepairedDocument(after, tuple(kept))


def _with_sentences(before: Document, after: Document, named: set[int]) -> Document:
    """The repaired document with lines that no finding names, and a person's bar, as they were."""
    old, new = before.text.split("\n"), after.text.split("\n")
    if len(old) != len(new):
        return after
    kept = [
        other if number in named and not _is_sentence(line) else line
        for number, (line, other) in enumerate(zip(old, new, strict=True), 1)
    ]
    return after.replaced("\n".join(kept))


def _is_sentence(line: str) -> bool:
    """Whether a person has written more behind a bar than its percentage and counts."""
    tail = line.rpartition("%")[2] if line.count("%") == 1 else line.partition("%")[2]
    rest = _BAR_COUNTS.sub("", tail)
    is_long = len(rest.split()) > _MOST_WORDS or any(map(str.isdigit, rest))
    return find_bar(line) is not None and is_long


def _without_repeated_lines(document: Document) -> tuple[Document, list[str]]:
    section = position_section(document)
    lines = [line for _, line in repeated_lines(document, section)] if section else []
    text = document.text
    for line in sorted(lines, key=lambda each: each.start, reverse=True):
        text = text[: line.start] + text[line.next :]
    return document.replaced(text), [line.text.strip() for line in lines]


def _without_further_sections(document: Document) -> tuple[Document, list[str]]:
    """Remove further position sections, unless they contain more than a position."""
    text, lines = document.text, document.lines
    removed: list[str] = []
    for section in reversed(further_positions(document)):
        if holds_fields_only(document, section):
            first = section.heading
            while section.last == len(lines) and not lines[first - 1].text.strip():
                first -= 1  # also remove the blank lines before the last section
            text = text[: lines[first].start] + text[lines[section.last - 1].next :]
            removed = [*(each.text for each in lines[first : section.last]), *removed]
    return document.replaced(text), [line.strip() for line in removed if line.strip()]


def repaired_roadmap(
    document: Document, findings: Iterable[Finding], path: str
) -> RepairedDocument:
    """ROADMAP.md with the boxes, rows and counts of these findings corrected."""
    replaced: list[str] = []
    for finding in findings:
        is_repairable = finding.path == path and finding.true
        if not is_repairable or not 0 < finding.line <= len(document.lines):
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
            document, old = _row(document, finding)
            replaced += [f"- {path}, {finding.what}: {old}"] if old else []
    return RepairedDocument(document, tuple(replaced))


def repaired_requirements(
    document: Document, findings: Iterable[Finding], position: Position, path: str
) -> RepairedDocument:
    """REQUIREMENTS.md with the boxes and rows of these findings corrected."""
    replaced: list[str] = []
    # From the bottom up, so that earlier line numbers stay valid.
    of_document = [each for each in findings if each.path == path and each.true]
    for finding in sorted(of_document, key=lambda each: each.line, reverse=True):
        line = document.lines[finding.line - 1]
        if finding.what.endswith(" box"):
            document = _box(document, line, finding)
        elif cell := _traced_cell(document, line, finding):
            replaced.append(f"- {path}, {finding.what}: {cell.text.strip()}")
            document = document.replaced(set_cell(document.text, cell, finding.true))
    for finding in of_document:
        if finding.kind is FindingKind.UNMAPPED:
            boxes = [each for each in boxes_of(document) if each.requirement == finding.what]
            is_ticked = any(each.item.is_checked for each in boxes)
            done = is_met(is_ticked, phases_in(finding.true), position)
            document = with_trace(document, finding.what, finding.true, is_met=done)
    return RepairedDocument(document, tuple(replaced))


def _traced_cell(document: Document, line: Line, finding: Finding) -> Cell | None:
    for trace in traces_of(document) if finding.kind is not FindingKind.UNMAPPED else ():
        cell = trace.phase if finding.kind is FindingKind.TRACE else trace.status
        if line.start <= cell.start < line.next:
            return cell
    return None


def _box(document: Document, line: Line, finding: Finding) -> Document:
    for item in items_of(document.lines):
        if line.start <= item.start < line.next:
            is_done = finding.said == "open"
            return document.replaced(set_checked(document.text, item, is_done))
    return document


def _row(document: Document, finding: Finding) -> tuple[Document, str]:
    """A progress row with one cell corrected, and the words of a person it replaced."""
    phases = parse_entries(document).phases
    row = next((entry.row for entry in phases if entry.row and entry.line == finding.line), None)
    cell = row.cell("plans" if finding.what.endswith(" plans") else "status") if row else None
    if row is None or cell is None:
        return document, ""
    if finding.what.endswith(" plans"):
        # Only the counts are replaced; other words in the cell stay.
        value = _COUNTS.sub(finding.true, cell.text, count=1)
        return document.replaced(set_cell(document.text, cell, value)), ""
    values = {cell: finding.true}
    completed = row.cell("completed")
    is_open = finding.kind is FindingKind.CLAIM and finding.true != ROW_DONE
    old = ""
    if completed and is_open and _DATE.match(completed.text):
        values[completed] = "-"  # an unfinished phase has no completion date
        old = f"{cell.text}, {completed.text}"
    text = document.text
    for changed in sorted(values, key=lambda each: each.start, reverse=True):
        text = set_cell(text, changed, values[changed])
    return document.replaced(text), old


# -- missing summaries ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClaimedPlan:
    """A plan without proof, and the place that claims it is done."""

    plan: Plan
    by: str  # ROADMAP.md:44
    said: str

    @property
    def path(self) -> str:
        """The path of its summary."""
        return self.plan.summary or summary_path(self.plan.path)


def claimed_plans(position: Position, findings: Iterable[Finding]) -> tuple[ClaimedPlan, ...]:
    """The unproven plans that the claims among these findings cover."""
    claims = [finding for finding in findings if finding.kind is FindingKind.CLAIM]
    covered: dict[str, ClaimedPlan] = {}
    for phase in position.scope.phases:
        for claim in claims:
            for plan in _named(phase, claim):
                covered.setdefault(plan.path, _claimed(plan, claim))
    missing = [plan for phase in position.scope.phases for plan in _missing(phase)]
    for claim in claims:
        if _counts_all(claim, position, len(missing)):
            for plan in missing:
                covered.setdefault(plan.path, _claimed(plan, claim))
    return tuple(covered[path] for path in sorted(covered))


def with_proof(inventory: Inventory, claimed: Iterable[ClaimedPlan]) -> Inventory:
    """The inventory as it will be once these summaries are written."""
    paths = {each.plan.path: each.path for each in claimed}
    return replace(
        inventory,
        folders=tuple(_proven(folder, paths) for folder in inventory.folders),
        archived=tuple(_proven(folder, paths) for folder in inventory.archived),
    )


def summary_text(claimed: ClaimedPlan, claimed_at: str, now: datetime) -> str:
    """The text of a reconstructed summary."""
    when = claimed_at or "a time that is not recorded"
    lines = (
        "---",
        f"plan: {scalar_text(claimed.plan.id, quote=chr(34))}",
        "status: complete",
        "reconstructed: true",
        f"claimed_by: {scalar_text(claimed.by)}",
        f"claimed_at: {scalar_text(claimed_at) if claimed_at else 'null'}",
        f"reconstructed_at: {now:%Y-%m-%d}",
        "---",
        "",
        f"# Plan {claimed.plan.id}: Summary",
        "",
        f"This summary was reconstructed. {claimed.by} said `{claimed.said}` ({when}) while no",
        "summary was there; nothing else proves what was done.",
        "",
    )
    return "\n".join(lines)


def _named(phase: Phase, claim: Finding) -> Iterator[Plan]:
    of_phase = (f"phase {phase.id.short} box", f"phase {phase.id.short} status")
    for plan in _missing(phase):
        is_named = claim.what in _NAMING_FIELDS and summary_path(plan.path) in claim.because
        if is_named or claim.what in of_phase or claim.what == f"plan {plan.id} box":
            yield plan
    counts = (f"phase {phase.id.short} plans", f"phase {phase.id.short} count")
    if claim.what in counts and phase.folder:
        done = claim.said.partition("/")[0].strip()
        if done == str(len(phase.folder.live_plans)):
            yield from _missing(phase)


def _counts_all(claim: Finding, position: Position, missing: int) -> bool:
    """Whether the claimed number is what all missing summaries together would prove."""
    proven = position.progress.completed_plans
    match claim.what:
        case "progress.completed_plans":
            return claim.said == str(proven + missing)
        case "progress.percent" | "Progress":
            return claim.said == "100%" and missing > 0
        case _:
            return False


def _missing(phase: Phase) -> Iterator[Plan]:
    for plan in phase.folder.live_plans if phase.folder else ():
        if plan.proof in _UNPROVEN:
            yield plan


def _claimed(plan: Plan, claim: Finding) -> ClaimedPlan:
    return ClaimedPlan(plan, f"{claim.path}:{claim.line}", f"{claim.what} {claim.said}")


def _proven(folder: PhaseFolder, paths: dict[str, str]) -> PhaseFolder:
    plans = tuple(
        plan._replace(proof=Proof.COMPLETE, summary=paths[plan.path])
        if plan.path in paths
        else plan
        for plan in folder.plans
    )
    proven = replace(folder, plans=plans)
    verification = folder.verification
    if verification and proven.is_implemented and not folder.is_implemented:
        # It was stale because a plan was open; a reconstructed summary has no later date.
        return replace(proven, verification=verification._replace(is_stale=False))
    return proven
