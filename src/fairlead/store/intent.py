"""Intent records: a step of several files happens completely, or not at all.

Every new version is staged durably. Then one record is written that names all of them, with the
moves and new folders of the step: this is the commit point. Before it nothing has changed; after
it the next writer completes the step. A version that is still staged has not been published, so
completing a step can be interrupted and started again any number of times.
"""

from __future__ import annotations

import json

from fairlead.core.errors import DocumentError, FairleadError
from fairlead.core.serialization import plain
from fairlead.core.values import dataclass, field
from fairlead.store import atomic, layout, moves
from fairlead.store.atomic import (
    Completed,
    DocumentChanged,
    DocumentLocation,
    StagingArea,
    digest,
    open_location,
)
from fairlead.store.confined import Root, components, leaf, reason, storage_error
from fairlead.store.errors import NewerRecord, PathOutside, StepInterrupted, TooLarge
from fairlead.store.moves import Move
from fairlead.store.staging import INTENT, STAGED, require_document

VERSION = 2
_WITHOUT_MOVES = 1  # for steps without moves, so that older releases can complete them
_RECORD_LIMIT = 16 * 1024 * 1024  # enough for one move per file of a large project


@dataclass(frozen=True, slots=True)
class ContentChange:
    """The content of a document before and after a step."""

    path: str
    old: bytes | None  # None: the file does not exist yet
    new: bytes


@dataclass(frozen=True, slots=True)
class StagedDocument:
    """A document of a step. The field names are keys of the record on disk."""

    path: str
    old_sha256: str | None
    new_sha256: str
    stage: str  # the name of the new version in the staging folder


@dataclass(frozen=True, slots=True)
class TreeChanges:
    """The moves and new folders of a step."""

    moves: tuple[Move, ...] = ()  # in this order, before the documents are written
    folders: tuple[str, ...] = ()  # created if they are missing

    def __bool__(self) -> bool:
        return bool(self.moves or self.folders)


@dataclass(frozen=True, slots=True)
class CommittedStep:
    """Everything that a command has decided to do. Its fields are keys of the record."""

    command: str
    entries: tuple[StagedDocument, ...]
    places: TreeChanges = field(default_factory=TreeChanges)

    @property
    def paths(self) -> tuple[str, ...]:
        """The documents, moved files and new folders of the step."""
        moved = (move.source for move in self.places.moves)
        return (*(entry.path for entry in self.entries), *moved, *self.places.folders)


def commit(
    root: Root,
    staging: StagingArea,
    command: str,
    versions: tuple[ContentChange, ...],
    places: TreeChanges | None = None,
) -> CommittedStep:
    """Stage every version and write the record. From here on the step will be completed."""
    places = places or TreeChanges()
    entries: list[StagedDocument] = []
    try:
        _require_inside(places, staging)
        for version in versions:
            entries.append(_stage(root, staging, version))
        # Staging waits for the disk, so check once more before the commit point.
        for version in versions:
            _require_unchanged(root, version)
        moves.require_possible(root, places.moves)
        step = CommittedStep(command, tuple(entries), places)
        _save(staging, step)
    except StepInterrupted:
        raise
    except (DocumentChanged, FairleadError):
        for entry in entries:
            staging.remove(entry.stage)
        raise
    return step


def complete(root: Root, staging: StagingArea, step: CommittedStep) -> tuple[StagedDocument, ...]:
    """Make the moves, then publish the versions that are still staged, durably.

    Returns the entries whose documents another program has changed: these documents are left
    alone, and their new versions stay staged. A move that became impossible is skipped.
    """
    moves.make_all(root, staging, step.places.moves)
    for folder in step.places.folders:
        root.make_folder(folder).close()
    foreign = tuple(entry for entry in step.entries if not _publish(root, staging, entry))
    # Sync every published folder: a killed command may have published without syncing.
    done = [entry.path for entry in step.entries if entry not in foreign]
    for path in {path.rpartition("/")[0]: path for path in done}.values():
        _confirm(root, path)
    return foreign


def close(staging: StagingArea) -> None:
    """Remove the record of a completed step. If it stays, completing it again does nothing."""
    staging.remove(INTENT)
    try:
        staging.folder.sync()
    except OSError:
        pass


def recover(root: Root, staging: StagingArea) -> CommittedStep | None:
    """Complete the step of a killed command and clear the staging folder."""
    step = _load(staging)
    if step is not None:
        waiting = {entry.path for entry in step.entries if _is_staged(staging, entry)}
        waiting |= {move.source for move in moves.waiting(root, step.places.moves)}
        for entry in complete(root, staging, step):
            waiting.discard(entry.path)
            staging.rescue(entry.stage, leaf(entry.path))
        if waiting:
            staging.notices.append(Completed(step.command, tuple(sorted(waiting))))
        close(staging)
    atomic.collect(staging)
    return step


