"""REQUIREMENTS.md compared with the roadmap and the files.

Finds requirements without a phase, with an unknown phase, and ticked ones whose phase has not
started. A requirement may be complete before its phase is, so only a phase without any completed
plan refutes a tick.
"""

import re
from collections.abc import Collection, Iterator

from fairlead.core.ids import PhaseId
from fairlead.core.patterns import lazy_pattern
from fairlead.project.derive.inventory import Inventory, Stage
from fairlead.project.derive.position import Position
from fairlead.project.derive.scope import Certainty
from fairlead.project.health.compare_state import unproven
from fairlead.project.health.findings import Finding, FindingKind
from fairlead.project.requirements import (
    PENDING,
    Box,
    Trace,
    boxes_of,
    ids_in,
    says_complete,
    traces_of,
)
from fairlead.text.document import Document
from fairlead.text.lines import place_of
from fairlead.text.outline import Section

_NOT_STARTED = (Stage.NO_FOLDER, Stage.EMPTY, Stage.DISCUSSED, Stage.RESEARCHED, Stage.PLANNED)
_OTHER_MILESTONE = lazy_pattern(
    r"future|out of scope|deferred|later|backlog|archive|validated|shipped", re.IGNORECASE
)


def requirement_findings(
    document: Document, position: Position, inventory: Inventory, path: str
) -> Iterator[Finding]:
    """The findings in the traceability table and the check boxes."""
    traces = tuple(traces_of(document))
    if not traces or not inventory.roadmap.phases:
        return
    planned = _planned_phases(inventory)
    phases: dict[str, tuple[PhaseId, ...]] = {}
    for trace in traces:
        phases[trace.requirement] = phases.get(trace.requirement, ()) + trace.phases
        yield from _unknown(document, trace, inventory, planned, path)
        yield from _refuted(document, trace, position, path)
    for box in boxes_of(document):
        if box.requirement not in phases:
            if _is_other_milestone(document, box):
                continue
            phases[box.requirement] = tuple(planned.get(box.requirement, ()))
            yield _unmapped(document, box, planned, path)
        missing = _not_started(phases[box.requirement], position)
        yield from _refuted_box(document, box, missing, path)


def is_met(is_ticked: bool, phases: Collection[PhaseId], position: Position) -> bool:
    """Whether a requirement is complete: all its phases are, or it is ticked and not refuted."""
    complete = {each.id for each in position.scope.phases if each.is_complete(position.policy)}
    if phases and complete.issuperset(phases):
        return True
    return is_ticked and not _not_started(phases, position)


def _unknown(
    document: Document,
    trace: Trace,
    inventory: Inventory,
    planned: dict[str, set[PhaseId]],
    path: str,
) -> Iterator[Finding]:
    folders = (*inventory.folders, *inventory.archived)
    phase_ids = {each.id for each in inventory.roadmap.phases} | {each.id for each in folders}
    unknown = [phase for phase in trace.phases if phase not in phase_ids]
    if not unknown:
        return
    # If the roadmap names the phase, the row can be repaired; otherwise only a person knows.
    true = _phase_words(planned.get(trace.requirement, set()))
    said = trace.phase.text if true else f"phase {unknown[0].short} is not in the roadmap"
    line = place_of(document.text, trace.phase.start)[0]
    what = f"{trace.requirement} phase"
    yield Finding(FindingKind.TRACE, path, line, what, said, true, is_drift=bool(true))


def _not_started(phases: Collection[PhaseId], position: Position) -> tuple[str, ...]:
    """What is missing in those of these phases that have no completed plan."""
    if position.scope.is_closed or position.scope.certainty is Certainty.UNVERIFIABLE:
        return ()
    return tuple(
        reason
        for phase in position.scope.phases
        if phase.id in phases and phase.stage in _NOT_STARTED
        for reason in unproven(phase)[:1]
    )


def _refuted(document: Document, trace: Trace, position: Position, path: str) -> Iterator[Finding]:
    """A row that says complete although one of its phases has no completed plan."""
    because = _not_started(trace.phases, position)
    if because and says_complete(trace.status.text):
        line = place_of(document.text, trace.status.start)[0]
        what = f"{trace.requirement} status"
        yield Finding(
            FindingKind.CLAIM, path, line, what, trace.status.text.strip(), PENDING, because
        )


def _refuted_box(
    document: Document, box: Box, because: tuple[str, ...], path: str
) -> Iterator[Finding]:
    if because and box.item.is_checked:
        line = place_of(document.text, box.item.start)[0]
        what = f"{box.requirement} box"
        yield Finding(FindingKind.CLAIM, path, line, what, "ticked", "open", because)


def _unmapped(document: Document, box: Box, planned: dict[str, set[PhaseId]], path: str) -> Finding:
    line = place_of(document.text, box.item.start)[0]
    true = _phase_words(planned.get(box.requirement, set()))
    said = "no phase" if true else "it is traced to no phase"
    return Finding(FindingKind.UNMAPPED, path, line, box.requirement, said, true, is_drift=False)


def _planned_phases(inventory: Inventory) -> dict[str, set[PhaseId]]:
    """The phases to which the roadmap assigns each requirement."""
    phases: dict[str, set[PhaseId]] = {}
    for listed in inventory.roadmap.phases:
        for requirement in ids_in(listed.requirements):
            phases.setdefault(requirement, set()).add(listed.id)
    return phases


def _phase_words(phases: set[PhaseId]) -> str:
    return ", ".join(f"Phase {each.short}" for each in sorted(phases))


def _is_other_milestone(document: Document, box: Box) -> bool:
    """Whether a heading above the box says that it is not for this milestone."""
    titles = [section.title for section in document.sections if _holds(document, section, box)]
    has_first = any(each.title.startswith("v1 ") for each in document.sections)
    return any(
        _OTHER_MILESTONE.search(title) or (has_first and title.startswith("v2 "))
        for title in titles
    )


def _holds(document: Document, section: Section, box: Box) -> bool:
    lines = document.lines[section.first : section.last]
    return bool(lines) and lines[0].start <= box.item.start < lines[-1].next
