"""STATE.md read as claims, in every generation of the format."""

import re
from collections.abc import Iterator

from fairlead.errors import MalformedId
from fairlead.model.ids import PhaseId
from fairlead.model.recorded import COUNTERS, Recorded, Said, SaidText
from fairlead.records.bars import bar_start, find_bar
from fairlead.records.keys import count
from fairlead.records.roadmap_lines import WORD
from fairlead.text.document import SECTION_LEVELS, Document
from fairlead.text.fields import Field, find_field
from fairlead.text.lines import place_of
from fairlead.text.outline import Line, Section
from fairlead.text.scalars import is_null

# What stands before the number of a phase, and the number; both may be bold.
PHASE = (
    r"\s*\**(?:(?i:Phase)\s+)?\**"
    r"(?P<phase>(?:[A-Za-z][A-Za-z0-9_]*-)?[0-9]{1,6}[A-Za-z]?(?:\.[0-9]{1,6})*)\b"
)
_PHASE = re.compile(PHASE)

# A number, unless it goes on with words that give it a scope of its own.
COUNT = re.compile(
    r"([0-9]{1,6})\b(?!.*\b(?:across|from|in|through|since|phases?|v[0-9])\b)", re.IGNORECASE
)
_NARROWER = re.compile(rf"{WORD}|\b(?:plans?|waves?|tasks?|milestones?|v[0-9])\b", re.IGNORECASE)
_SINGLE = ("Phase", "Plan", "Status", "Progress")
_POSITION = "Current Position"
_FIELDS = (
    *_SINGLE,
    "Last activity",
    "Current Phase",
    "Current Phase Name",
    "Total Phases",
    "Current Plan",
    "Total Plans in Phase",
)


def read_recorded(document: Document, path: str) -> Recorded:
    """Read every number and word that can be held against the files."""
    position = position_section(document)
    front = document.shown_front
    progress = front.get("progress")
    held = progress if isinstance(progress, dict) else {}
    numbers = {name: _number(held.get(name)) for name in (*COUNTERS, "percent")}
    said = {
        name: Said(value, front_line(document, "progress", name))
        for name, value in numbers.items()
        if value is not None
    }
    percent = said.pop("percent", None)
    bar = _said_text(document, progress_field(document))
    overall = _said_text(document, overall_field(document))

    def front_text(key: str) -> SaidText | None:
        value = front.get(key)
        is_said = isinstance(value, str) and not is_null(value)
        return SaidText(str(value), front_line(document, key)) if is_said else None

    return Recorded(
        path=path,
        counters=said,
        percent=percent,
        bar=bar if bar and find_bar(bar.value) else None,
        overall=overall if overall and not (bar and bar.line == overall.line) else None,
        plans_completed=_counted(document, document.field("Total plans completed")),
        milestone=front_text("milestone"),
        milestone_name=front_text("milestone_name"),
        again=tuple(_again(document, position)),
    )


def position_section(document: Document) -> Section | None:
    """Where the position stands; the whole body counts when there is no such section."""
    return document.section(_POSITION)


def further_positions(document: Document) -> tuple[Section, ...]:
    """The sections that give the position once more; nobody reads them."""
    first = position_section(document)
    if first is None:
        return ()
    return tuple(
        each
        for each in document.sections
        if each.heading > first.heading
        and each.level in SECTION_LEVELS
        and each.title.casefold() == _POSITION.casefold()
    )


def holds_fields_only(document: Document, section: Section) -> bool:
    """Whether a section of the position says nothing else, so that it can go as a whole."""
    lines = [line for line in document.section_lines(section) if line.text.strip()]
    return all(any(find_field([line], name) for name in _FIELDS) for line in lines)


def states_position(document: Document) -> bool:
    """Whether it says anywhere where the work is, in a form that is read."""
    held = document.shown_front.get("current_phase")
    fields = document.field("Phase", position_section(document)), document.field("Current Phase")
    return not is_null(held) or any(fields)


def progress_field(document: Document) -> Field | None:
    """The Progress line; where none shows a bar, the one line of the body that draws one.

    Its label may be in any language, but a bar beside a phase or a plan is not the project's.
    """
    field = document.field("Progress", position_section(document))
    if field and find_bar(field.value):
        return field
    drawn = [each for line in document.lines if (each := _drawn(line))]
    return drawn[0] if len(drawn) == 1 else field


def overall_field(document: Document) -> Field | None:
    """The line that draws a bar of the whole project beside the one of the position."""
    field = document.field("Overall progress")
    return field if field and bar_start(field.value) >= 0 else None


def _drawn(line: Line) -> Field | None:
    at = bar_start(line.text) if line.is_prose and not line.text.lstrip().startswith("|") else -1
    if at < 0 or _NARROWER.search(line.text[:at]):
        return None
    value = line.text[at:].rstrip()
    start = line.start + at
    return Field(value, start, start + len(value), in_table=False, needs_blank=False)


def phase_in(text: str) -> PhaseId | None:
    """The phase that a position line names; None for `Not started` or `Milestone v1.0 complete`."""
    match = _PHASE.match(text)
    if not match:
        return None
    try:
        return PhaseId.parse(match["phase"])
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


def repeated(document: Document, position: Section) -> Iterator[tuple[str, Line]]:
    """The lines of the position that give a field once more; an update would reach the first only."""
    lines = document.section_lines(position, own=True)
    for name in _SINGLE:
        first = find_field(lines, name)
        for line in lines:
            field = find_field([line], name) if first else None
            if first and field and field.start != first.start:
                yield name, line


def _again(document: Document, position: Section | None) -> Iterator[tuple[str, SaidText]]:
    for name, line in repeated(document, position) if position else ():
        yield name, SaidText(line.text.strip(), place_of(document.text, line.start)[0])


def _line(document: Document, field: Field) -> int:
    return place_of(document.text, field.start)[0]


def _number(value: object) -> int | None:
    return count(value) if isinstance(value, str) and value.isascii() and value.isdigit() else None


def _counted(document: Document, field: Field | None) -> Said | None:
    match = COUNT.match(field.value) if field else None
    return Said(int(match[1]), _line(document, field)) if match and field else None


def _said_text(document: Document, field: Field | None) -> SaidText | None:
    return SaidText(field.value, _line(document, field)) if field and field.value else None
