"""Values read from ROADMAP.md: its phases, its milestones and the marks on each phase.

They contain nothing from the disk: `project.derive` pairs them with the phase folders.
"""

from typing import NamedTuple

from fairlead.core.ids import PhaseId
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.project.roadmap.row_status import line_says_done, says_done

_DONE_OF = lazy_pattern(r"\s*([0-9]{1,6})\s*/\s*([0-9]{1,6})\b")
_NOT_PHASES = (0, 999)  # work before the first milestone, and the backlog


def is_counted(phase: PhaseId) -> bool:
    """Whether a number belongs to a phase; 0 and 999 do not belong to any milestone."""
    return phase.number not in _NOT_PHASES


class RoadmapMark(NamedTuple):
    """A place in the roadmap that states the progress of a phase or plan."""

    line: int
    text: str  # the name of a plan, or the counts of a line
    is_checked: bool = False


class PhaseRange(NamedTuple):
    """The phases from one number to another, both included."""

    first: PhaseId
    last: PhaseId

    def contains(self, phase: PhaseId) -> bool:
        """Whether a phase is in it; a decimal belongs to the milestone of its whole number."""
        is_below = phase.number == self.last.number and not self.last.decimals
        return self.first <= phase and (phase <= self.last or is_below)


class ListedPhase(NamedTuple):
    """A phase as the roadmap describes it."""

    id: PhaseId
    name: str
    milestone: str  # version of its milestone; empty if it has none
    line: int
    goal: str = ""
    depends_on: str = ""
    requirements: str = ""  # the text of the line
    is_checked: bool | None = None  # None: it has no box
    is_retired: bool = False
    status: str = ""  # the cell of the progress table
    plans_cell: str = ""  # "2/3" in the progress table
    row_line: int = 0  # line of its row in the progress table; 0: it has none
    boxes: tuple[RoadmapMark, ...] = ()  # the boxes of the phase itself
    plan_boxes: tuple[RoadmapMark, ...] = ()  # the boxes of its plans
    counts: tuple[RoadmapMark, ...] = ()  # lines such as `**Plans:** 2/3 plans complete`
    clashes: tuple[RoadmapMark, ...] = ()  # places that give its number to phases with other names
    column: str = ""  # the milestone column of its row
    statuses: tuple[RoadmapMark, ...] = ()  # lines `**Status:** …` below the phase

    @property
    def is_called_done(self) -> bool:
        """Whether its box is ticked, or its row or a status line says that it is finished."""
        is_marked = bool(self.is_checked) or says_done(self.status)
        return is_marked or any(line_says_done(mark.text) for mark in self.statuses)

    @property
    def has_open_count(self) -> bool:
        """Whether a line counts some of its plans as done, and not all of them."""
        counts = (_DONE_OF.match(mark.text) for mark in self.counts)
        return any(0 < int(each[1]) < int(each[2]) for each in counts if each)


class Milestone(NamedTuple):
    """A milestone of the roadmap."""

    version: str
    name: str
    is_closed: bool
    is_marked_open: bool
    line: int
    ranges: tuple[PhaseRange, ...] = ()  # the numbers of its phases, if the roadmap gives them
    is_parked: bool = False
    shipped: str = ""  # the date, 2026-02-14
    is_in_list: bool = False  # a bullet names it, not only a heading
    marks: tuple[RoadmapMark, ...] = ()  # places that say it is not finished, with their words
    phase_count: int = 0  # the number of its phases, if a line gives it


@dataclass(frozen=True, slots=True)
class Roadmap:
    """The whole roadmap."""

    phases: tuple[ListedPhase, ...] = ()
    milestones: tuple[Milestone, ...] = ()
    unread_line: int = 0  # first line of text in a roadmap without recognised phases; 0: none
    has_ticks: bool = False  # such a roadmap has ticked boxes
