"""REQUIREMENTS.md against the roadmap and the files: what is traced to no phase or to one that
does not exist, and what is complete although nothing of its phase is done.

A requirement may be complete before its phase is, with the plan that brought it; so only a
phase without any completed plan refutes a tick.
"""

import re
from collections.abc import Collection, Iterator

from fairlead.model.divergence import Finding, Kind
from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Inventory, Stage
from fairlead.model.standing import Standing
from fairlead.records.compare import unproven
from fairlead.records.requirements import (
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

_UNTOUCHED = (Stage.NO_FOLDER, Stage.EMPTY, Stage.DISCUSSED, Stage.RESEARCHED, Stage.PLANNED)
_ELSEWHERE = re.compile(
    r"future|out of scope|deferred|later|backlog|archive|validated|shipped", re.IGNORECASE
)


def requirement_findings(
    document: Document, standing: Standing, inventory: Inventory, path: str
) -> Iterator[Finding]:
    """What the traceability says and neither the roadmap nor the files do."""
    traces = tuple(traces_of(document))
    if not traces or not inventory.roadmap.phases:
        return
    told = _told_by_roadmap(inventory)
    phases: dict[str, tuple[PhaseId, ...]] = {}
    for trace in traces:
        phases[trace.requirement] = phases.get(trace.requirement, ()) + trace.phases
        yield from _unknown(document, trace, inventory, told, path)
        yield from _refuted(document, trace, standing, path)
    for box in boxes_of(document):
        if box.requirement not in phases:
            if _is_elsewhere(document, box):
                continue
            phases[box.requirement] = tuple(told.get(box.requirement, ()))
            yield _unmapped(document, box, told, path)
        yield from _refuted_box(document, box, _untouched(phases[box.requirement], standing), path)


def is_met(is_ticked: bool, phases: Collection[PhaseId], standing: Standing) -> bool:
    """Whether a requirement is complete: all its phases are, or it is ticked and none refutes it."""
    held = {each.id: each.is_complete(standing.policy) for each in standing.scope.phases}
    if phases and all(held.get(each) for each in phases):
        return True
    return is_ticked and not _untouched(phases, standing)


def _unknown(
    document: Document, trace: Trace, inventory: Inventory, told: dict[str, set[PhaseId]], path: str
) -> Iterator[Finding]:
    folders = (*inventory.folders, *inventory.archived)
    known = {each.id for each in inventory.roadmap.phases} | {each.id for each in folders}
    lost = [phase for phase in trace.phases if phase not in known]
    if not lost:
        return
    # The roadmap's own word can be written; where it has none, only a person knows.
    true = _phase_words(told.get(trace.requirement, set()))
    said = trace.phase.text if true else f"phase {lost[0].short} is not in the roadmap"
    line = place_of(document.text, trace.phase.start)[0]
    what = f"{trace.requirement} phase"
    yield Finding(Kind.TRACE, path, line, what, said, true, is_drift=bool(true))


def _untouched(phases: Collection[PhaseId], standing: Standing) -> tuple[str, ...]:
    """What is missing in those of its phases that have not a single plan done."""
    if standing.scope.is_archived:
        return ()
    mine = (each for each in standing.scope.phases if each.id in phases)
    return tuple(why for each in mine if each.stage in _UNTOUCHED for why in unproven(each)[:1])


def _refuted(document: Document, trace: Trace, standing: Standing, path: str) -> Iterator[Finding]:
    """A row says complete although one of its phases has not a single plan done."""
    because = _untouched(trace.phases, standing)
    if because and says_complete(trace.status.text):
        line = place_of(document.text, trace.status.start)[0]
        what = f"{trace.requirement} status"
        yield Finding(Kind.CLAIM, path, line, what, trace.status.text.strip(), PENDING, because)


def _refuted_box(
    document: Document, box: Box, because: tuple[str, ...], path: str
) -> Iterator[Finding]:
    if because and box.item.is_checked:
        line = place_of(document.text, box.item.start)[0]
        what = f"{box.requirement} box"
        yield Finding(Kind.CLAIM, path, line, what, "ticked", "open", because)


def _unmapped(document: Document, box: Box, told: dict[str, set[PhaseId]], path: str) -> Finding:
    line = place_of(document.text, box.item.start)[0]
    true = _phase_words(told.get(box.requirement, set()))
    said = "no phase" if true else "it is traced to no phase"
    return Finding(Kind.UNMAPPED, path, line, box.requirement, said, true, is_drift=False)


def _told_by_roadmap(inventory: Inventory) -> dict[str, set[PhaseId]]:
    found: dict[str, set[PhaseId]] = {}
    for listed in inventory.roadmap.phases:
        for requirement in ids_in(listed.requirements):
            found.setdefault(requirement, set()).add(listed.id)
    return found


def _phase_words(phases: set[PhaseId]) -> str:
    return ", ".join(f"Phase {each.short}" for each in sorted(phases))


def _is_elsewhere(document: Document, box: Box) -> bool:
    """Whether it stands below a title that says it is not for this milestone."""
    titles = [section.title for section in document.sections if _holds(document, section, box)]
    has_first = any(each.title.startswith("v1 ") for each in document.sections)
    return any(
        _ELSEWHERE.search(title) or (has_first and title.startswith("v2 ")) for title in titles
    )


def _holds(document: Document, section: Section, box: Box) -> bool:
    lines = document.lines[section.first : section.last]
    return bool(lines) and lines[0].start <= box.item.start < lines[-1].next
