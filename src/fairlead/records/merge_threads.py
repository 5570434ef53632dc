"""Threads: every part of three texts once, and the order in which a merge has them.

The order is that of ours, and what only theirs has stands behind what it follows there. What
both sides added once becomes one thread, and two different entries stay two.
"""

from bisect import bisect_left
from collections.abc import Callable, Hashable

from fairlead.records.merge_derived import is_derived_column
from fairlead.records.merge_match import Parts, cell_texts, identity, pairs_of
from fairlead.records.merge_parts import Kind, Part
from fairlead.values import dataclass


@dataclass(frozen=True, slots=True)
class Thread:
    """One part as the three texts have it; None where it is missing."""

    base: Part | None
    ours: Part | None
    theirs: Part | None
    ours_at: int = -1
    theirs_at: int = -1

    @property
    def held(self) -> Part:
        """The part as the merge has it, or nearly so: that of ours where there is one."""
        part = self.ours or self.theirs
        assert part is not None
        return part


def threads_of(
    base: Parts, ours: Parts, theirs: Parts, columns: tuple[str, ...] = ()
) -> list[Thread]:
    """Every part of the three texts once, in the order that the merge will have.

    `columns` are the titles of the table whose rows these are.
    """
    mine, other = pairs_of(base, ours), pairs_of(base, theirs)
    added = (
        set(range(len(ours))) - set(mine.values()),
        set(range(len(theirs))) - set(other.values()),
    )
    both = _added_twice(ours, theirs, added, columns)
    from_ours = {at: index for index, at in mine.items()}
    threads: list[Thread] = []
    for at, held in enumerate(ours):
        index = from_ours.get(at)
        twin = both.get(at, -1) if index is None else other.get(index, -1)
        old = None if index is None else base[index]
        threads.append(Thread(old, held, theirs[twin] if twin >= 0 else None, at, twin))
    placed = {thread.theirs_at for thread in threads}
    from_theirs = {at: index for index, at in other.items()}
    for at, held in enumerate(theirs):
        if at not in placed:
            index = from_theirs.get(at)
            threads.append(Thread(None if index is None else base[index], None, held, -1, at))
    return _ordered(threads, only_theirs_moved=_only_theirs_moved(mine, other))


def _ordered(threads: list[Thread], *, only_theirs_moved: bool) -> list[Thread]:
    """The order of ours, with what only theirs has behind what it follows there.

    Where only theirs moved something, its order holds and ours is woven in.
    """
    if only_theirs_moved:
        spine = sorted((each for each in threads if each.theirs), key=lambda each: each.theirs_at)
        rest = sorted((each for each in threads if not each.theirs), key=lambda each: each.ours_at)
        return _woven(spine, rest, lambda each: each.ours_at)
    spine = sorted((each for each in threads if each.ours), key=lambda each: each.ours_at)
    rest = sorted((each for each in threads if not each.ours), key=lambda each: each.theirs_at)
    return _woven(spine, rest, lambda each: each.theirs_at)


def _woven(
    spine: list[Thread], rest: list[Thread], place_of: Callable[[Thread], int]
) -> list[Thread]:
    """Put each of the rest behind the thread that it follows on its own side."""
    behind: dict[int, list[Thread]] = {}
    known = sorted(place_of(thread) for thread in spine if place_of(thread) >= 0)
    for thread in rest:
        before = bisect_left(known, place_of(thread))
        behind.setdefault(known[before - 1] if before else -1, []).append(thread)
    order: list[Thread] = []
    waiting = behind.pop(-1, [])
    for thread in spine:
        # What the other side added in the same place stays together, and comes first.
        if waiting and (place_of(thread) >= 0 or thread.base):
            order += waiting
            waiting = []
        order.append(thread)
        waiting += behind.pop(place_of(thread), []) if place_of(thread) >= 0 else []
    return order + waiting


def _only_theirs_moved(ours: dict[int, int], theirs: dict[int, int]) -> bool:
    common = sorted(index for index in ours if index in theirs)
    mine, other = ([side[index] for index in common] for side in (ours, theirs))
    return mine == sorted(mine) and other != sorted(other)


def _added_twice(
    ours: Parts, theirs: Parts, added: tuple[set[int], set[int]], columns: tuple[str, ...]
) -> dict[int, int]:
    """What both sides added: equal parts once, and named ones as one part to be merged."""
    pairs: dict[int, int] = {}
    for key_of in (identity, lambda part: _twin_key(part, columns)):
        free: dict[Hashable, list[int]] = {}
        for place in sorted(added[1] - set(pairs.values()), reverse=True):
            free.setdefault(key_of(theirs[place]), []).append(place)
        for at in sorted(added[0] - set(pairs)):
            key = key_of(ours[at])
            if key is not None and free.get(key):
                pairs[at] = free[key].pop()
    return pairs


def _twin_key(part: Part, columns: tuple[str, ...]) -> Hashable:
    """What makes two parts without a common past one; None where two may stay two."""
    match part.kind:
        case Kind.PROSE | Kind.VERBATIM:
            return None
        case Kind.LIST | Kind.TABLE:
            return part.kind, part.head[:1]
        case Kind.ITEM:
            return part.kind, part.name, part.head[1:]
        case Kind.ROW:
            # Rows are one if they differ only in cells that follow from the files.
            cells = cell_texts(part.lines[0])
            if len(cells) != len(columns):
                return None
            named = zip(columns, cells, strict=True)
            return tuple(cell for name, cell in named if not is_derived_column(name, columns))
        case _:
            return part.kind, part.name.casefold()
