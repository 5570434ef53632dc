"""ROADMAP.md compared with the files: boxes of phases and plans, progress rows, plan counts.

Only the phases in scope are compared with their folders; archived milestones are history.
"""

import re
from collections.abc import Iterator

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import replace
from fairlead.project.derive.inventory import Phase, Plan, ScopeSource, Stage
from fairlead.project.derive.position import Position
from fairlead.project.derive.progress import folder_counts
from fairlead.project.derive.scope import Certainty
from fairlead.project.health.compare_state import unproven
from fairlead.project.health.findings import Finding, FindingKind
from fairlead.project.roadmap.documents import names_of
from fairlead.project.roadmap.model import ListedPhase, Roadmap
from fairlead.project.roadmap.row_status import (
    ROW_DONE,
    ROW_IN_PROGRESS,
    line_says_done,
    says_done,
    says_in_progress,
    says_not_started,
    says_unfinished,
    says_verified,
)
from fairlead.text.frontmatter_values import count_of_digits

_CELL = lazy_pattern(r"\s*(?P<done>[0-9]+)\s*/\s*(?P<total>[0-9]+|TBD|\?)", re.IGNORECASE)
_PLANNED = lazy_pattern(r"\s*([0-9]{1,6})(?:\s+plans?\b.*)?\Z", re.IGNORECASE)
_STILL_TO_COME = ("ready for execution", "ready to execute", "not started", "not yet planned")
_ROW_WORDS = {
    Stage.NO_FOLDER: "Not started",
    Stage.EMPTY: "Not started",
    Stage.DISCUSSED: "Not started",
    Stage.RESEARCHED: "Not started",
    Stage.PLANNED: "Planned",
    Stage.PARTIAL: ROW_IN_PROGRESS,
    Stage.COMPLETE: ROW_IN_PROGRESS,  # its plans are done, but the policy asks for a verification
    Stage.VERIFIED: ROW_IN_PROGRESS,
}


def roadmap_findings(position: Position, path: str) -> Iterator[Finding]:
    """The findings in ROADMAP.md; plan boxes and rows of a phase do not depend on the scope."""
    scope = position.scope
    for phase in scope.phases:
        if phase.listed:
            yield from _clashes(phase.listed, path)
            yield from _phase_findings(phase, phase.listed, position, path)
    for phase in scope.elsewhere:
        if phase.listed and phase.folder:
            findings = _phase_findings(phase, phase.listed, position, path)
            # Of another milestone only what is called unfinished can be wrong; the rest is history.
            owners = [each for each in scope.milestones if each.has(phase.id)]
            is_open = bool(owners) and not any(each.is_closed for each in owners)
            yield from (each for each in findings if is_open or _is_behind(each))
    yield from _milestone_marks(position, path)


def _phase_findings(
    phase: Phase, listed: ListedPhase, position: Position, path: str
) -> Iterator[Finding]:
    if phase.folder is None or not (phase.folder.plans or phase.folder.orphans):
        # Without files nothing proves or refutes a finished phase; only what has not begun is known.
        is_unprovable = position.scope.certainty is Certainty.UNVERIFIABLE
        if listed.is_called_done or is_unprovable:
            return
    if listed.clashes:
        return  # its boxes and counts are those of several phases
    is_done = phase.is_complete(position.policy)
    is_settled = _is_settled(phase, position)
    yield from _boxes(phase, listed, path, is_done=is_done, is_settled=is_settled)
    yield from _row(phase, listed, path, is_done=is_done, is_settled=is_settled)
    yield from _counts(phase, listed, path)
    yield from _plan_boxes(phase, listed, path)
    yield from _statuses(phase, listed, path, is_done=is_done)


def _is_behind(finding: Finding) -> bool:
    """Whether a statement calls something unfinished that the files prove."""
    if finding.kind is FindingKind.CLAIM:
        return False
    match = _CELL.match(finding.said)
    return (
        match["done"] != match["total"]
        if match
        else not finding.said[:1].isdigit() or (finding.said.startswith("0 "))
    )


def _is_settled(phase: Phase, position: Position) -> bool:
    """Whether a complete phase may no longer be called open."""
    return not position.scope.is_awaiting(phase)


