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


COUNTERS = ("total_phases", "completed_phases", "total_plans", "completed_plans")


@dataclass(frozen=True, slots=True)
class Recorded:
    """The claims of one STATE.md; what it does not say is None."""

    path: str
    counters: dict[str, Said]  # the frontmatter's progress, by the names in COUNTERS
    percent: Said | None  # the frontmatter's
    bar: Said | None  # the percentage of the body's Progress line
    is_by_plans: bool  # the bar is of the dialect that counts plans
    plans_completed: Said | None  # "Total plans completed"
    phase: PhaseId | None
    phase_line: int
    status: SaidText | None  # the body's, as it stands there
    front_status: SaidText | None
    milestone: SaidText | None
