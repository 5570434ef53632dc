"""Derived values: which fields follow from the files, and which side's value stands until then.

A derived value is computed again after the merge, so it never conflicts. Until then the value of
the newer side stands, or the larger one if neither side is known to be newer. The table in
`project.state.fields` says which fields of STATE.md are derived.
"""

from datetime import UTC, date, datetime, time
from enum import Enum

from fairlead.core.patterns import lazy_pattern
from fairlead.project.state.activity import is_bare_stop
from fairlead.project.state.fields import (
    PROGRESS,
    STATE_FIELDS,
    FieldTable,
    MergeRule,
    plain_name,
)
from fairlead.text.document import Document

FRONT = "---"  # the first step of a path inside the frontmatter

# Counts in ROADMAP.md and MILESTONES.md; `project.state.fields` names those of STATE.md.
_OTHER_COUNTS = frozenset(
    {"phases complete", "phases completed", "plans complete", "plans completed"}
)
_COLUMNS = frozenset(
    {"avg/plan", "plans", "plans complete", "plans completed", "progress", "total", "%"}
)
# Columns that are derived only in a table that also counts plans.
_COLUMNS_BESIDE_PLANS = frozenset({"completed", "status"})

_COUNT = lazy_pattern(r"\d+ ?(/|of) ?\d+(?![\w/])|\d+(\.\d+)? ?%|\[?[█▓▒░#=.\-]{3,}\]? *\d+ ?%")
_COUNTED = lazy_pattern(r"plan|phase|task|progress|complet|requirement")
_NUMBER = lazy_pattern(r"\d+")
_DAY = lazy_pattern(r"\d{4}-\d{2}-\d{2}")


class Side(Enum):
    """One of the two branches of a merge."""

    OURS = "ours"
    THEIRS = "theirs"


def is_derived(name: str, path: tuple[str, ...], *, fields: FieldTable = STATE_FIELDS) -> bool:
    """Whether the field with this name, under these keys or headings, follows from the files."""
    plain = plain_name(name)
    if plain in fields.merging_by(MergeRule.RECOMPUTE) or plain in _OTHER_COUNTS:
        return True
    if path[:2] == (FRONT, PROGRESS):
        return True
    row = fields.find(plain)
    if row is None or row.merge is not MergeRule.RECOMPUTE_IN_SECTION or not path:
        return False
    return plain_name(path[-1]) in map(plain_name, row.section)


def is_derived_column(name: str, columns: tuple[str, ...]) -> bool:
    """Whether the cells of a table column follow from the files."""
    plain = plain_name(name)
    if plain in _COLUMNS_BESIDE_PLANS:
        return any(plain_name(column).startswith("plans") for column in columns)
    return plain in _COLUMNS


def is_settled(name: str, *values: str, fields: FieldTable = STATE_FIELDS) -> bool:
    """Whether values may be chosen without asking: counts, or a stop in a command's words."""
    if plain_name(name) in fields.merging_by(MergeRule.STEP):
        return all(is_bare_stop(value.strip(" *`'\"")) for value in values)
    return is_count(name, *values)


def is_count(name: str, *values: str) -> bool:
    """Whether these values count plans or the like: `3/5`, `2 of 3`, `40%` or a bar."""
    return bool(_COUNTED.search(name.casefold())) and all(
        _COUNT.match(value.strip(" *`")) for value in values
    )


def preferred_side(ours: str, theirs: str, newer: Side | None) -> Side:
    """The side whose value stands until it is computed again."""
    if newer:
        return newer
    mine, other = ([int(number) for number in _NUMBER.findall(text)] for text in (ours, theirs))
    return Side.THEIRS if other > mine else Side.OURS


def newer_side(ours: Document, theirs: Document) -> Side | None:
    """The side that was written last, according to the documents; None if they do not say."""
    for time_of in (_last_updated, _last_activity):
        mine, other = time_of(ours), time_of(theirs)
        if mine != other:
            return Side.OURS if other is None or (mine and mine > other) else Side.THEIRS
    return None


def _last_updated(document: Document) -> datetime | None:
    return _parsed_time(str(document.value("last_updated") or ""))


def _last_activity(document: Document) -> datetime | None:
    field = document.field("Last updated") or document.field("Last activity")
    day = _DAY.search(field.value) if field else None
    return _parsed_time(day[0]) if day else None


def _parsed_time(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        match = _DAY.match(text)
        try:
            day = date.fromisoformat(match[0]) if match else None
        except ValueError:
            return None
        return datetime.combine(day, time(), UTC) if day else None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
