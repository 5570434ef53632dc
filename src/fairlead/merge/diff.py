"""Three-way comparison of lines, with the same result as git's own text merge.

Changes that touch each other without a common line between them form one hunk. This module knows
nothing about documents, so it is also the fallback for a document that cannot be parsed.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher

from fairlead.core.values import dataclass

Lines = tuple[str, ...]
Pairs = list[tuple[int, int]]

OURS, MIDDLE, THEIRS = "<<<<<<< ours", "=======", ">>>>>>> theirs"

# SequenceMatcher is quadratic. Above this many comparisons a stretch is first cut at unique lines.
_MAX_COMPARISONS = 250_000


@dataclass(frozen=True, slots=True)
class Hunk:
    """A stretch of the three texts; all three are equal where neither side changed anything."""

    base: Lines
    ours: Lines
    theirs: Lines

    @property
    def merged(self) -> Lines | None:
        """The merged lines; None when the sides contradict each other."""
        if self.ours in (self.theirs, self.base):
            return self.theirs
        return self.ours if self.theirs == self.base else None


def hunks_of(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Hunk]:
    """The three texts cut into hunks, in order; joined again, every side is complete."""
    in_ours, in_theirs = dict(aligned(base, ours)), dict(aligned(base, theirs))
    common = [(at, in_ours[at], in_theirs[at]) for at in in_ours if at in in_theirs]
    starts = (0, 0, 0)
    for ends in [*common, (len(base), len(ours), len(theirs))]:
        texts = zip((base, ours, theirs), starts, ends, strict=True)
        hunk = Hunk(*(tuple(text[start:end]) for text, start, end in texts))
        if hunk.base or hunk.ours or hunk.theirs:
            yield hunk
        if ends[0] < len(base):
            line = (base[ends[0]],)
            yield Hunk(line, line, line)
        starts = (ends[0] + 1, ends[1] + 1, ends[2] + 1)


def merged_lines(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Lines | None:
    """The line-by-line merge; None when there is a conflict."""
    merged: list[str] = []
    for hunk in hunks_of(base, ours, theirs):
        if hunk.merged is None:
            return None
        merged += hunk.merged
    return tuple(merged)


def marked(ours: Sequence[str], theirs: Sequence[str], ending: str = "") -> list[str]:
    """Both sides between conflict markers; common first and last lines stay outside."""
    head = _common(ours, theirs)
    tail = _common(ours[head:][::-1], theirs[head:][::-1])
    return [
        *ours[:head],
        OURS + ending,
        *ours[head : len(ours) - tail],
        MIDDLE + ending,
        *theirs[head : len(theirs) - tail],
        THEIRS + ending,
        *ours[len(ours) - tail :],
    ]


def aligned(one: Sequence[Hashable], other: Sequence[Hashable]) -> Pairs:
    """Pairs of positions that hold equal values, ascending on both sides."""
    pairs: Pairs = []
    stretches = [(0, len(one), 0, len(other))]
    while stretches:
        first, last, start, end = stretches.pop()
        while first < last and start < end and one[first] == other[start]:
            pairs.append((first, start))
            first, start = first + 1, start + 1
        while first < last and start < end and one[last - 1] == other[end - 1]:
            last, end = last - 1, end - 1
            pairs.append((last, end))
        mine, theirs = one[first:last], other[start:end]
        if len(mine) * len(theirs) <= _MAX_COMPARISONS:
            pairs += [(first + at, start + place) for at, place in _matches(mine, theirs)]
            continue
        cuts = [(first + at + 1, start + place + 1) for at, place in _anchors(mine, theirs)]
        # A long stretch without a single unique common line counts as rewritten.
        for cut, place in [*cuts, (last, end)] if cuts else []:
            stretches.append((first, cut, start, place))
            first, start = cut, place
    return sorted(pairs)


def _matches(one: Sequence[Hashable], other: Sequence[Hashable]) -> Pairs:
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return [(at + step, place + step) for at, place, size in blocks for step in range(size)]


def _anchors(one: Sequence[Hashable], other: Sequence[Hashable]) -> Pairs:
    """Aligned positions of the values that occur exactly once on both sides."""
    counts = Counter(one), Counter(other)
    mine, theirs = (
        [at for at, value in enumerate(side) if counts[0][value] == 1 == counts[1][value]]
        for side in (one, other)
    )
    matches = _matches([one[at] for at in mine], [other[at] for at in theirs])
    return [(mine[at], theirs[place]) for at, place in matches]


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many first lines are equal."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