def _statuses(phase: Phase, listed: ListedPhase, path: str, *, is_done: bool) -> Iterator[Finding]:
    """`**Status:**` below a phase: it calls finished what is open, or the other way round.

    No command writes such a line, so a person corrects it.
    """
    what = f"phase {phase.id.short} status line"
    for mark in listed.statuses:
        words = mark.text.casefold()
        is_ahead = any(word in words for word in _STILL_TO_COME) and not says_done(mark.text)
        place = path, mark.line, what, mark.text
        if phase.folder and phase.folder.is_implemented and is_ahead:
            yield Finding(FindingKind.ROW, *place, ROW_DONE, _paths(phase), is_repairable=False)
        elif says_not_started(mark.text) and phase.folder and phase.folder.completed:
            true = _ROW_WORDS[phase.stage]
            yield Finding(FindingKind.ROW, *place, true, _paths(phase), is_repairable=False)
        elif not is_done and line_says_done(mark.text):
            true, because = _open_words(phase), unproven(phase)
            yield Finding(FindingKind.CLAIM, *place, true, because, is_repairable=False)


def _milestone_marks(position: Position, path: str) -> Iterator[Finding]:
    """Lines that call a milestone planned or in progress although it is further."""
    scope = position.scope
    for record in scope.milestones if scope.certainty is not Certainty.UNCERTAIN else ():
        own = scope.phases if record.name == scope.milestone else scope.elsewhere
        phases = [each for each in own if record.has(each.id)]
        is_executed = bool(phases) and all(each.folder and each.folder.completed for each in phases)
        for mark in record.marks:
            is_refuted = record.is_closed or (mark.text == "planned" and is_executed)
            if is_refuted:
                true = "shipped" if record.is_closed else "executed"
                because = (_place(record.closing),) if record.closing else ()
                what = f"milestone {record.name}"
                place = mark.path or path, mark.line, what
                finding = Finding(FindingKind.MILESTONE, *place, mark.text, true, because)
                yield replace(finding, is_repairable=False)


def _place(source: ScopeSource) -> str:
    return f"{source.path}:{source.line}" if source.line else source.path


def roadmap_notes(roadmap: Roadmap, path: str) -> Iterator[Finding]:
    """Notes about ROADMAP.md; they make nothing in it wrong."""
    if roadmap.unread_line:
        why = "it has text, but no phase is recognised in it"
        place = path, roadmap.unread_line, "roadmap"
        yield Finding(FindingKind.NO_PHASES, *place, why, "", is_drift=False)


def _clashes(listed: ListedPhase, path: str) -> Iterator[Finding]:
    """Phases that share a number: only one can be counted, and it is unknown which."""
    if listed.clashes:
        said = f"{names_of(listed)} have one number"
        places = tuple(f"{path}:{each.line}: {each.text}" for each in listed.clashes)
        what = f"phase {listed.id.short}"
        yield Finding(FindingKind.DUPLICATE, path, listed.clashes[1].line, what, said, "", places)


def _boxes(
    phase: Phase, listed: ListedPhase, path: str, *, is_done: bool, is_settled: bool
) -> Iterator[Finding]:
    true = "complete" if is_done else _open_words(phase)
    for box in listed.boxes:
        if box.is_checked == is_done or (is_done and not is_settled):
            continue
        kind, said = (FindingKind.CLAIM, "ticked") if box.is_checked else (FindingKind.BOX, "open")
        because = unproven(phase) if box.is_checked else _paths(phase)
        yield Finding(kind, path, box.line, f"phase {phase.id.short} box", said, true, because)


def _row(
    phase: Phase, listed: ListedPhase, path: str, *, is_done: bool, is_settled: bool
) -> Iterator[Finding]:
    """The findings in a row; if one cell is a claim, the whole row is left to a person."""
    findings = list(_cells(phase, listed, path, is_done=is_done, is_settled=is_settled))
    claims = any(finding.kind is FindingKind.CLAIM for finding in findings)
    for finding in findings:
        yield (
            replace(finding, kind=FindingKind.CLAIM, because=unproven(phase)) if claims else finding
        )


