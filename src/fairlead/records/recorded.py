"""STATE.md read as claims, in every generation of the format."""

import re

from fairlead.errors import MalformedId
from fairlead.model.ids import PhaseId
from fairlead.model.recorded import COUNTERS, Recorded, Said, SaidText
from fairlead.records.bars import find_bar
from fairlead.text.document import Document
from fairlead.text.fields import Field
from fairlead.text.lines import place_of
from fairlead.text.outline import Section
from fairlead.text.scalars import is_null

_PHASE = re.compile(
    r"\s*(?:Phase\s+)?((?:[A-Z][A-Z0-9_]*-)?[0-9]{1,6}[A-Za-z]?(?:\.[0-9]{1,6})*)\b", re.IGNORECASE
)


def read_recorded(document: Document, path: str) -> Recorded:
    """Read every number and word that can be held against the files."""
    position = position_section(document)
    progress = document.value("progress")
    held = progress if isinstance(progress, dict) else {}
    numbers = {name: _number(held.get(name)) for name in (*COUNTERS, "percent")}
    said = {
        name: Said(value, front_line(document, "progress", name))
        for name, value in numbers.items()
        if value is not None
    }
    percent = said.pop("percent", None)
    bar_field = document.field("Progress", position)
    found = find_bar(bar_field.value) if bar_field else None
    phase_field = document.field("Phase", position) or document.field("Current Phase", position)
    phase = phase_in(phase_field.value) if phase_field else None
    phase_line = _line(document, phase_field) if phase_field else 0
    if phase is None and isinstance(current := document.value("current_phase"), str):
        phase, phase_line = phase_in(current), front_line(document, "current_phase")
    done = document.field("Total plans completed")
    return Recorded(
        path=path,
        counters=said,
        percent=percent,
        bar=Said(found.percent, _line(document, bar_field))
        if bar_field and found and found.percent >= 0
        else None,
        is_by_plans=bool(found and found.is_by_plans),
        plans_completed=_counted(document, done),
        phase=phase,
        phase_line=phase_line,
        status=_said_text(document, document.field("Status", position)),
        front_status=_front_text(document, "status"),
        milestone=_front_text(document, "milestone"),
    )


def position_section(document: Document) -> Section | None:
    """Where the position stands; the whole body counts when there is no such section."""
    return document.section("Current Position")


def phase_in(text: str) -> PhaseId | None:
    """The phase that a position line names; None for `Not started` or `Milestone v1.0 complete`."""
    match = _PHASE.match(text)
    if not match:
        return None
    try:
        return PhaseId.parse(match[1])
    except MalformedId:
        return None


def front_line(document: Document, *path: str) -> int:
    """The line, from 1, on which a frontmatter key stands; 1 if it cannot be told."""
    depth = 0
    for number, line in enumerate(document.lines, start=1):
        if line.is_prose:
            break
        if line.text.strip().split(":")[0].strip("'\" ") == path[depth] and (
            line.text[:1] == " "
        ) == bool(depth):
            depth += 1
            if depth == len(path):
                return number
    return 1


def _line(document: Document, field: Field) -> int:
    return place_of(document.text, field.start)[0]


def _number(value: object) -> int | None:
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else None


def _counted(document: Document, field: Field | None) -> Said | None:
    match = re.match(r"[0-9]{1,6}\b", field.value) if field else None
    return Said(int(match[0]), _line(document, field)) if match and field else None


def _said_text(document: Document, field: Field | None) -> SaidText | None:
    return SaidText(field.value, _line(document, field)) if field and field.value else None


def _front_text(document: Document, key: str) -> SaidText | None:
    value = document.value(key)
    if not isinstance(value, str) or is_null(value):
        return None
    return SaidText(value, front_line(document, key))
