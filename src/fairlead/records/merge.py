"""Three-way merge of a planning document: base, ours and theirs become one text.

Frontmatter is merged by key, the body by section, and in it lists by item, tables by row and
cell, fields by name, prose by line. Values that follow from the files never conflict. Nothing
is lost: the result is compared with both sides, and if a line of either is missing, or the
document cannot be taken apart, it is merged as plain text, with conflict markers.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from fairlead.errors import ConflictMarkers, DocumentError
from fairlead.records.merge_body import read_body
from fairlead.records.merge_derived import FRONT, is_derived, is_derived_column, newer_side
from fairlead.records.merge_front import read_front
from fairlead.records.merge_leaves import Place, is_derived_item
from fairlead.records.merge_lines import OURS, Lines, aligned, hunks_of, marked, plainly
from fairlead.records.merge_match import cell_texts
from fairlead.records.merge_parts import Kind, Part
from fairlead.records.merge_weave import Weaver
from fairlead.text.conflicts import conflict_line
from fairlead.text.document import Document
from fairlead.text.lines import common_ending, ending_of, split_lines, without_ending
from fairlead.text.quick import BOM
from fairlead.values import dataclass, replace

_Values = dict[tuple[str, ...], Lines]


@dataclass(frozen=True, slots=True)
class Conflict:
    """What both sides changed differently, and where it stands in the merged text."""

    about: str
    line: int


@dataclass(frozen=True, slots=True)
class Merged:
    """The outcome of a merge: a text that holds both sides, and what is left to do."""

    text: str
    conflicts: tuple[Conflict, ...] = ()
    stale: tuple[str, ...] = ()  # derived values that have to be computed anew
    is_plain: bool = False  # it was merged as text, not as a document


def merge_documents(
    base: str, ours: str, theirs: str, *, regenerate: Callable[[str], str] | None = None
) -> Merged:
    """Merge two versions of a document with a common past; `base` is empty without one.

    Line endings are those of ours. `regenerate` gets a merge without conflicts in which
    derived values are stale, and returns it with the values that follow from the files.
    """
    if theirs in (ours, base):
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    try:
        versions = [_Version.read(text) for text in (base, ours, theirs)]
    except (DocumentError, UnicodeEncodeError):
        return merge_texts(base, ours, theirs)
    # Merged line by line, a part may turn into something that cannot be read any more.
    merged = _woven(*versions) or _woven(*versions, allows_plain=False)
    if merged is None:
        return _told(merge_texts(base, ours, theirs), versions)
    if regenerate and merged.stale and not merged.conflicts:
        return replace(merged, text=regenerate(merged.text))
    return merged


def merge_texts(base: str, ours: str, theirs: str) -> Merged:
    """Merge as git merges plain text."""
    ending = common_ending(ours)
    written: list[str] = []
    count = 0
    for hunk in hunks_of(*(_raw_lines(text) for text in (base, ours, theirs))):
        if hunk.merged is not None:
            written += hunk.merged
        else:
            mine, other = (_closed(side, ending) for side in (hunk.ours, hunk.theirs))
            written += marked(mine, other, ending)
            count += 1
    text = "".join(written)
    conflicts = _located(["both sides changed these lines"] * count, split_lines(text))
    if not conflicts and conflict_line(text):
        conflicts = (Conflict("an older conflict is not resolved", conflict_line(text)),)
    return Merged(text, conflicts, is_plain=True)


@dataclass(frozen=True, slots=True)
class _Version:
    """One of the three texts, taken apart."""

    source: str
    lines: Lines
    document: Document  # of the lines, each ended by LF
    front: tuple[Part, ...]  # one or none
    parts: tuple[Part, ...]
    sections: tuple[Part, ...]
    tail: Lines

    @classmethod
    def read(cls, text: str) -> "_Version":
        """Take a text apart; raises what a damaged document raises."""
        text.encode()  # bytes that were not UTF-8 have become characters that cannot be encoded
        found = conflict_line(text)
        if found:
            raise ConflictMarkers(line=found)
        lines = tuple(without_ending(line) for line in split_lines(text.removeprefix(BOM)))
        document = Document("".join(f"{line}\n" for line in lines))
        front = read_front(document)
        parts, sections, tail = read_body(document)
        return cls(text, lines, document, (front,) if front else (), parts, sections, tail)

    @property
    def is_writable(self) -> bool:
        """Whether the document can be edited as it is."""
        return _is_writable(self.document)

    def derived(self) -> _Values:
        """Every value in the document that follows from the files, by its place."""
        top = (*self.front, *self.parts, *self.sections)
        return {path: lines for part in top for path, lines in _derived_in(part, ())}


def _woven(
    base: _Version, ours: _Version, theirs: _Version, *, allows_plain: bool = True
) -> Merged | None:
    """The merge by parts; None if it lost a line, or made a document that cannot be written."""
    newer = newer_side(ours.document, theirs.document)
    weaver = Weaver(newer, allows_plain=allows_plain)
    lines: Lines = (
        *weaver.sequence(base.front, ours.front, theirs.front, Place()),
        *weaver.sequence(base.parts, ours.parts, theirs.parts, Place()),
        *weaver.sequence(base.sections, ours.sections, theirs.sections, Place()),
        *(theirs.tail if ours.tail == base.tail else ours.tail),
    )
    clashes = weaver.conflicts
    if allows_plain and clashes and not any(clash.is_value for clash in clashes):
        plain = plainly(base.lines, ours.lines, theirs.lines)
        if plain is not None:
            clashes.clear()
            lines = plain
    if _lost((base.lines, ours.lines, theirs.lines), lines, weaver.accounted):
        return None
    text = _ended(lines, base, ours, theirs)
    if not clashes and ours.is_writable and theirs.is_writable and not _is_writable(Document(text)):
        return None
    stale = weaver.stale | _differing(*(version.derived() for version in (base, ours, theirs)))
    conflicts = _located([clash.about for clash in clashes], lines)
    return Merged(text, conflicts, tuple(sorted(stale)))


def _told(merged: Merged, versions: Sequence[_Version]) -> Merged:
    """A plain merge that nobody can read is no clean merge, although no line conflicts."""
    _, ours, theirs = versions
    is_sound = _is_writable(Document(merged.text)) or not (ours.is_writable and theirs.is_writable)
    if merged.conflicts or is_sound:
        return merged
    return replace(merged, conflicts=(Conflict("the merged document cannot be read", 1),))


def _differing(base: _Values, ours: _Values, theirs: _Values) -> set[str]:
    """The names of values that are not the same on all sides."""
    paths = {**ours, **theirs}
    return {path[-1] for path in paths if not base.get(path) == ours.get(path) == theirs.get(path)}


def _lost(
    versions: tuple[Lines, Lines, Lines], merged: Lines, accounted: Counter[str]
) -> list[str]:
    """Lines that the merge should hold, and does not.

    Of many equal lines nobody can tell which one moved, so only the fewest are asked for.
    """
    base, ours, theirs = (Counter(lines) for lines in versions)
    held = Counter(merged)
    lost = []
    for line in ours.keys() | theirs.keys():
        old, mine, other = base[line], ours[line], theirs[line]
        wanted = mine + other - old if old else max(mine, other)
        if max(old, mine, other) > 1:
            wanted = min(wanted, mine, other)
        if line.strip() and held[line] + accounted[line] < wanted:
            lost.append(line)
    return lost


def _ended(lines: Lines, base: _Version, ours: _Version, theirs: _Version) -> str:
    """The lines as text, with the line endings and the byte order mark of ours."""
    endings = [ending_of(line) for line in split_lines(ours.source.removeprefix(BOM))]
    usual = common_ending(ours.source)
    ended = [line + usual for line in lines]
    if len({ending for ending in endings if ending}) > 1:
        for at, place in aligned(lines, ours.lines):
            ended[at] = lines[at] + (endings[place] or usual)
    text = "".join(ended)
    has_end = [version.source.endswith(("\n", "\r")) for version in (base, ours, theirs)]
    is_ended = has_end[2] if base.source and has_end[1] == has_end[0] else has_end[1]
    if not is_ended and lines and not lines[-1].startswith(">>>>>>>"):
        text = without_ending(text)
    return BOM + text if ours.source.startswith(BOM) else text


def _derived_in(part: Part, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Lines]]:
    name = FRONT if part.kind is Kind.FRONT else part.name
    place = Place(path)
    if part.kind is Kind.TABLE and part.head:
        columns = tuple(cell_texts(part.head[0]))
        if any(is_derived_column(column, columns) for column in columns):
            yield (*path, " ".join(columns)), part.lines
    elif part.kind is Kind.ITEM and is_derived_item(part, place):
        yield (*path, name.rstrip(":")), part.head
    elif part.kind in (Kind.FIELD, Kind.KEY) and not part.parts and is_derived(name, path):
        yield (*path, name), part.lines
    inner = (*path, name) if name else path
    for below in (*part.parts, *part.sections):
        yield from _derived_in(below, inner)


def _located(about: Sequence[str], lines: Sequence[str]) -> tuple[Conflict, ...]:
    places = [at for at, line in enumerate(lines, start=1) if without_ending(line) == OURS]
    return tuple(Conflict(*each) for each in zip(about, places, strict=False))


def _is_writable(document: Document) -> bool:
    try:
        document.require_writable()
    except DocumentError:
        return False
    return True


def _raw_lines(text: str) -> list[str]:
    """Lines as git sees them: ended by LF alone."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _closed(lines: Lines, ending: str) -> Lines:
    """A marker must begin on a line of its own."""
    if not lines or lines[-1].endswith("\n"):
        return lines
    return (*lines[:-1], lines[-1] + ending)
