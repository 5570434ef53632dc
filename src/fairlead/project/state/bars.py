"""Progress bars as people and tools draw them: reading one and redrawing it in the same style.

Bars may have any width and many kinds of cells. A bar of twenty `#` and `░` cells belongs to the
ultraplan dialect, which counts plans and rounds down; every other bar shows the percentage of the
project.
"""

import re
from typing import NamedTuple

from fairlead.core.patterns import lazy_pattern
from fairlead.project.derive.progress import Progress, bar, bar_rounded_down

_BLOCKS = "█▓▒░■□▰▱"
_FULL = "█▓#=■●▰▌>"
_EMPTY = "░.-_ ▱○·□▒"
_EITHER = "-_.·▒"  # ambiguous: a bar of only these may be full or empty
_SHADE = "▒"  # before other cells it is a full cell
_HEAD = ">"  # a single one is the tip of an arrow
_BAR = lazy_pattern(rf"\[(?P<cells>[{re.escape(_FULL + _EMPTY)}]{{5,60}})\]")
_BARE = lazy_pattern(r"(?P<cells>[█▓▒░]{5,60})")
_PERCENT = lazy_pattern(r"(?P<number>[0-9]{1,3})(?:\.[0-9]+)?\s?%")
# Counts of the whole project. `3/3 plans complete in phase 2` and `this phase: 1/3 plans` count
# something smaller and are not touched.
_COUNTS = lazy_pattern(
    r"(?<![0-9.])(?P<done>[0-9]+)(?P<of>/| of )(?P<total>[0-9]+)"
    r"(?= (?P<unit>plan|phase)s?(?: (?:complete|completed|done|executed))?"
    r"\s*(?:[),;|]|\Z|[—–:=-]?\s*\(?[0-9]{1,3}(?:\.[0-9]+)?\s?%))"
)
_SMALLER = lazy_pattern(
    r"\b(?:phase|wave)\b(?:[^,;|()]*\Z|[\s:#*]*[0-9]+(?![0-9.]*\s?%))", re.IGNORECASE
)
_PARTNER = dict(
    zip("█▓▒▌#■●▰", "░░░░░□○▱", strict=True)
)  # the empty cell that belongs to a full one; otherwise a blank
_FULL_BESIDE = {" ": "=", "□": "■", "○": "●", "▱": "▰", ".": "#", "-": "#"}
_WIDE = 20
# Cells whose UTF-8 bytes an editor read as cp1252 and saved again.
_MISREAD = {"â–‘": "░", "â–ˆ": "█"}


class DrawnBar(NamedTuple):
    """A bar in a line of text."""

    cells: str
    percent: int  # -1: the line has no percentage

    @property
    def is_by_plans(self) -> bool:
        """Whether it belongs to the dialect that counts plans."""
        return len(self.cells) == _WIDE and set(self.cells) <= set("#░") and bool(self.cells)

    @property
    def shown(self) -> int:
        """The percentage: the written one, otherwise the one that its cells show."""
        if self.percent >= 0:
            return self.percent
        return 100 * self._filled // len(self.cells)

    def tells(self, percent: int) -> bool:
        """Whether it shows this percentage; cells alone are exact to one cell."""
        slack = 0 if self.percent >= 0 else 100 // len(self.cells)
        return abs(self.shown - percent) <= slack

    def draws(self, percent: int) -> bool:
        """Whether its cells show this percentage, within one cell; ambiguous cells always do."""
        kinds = self.kinds
        is_clear = len(kinds) == 2 or (len(kinds) == 1 and kinds[0] not in _EITHER)
        if not is_clear:
            return True
        return abs(100 * self._filled - percent * len(self.cells)) <= 100

    @property
    def kinds(self) -> tuple[str, ...]:
        """The distinct marks of its cells in order, without the tip of an arrow."""
        is_arrow = self.cells.count(_HEAD) == 1
        return tuple(dict.fromkeys(self.cells.replace(_HEAD, "") if is_arrow else self.cells))

    @property
    def full(self) -> str:
        """The mark of its full cells: a well-known one, otherwise the first if a number confirms it."""
        kinds = self.kinds
        known = next((mark for mark in kinds if mark in _FULL), "")
        is_either = bool(kinds) and kinds[0] in _EITHER
        is_clear = self.percent >= 0 or kinds[:1] == (_SHADE,)
        is_first = is_either and is_clear and (len(kinds) > 1 or self.percent == 100)
        return known or (kinds[0] if is_first else "")

    @property
    def empty(self) -> str:
        """The mark of its empty cells; empty if the bar is full."""
        return next((mark for mark in reversed(self.kinds) if mark != self.full), "")

    @property
    def _filled(self) -> int:
        full = {self.full, _HEAD} if len(self.kinds) == 2 else {*_FULL, self.full}
        return sum(mark in full for mark in self.cells)


