"""Merging matched parts: sections by part, lists by item, tables by cell, prose by line.

A change that only one side made is taken. Where both changed a part, its own parts are merged,
down to single values. Derived values never conflict: one side's value stands until it is computed
again. Different edits of the same value come out between conflict markers.
"""

import re
from collections import Counter

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.merge.derived import (
    FRONT,
    Side,
    is_count,
    is_derived,
    is_derived_column,
    is_settled,
    preferred_side,
)
from fairlead.merge.diff import Hunk, Lines, hunks_of, marked, merged_lines
from fairlead.merge.order import Match, Parts, is_placeholder, matches_of
from fairlead.merge.tree import (
    Part,
    PartKind,
    cell_texts,
    flow_list,
    label_of,
    part,
    scalar_name,
    value_of,
)
from fairlead.text.outline import lines_of
from fairlead.text.tables import cells_of

_BULLET = lazy_pattern(
    r"(?P<bullet>\s*(?:[-*+]|\d{1,9}[.)])\s*)(?P<box>\[[ xX]\](?:\s+|\Z))?(?P<text>.*)", re.DOTALL
)
_EMPTY_VALUES = ("", "[]", "null", "~")
_HOLDERS = (PartKind.LIST, PartKind.TABLE)
# Pairs of neighbours that need no blank line between them.
_ADJACENT = {
    (PartKind.FIELD, PartKind.FIELD),
    (PartKind.FIELD, PartKind.LIST),
    (PartKind.PROSE, PartKind.LIST),
}

LineVersions = tuple[Lines, Lines, Lines]


@dataclass(frozen=True, slots=True)
class PartContext:
    """The surroundings of a part: the keys or headings above it."""

    path: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()  # of the table a row belongs to


@dataclass(frozen=True, slots=True)
class PartConflict:
    """A conflict inside one part."""

    about: str
    is_value: bool  # one name has two values, which no reordering of lines can resolve


