"""Three-way merge of a planning document: base, ours and theirs become one text.

Frontmatter is merged by key, the body by section, and inside a section lists by item, tables by
row and cell, fields by name, prose by line. Derived values never conflict. No line gets lost: the
result is compared with both sides, and if a line of either is missing, or a document cannot be
parsed, the texts are merged as plain lines with conflict markers.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from fairlead.core.errors import DocumentError
from fairlead.core.values import dataclass, replace
from fairlead.merge.derived import FRONT, is_derived_column, newer_side
from fairlead.merge.diff import OURS, Lines, aligned, hunks_of, marked
from fairlead.merge.entries import PartContext, PartMerger, is_derived_part
from fairlead.merge.tree import Part, PartKind, cell_texts, read_parts
from fairlead.text.document import Document, conflict_line
from fairlead.text.errors import ConflictMarkers
from fairlead.text.fast_frontmatter import BOM
from fairlead.text.lines import common_ending, ending_of, split_lines, without_ending


@dataclass(frozen=True, slots=True)
class Conflict:
    """Something both sides changed differently, and its line in the merged text."""

    about: str
    line: int


@dataclass(frozen=True, slots=True)
class MergedText:
    """A text that contains both sides, and what is left to do."""

    text: str
    conflicts: tuple[Conflict, ...] = ()
    stale: tuple[str, ...] = ()  # derived values that have to be computed again
    is_plain: bool = False  # merged as text, not as a document


def merge_documents(
    base: str, ours: str, theirs: str, *, regenerate: Callable[[str], str] | None = None
) -> MergedText:
    """Merge two versions of a document; `base` is empty if they have no common ancestor.

    The result has the line endings of ours. `regenerate` receives a merge without conflicts in
    which derived values are stale, and returns it with values computed from the files.
    """
    if theirs in (ours, base):
        return MergedText(ours)
    if ours == base:
        return MergedText(theirs)
    try:
        versions = [_Version.read(text) for text in (base, ours, theirs)]
    except (DocumentError, UnicodeEncodeError):
        return merge_texts(base, ours, theirs)
    merged = _merge_parts(*versions)
    if merged is None:
        return _checked(merge_texts(base, ours, theirs), versions)
    if regenerate and merged.stale and not merged.conflicts:
        return replace(merged, text=regenerate(merged.text))
    return merged


def merge_texts(base: str, ours: str, theirs: str) -> MergedText:
    """Merge as git merges plain text."""
    ending = common_ending(ours)
    merged: list[str] = []
    count = 0
    for hunk in hunks_of(*(_raw_lines(text) for text in (base, ours, theirs))):
        if hunk.merged is not None:
            merged += hunk.merged
        else:
            merged += marked(_ended(hunk.ours, ending), _ended(hunk.theirs, ending), ending)
            count += 1
    text = "".join(merged)
    conflicts = _located(["both sides changed these lines"] * count, split_lines(text))
    if not conflicts and conflict_line(text):
        conflicts = (Conflict("an older conflict is not resolved", conflict_line(text)),)
    return MergedText(text, conflicts, is_plain=True)


@dataclass(frozen=True, slots=True)
class _Version:
    """One of the three texts, parsed."""

    source: str
    lines: Lines
    document: Document  # of the lines, each ended by LF
    root: Part
    tail: Lines  # blank lines at the end

    @classmethod
    def read(cls, text: str) -> "_Version":
        """Parse a text; a damaged document raises `DocumentError`."""
        text.encode()  # fails if the file was not UTF-8
        line = conflict_line(text)
        if line:
            raise ConflictMarkers(line=line)
        lines = tuple(without_ending(line) for line in split_lines(text.removeprefix(BOM)))
        document = Document("".join(f"{line}\n" for line in lines))
        return cls(text, lines, document, *read_parts(document))


def _merge_parts(base: _Version, ours: _Version, theirs: _Version) -> MergedText | None:
    """The merge by parts; None if it lost a line or produced a document that cannot be edited."""
    merger = PartMerger(newer_side(ours.document, theirs.document))
    lines = (
        *merger.part(base.root, ours.root, theirs.root, PartContext()),
        *(theirs.tail if ours.tail == base.tail else ours.tail),
    )
    if _lost_lines((base.lines, ours.lines, theirs.lines), lines, merger.replaced):
        return None
    text = _with_endings(lines, base, ours, theirs)
    is_readable = _is_writable(Document(text)) or not _are_writable(ours, theirs)
    if not merger.conflicts and not is_readable:
        return None
    values = [dict(_derived_values(version.root, ())) for version in (base, ours, theirs)]
    paths = {**values[1], **values[2]}
    changed = {path[-1] for path in paths if len({value.get(path) for value in values}) > 1}
    conflicts = _located([each.about for each in merger.conflicts], lines)
    return MergedText(text, conflicts, tuple(sorted(merger.stale | changed)))


def _checked(merged: MergedText, versions: Sequence[_Version]) -> MergedText:
    """A plain merge that broke the document is not clean, even if no lines conflict."""
    is_broken = not _is_writable(Document(merged.text)) and _are_writable(*versions[1:])
    if merged.conflicts or not is_broken:
        return merged
    return replace(merged, conflicts=(Conflict("the merged document cannot be read", 1),))


def _lost_lines(
    versions: tuple[Lines, Lines, Lines], merged: Lines, replaced: Counter[str]
) -> list[str]:
    """Lines that the merge should contain and does not.

    If a line occurs several times it is unknown which one moved, so only the minimum is required.
    """
    base, ours, theirs = (Counter(lines) for lines in versions)
    present = Counter(merged) + replaced
    lost = []
    for line in ours.keys() | theirs.keys():
        old, mine, other = base[line], ours[line], theirs[line]
        required = mine + other - old if old else max(mine, other)
        if max(old, mine, other) > 1:
            required = min(required, mine, other)
        if line.strip() and present[line] < required:
            lost.append(line)
    return lost


def _with_endings(lines: Lines, base: _Version, ours: _Version, theirs: _Version) -> str:
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


def _derived_values(part: Part, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Lines]]:
    """Every derived value below a part, with the path to it."""
    name = FRONT if part.kind is PartKind.FRONT else part.name
    if part.kind is PartKind.TABLE and part.head:
        columns = tuple(cell_texts(part.head[0]))
        if any(is_derived_column(column, columns) for column in columns):
            yield (*path, " ".join(columns)), part.lines
    elif is_derived_part(part, PartContext(path)):
        if part.kind is PartKind.ITEM:
            yield (*path, name.rstrip(":")), part.head
        elif not part.parts:
            yield (*path, name), part.lines
    for below in (*part.parts, *part.sections):
        yield from _derived_values(below, (*path, name) if name else path)


def _located(about: Sequence[str], lines: Sequence[str]) -> tuple[Conflict, ...]:
    places = [at for at, line in enumerate(lines, start=1) if without_ending(line) == OURS]
    return tuple(Conflict(*each) for each in zip(about, places, strict=False))


def _are_writable(*versions: _Version) -> bool:
    return all(_is_writable(version.document) for version in versions)


def _is_writable(document: Document) -> bool:
    try:
        document.require_writable()
    except DocumentError:
        return False
    return True


def _raw_lines(text: str) -> list[str]:
    """Lines as git sees them, ended by LF alone."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _ended(lines: Lines, ending: str) -> Lines:
    """Lines that a conflict marker can follow, because the last one has a line break."""
    if not lines or lines[-1].endswith("\n"):
        return lines
    return (*lines[:-1], lines[-1] + ending)
