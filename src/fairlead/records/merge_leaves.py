"""Single entries that both sides changed: a line of prose, a bullet, a table's row, a value.

Each method returns the lines of the merge. What follows from the files is settled without
asking; what two people changed differently comes out between conflict markers.
"""

import re
from collections import Counter

from fairlead.records.merge_body import label_of
from fairlead.records.merge_derived import (
    FRONT,
    Side,
    is_count,
    is_derived,
    is_derived_column,
    taken,
)
from fairlead.records.merge_lines import Hunk, Lines, hunks_of, marked
from fairlead.records.merge_match import cell_texts
from fairlead.records.merge_parts import Part
from fairlead.text.outline import lines_of
from fairlead.text.tables import cells_of
from fairlead.values import dataclass

Versions = tuple[Lines, Lines, Lines]

_BULLET = re.compile(
    r"(?P<bullet>\s*(?:[-*+]|\d{1,9}[.)])\s*)(?P<box>\[[ xX]\](?:\s+|\Z))?(?P<text>.*)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a document a part stands: the keys or headings above it."""

    path: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()  # of the table that a row belongs to

    def below(self, name: str) -> "Place":
        """The place of what stands under this name."""
        return Place((*self.path, name))


@dataclass(frozen=True, slots=True)
class Clash:
    """A conflict: what it is about."""

    about: str
    is_value: bool  # one name has two values; where the lines stand does not make it better


class Leaves:
    """One merge: decides entries, and remembers what it could not keep as it was."""

    def __init__(self, newer: Side | None, *, allows_plain: bool = True) -> None:
        self.newer = newer
        self.allows_plain = allows_plain  # a part that conflicts may be merged line by line
        self.conflicts: list[Clash] = []
        self.stale: set[str] = set()  # derived values that were settled
        self.accounted: Counter[str] = Counter()  # lines that stand in another form, or gave way

    def conflict(
        self, ours: Lines, theirs: Lines, about: str, place: Place, *, is_value: bool = False
    ) -> Lines:
        """Both versions between markers."""
        path = [step for step in place.path if step != FRONT]
        self.conflicts.append(Clash(": ".join([*path[-1:], about.strip()]), is_value))
        return tuple(marked(ours, theirs))

    def settled(self, versions: Versions, about: str, place: Place) -> Lines:
        """A value that nobody means: the line of one side. What stands below it is prose."""
        first = Hunk(versions[0][:1], versions[1][:1], versions[2][:1])
        self.account(first.base, first.ours, first.theirs)
        self.stale.add(label_of(first.ours[0].strip()) or about.rstrip(":"))
        side = taken(first.ours[0], first.theirs[0], self.newer)
        line = first.merged or (first.ours if side is Side.OURS else first.theirs)
        below = versions[0][1:], versions[1][1:], versions[2][1:]
        return (*line, *self.text(below, about, place))

    def account(self, *versions: Lines) -> None:
        """Remember that these lines may be missing from the merge as they were."""
        for lines in versions:
            self.accounted.update(lines)

    def text(
        self, versions: Versions, about: str, place: Place, *, is_value: bool = False
    ) -> Lines:
        """Lines of prose, by an ordinary three-way merge."""
        written: list[str] = []
        for hunk in hunks_of(*versions):
            if hunk.merged is not None:
                written += hunk.merged
            elif self._is_computed(hunk, place):
                for pair in zip(hunk.ours, hunk.theirs, strict=True):
                    written += self.settled(((), pair[:1], pair[1:]), about, place)
            else:
                written += self.conflict(hunk.ours, hunk.theirs, about, place, is_value=is_value)
        return tuple(written)

    def item_head(self, base: Part | None, ours: Part, theirs: Part, place: Place) -> Lines:
        """A bullet: its mark, its check box and its text may change apart from each other."""
        heads = [part.head if part else ("",) for part in (base, ours, theirs)]
        same = Hunk(heads[0] if base else (), ours.head, theirs.head).merged
        if same is not None:
            return same
        if is_derived_item(ours, place) or is_count(ours.name, *map(_item_value, heads[1:])):
            return self.settled((heads[0], heads[1], heads[2]), ours.name, place)
        bullet, box, text = (
            Hunk(*((held,) for held in held_of_all))
            for held_of_all in zip(*(_pieces(head) for head in heads), strict=True)
        )
        if text.merged is None and base is not None:
            return self.conflict(ours.head, theirs.head, ours.name[:60], place)
        self.account(*heads)
        pieces = [
            (bullet.merged or bullet.ours)[0],
            _box(box, is_new=base is None),
            (text.merged or text.ours)[0],
        ]
        return tuple("".join(pieces).split("\n"))

    def row(self, base: Part | None, ours: Part, theirs: Part, place: Place) -> Lines:
        """A table's row, cell by cell, laid out as in ours."""
        text = ours.lines[0]
        mine, other = cell_texts(text), cell_texts(theirs.lines[0])
        old = cell_texts(base.lines[0]) if base else ["\0"] * len(mine)
        if not len(old) == len(mine) == len(other):
            return self.conflict(ours.lines, theirs.lines, ours.name, place)
        columns = place.columns if len(place.columns) == len(mine) else ("",) * len(mine)
        for at, cell in reversed(list(enumerate(cells_of(lines_of(text)[0])))):
            merged = Hunk((old[at],), (mine[at],), (other[at],)).merged
            if merged is None:
                name = columns[at]
                if not is_derived_column(name, columns) and not is_count(name, mine[at], other[at]):
                    return self.conflict(ours.lines, theirs.lines, ours.name, place)
                self.stale.add(name)
                side = taken(mine[at], other[at], self.newer)
                merged = (mine[at] if side is Side.OURS else other[at],)
            if merged[0] != mine[at]:
                text = text[: cell.start] + merged[0] + text[cell.end :]
        self.account(base.lines if base else (), ours.lines, theirs.lines)
        return (text,)

    def _is_computed(self, hunk: Hunk, place: Place) -> bool:
        """Whether a hunk of prose holds nothing but values that follow from the files."""
        if len(hunk.ours) != len(hunk.theirs):
            return False
        for mine, other in zip(hunk.ours, hunk.theirs, strict=True):
            label = label_of(mine.strip())
            is_named = (
                bool(label) and label == label_of(other.strip()) and is_derived(label, place.path)
            )
            if not is_named and not is_count("progress", mine, other):
                return False
        return True


def is_derived_item(item: Part, place: Place) -> bool:
    """Whether a bullet says a value that follows from the files."""
    label = label_of(item.name)
    return bool(label) and is_derived(label, place.path)


def _item_value(head: Lines) -> str:
    return head[0].rpartition(":")[2]


def _pieces(head: Lines) -> tuple[str, str, str]:
    found = _BULLET.match("\n".join(head))
    return (found["bullet"], found["box"] or "", found["text"]) if found else ("", "", "")


def _box(box: Hunk, *, is_new: bool) -> str:
    """The check box: of two that were made apart from each other the ticked one."""
    if is_new or box.merged is None:
        return next((held for held in (*box.ours, *box.theirs) if "x" in held.lower()), box.ours[0])
    return box.merged[0]
