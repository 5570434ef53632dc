"""Which part of the base is which part of a side.

A part is the same where it is equal, then where it has the same name, then the same mark
(`AUTH-01`, `Phase 3`), and last where a part in the same place reads much alike: that one was
edited. What finds no partner was added or removed.
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from difflib import SequenceMatcher

from fairlead.records.merge_lines import aligned
from fairlead.records.merge_parts import Kind, Part
from fairlead.text.outline import lines_of
from fairlead.text.tables import cells_of

Parts = Sequence[Part]

_ALIKE = 0.75
_LONG = 300  # above this many characters texts are compared by words, and so many of them
_TELLING_LENGTH = 8  # a shorter text may be inside another by chance
_TELLING_LINES = 4  # a section with fewer is not known by its lines
_MOST_COMPARED = 60  # parts without a partner, on each side; more are not compared in pairs
_MARK = re.compile(
    r"\W*?(?:[A-Z][A-Z0-9]*-\d+"
    r"|(?i:phase)\s+\d+(?:\.\d+)*[A-Za-z]?"
    r"|\d{1,3}(?:\.\d+)*[A-Za-z]?-\d{1,3}(?!-?\d)"
    r"|\d{1,3}(?:\.\d+)*[A-Za-z]?(?=\.\s))\b"
)
_LABELLED = re.compile(r"\[[^\]]*\]:?\s*")
_NOTHING = re.compile(
    r"[-*_\s]*((none|nothing|n/?a)( yet)?|no \w+( \w+)? yet)[.*_\s]*\Z", re.IGNORECASE
)
_PROSE = (Kind.PROSE, Kind.VERBATIM)
_EDITED = (Kind.SECTION, Kind.ELEMENT, Kind.ITEM, Kind.ROW, *_PROSE)
_NAMELESS = (*_PROSE, Kind.LIST, Kind.TABLE, Kind.ROW)


def is_placeholder(part: Part) -> bool:
    """`None yet.` and the like: it says that nothing is there, and gives way to what comes."""
    return len(part.lines) == 1 and bool(_NOTHING.match(part.lines[0]))


def cell_texts(row: str) -> list[str]:
    """The cells of a table's row."""
    return [cell.text for cell in cells_of(lines_of(row)[0])] if row else []


def pairs_of(base: Parts, side: Parts) -> dict[int, int]:
    """For each part of the base its place on one side, where it is still there."""
    pairs = dict(aligned([identity(part) for part in base], [identity(part) for part in side]))
    if len(pairs) == min(len(base), len(side)):
        return pairs  # one of them has nothing left to be paired
    for question in (identity, _named, _marked):
        _pair_by(question, base, side, pairs)
    _pair_rows(base, side, pairs)
    _pair_containers(base, side, pairs)
    _pair_alike(base, side, pairs)
    return pairs


def identity(part: Part) -> Hashable:
    """What equal parts have in common; blank lines before them do not count."""
    return part.kind, part.name, part.lines


def _named(part: Part) -> Hashable:
    """What it is called; None for what has no name that another could not have too."""
    if part.kind in _NAMELESS:
        return None
    return part.kind, part.name.casefold()


def _marked(part: Part) -> Hashable:
    mark = _mark_of(part)
    return (part.kind, mark) if mark else None


def _mark_of(part: Part) -> str:
    found = _MARK.match(part.name) if part.kind in (Kind.SECTION, Kind.ITEM, Kind.ROW) else None
    # A phase in brackets says whom an entry concerns, not which entry it is.
    if not found or part.name.lstrip("*_ ").startswith("["):
        return ""
    return found[0].strip("*_ ").casefold()


def _pair_by(
    question: Callable[[Part], Hashable], base: Parts, side: Parts, pairs: dict[int, int]
) -> None:
    """Pair what gives the same answer, in order; marks must be the only ones of their kind."""
    held, found = _places(question, base), _places(question, side)
    taken = set(pairs.values())
    for answer, places in held.items():
        others = found.get(answer, [])
        if question is _marked and (len(places) > 1 or len(others) > 1):
            continue
        free = [at for at in others if at not in taken]
        for index, at in zip((index for index in places if index not in pairs), free, strict=False):
            pairs[index] = at
            taken.add(at)


def _places(question: Callable[[Part], Hashable], parts: Parts) -> dict[Hashable, list[int]]:
    places: dict[Hashable, list[int]] = {}
    for at, part in enumerate(parts):
        answer = question(part)
        if answer is not None:
            places.setdefault(answer, []).append(at)
    return places


def _free(base: Parts, side: Parts, pairs: dict[int, int]) -> tuple[list[int], list[int]]:
    taken = set(pairs.values())
    return (
        [index for index in range(len(base)) if index not in pairs],
        [at for at in range(len(side)) if at not in taken],
    )


