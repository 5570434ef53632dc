"""Progress bars as people and tools draw them; an update keeps the drawing and changes the number.

Bars of any width and of many characters are known. A row of `#` in twenty cells is the dialect
that counts plans alone, rounded down; every other bar shows the project's percentage.
"""

import re
from typing import NamedTuple

from fairlead.model.progress import Progress, bar, bar_by_floor

_BLOCKS = "█▓░■□▰▱"
_FULL = "█▓#=■●▰▌"
_EMPTY = "░.-_ ▱○·□"
_BAR = re.compile(rf"\[(?P<cells>[{re.escape(_FULL + _EMPTY)}]{{5,60}})\]")
_BARE = re.compile(r"(?P<cells>[█▓░]{5,60})")
_PERCENT = re.compile(r"(?P<number>[0-9]{1,3})(?:\.[0-9]+)?\s?%")
# Counts that go on with words (`3/3 plans complete in phase 2`) speak of something smaller.
_COUNTS = re.compile(
    r"(?P<done>[0-9]+)/(?P<total>[0-9]+)"
    r"(?= (?P<unit>plans|phases)(?: (?:complete|completed|done|executed))?\s*(?:[),;|]|\Z))"
)
_PARTNER = {"█": "░", "▓": "░", "#": "░", "=": " ", "■": "□", "●": "○", "▰": "▱", "▌": "░"}
_WIDE = 20


class DrawnBar(NamedTuple):
    """A bar found in a line."""

    cells: str
    percent: int  # -1: there is no percentage

    @property
    def is_by_plans(self) -> bool:
        """Whether it is of the dialect that counts plans."""
        return len(self.cells) == _WIDE and set(self.cells) <= set("#░") and bool(self.cells)

    @property
    def shown(self) -> int:
        """The percentage it tells: the number, or by its cells alone."""
        if self.percent >= 0:
            return self.percent
        full = sum(mark in _FULL for mark in self.cells)
        return 100 * full // len(self.cells)

    def tells(self, percent: int) -> bool:
        """Whether it shows this percentage; cells alone cannot be closer than one of them."""
        slack = 0 if self.percent >= 0 else 100 // len(self.cells)
        return abs(self.shown - percent) <= slack


def find_bar(value: str) -> DrawnBar | None:
    """The bar and percentage of a Progress line; None if it shows neither."""
    drawn = _BAR.search(value) or _BARE.search(value)
    percent = _PERCENT.search(value)
    if not drawn and not percent:
        return None
    return DrawnBar(drawn["cells"] if drawn else "", int(percent["number"]) if percent else -1)


def bar_start(line: str) -> int:
    """Where a line draws a bar that cannot be anything else; -1 if it draws none."""
    drawn = _BAR.search(line) or _BARE.search(line)
    if not drawn:
        return -1
    is_plain = set(drawn["cells"]) & set(_BLOCKS) or _PERCENT.match(line[drawn.end() :].lstrip())
    return drawn.start() if is_plain else -1


def redrawn(value: str, progress: Progress) -> str:
    """The line's value with bar, percentage and plan counts as they are now."""
    found = find_bar(value)
    if found is None:
        return value
    percent = right_percent(found, progress)
    if not found.tells(percent):
        if found.cells:
            value = value.replace(found.cells, _drawn(found, percent), 1)
        if found.percent >= 0:
            value = _PERCENT.sub(f"{percent}%", value, count=1)
    return _with_counts(value, progress)


def right_percent(found: DrawnBar, progress: Progress) -> int:
    """The percentage that a bar of this dialect has to show."""
    return progress.plans_percent if found.is_by_plans else progress.percent


def _with_counts(value: str, progress: Progress) -> str:
    right = {
        "plans": f"{progress.completed_plans}/{progress.total_plans}",
        "phases": f"{progress.completed_phases}/{progress.total_phases}",
    }
    return _COUNTS.sub(lambda match: right[match["unit"]], value)


def _drawn(found: DrawnBar, percent: int) -> str:
    full = next((mark for mark in found.cells if mark in _FULL), "")
    empty = next((mark for mark in found.cells if mark in _EMPTY), "")
    full = full or ("#" if found.is_by_plans else "")
    full = full or next((mark for mark, partner in _PARTNER.items() if partner == empty), "█")
    empty = empty or _PARTNER[full]
    draw = bar_by_floor if found.is_by_plans else bar
    return draw(percent, cells=len(found.cells), full=full, empty=empty)
