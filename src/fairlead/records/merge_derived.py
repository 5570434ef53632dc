"""Values that follow from the files, and whose side is taken when both sides changed one.

Nobody means such a value: it is computed anew after the merge. Until then the newer side's
stands, or the larger one where no side is known to be newer. All names are in the tables here.
"""

import re
from datetime import UTC, date, datetime, time
from enum import Enum

from fairlead.records.activity import is_bare_stop
from fairlead.text.document import Document

FRONT = "---"  # the first step of a path inside the frontmatter

# Frontmatter keys and body fields, in lower case, with blanks for `_` and `-`.
_NAMES = frozenset(
    {
        "active phase",
        "average duration",
        "completed phases",
        "completed plans",
        "current phase",
        "current phase name",
        "current plan",
        "last 5 plans",
        "last activity",
        "last activity desc",
        "last session",
        "last updated",
        "next action",
        "next phases",
        "percent",
        "phases complete",
        "phases completed",
        "plans complete",
        "plans completed",
        "progress",
        "state head",
        "total execution time",
        "total phases",
        "total plans",
        "total plans completed",
        "trend",
    }
)
# Fields that are derived only below this heading; elsewhere a person may mean them.
_POSITION, _POSITION_NAMES = "current position", frozenset({"phase", "plan"})
_COLUMNS = frozenset(
    {"avg/plan", "plans", "plans complete", "plans completed", "progress", "total", "%"}
)
# Columns that follow from the files only where the plans are counted beside them.
_BESIDE_PLANS = frozenset({"completed", "status"})

# Fields in which commands tell a step in fixed words, and people in their own.
_STOPS = frozenset({"paused at", "stopped at"})

_COUNT = re.compile(r"\d+ ?(/|of) ?\d+(?![\w/])|\d+(\.\d+)? ?%|\[?[█▓▒░#=.\-]{3,}\]? *\d+ ?%")
_COUNTED = re.compile(r"plan|phase|task|progress|complet|requirement")
_NUMBER = re.compile(r"\d+")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class Side(Enum):
    """One of the two branches of a merge."""

    OURS = "ours"
    THEIRS = "theirs"


def is_derived(name: str, path: tuple[str, ...]) -> bool:
    """Whether the value of this name, under these keys or headings, follows from the files."""
    plain = _plain(name)
    if plain in _NAMES or path[:2] == (FRONT, "progress"):
        return True
    return plain in _POSITION_NAMES and bool(path) and _plain(path[-1]) == _POSITION


def is_derived_column(name: str, columns: tuple[str, ...]) -> bool:
    """Whether the cells of a table's column follow from the files."""
    plain = _plain(name)
    if plain in _BESIDE_PLANS:
        return any(_plain(column).startswith("plans") for column in columns)
    return plain in _COLUMNS


def is_settled(name: str, *values: str) -> bool:
    """Whether nobody means these values: they are counts, or steps in the words of commands."""
    if _plain(name) in _STOPS:
        return all(is_bare_stop(value.strip(" *`'\"")) for value in values)
    return is_count(name, *values)


def is_count(name: str, *values: str) -> bool:
    """Whether these values are counts of plans or the like: `3/5`, `2 of 3`, `40%` or a bar."""
    return bool(_COUNTED.search(name.casefold())) and all(
        _COUNT.match(value.strip(" *`")) for value in values
    )


def taken(ours: str, theirs: str, newer: Side | None) -> Side:
    """Whose value stands until it is computed anew."""
    if newer:
        return newer
    mine, other = ([int(number) for number in _NUMBER.findall(text)] for text in (ours, theirs))
    return Side.THEIRS if other > mine else Side.OURS


def newer_side(ours: Document, theirs: Document) -> Side | None:
    """Which side was written last, as the documents themselves say; None if they do not."""
    for moment_of in (_updated, _active):
        mine, other = moment_of(ours), moment_of(theirs)
        if mine != other:
            return Side.OURS if other is None or (mine and mine > other) else Side.THEIRS
    return None


def _updated(document: Document) -> datetime | None:
    return _moment(str(document.value("last_updated") or ""))


def _active(document: Document) -> datetime | None:
    field = document.field("Last updated") or document.field("Last activity")
    found = _DAY.search(field.value) if field else None
    return _moment(found.group()) if found else None


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        found = _DAY.match(text)
        try:
            day = date.fromisoformat(found.group()) if found else None
        except ValueError:
            return None
        return datetime.combine(day, time(), UTC) if day else None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _plain(name: str) -> str:
    return re.sub(r"[\s_\-]+", " ", name.strip(" *:`").casefold())