def _cells(
    phase: Phase, listed: ListedPhase, path: str, *, is_done: bool, is_settled: bool
) -> Iterator[Finding]:
    what = f"phase {phase.id.short}"
    if not listed.row_line:
        return
    yield from _count(phase, listed.plans_cell, path, listed.row_line, f"{what} plans")
    right = _right_status(listed.status, phase, is_done=is_done, is_settled=is_settled)
    statement = path, listed.row_line, f"{what} status", listed.status, right
    if right and says_done(listed.status):
        yield Finding(FindingKind.CLAIM, *statement, unproven(phase))
    elif right:
        yield Finding(FindingKind.ROW, *statement, _paths(phase))


def _right_status(status: str, phase: Phase, *, is_done: bool, is_settled: bool = True) -> str:
    """The status the files imply, if the recorded one contradicts them; else empty."""
    true = ROW_DONE if is_done else _ROW_WORDS[phase.stage]
    if says_done(status):
        is_proven = phase.stage is Stage.VERIFIED if says_verified(status) else is_done
        return "" if is_proven else true
    if is_done:
        is_open = says_in_progress(status) and not is_settled
        return true if status and says_unfinished(status) and not is_open else ""
    is_behind = says_not_started(status) and true == ROW_IN_PROGRESS
    is_ahead = says_in_progress(status) and phase.stage is Stage.NO_FOLDER
    return true if is_behind or is_ahead else ""


def _counts(phase: Phase, listed: ListedPhase, path: str) -> Iterator[Finding]:
    for mark in listed.counts:
        yield from _count(phase, mark.text, path, mark.line, f"phase {phase.id.short} count")


def _count(phase: Phase, text: str, path: str, line: int, what: str) -> Iterator[Finding]:
    right = right_counts(text, phase)
    if right:
        kind = _count_kind(text, phase)
        because = unproven(phase) if kind is FindingKind.CLAIM else _paths(phase)
        yield Finding(kind, path, line, what, text, right, because)


def _plan_boxes(phase: Phase, listed: ListedPhase, path: str) -> Iterator[Finding]:
    by_name: dict[str, Plan] = {}
    for plan in phase.folder.live_plans if phase.folder else ():
        name = plan.path.rpartition("/")[2].removesuffix(".md")
        by_name[name] = by_name[plan.id] = by_name[f"{plan.id}-PLAN"] = plan
    for box in listed.plan_boxes:
        named = by_name.get(box.text)
        if named is None or named.is_complete == box.is_checked:
            continue
        place = path, box.line, f"plan {named.id} box"
        because = (named.summary or named.path,)
        if box.is_checked:
            yield Finding(FindingKind.CLAIM, *place, "ticked", "open", because)
        else:
            yield Finding(FindingKind.BOX, *place, "open", "complete", because)


def right_counts(text: str, phase: Phase) -> str:
    """The counts in the files, `2/3`, if the recorded ones differ; else empty."""
    match = _CELL.match(text)
    done, total = folder_counts(phase.folder) if phase.folder else (0, 0)
    planned = None if match else _PLANNED.match(text)
    if planned and phase.folder and total:
        known = (str(total), str(len(phase.folder.plans)))
        return "" if planned[1] in known else f"{total} plans"
    if not match or (match["done"] == str(done) and total == 0):
        return ""
    # Without plans on disk only the planned number is known.
    right = str(total) if total else match["total"]
    return "" if (match["done"], match["total"]) == (str(done), right) else f"{done}/{right}"


def _count_kind(text: str, phase: Phase) -> FindingKind:
    match = _CELL.match(text)
    if not match or (phase.folder and phase.folder.is_implemented):
        return FindingKind.ROW
    done = folder_counts(phase.folder)[0] if phase.folder else 0
    return FindingKind.CLAIM if count_of_digits(match["done"]) > done else FindingKind.ROW


def _open_words(phase: Phase) -> str:
    is_unverified = phase.stage in (Stage.COMPLETE, Stage.VERIFIED)
    return "not verified" if is_unverified else phase.stage.value.replace("_", " ")


def _paths(phase: Phase) -> tuple[str, ...]:
    return (phase.folder.path,) if phase.folder else ()