class PartMerger:
    """One merge: returns merged lines, and records conflicts and lines it replaced."""

    def __init__(self, newer: Side | None) -> None:
        self.newer = newer
        self.conflicts: list[PartConflict] = []
        self.stale: set[str] = set()  # derived values that have to be computed again
        self.replaced: Counter[str] = Counter()  # lines that may be missing from the merge

    # -- parts -----------------------------------------------------------------------------

    def sequence(self, base: Parts, ours: Parts, theirs: Parts, context: PartContext) -> Lines:
        """Merge consecutive parts."""
        matches = matches_of(base, ours, theirs, context.columns)
        outcomes = [(match, self.matched(match, context)) for match in matches]
        is_refilled = any(lines and _is_emptied_list(match) for match, lines in outcomes)
        merged: list[str] = []
        previous: Match | None = None
        for match, lines in outcomes:
            if is_refilled and match.base is None and is_placeholder(match.current):
                self.replace_lines(lines)  # one side emptied the list, the other added to it
            elif lines:
                merged += [*_lead(match, previous, ours, theirs), *lines]
                previous = match
        return tuple(merged)

    def matched(self, match: Match, context: PartContext) -> Lines:
        """Merge one part; no lines if it was removed."""
        base, ours, theirs, current = match.base, match.ours, match.theirs, match.current
        if ours and theirs:
            return self.part(base, ours, theirs, context)
        if base is None:
            return current.lines
        if current.lines == base.lines:
            return ()
        mine, other = (side.parts if side else () for side in (ours, theirs))
        if current.kind in _HOLDERS:
            rows = self.sequence(base.parts, mine, other, _inside(current, context))
            return (*current.head, *rows) if rows else ()
        if is_derived_part(current, context) and current.lines[1:] == base.lines[1:]:
            self.replace_lines(current.lines[:1])
            return ()
        about = current.name or current.lines[0][:60]
        our_lines, their_lines = (side.lines if side else () for side in (ours, theirs))
        return self.conflict(our_lines, their_lines, about, context)

    def part(self, base: Part | None, ours: Part, theirs: Part, context: PartContext) -> Lines:
        """Merge a part that both sides have."""
        if ours.lines == theirs.lines or (base and theirs.lines == base.lines):
            return ours.lines
        if base and ours.lines == base.lines:
            return theirs.lines
        count = len(self.conflicts)
        lines = self.changed(base, ours, theirs, context)
        conflicts = self.conflicts[count:]
        if conflicts and not any(each.is_value for each in conflicts):
            # The parts conflict, but the lines may not: then both sides can be kept.
            merged = merged_lines(base.lines if base else (), ours.lines, theirs.lines)
            if merged is not None:
                del self.conflicts[count:]
                return merged
        return lines

    def changed(self, base: Part | None, ours: Part, theirs: Part, context: PartContext) -> Lines:
        """Merge a part that both sides changed in different ways."""
        versions = (base.lines if base else (), ours.lines, theirs.lines)
        match ours.kind:
            case PartKind.KEY:
                return self.key(base, ours, theirs, context)
            case PartKind.ROW:
                return self.row(base, ours, theirs, context)
            case PartKind.ITEM:
                head = self.item_head(base, ours, theirs, context)
                old = base.parts if base else ()
                return (*head, *self.sequence(old, ours.parts, theirs.parts, context))
            case PartKind.FIELD if is_derived_part(ours, context) or is_settled(
                ours.name, *(side.lines[0].partition(":")[2] for side in (ours, theirs))
            ):
                return self.derived_value(versions, ours.name, context)
            case PartKind.FIELD | PartKind.PROSE | PartKind.VERBATIM:
                about = ours.name or ours.lines[0][:60]
                return self.text(versions, about, context, is_value=ours.kind is PartKind.FIELD)
            case _:
                return self.container(base, ours, theirs, _inside(ours, context))

    def container(self, base: Part | None, ours: Part, theirs: Part, context: PartContext) -> Lines:
        """Merge a part that consists of others: its own lines, then its parts and sections."""
        about = ours.name or ours.kind.value
        old = base or Part(ours.kind, "", ())
        return (
            *self.text((old.head, ours.head, theirs.head), about, context),
            *self.sequence(old.parts, ours.parts, theirs.parts, context),
            *self.sequence(old.sections, ours.sections, theirs.sections, context),
            *self.text((old.tail, ours.tail, theirs.tail), about, context),
        )

    # -- single values ---------------------------------------------------------------------

    def key(self, base: Part | None, ours: Part, theirs: Part, context: PartContext) -> Lines:
        """Merge a frontmatter key: nested keys by name, lists by item, other values as a whole."""
        sides = [side for side in (base, ours, theirs) if side]
        kinds = {below.kind for side in sides for below in side.parts}
        if len(kinds) == 1 and all(side.parts for side in sides):
            below = PartContext((*context.path, ours.name))
            lines = self.container(base, ours, theirs, below)
            if len(lines) > 1 or "#" in lines[0]:
                return lines
            self.replace_lines(lines)
            return (lines[0].rstrip() + (" []" if PartKind.ENTRY in kinds else " {}"),)
        merged = _merged_list(base, ours, theirs)
        if merged is not None:
            self.replace_lines(*(side.lines for side in sides))
            return merged
        if is_derived_part(ours, context) or is_settled(
            ours.name, value_of(ours), value_of(theirs)
        ):
            self.stale.add(ours.name)
            self.replace_lines(*map(_value_lines, sides))
            texts = " ".join(ours.lines), " ".join(theirs.lines)
            is_ours = preferred_side(*texts, self.newer) is Side.OURS
            return ours.lines if is_ours else theirs.lines
        is_value = len(ours.lines) == len(theirs.lines) == 1
        return self.conflict(ours.lines, theirs.lines, ours.name, context, is_value=is_value)

    def item_head(self, base: Part | None, ours: Part, theirs: Part, context: PartContext) -> Lines:
        """Merge a list item: its bullet, its check box and its text may change separately."""
        heads = (base.head if base else ("",), ours.head, theirs.head)
        merged = Hunk(base.head if base else (), ours.head, theirs.head).merged
        if merged is not None:
            return merged
        values = (head[0].rpartition(":")[2] for head in heads[1:])
        if is_derived_part(ours, context) or is_count(ours.name, *values):
            return self.derived_value(heads, ours.name, context)
        bullet, box, text = (
            Hunk(*((piece,) for piece in pieces))
            for pieces in zip(*map(_item_pieces, heads), strict=True)
        )
        if text.merged is None and base is not None:
            return self.conflict(ours.head, theirs.head, ours.name[:60], context)
        self.replace_lines(*heads)
        merged_box = box.merged if base else None
        # Of two boxes that were made independently, the ticked one counts.
        boxes = merged_box or sorted(
            (*box.ours, *box.theirs), key=lambda each: "x" not in each.lower()
        )
        line = (bullet.merged or bullet.ours)[0] + boxes[0] + (text.merged or text.ours)[0]
        return tuple(line.split("\n"))

    def row(self, base: Part | None, ours: Part, theirs: Part, context: PartContext) -> Lines:
        """Merge a table row cell by cell, in the layout of ours."""
        text = ours.lines[0]
        mine, other = cell_texts(text), cell_texts(theirs.lines[0])
        old = cell_texts(base.lines[0]) if base else ["\0"] * len(mine)
        if not len(old) == len(mine) == len(other):
            return self.conflict(ours.lines, theirs.lines, ours.name, context)
        columns = context.columns if len(context.columns) == len(mine) else ("",) * len(mine)
        for at, cell in reversed(list(enumerate(cells_of(lines_of(text)[0])))):
            merged = Hunk((old[at],), (mine[at],), (other[at],)).merged
            if merged is None:
                name = columns[at]
                if not is_derived_column(name, columns) and not is_count(name, mine[at], other[at]):
                    return self.conflict(ours.lines, theirs.lines, ours.name, context)
                self.stale.add(name)
                is_ours = preferred_side(mine[at], other[at], self.newer) is Side.OURS
                merged = (mine[at] if is_ours else other[at],)
            if merged[0] != mine[at]:
                text = text[: cell.start] + merged[0] + text[cell.end :]
        self.replace_lines(base.lines if base else (), ours.lines, theirs.lines)
        return (text,)

    def derived_value(self, versions: LineVersions, about: str, context: PartContext) -> Lines:
        """One side's line for a derived value; lines below it are prose."""
        first = Hunk(*(lines[:1] for lines in versions))
        self.replace_lines(first.base, first.ours, first.theirs)
        self.stale.add(label_of(first.ours[0].strip()) or about.rstrip(":"))
        side = preferred_side(first.ours[0], first.theirs[0], self.newer)
        line = first.merged or (first.ours if side is Side.OURS else first.theirs)
        base, ours, theirs = (lines[1:] for lines in versions)
        return (*line, *self.text((base, ours, theirs), about, context))

    def text(
        self, versions: LineVersions, about: str, context: PartContext, *, is_value: bool = False
    ) -> Lines:
        """Merge lines of prose."""
        merged: list[str] = []
        for hunk in hunks_of(*versions):
            if hunk.merged is not None:
                merged += hunk.merged
            elif _is_derived_hunk(hunk, context):
                for mine, other in zip(hunk.ours, hunk.theirs, strict=True):
                    merged += self.derived_value(((), (mine,), (other,)), about, context)
            else:
                merged += self.conflict(hunk.ours, hunk.theirs, about, context, is_value=is_value)
        return tuple(merged)

    # -- records ---------------------------------------------------------------------------

    def conflict(
        self,
        ours: Lines,
        theirs: Lines,
        about: str,
        context: PartContext,
        *,
        is_value: bool = False,
    ) -> Lines:
        """Both versions between markers."""
        path = [step for step in context.path if step != FRONT]
        self.conflicts.append(PartConflict(": ".join([*path[-1:], about.strip()]), is_value))
        return tuple(marked(ours, theirs))

    def replace_lines(self, *versions: Lines) -> None:
        """Record lines that the merge contains in another form, or not at all."""
        for lines in versions:
            self.replaced.update(lines)