def _pair_rows(base: Parts, side: Parts, pairs: dict[int, int]) -> None:
    """Rows by as many first cells as tell them apart, the first alone if it does."""
    if not base or not side or base[0].kind is not Kind.ROW:
        return
    mine, other = ([cell_texts(row.lines[0]) for row in rows] for rows in (base, side))
    for count in range(max(map(len, mine)), 0, -1):
        held, found = ([tuple(cells[:count]) for cells in rows] for rows in (mine, other))
        times, others = Counter(held), Counter(found)
        free_base, free_side = _free(base, side, pairs)
        places = {found[at]: at for at in free_side if others[found[at]] == 1}
        for index in free_base:
            if times[held[index]] == 1 and held[index] in places:
                pairs[index] = places[held[index]]


def _pair_containers(base: Parts, side: Parts, pairs: dict[int, int]) -> None:
    """Lists and tables by what they hold, else in their order."""
    for kind in (Kind.LIST, Kind.TABLE):
        free_base, free_side = (
            [at for at in places if parts[at].kind is kind]
            for places, parts in zip(_free(base, side, pairs), (base, side), strict=True)
        )
        for index in list(free_base):
            names = {part.name for part in base[index].parts}
            shared = {at: len(names & {part.name for part in side[at].parts}) for at in free_side}
            best = max(free_side, key=lambda at: shared[at], default=-1)
            if best >= 0 and shared[best]:
                pairs[index] = best
                free_base.remove(index)
                free_side.remove(best)
        rest = zip(free_base, free_side, strict=False)
        pairs |= {index: at for index, at in rest if base[index].head[:1] == side[at].head[:1]}


def _pair_alike(base: Parts, side: Parts, pairs: dict[int, int]) -> None:
    """Edited parts: in the same place, and much alike; prose also when it is alone there."""
    free_base, free_side = _free(base, side, pairs)
    if len(free_base) > _MOST_COMPARED or len(free_side) > _MOST_COMPARED:
        return
    for is_prose in (False, True):
        for index in free_base:
            near = _near(index, base, side, pairs)
            best = _sole(near) if is_prose else _most_alike(base[index], side, near)
            if best >= 0 and (not is_prose or base[index].kind in _PROSE):
                pairs[index] = best


def _near(index: int, base: Parts, side: Parts, pairs: dict[int, int]) -> list[int]:
    """The free parts of this kind between the same neighbours; sections may have moved."""
    part = base[index]
    if index in pairs or part.kind not in _EDITED or is_placeholder(part):
        return []
    taken = set(pairs.values())
    low = max((pairs[near] for near in range(index) if near in pairs), default=-1)
    high = min((pairs[near] for near in pairs if near > index), default=len(side))
    if part.kind is Kind.SECTION:
        low, high = -1, len(side)
    return [
        at
        for at in range(low + 1, high)
        if at not in taken and side[at].kind is part.kind and not is_placeholder(side[at])
    ]


def _sole(places: Sequence[int]) -> int:
    return places[0] if len(places) == 1 else -1


def _most_alike(part: Part, side: Parts, places: Sequence[int]) -> int:
    likeness = {at: _likeness(part, side[at]) for at in places}
    best = max(places, key=lambda at: likeness[at], default=-1)
    return best if best >= 0 and likeness[best] >= _ALIKE else -1


def _likeness(one: Part, other: Part) -> float:
    if _mark_of(one) and _mark_of(other) and _mark_of(one) != _mark_of(other):
        return 0.0
    if one.kind is Kind.SECTION:
        mine, theirs = ({line for line in part.lines[1:] if line.strip()} for part in (one, other))
        shared = len(mine & theirs) / max(len(mine), len(theirs), _TELLING_LINES)
        return max(shared, _ratio(one.name, other.name))
    short, long = sorted((_said(one), _said(other)), key=len)
    return 1.0 if len(short) > _TELLING_LENGTH and short in long else _ratio(short, long)


def _said(part: Part) -> str:
    """The words of a part, without what an entry is labelled or struck out with."""
    if part.kind is Kind.ITEM:
        return _LABELLED.sub("", part.name).strip("~*_ ")
    return "\n".join(part.lines)


def _ratio(one: str, other: str) -> float:
    is_long = max(len(one), len(other)) > _LONG
    units = [text.split()[:_LONG] if is_long else list(text) for text in (one, other)]
    matcher = SequenceMatcher(None, units[0], units[1], autojunk=False)
    if matcher.real_quick_ratio() < _ALIKE or matcher.quick_ratio() < _ALIKE:
        return 0.0
    return matcher.ratio()
