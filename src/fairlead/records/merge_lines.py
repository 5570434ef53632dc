"""Three-way merge of lines: what both sides made of a common text, hunk by hunk.

It decides as git's own text merge does: changes that touch each other without a common line
between them are one hunk. Knows nothing of documents, so it is also what is left when a
document cannot be taken apart.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher

from fairlead.values import dataclass

Lines = tuple[str, ...]

OURS, MIDDLE, THEIRS = "<<<<<<< ours", "=======", ">>>>>>> theirs"

# Above this many comparisons a stretch without a single telling line is taken as rewritten.
_MOST_COMPARISONS = 250_000


@dataclass(frozen=True, slots=True)
class Hunk:
    """A stretch of the three texts; where nobody changed anything all three are equal."""

    base: Lines
    ours: Lines
    theirs: Lines

    @property
    def merged(self) -> Lines | None:
        """What both sides come to; None when they contradict each other."""
        if self.ours in (self.theirs, self.base):
            return self.theirs
        return self.ours if self.theirs == self.base else None


def hunks_of(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Hunk]:
    """The three texts in stretches, in order; joined again each side is complete."""
    in_ours, in_theirs = dict(aligned(base, ours)), dict(aligned(base, theirs))
    from_base = from_ours = from_theirs = 0
    for at in range(len(base)):
        if at not in in_ours or at not in in_theirs:
            continue
        hunk = Hunk(
            tuple(base[from_base:at]),
            tuple(ours[from_ours : in_ours[at]]),
            tuple(theirs[from_theirs : in_theirs[at]]),
        )
        if hunk.base or hunk.ours or hunk.theirs:
            yield hunk
        same = (base[at],)
        yield Hunk(same, same, same)
        from_base, from_ours, from_theirs = at + 1, in_ours[at] + 1, in_theirs[at] + 1
    last = Hunk(tuple(base[from_base:]), tuple(ours[from_ours:]), tuple(theirs[from_theirs:]))
    if last.base or last.ours or last.theirs:
        yield last


def plainly(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Lines | None:
    """The merge of three texts line by line; None when it is not possible without conflict."""
    written: list[str] = []
    for hunk in hunks_of(base, ours, theirs):
        if hunk.merged is None:
            return None
        written += hunk.merged
    return tuple(written)


def marked(ours: Sequence[str], theirs: Sequence[str], ending: str = "") -> list[str]:
    """Both sides between conflict markers; what begins and ends them alike stays outside."""
    head = _common(ours, theirs)
    tail = _common(ours[head:][::-1], theirs[head:][::-1])
    mine, other = ours[head : len(ours) - tail], theirs[head : len(theirs) - tail]
    return [
        *ours[:head],
        OURS + ending,
        *mine,
        MIDDLE + ending,
        *other,
        THEIRS + ending,
        *ours[len(ours) - tail :],
    ]


def aligned(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Pairs of places that hold the same, rising on both sides.

    Long stretches are cut at what stands once on both sides, so that the time stays in
    proportion to the length even for texts of many equal lines.
    """
    pairs: list[tuple[int, int]] = []
    waiting = [(0, len(one), 0, len(other))]
    while waiting:
        first, last, start, end = waiting.pop()
        while first < last and start < end and one[first] == other[start]:
            pairs.append((first, start))
            first, start = first + 1, start + 1
        while first < last and start < end and one[last - 1] == other[end - 1]:
            last, end = last - 1, end - 1
            pairs.append((last, end))
        if first == last or start == end:
            continue
        if (last - first) * (end - start) <= _MOST_COMPARISONS:
            pairs += _matched(one, other, (first, last, start, end))
            continue
        telling = _telling(one[first:last], other[start:end])
        cuts = [(first + at + 1, start + place + 1) for at, place in telling]
        for cut, place in [*cuts, (last, end)] if cuts else []:
            waiting.append((first, cut, start, place))
            first, start = cut, place
    slid = _slid(one, sorted(pairs))
    return [(at, place) for place, at in _slid(other, [(place, at) for at, place in slid])]


def _slid(one: Sequence[Hashable], pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Of equal lines the last ones count as removed, as git has it.

    Else the two sides may find the same change in different places.
    """
    slid = list(pairs)
    before, place_before = -1, -1
    for index in range(len(slid)):
        at, place = slid[index]
        start, following = before + 1, index
        is_removal = start < at and place == place_before + 1
        while is_removal and following < len(slid) and slid[following] == (at, place):
            if one[start] != one[at]:
                break
            slid[following] = (start, place)
            start, at, place, following = start + 1, at + 1, place + 1, following + 1
        before, place_before = slid[index]
    return slid


def _matched(
    one: Sequence[Hashable], other: Sequence[Hashable], span: tuple[int, int, int, int]
) -> Iterator[tuple[int, int]]:
    first, last, start, end = span
    matcher = SequenceMatcher(None, one[first:last], other[start:end], autojunk=False)
    for at, place, size in matcher.get_matching_blocks():
        for step in range(size):
            yield first + at + step, start + place + step


def _telling(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[tuple[int, int]]:
    """The longest rising run of places of what stands exactly once on both sides."""
    mine, theirs = Counter(one), Counter(other)
    places = {held: at for at, held in enumerate(other) if theirs[held] == 1}
    found = [
        (at, places[held]) for at, held in enumerate(one) if mine[held] == 1 and held in places
    ]
    lowest: list[int] = []  # the lowest last place of a run of each length
    runs: list[tuple[int, int]] = []  # for each found pair: the length before it, the pair before
    ends: list[int] = []
    for index, (_, place) in enumerate(found):
        length = bisect_left(lowest, place)
        runs.append((length, ends[length - 1] if length else -1))
        lowest[length : length + 1] = [place]
        ends[length : length + 1] = [index]
    run: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        run.append(found[at])
        at = runs[at][1]
    return run[::-1]


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return count
