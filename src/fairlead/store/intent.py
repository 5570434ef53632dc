"""Intents: a step of several files happens completely, or not at all.

Every new version is staged durably, then one record is written that names them all, with the
moves and new folders of the step: that is the commit point. Before it nothing has changed;
after it whoever writes next completes the step. A version that is still staged has not been
published, so completing can be interrupted and started again as often as it takes.
"""

from __future__ import annotations

import json

from fairlead.errors import (
    DocumentError,
    FairleadError,
    NewerRecord,
    PathOutside,
    StepInterrupted,
    TooLarge,
)
from fairlead.model.plain import plain
from fairlead.store import atomic, layout, moves
from fairlead.store.atomic import Changed, Desk, Place, digest, place_of
from fairlead.store.confine import Root, components, fault, leaf, reason
from fairlead.store.moves import Move
from fairlead.store.notice import Completed
from fairlead.values import dataclass, field

VERSION = 2
_WITHOUT_MOVES = 1  # what a step of documents alone is written as: older programs complete it too
_RECORD_LIMIT = 16 * 1024 * 1024  # as many moves as a large project has files


@dataclass(frozen=True, slots=True)
class Version:
    """A document before and after a step."""

    path: str
    old: bytes | None  # None: there is no such file yet
    new: bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """A document of a step, as the record names it."""

    path: str
    old_sha256: str | None
    new_sha256: str
    stage: str  # the name of the new version on the desk


@dataclass(frozen=True, slots=True)
class Places:
    """What a step does to places, beside the documents it writes."""

    moves: tuple[Move, ...] = ()  # made in this order, before the documents
    folders: tuple[str, ...] = ()  # made where they are missing

    def __bool__(self) -> bool:
        return bool(self.moves or self.folders)


@dataclass(frozen=True, slots=True)
class Step:
    """What a command has decided to do, all of it."""

    command: str
    entries: tuple[Entry, ...]
    places: Places = field(default_factory=Places)

    @property
    def paths(self) -> tuple[str, ...]:
        """What the step touches: documents, and what it moves or makes."""
        moved = (move.source for move in self.places.moves)
        return (*(entry.path for entry in self.entries), *moved, *self.places.folders)


def commit(
    root: Root,
    desk: Desk,
    command: str,
    versions: tuple[Version, ...],
    places: Places | None = None,
) -> Step:
    """Stage every version and write the record. From here on the step will be completed."""
    places = places or Places()
    entries: list[Entry] = []
    try:
        _require_inside(places, desk)
        for version in versions:
            entries.append(_stage(root, desk, version))
        # Staging takes the disk its time: look once more before there is no way back.
        for version in versions:
            _require_unchanged(root, version)
        moves.require_possible(root, places.moves)
        step = Step(command, tuple(entries), places)
        _save(desk, step)
    except StepInterrupted:
        raise
    except (Changed, FairleadError):
        for entry in entries:
            desk.remove(entry.stage)
        raise
    return step


def complete(root: Root, desk: Desk, step: Step) -> tuple[Entry, ...]:
    """Make the moves, then publish what is still staged, durably.

    Returns the entries whose documents somebody else has changed: those are left alone, and
    their new versions stay staged. A move that somebody has made impossible is left undone.
    """
    moves.make_all(root, desk, step.places.moves)
    for folder in step.places.folders:
        root.make_folder(folder).close()
    foreign = tuple(entry for entry in step.entries if not _publish(root, desk, entry))
    # All the others, since a killed command may have published without coming this far.
    done = [entry.path for entry in step.entries if entry not in foreign]
    for path in {path.rpartition("/")[0]: path for path in done}.values():
        _confirm(root, path)
    return foreign


def close(desk: Desk) -> None:
    """Remove the record of a completed step. Should it stay, nothing is left to publish."""
    desk.remove(layout.INTENT)
    try:
        desk.folder.sync()
    except OSError:
        pass


def recover(root: Root, desk: Desk) -> Step | None:
    """Complete the step of a killed command and clear the desk. Every writer starts with it."""
    step = _load(desk)
    if step is not None:
        waiting = {entry.path for entry in step.entries if _is_staged(desk, entry)}
        waiting |= {move.source for move in moves.waiting(root, step.places.moves)}
        for entry in complete(root, desk, step):
            waiting.discard(entry.path)
            desk.rescue(entry.stage, leaf(entry.path))
        if waiting:
            desk.notices.append(Completed(step.command, tuple(sorted(waiting))))
        close(desk)
    atomic.collect(desk)
    return step


