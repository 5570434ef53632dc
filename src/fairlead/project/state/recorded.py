"""What STATE.md records: the text and line of each field, in every generation of the format.

Which fields exist and where they are written comes from the table in `fields`. Nothing here
judges a value: `health.compare_state` compares it with the files.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from fairlead.core.errors import MalformedId
from fairlead.core.ids import PhaseId
from fairlead.core.patterns import lazy_pattern
from fairlead.project.roadmap.entries import WORD
from fairlead.project.state.bars import bar_start, find_bar
from fairlead.project.state.fields import (
    POSITION,
    PROGRESS,
    SESSION,
    STATE_FIELDS,
    FieldTable,
    Source,
)
from fairlead.text.document import SECTION_LEVELS, Document
from fairlead.text.fields import Field, find_field
from fairlead.text.frontmatter_values import count_of_digits
from fairlead.text.lines import place_of
from fairlead.text.outline import Line, Section
from fairlead.text.yaml_scalars import is_null

LIFECYCLE = STATE_FIELDS.keys(Source.NEXT_STEP)
COUNTS = tuple(key.removeprefix(f"{PROGRESS}.") for key in STATE_FIELDS.keys(Source.COUNTS))
PERCENT = "percent"
COUNTERS = tuple(name for name in COUNTS if name != PERCENT)

# The number of a phase and what may precede it; both may be bold.
PHASE = (
    r"\s*\**(?:(?i:Phase)\s+)?\**"
    r"(?P<phase>(?:[A-Za-z][A-Za-z0-9_]*-)?[0-9]{1,6}[A-Za-z]?(?:\.[0-9]{1,6})*)\b"
)
_PHASE = lazy_pattern(PHASE)
_PLAN_NUMBER = lazy_pattern(r"(?:\A|[^\w.])[Pp]?([0-9]{1,6})\Z")  # not of `01.1` nor of `login-v2`
# A count, unless the words after it narrow what is counted: `12 across v1.0`.
COUNT = lazy_pattern(
    r"([0-9]{1,6})\b(?!.*\b(?:across|from|in|through|since|phases?|v[0-9])\b)", re.IGNORECASE
)
# Words before a bar that make it the bar of something smaller than the project.
_NARROWER = lazy_pattern(rf"{WORD}|\b(?:plans?|waves?|tasks?|milestones?|v[0-9])\b", re.IGNORECASE)


class RecordedNumber(NamedTuple):
    """A number and its line."""

    value: int
    line: int


class RecordedText(NamedTuple):
    """A text and its line."""

    value: str
    line: int


class RecordedState:
    """The fields of one STATE.md; a field that it does not record is None."""

    def __init__(self, document: Document, path: str, fields: FieldTable = STATE_FIELDS) -> None:
        self.path = path
        self._document = document
        self._fields = fields

    def text(self, name: str) -> RecordedText | None:
        """The text of a field: a frontmatter key, dotted inside a map, or a body label."""
        row = self._fields.find(name)
        if row is not None and row.key == name:
            keys = tuple(name.split("."))
            value = self._document.shown_front.get(keys[0])
            for key in keys[1:]:
                value = value.get(key) if isinstance(value, dict) else None
            if not isinstance(value, str) or is_null(value):
                return None
            return RecordedText(str(value), front_line(self._document, *keys))
        return self._body_text(body_field(self._document, name, self._fields))

    def number(self, name: str) -> RecordedNumber | None:
        """The number of a field; None where it holds other text, or counts something narrower."""
        text = self.text(name)
        if text is None:
            return None
        if "." in name:
            is_number = text.value.isascii() and text.value.isdigit()
            return RecordedNumber(count_of_digits(text.value), text.line) if is_number else None
        match = COUNT.match(text.value)
        return RecordedNumber(int(match[1]), text.line) if match else None

    @property
    def counters(self) -> dict[str, RecordedNumber]:
        """The counters of the frontmatter, by the names in `Progress`."""
        keys = self._fields.keys(Source.COUNTS)
        numbers = {key.removeprefix(f"{PROGRESS}."): self.number(key) for key in keys}
        return {name: number for name, number in numbers.items() if number and name != PERCENT}

    @property
    def percent(self) -> RecordedNumber | None:
        """The percentage of the frontmatter."""
        return self.number(f"{PROGRESS}.{PERCENT}")

    @property
    def bar(self) -> RecordedText | None:
        """The Progress line of the body, if it shows a bar or a percentage."""
        text = self._body_text(progress_field(self._document))
        return text if text and find_bar(text.value) else None

    @property
    def overall(self) -> RecordedText | None:
        """A second bar, `Overall progress`."""
        text = self._body_text(overall_field(self._document))
        is_first_bar = text == self._body_text(progress_field(self._document))
        return None if is_first_bar else text

    @property
    def repeated(self) -> tuple[tuple[str, RecordedText], ...]:
        """The second and later lines of fields that may stand in the position once."""
        section = position_section(self._document)
        if section is None:
            return ()
        return tuple(
            (label, RecordedText(line.text.strip(), place_of(self._document.text, line.start)[0]))
            for label, line in repeated_lines(self._document, section)
        )

    def _body_text(self, field: Field | None) -> RecordedText | None:
        if field is None or not field.value:
            return None
        return RecordedText(field.value, place_of(self._document.text, field.start)[0])


# --- places ----------------------------------------------------------------------------------


def position_section(document: Document) -> Section | None:
    """The section of the position; a document without one is searched as a whole."""
    return document.section(*POSITION)


def session_section(document: Document) -> Section | None:
    """The section of the session, under either title."""
    return next((found for title in SESSION if (found := document.section(title))), None)


def body_field(document: Document, label: str, fields: FieldTable = STATE_FIELDS) -> Field | None:
    """The body line of a field: the one in its section, otherwise the first in the document."""
    row = fields.find(label)
    if row is None or not row.section:
        return document.field(label)
    section = next((found for title in row.section if (found := document.section(title))), None)
    if row.is_only_in_section:
        return document.field(label, section)
    in_section = document.field(label, section) if section else None
    if label == "Total Phases":
        # Inside another section the number belongs to a shipped milestone.
        return in_section or find_field(_lines_above_sections(document), label)
    return in_section or document.field(label)


def front_line(document: Document, *path: str) -> int:
    """The line number, from 1, of a frontmatter key; 1 if the key is not found."""
    depth = 0
    for line in document.lines:
        if line.is_prose:
            break
        is_key = line.text.strip().split(":")[0].strip("'\" ") == path[depth]
        is_indented = line.text[:1] == " "
        if is_key and is_indented == bool(depth):
            depth += 1
            if depth == len(path):
                return place_of(document.text, line.start)[0]
    return 1


def progress_field(document: Document) -> Field | None:
    """The Progress line; if it shows no bar, the only line of the body that draws one.

    That line may have any label, in any language, but a bar beside the word for a phase or a
    plan is not the bar of the project.
    """
    field = document.field("Progress", position_section(document))
    if field and find_bar(field.value):
        return field
    drawn = [bar for line in document.lines if (bar := _drawn_bar(line))]
    return drawn[0] if len(drawn) == 1 else field


def overall_field(document: Document) -> Field | None:
    """The line that draws a bar for all milestones, beside the bar of the position."""
    field = document.field("Overall progress")
    return field if field and bar_start(field.value) >= 0 else None


def further_positions(document: Document) -> tuple[Section, ...]:
    """Later sections with the title of the position; only the first one is read."""
    first = position_section(document)
    if first is None:
        return ()
    return tuple(
        section
        for section in document.sections
        if section.heading > first.heading
        and section.level in SECTION_LEVELS
        and section.title.casefold() == first.title.casefold()
    )


def holds_fields_only(document: Document, section: Section) -> bool:
    """Whether a section contains only position fields, so that removing it loses nothing else."""
    lines = [line for line in document.section_lines(section) if line.text.strip()]
    labels = [label for row in STATE_FIELDS.in_section(POSITION) for label in row.labels]
    return all(any(find_field([line], label) for label in labels) for line in lines)


def repeated_lines(document: Document, section: Section) -> Iterator[tuple[str, Line]]:
    """The lines that repeat a field of the position; a write would update the first one only."""
    lines = document.section_lines(section, own=True)
    for label in (row.labels[0] for row in STATE_FIELDS.rows if row.is_unique):
        first = find_field(lines, label)
        for line in lines:
            field = find_field([line], label) if first else None
            if first and field and field.start != first.start:
                yield label, line


def _lines_above_sections(document: Document) -> tuple[Line, ...]:
    first = next((section.heading for section in document.sections if section.level > 1), None)
    return document.lines[:first]


def _drawn_bar(line: Line) -> Field | None:
    is_candidate = line.is_prose and not line.text.lstrip().startswith("|")
    at = bar_start(line.text) if is_candidate else -1
    if at < 0 or _NARROWER.search(line.text[:at]):
        return None
    value = line.text[at:].rstrip()
    start = line.start + at
    return Field(value, start, start + len(value), in_table=False, needs_blank=False)


# --- the recorded phase ------------------------------------------------------------------------


def states_position(document: Document) -> bool:
    """Whether the document names the current phase in a form that is read."""
    key = document.shown_front.get("current_phase")
    fields = document.field("Phase", position_section(document)), document.field("Current Phase")
    return not is_null(key) or any(fields)


def plan_label(plan: str) -> str:
    """`P03` for the plans 3, 03, 02-03 and P3; the plan's own name if it has no number."""
    number = _PLAN_NUMBER.search(plan)
    return f"P{int(number[1]):02d}" if number else plan


def phase_in(text: str) -> PhaseId | None:
    """The phase at the start of a text; None for `Not started` or `Milestone v1.0 complete`."""
    match = _PHASE.match(text)
    if not match:
        return None
    try:
        return PhaseId.parse(match["phase"])
    except MalformedId:
        return None
