"""Recorded: what STATE.md says, value by value, each with the line that says it."""

from typing import NamedTuple

from fairlead.values import dataclass


class Said(NamedTuple):
    """A number and the line it stands on."""

    value: int
    line: int


class SaidText(NamedTuple):
    """A text and the line it stands on."""

    value: str
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
    overall: SaidText | None  # a second bar, "Overall progress"
    plans_completed: Said | None  # "Total plans completed"
    milestone: SaidText | None
    milestone_name: SaidText | None
    again: tuple[tuple[str, SaidText], ...] = ()  # fields of the position that stand there twice
