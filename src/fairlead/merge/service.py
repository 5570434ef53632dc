"""The merge driver: merges three files for git, and registers itself in `.gitattributes`.

git treats every failure as a conflict and shows whatever is in the file of ours. So the plain text
merge is written first and the document merge second: after a crash the file still has both sides.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from fairlead.core.errors import StorageError
from fairlead.core.ids import PhaseId
from fairlead.core.values import dataclass, replace
from fairlead.merge.three_way import Conflict, MergedText, merge_documents, merge_texts
from fairlead.project.first_documents import with_merge_driver
from fairlead.project.paths import ATTRIBUTES
from fairlead.project.roadmap.documents import names_of, read_roadmap
from fairlead.project.roadmap.model import ListedPhase
from fairlead.store import layout
from fairlead.store.atomic import StagingArea, write_beside
from fairlead.store.confined import Root, leaf, storage_error
from fairlead.store.errors import NoDocument
from fairlead.store.files import Files, WriteOutcome
from fairlead.store.rename import prepare
from fairlead.text.document import Document

# git may pass files that are larger than any document Fairlead edits.
_MAX_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Versions:
    """The paths git passes: three temporary files, and the document they are versions of."""

    base: str
    ours: str
    theirs: str
    path: str


@dataclass(frozen=True, slots=True)
class MergeReport:
    """The outcome of one call of the driver."""

    path: str
    conflicts: tuple[Conflict, ...]
    stale: tuple[str, ...]  # derived values that have to be computed again
    is_plain: bool  # merged as text, not as a document


def merge_versions(
    versions: Versions, *, regenerate: Callable[[str], str] | None = None
) -> MergeReport:
    """Merge three versions into the file of ours."""
    texts = [load_version(path) for path in (versions.base, versions.ours, versions.theirs)]
    base, ours, theirs = texts
    plain = merge_texts(base, ours, theirs)
    save_version(versions.ours, plain.text)
    limit = layout.limit_of(versions.path)
    if any(len(text) > limit for text in texts):
        return _report(versions, plain)
    merged = merge_documents(base, ours, theirs, regenerate=regenerate)
    if versions.path.endswith(layout.ROADMAP_NAME) and not merged.conflicts:
        merged = replace(merged, conflicts=duplicate_numbers((ours, theirs), merged.text))
    try:
        save_version(versions.ours, merged.text)
    except StorageError:
        return _report(versions, plain)
    return _report(versions, merged)


def register_driver(files: Files, *, dry_run: bool = False) -> WriteOutcome:
    """Write the `.gitattributes` line that makes git call the driver for planning documents."""
    return files.update(
        ATTRIBUTES, with_merge_driver, command="merge-driver", may_create=True, dry_run=dry_run
    )


def _report(versions: Versions, merged: MergedText) -> MergeReport:
    return MergeReport(versions.path, merged.conflicts, merged.stale, merged.is_plain)


def load_version(path: str) -> str:
    """The text of a version; bytes that are not UTF-8 become lone surrogates."""
    with _parent_of(path) as root:
        content = root.read(leaf(path), _MAX_BYTES)
    if content is None:
        raise _missing(path)
    return content.decode("utf-8", "surrogateescape")


def save_version(path: str, text: str) -> None:
    """Replace a version atomically."""
    with _parent_of(path) as root:
        folder = root.parent(leaf(path))
        assert folder is not None  # the root itself
        with folder:
            try:
                write_beside(
                    StagingArea(folder, prepare(), []),
                    leaf(path),
                    text.encode("utf-8", "surrogateescape"),
                    like=folder.stat(leaf(path)),
                )
            except OSError as error:
                raise storage_error(path, error) from error


def _parent_of(path: str) -> Root:
    try:
        return Root(os.path.dirname(path) or ".")
    except FileNotFoundError:
        raise _missing(path) from None


def _missing(path: str) -> NoDocument:
    return NoDocument(path, "git passes these paths: see fairlead merge-driver --help")


def duplicate_numbers(sides: Iterable[str], merged: str) -> tuple[Conflict, ...]:
    """Phase numbers that the merge gives to two phases although neither side did."""
    before = {key for side in sides for key in _clashes(side)}
    return tuple(
        Conflict(f"phase {phase.id.short} ({names_of(phase)})", phase.clashes[1].line)
        for key, phase in _clashes(merged).items()
        if key not in before
    )


def _clashes(text: str) -> dict[tuple[str, PhaseId], ListedPhase]:
    phases = read_roadmap(Document(text)).phases
    return {(phase.milestone, phase.id): phase for phase in phases if phase.clashes}
