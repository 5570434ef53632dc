"""What STATE.md claims about the position: milestone, phase, status and counters.

These are claims. They choose between readings of the scope where ROADMAP.md leaves several, and
they are shown where no file can prove a number. They never replace a number that files prove.
"""

import re

from fairlead.core.errors import MalformedId
from fairlead.core.ids import PhaseId
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass, replace
from fairlead.project.status_words import Status, normalise
from fairlead.text.document import Document
from fairlead.text.outline import Line
from fairlead.text.yaml_scalars import is_null

_PHASE = lazy_pattern(
    r"\W*(?:Phase\s+)?\W*(?P<id>[0-9]{1,6}[A-Za-z]?(?:\.[0-9]{1,6})*)\b", re.IGNORECASE
)
_POSITION = "Current Position"
_UNNAMED = ("", "milestone")  # the template's name
_OWN_LINES = 12  # of the position that may name the milestone


@dataclass(frozen=True, slots=True)
class StateClaims:
    """The claims of one STATE.md; empty where it makes none."""

    milestone: str = ""  # of the frontmatter
    milestone_line: int = 0
    is_default: bool = False  # the frontmatter holds the template's milestone
    position: str = ""  # the text of the position
    position_line: int = 0
    focus: str = ""
    phase: PhaseId | None = None
    is_phase_done: bool = False  # the position calls that phase complete
    status: str = ""  # of the frontmatter, otherwise of the body
    completed_phases: int | None = None
    total_phases: int | None = None
    completed_plans: int | None = None
    total_plans: int | None = None
    percent: int | None = None

    @property
    def is_zero(self) -> bool:
        """Whether every counter is there and says nothing is planned."""
        counts = self.total_phases, self.completed_phases, self.total_plans, self.completed_plans
        return all(count == 0 for count in counts) and not self.percent

    @property
    def claims_work(self) -> bool:
        """Whether it claims that something is finished."""
        return bool(self.completed_phases or self.completed_plans or self.percent)

    def without_work(self) -> "StateClaims":
        """The same claims, but nothing is finished."""
        return replace(self, is_phase_done=False, completed_phases=0, completed_plans=0, percent=0)


def state_claims(document: Document) -> StateClaims:
    """The claims of a STATE.md."""
    front = document.shown_front
    section = document.section(_POSITION)
    lines = document.section_lines(section, own=True) if section else _first_lines(document)
    progress = front.get("progress")
    counts = progress if isinstance(progress, dict) else {}
    milestone = _text(front.get("milestone"))
    field = document.field("Phase", section) or document.field("Current Phase")
    status = document.field("Status", section)
    focus = document.field("Current focus")
    return StateClaims(
        milestone=milestone,
        milestone_line=_line(document, "milestone:"),
        is_default=milestone == "v1.0" and _text(front.get("milestone_name")) in _UNNAMED,
        position="\n".join(line.text for line in lines[:_OWN_LINES]),
        position_line=section.heading + 1 if section else 1,
        focus=focus.value if focus else "",
        phase=phase_named(field.value) if field else phase_named(_text(front.get("current_phase"))),
        is_phase_done=field is not None and _says_done(field.value),
        status=_status(_text(front.get("status")), status.value if status else ""),
        **{name: _count(counts.get(name)) for name in _COUNTERS},
    )


_COUNTERS = ("completed_phases", "total_phases", "completed_plans", "total_plans", "percent")


def phase_named(text: str) -> PhaseId | None:
    """The phase at the start of a text."""
    match = _PHASE.match(text)
    try:
        return PhaseId.parse(match["id"]) if match else None
    except MalformedId:
        return None


def _says_done(position: str) -> bool:
    """Whether a position line ends with the word for a finished phase: `02 (name) — COMPLETE`."""
    _, dash, end = position.replace("–", "—").rpartition("—")
    return bool(dash) and normalise(end) is Status.COMPLETED


def _status(front: str, body: str) -> str:
    """The frontmatter's status if it is a canonical word, otherwise the words of the body."""
    is_canonical = bool(front) and normalise(front) is not Status.UNKNOWN
    return front if is_canonical or not body else body


def _first_lines(document: Document) -> list[Line]:
    first = next((section for section in document.sections if section.level > 1), None)
    return list(document.section_lines(first, own=True)) if first else list(document.lines)


def _line(document: Document, start: str) -> int:
    for number, line in enumerate(document.lines, 1):
        if line.is_prose:
            break
        if line.text.startswith(start):
            return number
    return 0


def _text(value: object) -> str:
    return str(value) if isinstance(value, str) and not is_null(value) else ""


def _count(value: object) -> int | None:
    text = _text(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