def is_derived_part(part: Part, context: PartContext) -> bool:
    """Whether a part is a single value that follows from the files."""
    if part.kind is PartKind.ITEM:
        label = label_of(part.name)
        return bool(label) and is_derived(label, context.path)
    return part.kind in (PartKind.FIELD, PartKind.KEY) and is_derived(part.name, context.path)


def _is_derived_hunk(hunk: Hunk, context: PartContext) -> bool:
    """Whether a hunk of prose holds only derived values."""
    if len(hunk.ours) != len(hunk.theirs):
        return False
    for mine, other in zip(hunk.ours, hunk.theirs, strict=True):
        label = label_of(mine.strip())
        is_same = bool(label) and label == label_of(other.strip())
        if not (is_same and is_derived(label, context.path)) and not is_count(
            "progress", mine, other
        ):
            return False
    return True


def _merged_list(base: Part | None, ours: Part, theirs: Part) -> Lines | None:
    """A list of scalars with the additions and removals of both sides; None for anything else.

    The list stays in brackets unless one side has one item per line.
    """
    scalars = [_scalars(side) for side in (base, ours, theirs)]
    lists = [
        [part(PartKind.ENTRY, scalar_name(text), (text,)) for text in side]
        for side in scalars
        if side is not None
    ]
    if len(lists) < 3 or not (lists[1] or lists[2]):
        return None
    items: list[str] = []
    for match in matches_of(lists[0], lists[1], lists[2]):
        versions = (match.base, match.ours, match.theirs)
        merged = Hunk(*(side.head if side else () for side in versions)).merged
        if merged is None:
            return None
        items += merged
    block = next((side for side in (ours, theirs) if side.parts), None)
    if block is None:
        flow = flow_list(ours) or flow_list(theirs)
        return (flow[0] + ", ".join(items) + flow[2],) if flow else None
    if not items:
        return (f"{block.head[0].rstrip()} []",)
    first = block.parts[0].head[0]
    return (*block.head, *(f"{first[: first.index('-')]}- {text}" for text in items))


