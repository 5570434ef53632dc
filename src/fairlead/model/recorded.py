"""Recorded: what STATE.md says, value by value, each with the line that says it."""

from dataclasses import dataclass
from typing import NamedTuple

from fairlead.model.ids import PhaseId


class Said(NamedTuple):
    """A number and the line it stands on."""

    value: int
    line: int


class SaidText(NamedTuple):
    """A text and the line it stands on."""

    value: str
    line: int


class SaidPhase(NamedTuple):
    """A phase, the name of the field that gives it, and the line it stands on."""

    value: PhaseId
    what: str
    line: int


LIFECYCLE = ("active_phase", "next_action", "next_phases")
COUNTERS = ("total_phases", "completed_phases", "total_plans", "completed_plans")


@dataclass(frozen=True, slots=True)
class Recorded:
    """The claims of one STATE.md; what it does not say is None."""

    path: str
    counters: dict[str, Said]  # the frontmatter's progress, by the names in COUNTERS
    percent: Said | None  # the frontmatter's
    bar: SaidText | None  # the body's Progress line, when it shows a bar or a percentage
    plans_completed: Said | None  # "Total plans completed"
    phases: tuple[SaidPhase, ...]  # every field that names the position
    plan: SaidText | None  # the body's, beside the position
    phase_name: SaidText | None  # the frontmatter's
    status: SaidText | None  # the body's, as it stands there
    front_status: SaidText | None
    milestone: SaidText | None
    milestone_name: SaidText | None
    lifecycle: dict[str, SaidText]  # active_phase, next_action and next_phases, where they stand
    again: tuple[tuple[str, SaidText], ...] = ()  # fields of the position that stand there twice