def find_bar(value: str) -> DrawnBar | None:
    """The bar and percentage of a Progress line; None if it has neither.

    Several percentages are about several things, and which one a command could keep is unknown.
    """
    value = _with_cells(value)
    drawn = _BAR.search(value) or _BARE.search(value)
    percent = _PERCENT.search(value)
    if not drawn and not percent:
        return None
    if percent and len({each["number"] for each in _PERCENT.finditer(value)}) > 1:
        return None
    return DrawnBar(drawn["cells"] if drawn else "", int(percent["number"]) if percent else -1)


def _with_cells(value: str) -> str:
    for misread, cell in _MISREAD.items():
        value = value.replace(misread, cell)
    return value


def bar_start(line: str) -> int:
    """The offset of an unmistakable bar in a line; -1 if there is none."""
    drawn = _BAR.search(line) or _BARE.search(line)
    if not drawn:
        return -1
    is_plain = set(drawn["cells"]) & set(_BLOCKS) or _PERCENT.match(line[drawn.end() :].lstrip())
    return drawn.start() if is_plain else -1


def redrawn(value: str, progress: Progress) -> str:
    """The value with the current bar, percentage and counts, in the same style."""
    found = find_bar(value)
    if found is None:
        return value
    value = _with_cells(value)
    percent = right_percent(found, progress)
    is_shown = found.tells(percent)
    if found.cells and not (is_shown and found.draws(percent)):
        value = value.replace(found.cells, _drawn(found, percent), 1)
    if found.percent >= 0 and not is_shown:
        value = _PERCENT.sub(f"{percent}%", value, count=1)
    return _with_counts(value, progress)


def right_percent(found: DrawnBar, progress: Progress) -> int:
    """The percentage that a bar of this dialect shows."""
    return progress.plans_percent if found.is_by_plans else progress.percent


def _with_counts(value: str, progress: Progress) -> str:
    right = {
        "plan": (progress.completed_plans, progress.total_plans),
        "phase": (progress.completed_phases, progress.total_phases),
    }

    def counted(match: re.Match[str]) -> str:
        done, total = right[match["unit"]]
        is_smaller = _SMALLER.search(value[: match.start()])
        return match[0] if is_smaller else f"{done}{match['of']}{total}"

    return _COUNTS.sub(counted, value)


def _drawn(found: DrawnBar, percent: int) -> str:
    full = _full_of(found)
    empty = found.empty or _PARTNER.get(full, " ")
    draw = bar_rounded_down if found.is_by_plans else bar
    cells = draw(percent, cells=len(found.cells), full=full, empty=empty)
    if _full_of(DrawnBar(cells, percent)) != full:
        return full + cells[1:]  # keep one full cell, or the next redraw would choose another mark
    tip = cells.find(empty)
    if found.cells.count(_HEAD) == 1 and tip > 0:
        return cells[: tip - 1] + _HEAD + cells[tip:]
    return cells


def _full_of(found: DrawnBar) -> str:
    return found.full or ("#" if found.is_by_plans else _FULL_BESIDE.get(found.empty, "█"))