def _scalars(key: Part | None) -> list[str] | None:
    """The items of a list of scalars; None if the value is something else."""
    if key is None:
        return []
    flow = flow_list(key)
    if flow is not None:
        return list(flow[1])
    if not key.parts:
        return [] if len(key.lines) == 1 and value_of(key) in _EMPTY_VALUES else None
    texts = [entry.head[0].strip()[1:].strip() for entry in key.parts]
    is_plain = all(
        entry.kind is PartKind.ENTRY and len(entry.lines) == 1 and entry.name == scalar_name(text)
        for entry, text in zip(key.parts, texts, strict=True)
    )
    return texts if is_plain else None


def _value_lines(key: Part) -> Lines:
    """The lines of a key's value, without comments and without entries below a scalar."""
    has_value = bool(value_of(key))
    return tuple(
        line
        for line in key.lines
        if "#" not in line and not (has_value and line.lstrip().startswith("- "))
    )


def _item_pieces(head: Lines) -> tuple[str, str, str]:
    match = _BULLET.match("\n".join(head))
    return (match["bullet"], match["box"] or "", match["text"]) if match else ("", "", "")


def _inside(part: Part, context: PartContext) -> PartContext:
    """The context of the parts of a part."""
    match part.kind:
        case PartKind.FRONT:
            return PartContext((FRONT,))
        case PartKind.SECTION | PartKind.ELEMENT:
            return PartContext((*context.path, part.name))
        case PartKind.TABLE:
            return PartContext(context.path, tuple(cell_texts(part.head[0])) if part.head else ())
        case _:
            return context


def _is_emptied_list(match: Match) -> bool:
    """Whether one side removed a list or table that the other side changed."""
    is_one_sided = match.ours is None or match.theirs is None
    return match.base is not None and is_one_sided and match.current.kind in _HOLDERS


def _lead(match: Match, previous: Match | None, ours: Parts, theirs: Parts) -> Lines:
    """The blank lines and comments before a part in its new surroundings."""
    if match.current.kind in (PartKind.KEY, PartKind.ENTRY):
        return _comments(match)
    if previous is None:
        return (ours or theirs)[0].lead
    from_ours = match.ours is not None and (
        match.theirs is None or match.base is None or match.ours.lead != match.base.lead
    )
    siblings = ours if from_ours else theirs
    at = match.ours_at if from_ours else match.theirs_at
    part = siblings[at]
    if at and at - 1 == (previous.ours_at if from_ours else previous.theirs_at):
        return part.lead
    if part.kind in (PartKind.ITEM, PartKind.ROW):
        return part.lead if at else siblings[1].lead if len(siblings) > 1 else ()
    is_apart = part.kind is PartKind.SECTION or (previous.current.kind, part.kind) in _ADJACENT
    return part.lead or (() if is_apart else ("",))


def _comments(match: Match) -> Lines:
    """The comments of both sides: people wrote them, so none is dropped."""
    if match.ours is None or match.theirs is None:
        return match.current.lead
    base = match.base.lead if match.base else ()
    merged = Hunk(base, match.ours.lead, match.theirs.lead).merged
    return merged if merged is not None else (*match.ours.lead, *match.theirs.lead)
