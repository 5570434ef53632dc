"""Matching the parts of three versions, and the order they have in the merge.

A part of the base corresponds to the part of a side that is equal, else to one with the same
name, else to one with the same identifier (`AUTH-01`, `Phase 3`), and finally to a similar part
in the same place, which was edited. A part without a counterpart was added or removed. The merge
has the order of ours; a part that only theirs has follows its predecessor there.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from difflib import SequenceMatcher

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.merge.derived import is_derived_column
from fairlead.merge.diff import aligned
from fairlead.merge.tree import Part, PartKind, cell_texts

Parts = Sequence[Part]

_SIMILAR = 0.75
_LONG_TEXT = 300  # longer texts are compared by words, and only this many of them
_MIN_CONTAINED = 8  # a shorter text may be inside another one by chance
_MIN_SECTION_LINES = 4  # a shorter section is not recognised by its lines
_MAX_COMPARED = 60  # more unmatched parts than this are not compared pairwise
_IDENTIFIER = lazy_pattern(
    r"\W*?(?:[A-Z][A-Z0-9]*-\d+"
    r"|(?i:phase)\s+\d+(?:\.\d+)*[A-Za-z]?"
    r"|\d{1,3}(?:\.\d+)*[A-Za-z]?-\d{1,3}(?!-?\d)"
    r"|\d{1,3}(?:\.\d+)*[A-Za-z]?(?=\.\s))\b"
)
_BRACKETED = lazy_pattern(r"\[[^\]]*\]:?\s*")
_PLACEHOLDER = lazy_pattern(
    r"[-*_\s]*((none|nothing|n/?a)( yet)?|no \w+( \w+)? yet)[.*_\s]*\Z", re.IGNORECASE
)
_PROSE = (PartKind.PROSE, PartKind.VERBATIM)
_HOLDERS = (PartKind.LIST, PartKind.TABLE)
_EDITABLE = (PartKind.SECTION, PartKind.ELEMENT, PartKind.ITEM, PartKind.ROW, *_PROSE, *_HOLDERS)
_NAMELESS = (*_PROSE, *_HOLDERS)
_IDENTIFIED = (PartKind.SECTION, PartKind.ITEM, PartKind.ROW)


@dataclass(frozen=True, slots=True)
class Match:
    """One part in the three versions; None where a version does not have it."""

    base: Part | None
    ours: Part | None
    theirs: Part | None
    ours_at: int = -1
    theirs_at: int = -1

    @property
    def current(self) -> Part:
        """The part in ours, else in theirs."""
        part = self.ours or self.theirs
        assert part is not None
        return part


def matches_of(
    base: Parts, ours: Parts, theirs: Parts, columns: tuple[str, ...] = ()
) -> list[Match]:
    """Every part of the three versions once, in the order of the merge.

    `columns` are the titles of the table if the parts are its rows.
    """
    in_ours, in_theirs = pairs_of(base, ours), pairs_of(base, theirs)
    from_ours = {at: index for index, at in in_ours.items()}
    from_theirs = {at: index for index, at in in_theirs.items()}
    both = _added_twice(ours, theirs, (from_ours, from_theirs), columns)
    matches: list[Match] = []
    for at, part in enumerate(ours):
        index = from_ours.get(at)
        twin = both.get(at, -1) if index is None else in_theirs.get(index, -1)
        old = None if index is None else base[index]
        matches.append(Match(old, part, theirs[twin] if twin >= 0 else None, at, twin))
    placed = {match.theirs_at for match in matches}
    for at, part in enumerate(theirs):
        if at not in placed:
            index = from_theirs.get(at)
            matches.append(Match(None if index is None else base[index], None, part, -1, at))
    common = sorted(in_ours.keys() & in_theirs.keys())
    order_ours, order_theirs = ([side[index] for index in common] for side in (in_ours, in_theirs))
    # Where only theirs moved parts, its order applies and ours is inserted into it.
    if order_ours == sorted(order_ours) and order_theirs != sorted(order_theirs):
        return _inserted(matches, lambda each: each.theirs_at, lambda each: each.ours_at)
    return _inserted(matches, lambda each: each.ours_at, lambda each: each.theirs_at)


def _inserted(
    matches: list[Match], main: Callable[[Match], int], other: Callable[[Match], int]
) -> list[Match]:
    """The matches of the main side, each other one behind its predecessor on the other side."""
    spine = sorted((match for match in matches if main(match) >= 0), key=main)
    rest = sorted((match for match in matches if main(match) < 0), key=other)
    positions = sorted(other(match) for match in spine if other(match) >= 0)
    behind: dict[int, list[Match]] = {}
    for match in rest:
        before = bisect_left(positions, other(match))
        behind.setdefault(positions[before - 1] if before else -1, []).append(match)
    order: list[Match] = []
    waiting = behind.pop(-1, [])
    for match in spine:
        # Parts that the main side added in the same place stay together and come first.
        if waiting and (other(match) >= 0 or match.base):
            order += waiting
            waiting = []
        order.append(match)
        waiting += behind.pop(other(match), []) if other(match) >= 0 else []
    return order + waiting


def _added_twice(
    ours: Parts, theirs: Parts, paired: tuple[dict[int, int], ...], columns: tuple[str, ...]
) -> dict[int, int]:
    """Parts that both sides added: equal ones once, named ones as one part to be merged."""
    pairs: dict[int, int] = {}
    for key_of in (_identity, lambda part: _twin_key(part, columns)):
        taken = paired[1].keys() | set(pairs.values())
        free: dict[Hashable, list[int]] = {}
        for at in reversed(range(len(theirs))):
            if at not in taken:
                free.setdefault(key_of(theirs[at]), []).append(at)
        for at, part in enumerate(ours):
            key = key_of(part) if at not in paired[0] and at not in pairs else None
            if key is not None and free.get(key):
                pairs[at] = free[key].pop()
    return pairs


def _twin_key(part: Part, columns: tuple[str, ...]) -> Hashable:
    """Parts added on both sides with equal keys are one part; None where two may stay two."""
    match part.kind:
        case PartKind.PROSE | PartKind.VERBATIM:
            return None
        case PartKind.LIST | PartKind.TABLE:
            return part.kind, part.head[:1]
        case PartKind.ITEM:
            return part.kind, part.name, part.head[1:]
        case PartKind.ROW:
            # Rows are one if they differ only in derived cells.
            cells = cell_texts(part.lines[0])
            if len(cells) != len(columns):
                return None
            named = zip(columns, cells, strict=True)
            return tuple(cell for name, cell in named if not is_derived_column(name, columns))
        case _:
            return part.kind, part.name.casefold()


# -- pairs of base and side ----------------------------------------------------------------


def pairs_of(base: Parts, side: Parts) -> dict[int, int]:
    """The position on one side of each base part that is still there."""
    pairs = dict(aligned([_identity(part) for part in base], [_identity(part) for part in side]))
    if len(pairs) == min(len(base), len(side)):
        return pairs
    for key_of in (_identity, _name_key, _identifier_key):
        _pair_by(key_of, base, side, pairs)
    _pair_similar(base, side, pairs)
    return pairs


def is_placeholder(part: Part) -> bool:
    """Whether a part says that there is nothing here (`None yet.`) and yields to real content."""
    return len(part.lines) == 1 and bool(_PLACEHOLDER.match(part.lines[0]))


def _identity(part: Part) -> Hashable:
    """Equal for equal parts; blank lines before them do not matter."""
    return part.kind, part.name, part.lines


def _name_key(part: Part) -> Hashable:
    return None if part.kind in _NAMELESS else (part.kind, part.name.casefold())


def _identifier_key(part: Part) -> Hashable:
    identifier = _identifier_of(part)
    return (part.kind, identifier) if identifier else None


def _identifier_of(part: Part) -> str:
    match = _IDENTIFIER.match(part.name) if part.kind in _IDENTIFIED else None
    # `[Phase 3]` says what an entry is about, not which entry it is.
    if not match or part.name.lstrip("*_ ").startswith("["):
        return ""
    return match[0].strip("*_ ").casefold()


def _pair_by(
    key_of: Callable[[Part], Hashable], base: Parts, side: Parts, pairs: dict[int, int]
) -> None:
    """Pair parts with equal keys in order; an identifier or first cell must be unique."""
    taken = set(pairs.values())
    in_base, in_side = _positions(key_of, base), _positions(key_of, side)
    for key, indexes in in_base.items():
        places = in_side.get(key, [])
        is_unique = len(indexes) == 1 >= len(places)
        if not is_unique and (key_of is _identifier_key or base[indexes[0]].kind is PartKind.ROW):
            continue
        free = [at for at in places if at not in taken]
        open_indexes = [index for index in indexes if index not in pairs]
        for index, at in zip(open_indexes, free, strict=False):
            pairs[index] = at
            taken.add(at)


def _positions(key_of: Callable[[Part], Hashable], parts: Parts) -> dict[Hashable, list[int]]:
    positions: dict[Hashable, list[int]] = {}
    for at, part in enumerate(parts):
        key = key_of(part)
        if key is not None:
            positions.setdefault(key, []).append(at)
    return positions


def _free(base: Parts, side: Parts, pairs: dict[int, int]) -> tuple[list[int], list[int]]:
    """The positions without a counterpart, in the base and on the side."""
    taken = set(pairs.values())
    return (
        [index for index in range(len(base)) if index not in pairs],
        [at for at in range(len(side)) if at not in taken],
    )


def _pair_similar(base: Parts, side: Parts, pairs: dict[int, int]) -> None:
    """Pair edited parts in the same place: similar ones, and prose, lists and tables without rival."""
    free_base, free_side = _free(base, side, pairs)
    if len(free_base) > _MAX_COMPARED or len(free_side) > _MAX_COMPARED:
        return
    for index in free_base:
        places = _places_for(index, base, side, pairs)
        similarity = {at: _similarity(base[index], side[at]) for at in places}
        best = max(places, key=lambda at: similarity[at], default=-1)
        if best >= 0 and similarity[best] >= _SIMILAR:
            pairs[index] = best
    for index in free_base:
        places = _places_for(index, base, side, pairs)
        is_sole = len(places) == 1 and base[index].kind in _NAMELESS
        if is_sole and (
            base[index].kind in _PROSE or base[index].head[:1] == side[places[0]].head[:1]
        ):
            pairs[index] = places[0]


def _places_for(index: int, base: Parts, side: Parts, pairs: dict[int, int]) -> list[int]:
    """The free parts of the same kind between the same neighbours; a section may have moved."""
    part = base[index]
    if index in pairs or part.kind not in _EDITABLE or is_placeholder(part):
        return []
    taken = set(pairs.values())
    low = max((pairs[near] for near in range(index) if near in pairs), default=-1)
    high = min((pairs[near] for near in pairs if near > index), default=len(side))
    if part.kind is PartKind.SECTION:
        low, high = -1, len(side)
    return [
        at
        for at in range(low + 1, high)
        if at not in taken and side[at].kind is part.kind and not is_placeholder(side[at])
    ]


def _similarity(one: Part, other: Part) -> float:
    """From 0 to 1; parts with different identifiers are never the same."""
    if (
        _identifier_of(one)
        and _identifier_of(other)
        and _identifier_of(one) != _identifier_of(other)
    ):
        return 0.0
    if one.kind in _HOLDERS:
        names = ({part.name for part in each.parts} for each in (one, other))
        return float(bool(set.intersection(*names)))
    if one.kind is PartKind.SECTION:
        mine, theirs = ({line for line in part.lines[1:] if line.strip()} for part in (one, other))
        shared = len(mine & theirs) / max(len(mine), len(theirs), _MIN_SECTION_LINES)
        return max(shared, _ratio(one.name, other.name))
    short, long = sorted((_plain_text(one), _plain_text(other)), key=len)
    return 1.0 if len(short) > _MIN_CONTAINED and short in long else _ratio(short, long)


def _plain_text(part: Part) -> str:
    """The text of a part without the label or strike-through of a list item."""
    if part.kind is PartKind.ITEM:
        return _BRACKETED.sub("", part.name).strip("~*_ ")
    return "\n".join(part.lines)


def _ratio(one: str, other: str) -> float:
    is_long = max(len(one), len(other)) > _LONG_TEXT
    units = [text.split()[:_LONG_TEXT] if is_long else list(text) for text in (one, other)]
    matcher = SequenceMatcher(None, units[0], units[1], autojunk=False)
    # Both are upper bounds of the ratio and much cheaper.
    if matcher.real_quick_ratio() < _SIMILAR or matcher.quick_ratio() < _SIMILAR:
        return 0.0
    return matcher.ratio()
