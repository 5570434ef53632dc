"""The weaver: three versions of a document's parts become one, from the outside in.

Whatever one side alone changed is taken. Where both changed the same part, its own parts are
woven, down to the entries, which `merge_leaves` decides.
"""

import re
from itertools import pairwise

from fairlead.records.merge_derived import FRONT, Side, is_derived, is_settled, taken
from fairlead.records.merge_front import undashed, value_of
from fairlead.records.merge_leaves import Leaves, Place, is_derived_item
from fairlead.records.merge_lines import OURS, Lines, hunks_of, plainly
from fairlead.records.merge_match import Parts, cell_texts, is_placeholder
from fairlead.records.merge_parts import Kind, Part
from fairlead.records.merge_threads import Thread, threads_of
from fairlead.records.merge_values import joined_list, joined_map

_NUMBERED = re.compile(r"(\s*)(\d{1,9})([.)](?:\s|\Z))")
_HOLDERS = (Kind.LIST, Kind.TABLE)
# Pairs that stay apart without a blank line between them.
_STAND_APART = {(Kind.FIELD, Kind.FIELD), (Kind.FIELD, Kind.LIST), (Kind.PROSE, Kind.LIST)}


class Weaver(Leaves):
    """Weaves the parts of one document."""

    def sequence(self, base: Parts, ours: Parts, theirs: Parts, place: Place) -> Lines:
        """Parts that follow each other."""
        threads = threads_of(base, ours, theirs, place.columns)
        outcomes = [(thread, self.outcome(thread, place)) for thread in threads]
        is_filled_again = any(lines and _lost_a_side(thread) for thread, lines in outcomes)
        written: list[str] = []
        previous: Thread | None = None
        for thread, lines in outcomes:
            if is_filled_again and thread.base is None and is_placeholder(thread.held):
                self.account(lines)  # it said that a list was empty, which it is not
            elif lines:
                written += [*_lead(thread, previous, ours, theirs), *lines]
                previous = thread
        return tuple(written)

    def outcome(self, thread: Thread, place: Place) -> Lines:
        """What becomes of one part; nothing if it was removed."""
        base, ours, theirs, held = thread.base, thread.ours, thread.theirs, thread.held
        if ours and theirs:
            return self.part(base, ours, theirs, place)
        if base is None:
            return held.lines
        if held.lines == base.lines:
            return ()
        mine, other = (side.parts if side else () for side in (ours, theirs))
        if held.kind in _HOLDERS:
            rows = self.sequence(base.parts, mine, other, _inside(held, place))
            return (*held.head, *rows) if rows else ()
        if self.is_derived(held, place) and held.lines[1:] == base.lines[1:]:
            self.account(held.lines[:1])
            return ()
        about = held.name or held.lines[0][:60]
        if ours:
            return self.conflict(held.lines, (), about, place)
        return self.conflict((), held.lines, about, place)

    def part(self, base: Part | None, ours: Part, theirs: Part, place: Place) -> Lines:
        """One part that both sides have."""
        if ours.lines == theirs.lines or (base and theirs.lines == base.lines):
            return ours.lines
        if base and ours.lines == base.lines:
            return theirs.lines
        known = len(self.conflicts)
        lines = self.changed(base, ours, theirs, place)
        clashes = self.conflicts[known:]
        if self.allows_plain and clashes and not any(clash.is_value for clash in clashes):
            # No marker where both sides can be kept: as plain lines they may go together.
            plain = plainly(base.lines if base else (), ours.lines, theirs.lines)
            if plain is not None:
                del self.conflicts[known:]
                return plain
        return lines

    def changed(self, base: Part | None, ours: Part, theirs: Part, place: Place) -> Lines:
        """One part that both sides changed, each in its own way."""
        match ours.kind:
            case Kind.KEY:
                return self.key(base, ours, theirs, place)
            case Kind.ENTRY:
                return self.entry(base, ours, theirs, place)
            case Kind.ROW:
                return self.row(base, ours, theirs, place)
            case Kind.ITEM:
                head = self.item_head(base, ours, theirs, place)
                old = base.parts if base else ()
                return (*head, *self.sequence(old, ours.parts, theirs.parts, place))
            case Kind.FIELD if self.is_derived(ours, place) or is_settled(
                ours.name, *(_value(side) for side in (ours, theirs))
            ):
                versions = (base.lines if base else (), ours.lines, theirs.lines)
                return self.settled(versions, ours.name, place)
            case Kind.FIELD | Kind.PROSE | Kind.VERBATIM:
                versions = (base.lines if base else (), ours.lines, theirs.lines)
                about = ours.name or ours.lines[0][:60]
                return self.text(versions, about, place, is_value=ours.kind is Kind.FIELD)
            case _:
                return self.container(base, ours, theirs, _inside(ours, place))

    def container(self, base: Part | None, ours: Part, theirs: Part, place: Place) -> Lines:
        """A part that consists of others: its own lines, and then theirs."""
        about = ours.name or ours.kind.value
        old = base or Part(ours.kind, "", ())
        head = self.text((old.head, ours.head, theirs.head), about, place)
        parts = self.sequence(old.parts, ours.parts, theirs.parts, place)
        if ours.kind is Kind.LIST:
            parts = self.renumbered(parts, (old, ours, theirs))
        sections = self.sequence(old.sections, ours.sections, theirs.sections, place)
        tail = self.text((old.tail, ours.tail, theirs.tail), about, place)
        return (*head, *parts, *sections, *tail)

    def renumbered(self, lines: Lines, versions: tuple[Part, ...]) -> Lines:
        """A list that counts its items goes on counting after both sides added some."""
        if OURS in lines or not all(_counts(each.parts) for each in versions if each.parts):
            return lines
        first = _NUMBERED.match(versions[1].parts[0].head[0])
        assert first is not None
        number = int(first[2])
        written = []
        for line in lines:
            found = _NUMBERED.match(line)
            if found and found[1] == first[1]:
                changed = f"{found[1]}{number}{found[3]}{line[found.end() :]}"
                if changed != line:
                    self.account((line,))
                line, number = changed, number + 1  # noqa: PLW2901
            written.append(line)
        return tuple(written)

    def key(self, base: Part | None, ours: Part, theirs: Part, place: Place) -> Lines:
        """A key of the frontmatter: nested keys by name, lists by item, other values as they are."""
        kinds = {part.kind for side in (base, ours, theirs) if side for part in side.parts}
        is_nested = all(side is None or side.parts for side in (base, ours, theirs))
        if is_nested and len(kinds) == 1:
            lines = self.container(base, ours, theirs, place.below(ours.name))
            if len(lines) > 1 or "#" in lines[0]:
                return lines
            self.account(lines)
            return (lines[0].rstrip() + (" []" if Kind.ENTRY in kinds else " {}"),)
        for join in (joined_list, joined_map):
            joined = join(base, ours, theirs)
            if joined is not None:
                self.account(base.lines if base else (), ours.lines, theirs.lines)
                return joined
        values = value_of(ours), value_of(theirs)
        if self.is_derived(ours, place) or is_settled(ours.name, *values):
            self.stale.add(ours.name)
            for side in (base, ours, theirs):
                self.account(_of_value(side) if side else ())
            mine, other = (" ".join(side.lines) for side in (ours, theirs))
            return ours.lines if taken(mine, other, self.newer) is Side.OURS else theirs.lines
        is_value = len(ours.lines) == len(theirs.lines) == 1
        return self.conflict(ours.lines, theirs.lines, ours.name, place, is_value=is_value)

    def entry(self, base: Part | None, ours: Part, theirs: Part, place: Place) -> Lines:
        """An entry of a frontmatter list that is a map, known by its id or name."""
        mine, other = undashed(ours), undashed(theirs)
        known = len(self.conflicts)
        if mine and other:
            lines = self.sequence(undashed(base) if base else (), mine, other, place)
            dash = ours.head[0].index("-")
            if lines and len(self.conflicts) == known and lines[0][: dash + 1].isspace():
                self.account(ours.head[:1], theirs.head[:1])
                return (f"{lines[0][:dash]}-{lines[0][dash + 1 :]}", *lines[1:])
        del self.conflicts[known:]
        return self.conflict(ours.lines, theirs.lines, ours.name, place)

    def is_derived(self, part: Part, place: Place) -> bool:
        """Whether a part is one value that follows from the files."""
        if part.kind is Kind.ITEM:
            return is_derived_item(part, place)
        return part.kind in (Kind.FIELD, Kind.KEY) and is_derived(part.name, place.path)


