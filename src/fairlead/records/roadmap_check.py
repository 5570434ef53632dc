"""A roadmap as a role wrote it: every requirement in one phase, every phase with what it needs.

What a person wrote is read however it is written; what a role writes has to be whole, or it is
asked again with the fault.
"""

import re
from collections.abc import Collection

from fairlead.errors import ArtefactFault, Located
from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Listed
from fairlead.records.artefacts import read_artefact
from fairlead.records.roadmap import read_roadmap
from fairlead.records.roadmap_read import Told, told_of
from fairlead.text.document import Document
from fairlead.values import dataclass

MOST_CRITERIA = 5
_NUMBER = re.compile(r"(?i)\bphases?\s+((?:\d+(?:\.\d+)*)(?:\s*(?:,|and|&)\s*\d+(?:\.\d+)*)*)")
_RISK = re.compile(r"(?:LOW|MEDIUM|HIGH)\b")


@dataclass(frozen=True, slots=True)
class RoadmapPhase:
    """One phase of a roadmap that is whole."""

    id: PhaseId
    name: str
    goal: str
    requirements: tuple[str, ...]
    criteria: tuple[str, ...]
    risk: str


def whole_roadmap(
    path: str, text: str, ids: Collection[str], first: int
) -> tuple[RoadmapPhase, ...]:
    """The phases of a roadmap; raises with file and line at the first thing that is missing."""
    read_artefact(path, text)
    with Located(path):
        document = Document(text)
        listed = [each for each in read_roadmap(document).phases if each.id.number != 999]
        if not listed:
            raise ArtefactFault("there is no phase")
        phases = tuple(_phase(document, each) for each in listed)
        _require_order(phases, listed, first)
        _require_coverage(phases, listed, ids)
        return phases


def _phase(document: Document, listed: Listed) -> RoadmapPhase:
    told = told_of(document, listed.id, listed.milestone)
    for what, value in (
        ("a name", listed.name),
        ("a line `- [ ] **Phase N: Name**` in the list", listed.is_checked is not None),
        ("a Goal", listed.goal),
        ("Requirements", told.requirements),
        ("Success Criteria", told.success_criteria),
        ("a Risk of LOW, MEDIUM or HIGH", _RISK.match(told.risk)),
        ("a line Plans", "**Plans**" in told.section),
    ):
        if not value:
            raise _fault(told, listed, f"phase {listed.id.short} has to have {what}")
    if len(told.success_criteria) > MOST_CRITERIA:
        what = f"phase {listed.id.short} has more than {MOST_CRITERIA} success criteria"
        raise _fault(told, listed, what)
    return RoadmapPhase(
        listed.id,
        listed.name,
        listed.goal,
        told.requirements,
        told.success_criteria,
        told.risk,
    )


def _require_order(phases: tuple[RoadmapPhase, ...], listed: list[Listed], first: int) -> None:
    numbers = [each.id.short for each in phases]
    wanted = [str(first + at) for at in range(len(phases))]
    if numbers != wanted:
        told = ", ".join(numbers)
        raise ArtefactFault(f"the phases are numbered from {first} on: {told}", line=listed[0].line)
    for each in listed:
        for found in _NUMBER.findall(each.depends_on):
            later = [n for n in re.findall(r"\d+(?:\.\d+)*", found) if PhaseId.parse(n) >= each.id]
            if later:
                what = f"phase {each.id.short} depends on phase {later[0]}, which is not before it"
                raise ArtefactFault(what, line=each.line)


def _require_coverage(
    phases: tuple[RoadmapPhase, ...], listed: list[Listed], ids: Collection[str]
) -> None:
    home: dict[str, str] = {}
    for phase, where in zip(phases, listed, strict=True):
        for each in phase.requirements:
            if each not in ids:
                raise ArtefactFault(f"{each} is no requirement", line=where.line)
            if each in home:
                what = f"{each} stands in phase {home[each]} and in phase {phase.id.short}"
                raise ArtefactFault(what, line=where.line)
            home[each] = phase.id.short
    missing = sorted(each for each in ids if each not in home)
    if missing:
        raise ArtefactFault(f"no phase has {', '.join(missing)}", line=listed[-1].line)


def _fault(told: Told, listed: Listed, what: str) -> ArtefactFault:
    return ArtefactFault(what, line=told.line or listed.line)
