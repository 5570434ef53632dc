"""The last event: what it replaced, so that it can be taken back once, and that as well.

The record is written before the event and gets its name after it. It costs one write and no
wait for the disk: losing it in a power failure loses the convenience, never a document. Whoever
writes next settles a record that a killed command left, by looking at what became of the event.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

from fairlead.errors import ChangedSince, DocumentError, NothingToUndo, PathOutside
from fairlead.store import atomic, layout, moves
from fairlead.store.atomic import Desk, digest
from fairlead.store.confine import Root, fault
from fairlead.store.intent import Places, Version
from fairlead.store.moves import Move

VERSION = 1
_RECORD_LIMIT = 64 * 1024 * 1024


class Replaced(NamedTuple):
    """A document of the event: what it was, and which version the event left."""

    path: str
    old: bytes | None  # None: the event made it
    new_sha256: str


class Event(NamedTuple):
    """What a command did, all of it."""

    command: str
    documents: tuple[Replaced, ...]
    moves: tuple[Move, ...] = ()
    folders: tuple[str, ...] = ()  # those that it made


def keep(desk: Desk, command: str, versions: tuple[Version, ...], places: Places) -> None:
    """Write down what is about to be replaced."""
    documents = [
        {
            "path": version.path,
            "old": None if version.old is None else version.old.decode("utf-8", "surrogateescape"),
            "new_sha256": digest(version.new),
        }
        for version in versions
    ]
    record = {
        "version": VERSION,
        "command": command,
        "documents": documents,
        "moves": [{"source": move.source, "target": move.target} for move in places.moves],
        "folders": list(places.folders),
    }
    content = json.dumps(record).encode()
    try:
        atomic.write_beside(desk, layout.KEEPING, content, mode=0o600, is_durable=False)
    except OSError as error:
        raise fault(desk.folder.path_of(layout.KEEPING), error) from error


def settle(desk: Desk) -> None:
    """The event happened: its record is the last one now."""
    try:
        desk.folder.move(layout.KEEPING, desk.folder, layout.LAST)
    except OSError:
        pass  # the event itself is done and durable


def forget(desk: Desk) -> None:
    """The event did not happen: the one before it is still the last."""
    desk.remove(layout.KEEPING)


def recover(root: Root, desk: Desk) -> None:
    """Settle or forget the record of a killed command."""
    if desk.folder.stat(layout.KEEPING) is None:
        return
    event = _load(desk, layout.KEEPING)
    if event is not None and _happened(root, event):
        settle(desk)
    else:
        forget(desk)


def load(desk: Desk) -> Event:
    """The last event."""
    if desk.folder.stat(layout.LAST) is None:
        raise NothingToUndo("no event is recorded here")
    event = _load(desk, layout.LAST)
    if event is None:
        raise NothingToUndo("the record of the last event cannot be read")
    return event


def reverse(root: Root, event: Event, desk: str) -> tuple[dict[str, bytes], Places]:
    """What takes an event back: the documents as they were, and the moves that lead back there.

    A document or folder that the event made goes to the shelf, from where the next undo brings
    it back. Refuses when anything was changed since.
    """
    back = [Move(move.target, move.source) for move in reversed(event.moves)]
    for document in event.documents:
        if digest(root.read(document.path, layout.limit_of(document.path))) != document.new_sha256:
            raise ChangedSince(document.path, event.command)
        if document.old is None:
            back.append(Move(document.path, layout.undone_name(document.path, desk)))
    made = {document.path for document in event.documents if document.old is None}
    for folder in sorted(event.folders, reverse=True):
        held = {f"{folder}/{name}" for name in root.names(folder) or ()}
        if held - made:
            raise ChangedSince(folder, event.command)
        made.add(folder)
        back.append(Move(folder, layout.undone_name(folder, desk)))
    texts = {each.path: each.old for each in event.documents if each.old is not None}
    return texts, Places(moves=tuple(back))


def rewrites_of(
    texts: dict[str, bytes], event: Event
) -> dict[str, Callable[[bytes | None], bytes]]:
    """For each document what makes it again what it was, if it is still what the event left."""
    left = {each.path: each.new_sha256 for each in event.documents}

    def rewrite(path: str, content: bytes) -> Callable[[bytes | None], bytes]:
        def rewritten(current: bytes | None) -> bytes:
            if digest(current) != left[path]:
                raise ChangedSince(path, event.command)
            return content

        return rewritten

    return {path: rewrite(path, content) for path, content in texts.items()}


def _happened(root: Root, event: Event) -> bool:
    try:
        is_written = all(
            digest(root.read(each.path, layout.limit_of(each.path))) == each.new_sha256
            for each in event.documents
        )
    except DocumentError:
        return False
    return is_written and not moves.waiting(root, event.moves)


def _load(desk: Desk, name: str) -> Event | None:
    """A record; None when it is none: it was not made durable, and may have come with a clone."""
    try:
        content = desk.folder.read(name, _RECORD_LIMIT)
        record = json.loads(content or b"")
        if record["version"] != VERSION:
            return None
        event = Event(
            command=str(record["command"]),
            documents=tuple(_replaced(fields) for fields in record["documents"]),
            moves=tuple(
                Move(str(fields["source"]), str(fields["target"])) for fields in record["moves"]
            ),
            folders=tuple(str(folder) for folder in record["folders"]),
        )
        for path in (*(each.path for each in event.documents), *event.folders):
            layout.require_document(path, desk.folder.path)
    except (ValueError, KeyError, TypeError, RecursionError, DocumentError, PathOutside):
        return None
    return event


def _replaced(fields: dict[str, object]) -> Replaced:
    old = fields["old"]
    return Replaced(
        path=str(fields["path"]),
        old=None if old is None else str(old).encode("utf-8", "surrogateescape"),
        new_sha256=str(fields["new_sha256"]),
    )