def _stage(root: Root, staging: StagingArea, version: ContentChange) -> StagedDocument:
    require_document(version.path, staging.folder.path)
    with open_location(root, version.path) as place:
        stage = atomic.stage(staging, place, version.old, version.new)
    return StagedDocument(version.path, digest(version.old), digest(version.new) or "", stage)


def _require_unchanged(root: Root, version: ContentChange) -> None:
    with open_location(root, version.path) as place:
        if place.read() != version.old:
            raise DocumentChanged(version.path)


def _publish(root: Root, staging: StagingArea, entry: StagedDocument) -> bool:
    """False when the document is neither the old version nor the new one, which still waits."""
    if not _is_staged(staging, entry):
        return True
    try:
        with open_location(root, entry.path) as place:
            current = place.read()
            if digest(current) == entry.old_sha256:
                new = staging.folder.read(entry.stage, layout.limit_of(entry.path))
                atomic.exchange(staging, entry.stage, place, current, new or b"")
            elif digest(current) != entry.new_sha256:
                return False
    except (DocumentChanged, DocumentError):
        return False
    staging.remove(entry.stage)
    return True


def _confirm(root: Root, path: str) -> None:
    try:
        folder = root.parent(path)
    except DocumentError:
        return  # it was published; another program has replaced the folder since
    if folder is not None:
        with DocumentLocation(folder, leaf(path)) as place:
            atomic.confirm(place)


def _is_staged(staging: StagingArea, entry: StagedDocument) -> bool:
    return digest(atomic.read_staged(staging, entry.stage, leaf(entry.path))) == entry.new_sha256


def _save(staging: StagingArea, step: CommittedStep) -> None:
    path = staging.folder.path_of(INTENT)
    content = json.dumps(_record(step), indent=1).encode()
    if len(content) > _RECORD_LIMIT:
        raise TooLarge(len(content), _RECORD_LIMIT).located(path)
    try:
        atomic.write_beside(staging, INTENT, content, mode=0o600)
    except OSError as error:
        raise storage_error(path, error) from error
    try:
        staging.folder.sync()
    except OSError as error:
        try:
            staging.folder.remove(INTENT)
        except OSError:
            raise StepInterrupted(step.paths, reason(error)) from error
        raise storage_error(path, error) from error


def _record(step: CommittedStep) -> dict[str, object]:
    record = {"version": VERSION, **plain(step)}
    if not step.places:
        del record["places"]
        record["version"] = _WITHOUT_MOVES
    return record


def _load(staging: StagingArea) -> CommittedStep | None:
    """The record of a committed step. An invalid record is rescued, with a notice."""
    try:
        content = staging.folder.read(INTENT, _RECORD_LIMIT)
        return None if content is None else _parsed(content, staging)
    except (ValueError, KeyError, TypeError, RecursionError, DocumentError, PathOutside):
        staging.rescue(INTENT, INTENT)
        return None


def _parsed(content: bytes, staging: StagingArea) -> CommittedStep:
    record = json.loads(content)
    version = record["version"]
    if isinstance(version, int) and version > VERSION:
        raise NewerRecord(staging.folder.path_of(INTENT), version)
    if version not in (_WITHOUT_MOVES, VERSION):
        raise ValueError(version)
    entries = tuple(_entry(fields, staging) for fields in record["entries"])
    places = _places(record["places"], staging) if version == VERSION else TreeChanges()
    return CommittedStep(str(record["command"]), entries, places)


def _places(fields: dict[str, list[object]], staging: StagingArea) -> TreeChanges:
    moved = []
    for move in fields["moves"]:
        if not isinstance(move, dict):
            raise TypeError(move)
        moved.append(Move(str(move["source"]), str(move["target"])))
    places = TreeChanges(tuple(moved), tuple(str(path) for path in fields["folders"]))
    _require_inside(places, staging)
    return places


def _require_inside(places: TreeChanges, staging: StagingArea) -> None:
    for move in places.moves:
        moves.require_inside(move, staging.folder.path)
    for path in places.folders:
        require_document(path, staging.folder.path)


def _entry(fields: dict[str, object], staging: StagingArea) -> StagedDocument:
    old = fields["old_sha256"]
    entry = StagedDocument(
        path=str(fields["path"]),
        old_sha256=None if old is None else str(old),
        new_sha256=str(fields["new_sha256"]),
        stage=str(fields["stage"]),
    )
    require_document(entry.path, staging.folder.path)
    if components(entry.stage) != [entry.stage] or not entry.stage.startswith(STAGED):
        raise ValueError(entry.stage)
    return entry
