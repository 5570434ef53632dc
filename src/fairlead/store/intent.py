"""Intents: a step of several files happens completely, or not at all.

Every new version is staged durably, then one record is written that names them all: that is
the commit point. Before it nothing has changed; after it whoever writes next completes the
step. A version that is still staged has not been published, so completing can be interrupted
and started again as often as it takes.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from fairlead.errors import (
    DocumentError,
    FairleadError,
    NewerRecord,
    PathOutside,
    StepInterrupted,
)
from fairlead.store import atomic, layout
from fairlead.store.atomic import Changed, Desk, Place, digest, place_of
from fairlead.store.confine import Root, components, fault, leaf, reason
from fairlead.store.notice import Completed

VERSION = 1
_RECORD_LIMIT = 1024 * 1024


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
class Step:
    """What a command has decided to write, all of it."""

    command: str
    entries: tuple[Entry, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """The documents of the step."""
        return tuple(entry.path for entry in self.entries)


def commit(root: Root, desk: Desk, command: str, versions: tuple[Version, ...]) -> Step:
    """Stage every version and write the record. From here on the step will be completed."""
    entries: list[Entry] = []
    try:
        for version in versions:
            entries.append(_stage(root, desk, version))
        # Staging takes the disk its time: look once more before there is no way back.
        for version in versions:
            with place_of(root, version.path) as place:
                if place.read() != version.old:
                    raise Changed(version.path)
        step = Step(command, tuple(entries))
        _save(desk, step)
    except StepInterrupted:
        raise
    except (Changed, FairleadError):
        for entry in entries:
            desk.remove(entry.stage)
        raise
    return step


def complete(root: Root, desk: Desk, step: Step) -> tuple[Entry, ...]:
    """Publish what is still staged, durably.

    Returns the entries whose documents somebody else has changed: those are left alone, and
    their new versions stay staged.
    """
    foreign = [entry for entry in step.entries if not _publish(root, desk, entry)]
    # All of them, since a killed command may have published without coming this far.
    folders = {entry.path.rpartition("/")[0]: entry.path for entry in step.entries}
    for path in folders.values():
        folder = root.parent(path)
        if folder is not None:
            with Place(folder, leaf(path)) as place:
                atomic.confirm(place)
    return tuple(foreign)


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
        waiting = {entry for entry in step.entries if _is_staged(desk, entry)}
        for entry in complete(root, desk, step):
            waiting.discard(entry)
            desk.rescue(entry.stage, leaf(entry.path))
        if waiting:
            paths = tuple(sorted(entry.path for entry in waiting))
            desk.notices.append(Completed(step.command, paths))
        close(desk)
    atomic.collect(desk)
    return step


def _stage(root: Root, desk: Desk, version: Version) -> Entry:
    layout.require_document(version.path, desk.folder.path)
    with place_of(root, version.path) as place:
        stage = atomic.stage(desk, place, version.old, version.new)
    return Entry(version.path, digest(version.old), digest(version.new) or "", stage)


def _publish(root: Root, desk: Desk, entry: Entry) -> bool:
    """False when the document is neither the old version nor the new one, which still waits."""
    if not _is_staged(desk, entry):
        return True
    with place_of(root, entry.path) as place:
        try:
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


def _is_staged(desk: Desk, entry: Entry) -> bool:
    return digest(atomic.came_out(desk, entry.stage, leaf(entry.path))) == entry.new_sha256


def _save(desk: Desk, step: Step) -> None:
    path = desk.folder.path_of(layout.INTENT)
    content = json.dumps({"version": VERSION, **asdict(step)}, indent=1).encode()
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
    if version != VERSION:
        raise ValueError(version)
    entries = tuple(_entry(fields, desk) for fields in record["entries"])
    return Step(str(record["command"]), entries)


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
