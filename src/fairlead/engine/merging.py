"""Merging: what git asks of a merge driver, and how git learns to ask.

git takes any exit code for a conflict and shows whatever stands in the file of ours. So the
plain merge is written first, and only then the better one: whatever happens in between, the
file holds both sides.
"""

from collections.abc import Callable

from fairlead.errors import StorageError
from fairlead.records.attributes import registered
from fairlead.records.merge import Conflict, Merged, merge_documents, merge_texts
from fairlead.records.merge_numbers import shared_numbers
from fairlead.store import layout
from fairlead.store.files import Files, Outcome
from fairlead.store.versions import load_version, save_version
from fairlead.values import dataclass, replace


@dataclass(frozen=True, slots=True)
class Versions:
    """The paths that git gives: three temporary files, and the document they are versions of."""

    base: str
    ours: str
    theirs: str
    path: str


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What came of a merge."""

    path: str
    conflicts: tuple[Conflict, ...]
    stale: tuple[str, ...]  # derived values that have to be computed anew
    is_plain: bool  # it was merged as text, not as a document


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
        merged = replace(merged, conflicts=shared_numbers((ours, theirs), merged.text))
    try:
        save_version(versions.ours, merged.text)
    except StorageError:
        return _report(versions, plain)
    return _report(versions, merged)


def register_driver(files: Files, *, dry_run: bool = False) -> Outcome:
    """Tell git which documents are ours to merge; how, `GIT_COMMANDS` tell it."""
    return files.update(
        layout.ATTRIBUTES, registered, command="merge-driver", may_create=True, dry_run=dry_run
    )


def _report(versions: Versions, merged: Merged) -> MergeReport:
    return MergeReport(versions.path, merged.conflicts, merged.stale, merged.is_plain)
