"""What ROADMAP.md says of one phase: its section, its success criteria, its requirements."""

import re
from collections.abc import Iterable

from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Completion, Phase
from fairlead.records.requirements import ids_in
from fairlead.records.roadmap_edit import section_end
from fairlead.records.roadmap_lines import Mention, Sheet, own_lines, read_sheet
from fairlead.text.document import Document
from fairlead.text.fields import find_field
from fairlead.text.inline import plain_text
from fairlead.text.outline import Line
from fairlead.values import dataclass

_CRITERIA = re.compile(r"\s*\*\*Success Criteria\*?\*?.*", re.IGNORECASE)
_NUMBERED = re.compile(r"\s*(?:[0-9]{1,3}[.)]|[-*+])\s+(?P<text>.+)")


@dataclass(frozen=True, slots=True)
class Told:
    """The details of one phase."""

    line: int  # of its heading, or of its first entry; 0 if it has none
    mode: str
    requirements: tuple[str, ...]
    success_criteria: tuple[str, ...]
    section: str  # the text as it stands there
    risk: str = ""  # LOW, MEDIUM or HIGH with its reason


def told_of(document: Document, phase: PhaseId, milestone: str) -> Told:
    """Read what the roadmap says of a phase."""
    sheet = read_sheet(document)
    mine = [each for each in sheet.mentions if each.id == phase and each.milestone == milestone]
    detailed = next((each for each in mine if each.section), None)
    if detailed is None:
        first = mine[0].line if mine else 0
        text = document.lines[first - 1].text if first else ""
        return Told(first, "", (), (), text)
    lines = _lines(sheet, detailed)
    asked, mode = find_field(lines, "Requirements"), find_field(lines, "Mode")
    risk = find_field(lines, "Risk")
    text = document.text[lines[0].start : lines[-1].end].rstrip()
    return Told(
        detailed.line,
        mode.value if mode else "",
        ids_in(asked.value) if asked else (),
        tuple(_criteria(lines)),
        text,
        risk.value if risk else "",
    )


def requirements_of(
    document: Document, phases: Iterable[Phase], done: Phase, policy: Completion
) -> frozenset[str]:
    """The requirements of a phase that no open phase has as well."""
    sheet = read_sheet(document)
    asked: dict[tuple[str, PhaseId], set[str]] = {}
    for mention in sheet.mentions:
        if mention.section:
            field = find_field(
                [line for _, line in own_lines(sheet, mention.section)], "Requirements"
            )
            named = asked.setdefault((mention.milestone, mention.id), set())
            named |= set(ids_in(field.value)) if field else set()
    mine: set[str] = set()
    others: set[str] = set()
    for phase in phases:
        ids = asked.get((phase.listed.milestone, phase.id), set()) if phase.listed else set()
        if phase.id == done.id:
            mine |= ids
        elif not phase.is_complete(policy):
            others |= ids
    return frozenset(mine - others)


def _lines(sheet: Sheet, mention: Mention) -> tuple[Line, ...]:
    assert mention.section is not None
    return sheet.document.lines[mention.section.heading : section_end(sheet, mention)]


def _criteria(lines: tuple[Line, ...]) -> list[str]:
    """The list below the label; a line that continues an entry is joined to it."""
    found: list[str] = []
    is_inside = False
    for line in lines:
        text = line.text
        if _CRITERIA.match(text):
            is_inside = True
        elif is_inside and text.lstrip().startswith(("**", "#", "Plans:", "|", "<")):
            break
        elif is_inside and (match := _NUMBERED.match(text)):
            found.append(plain_text(match["text"].strip()))
        elif is_inside and found and text.strip():
            found[-1] = f"{found[-1]} {plain_text(text.strip())}"
    return found