def _of_value(key: Part) -> Lines:
    """The lines of a key that are its value; entries below one that has a value are somebody's."""
    is_told = bool(value_of(key))
    return tuple(
        line
        for line in key.lines
        if "#" not in line and not (is_told and line.lstrip().startswith("- "))
    )


def _inside(part: Part, place: Place) -> Place:
    match part.kind:
        case Kind.FRONT:
            return Place((FRONT,))
        case Kind.SECTION | Kind.ELEMENT:
            return place.below(part.name)
        case Kind.TABLE:
            return Place(place.path, tuple(cell_texts(part.head[0])) if part.head else ())
        case _:
            return place


def _lost_a_side(thread: Thread) -> bool:
    """Whether one side removed a list or table that the other one changed."""
    is_one_sided = thread.ours is None or thread.theirs is None
    return thread.base is not None and is_one_sided and thread.held.kind in _HOLDERS


def _lead(thread: Thread, previous: Thread | None, ours: Parts, theirs: Parts) -> Lines:
    """The blank lines and comments before a part, in its new neighbourhood."""
    if thread.held.kind in (Kind.KEY, Kind.ENTRY):
        return _both_leads(thread)
    if previous is None:
        return (ours or theirs)[0].lead
    from_ours = thread.ours is not None and (
        thread.theirs is None or thread.base is None or thread.ours.lead != thread.base.lead
    )
    siblings = ours if from_ours else theirs
    at, above = (
        (thread.ours_at, previous.ours_at) if from_ours else (thread.theirs_at, previous.theirs_at)
    )
    part = siblings[at]
    if at and at - 1 == above:
        return part.lead
    if part.kind in (Kind.ITEM, Kind.ROW):
        return part.lead if at else siblings[1].lead if len(siblings) > 1 else ()
    is_apart = part.kind is Kind.SECTION or (previous.held.kind, part.kind) in _STAND_APART
    return part.lead or (() if is_apart else ("",))


def _both_leads(thread: Thread) -> Lines:
    """Comments are somebody's words: those of both sides stay."""
    base, ours, theirs = (
        side.lead if side else () for side in (thread.base, thread.ours, thread.theirs)
    )
    if thread.ours is None or thread.theirs is None:
        return thread.held.lead
    written: list[str] = []
    for hunk in hunks_of(base, ours, theirs):
        written += hunk.merged if hunk.merged is not None else (*hunk.ours, *hunk.theirs)
    return tuple(written)


def _counts(items: Parts) -> bool:
    """Whether items are numbered one after the other."""
    found = [_NUMBERED.match(item.head[0]) for item in items]
    numbers = [int(each[2]) for each in found if each]
    return len(numbers) == len(items) and all(b == a + 1 for a, b in pairwise(numbers))


def _value(field: Part) -> str:
    return field.lines[0].partition(":")[2]