def _stage(root: Root, desk: Desk, version: Version) -> Entry:
    layout.require_document(version.path, desk.folder.path)
    with place_of(root, version.path) as place:
        stage = atomic.stage(desk, place, version.old, version.new)
    return Entry(version.path, digest(version.old), digest(version.new) or "", stage)


def _require_unchanged(root: Root, version: Version) -> None:
    with place_of(root, version.path) as place:
        if place.read() != version.old:
            raise Changed(version.path)


def _publish(root: Root, desk: Desk, entry: Entry) -> bool:
    """False when the document is neither the old version nor the new one, which still waits."""
    if not _is_staged(desk, entry):
        return True
    try:
        with place_of(root, entry.path) as place:
            current = place.read()
            if digest(current) == entry.old_sha256:
                new = desk.folder.read(entry.stage, layout.limit_of(entry.path))
                atomic.exchange(desk, entry.stage, place, current, new or b"")
            elif digest(current) != entry.new_sha256:
                return False
    except (Changed, DocumentError):
        return False
    desk.remove(entry.stage)
    return True


def _confirm(root: Root, path: str) -> None:
    try:
        folder = root.parent(path)
    except DocumentError:
        return  # published once; what stands there now is somebody else's
    if folder is not None:
        with Place(folder, leaf(path)) as place:
            atomic.confirm(place)


def _is_staged(desk: Desk, entry: Entry) -> bool:
    return digest(atomic.read_staged(desk, entry.stage, leaf(entry.path))) == entry.new_sha256


def _save(desk: Desk, step: Step) -> None:
    path = desk.folder.path_of(layout.INTENT)
    content = json.dumps(_record(step), indent=1).encode()
    if len(content) > _RECORD_LIMIT:
        raise TooLarge(len(content), _RECORD_LIMIT).located(path)
    try:
        atomic.write_beside(desk, layout.INTENT, content, mode=0o600)
    except OSError as error:
        raise fault(path, error) from error
    try:
        desk.folder.sync()
    except OSError as error:
        try:
            desk.folder.remove(layout.INTENT)
        except OSError:
            raise StepInterrupted(step.paths, reason(error)) from error
        raise fault(path, error) from error


def _record(step: Step) -> dict[str, object]:
    record = {"version": VERSION, **plain(step)}
    if not step.places:
        del record["places"]
        record["version"] = _WITHOUT_MOVES
    return record


def _load(desk: Desk) -> Step | None:
    """The record of a step that was committed. What is none is put aside, with a notice."""
    try:
        content = desk.folder.read(layout.INTENT, _RECORD_LIMIT)
        return None if content is None else _parsed(content, desk)
    except (ValueError, KeyError, TypeError, RecursionError, DocumentError, PathOutside):
        desk.rescue(layout.INTENT, layout.INTENT)
        return None


def _parsed(content: bytes, desk: Desk) -> Step:
    record = json.loads(content)
    version = record["version"]
    if isinstance(version, int) and version > VERSION:
        raise NewerRecord(desk.folder.path_of(layout.INTENT), version)
    if version not in (_WITHOUT_MOVES, VERSION):
        raise ValueError(version)
    entries = tuple(_entry(fields, desk) for fields in record["entries"])
    places = _places(record["places"], desk) if version == VERSION else Places()
    return Step(str(record["command"]), entries, places)


def _places(fields: dict[str, list[object]], desk: Desk) -> Places:
    moved = []
    for each in fields["moves"]:
        if not isinstance(each, dict):
            raise TypeError(each)
        moved.append(Move(str(each["source"]), str(each["target"])))
    places = Places(tuple(moved), tuple(str(path) for path in fields["folders"]))
    _require_inside(places, desk)
    return places


def _require_inside(places: Places, desk: Desk) -> None:
    for move in places.moves:
        moves.require_inside(move, desk.folder.path)
    for path in places.folders:
        layout.require_document(path, desk.folder.path)


def _entry(fields: dict[str, object], desk: Desk) -> Entry:
    old = fields["old_sha256"]
    entry = Entry(
        path=str(fields["path"]),
        old_sha256=None if old is None else str(old),
        new_sha256=str(fields["new_sha256"]),
        stage=str(fields["stage"]),
    )
    layout.require_document(entry.path, desk.folder.path)
    if components(entry.stage) != [entry.stage] or not entry.stage.startswith(layout.STAGED):
        raise ValueError(entry.stage)
    return entry
