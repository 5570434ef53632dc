"""The undo records: what the last commands replaced. Undo can itself be undone.

A record is written and synced before the command's changes and gets its final name after them.
The next writer settles the record of a killed command by checking whether the changes happened.
The folders of a project keep a history of records, and every record knows whether a command, a
job or a hook of a host wrote it: what a hook wrote is undone only by its number. An older record
is undone only if no later one touches the same files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import NamedTuple

from fairlead.core.errors import DocumentError, StorageError
from fairlead.store import atomic, layout, moves
from fairlead.store.atomic import StagingArea, digest
from fairlead.store.confined import Root, storage_error
from fairlead.store.errors import ChangedSince, NothingToUndo, OverlapsLater, PathOutside
from fairlead.store.intent import ContentChange, TreeChanges
from fairlead.store.moves import Move
from fairlead.store.staging import (
    KEEPING,
    LAST,
    PAST,
    PLAN_STAGING,
    STAGING,
    require_document,
    undone_name,
)

VERSION = 1
KEPT = 50  # records in the history of a project
_WITH_HISTORY = (STAGING, PLAN_STAGING)
_NUMBER_DIGITS = 6
_RECORD_LIMIT = 64 * 1024 * 1024


class ReplacedDocument(NamedTuple):
    """A document that the command changed: its old content and the digest of the new one."""

    path: str
    old: bytes | None  # None: the command created it
    new_sha256: str


class UndoRecord(NamedTuple):
    """Everything that a command changed."""

    command: str
    documents: tuple[ReplacedDocument, ...]
    moves: tuple[Move, ...] = ()
    folders: tuple[str, ...] = ()  # the folders that it created

    @property
    def paths(self) -> set[str]:
        """Everything that it changed, moved or made."""
        moved = {path for move in self.moves for path in (move.source, move.target)}
        return {each.path for each in self.documents} | moved | {*self.folders}


class UndoEntry(NamedTuple):
    """A record in the history."""

    number: int  # counts up; the newest has the highest
    command: str
    at: float  # seconds since 1970
    paths: tuple[str, ...]  # everything that it changed, moved or made
    name: str  # of its file in the staging folder

    @property
    def origin(self) -> str:
        """Who wrote it: a command, a job or a hook of a host."""
        first = self.command.partition(" ")[0]
        return first if first in ("hook", "job") else "command"


def keep(
    staging: StagingArea, command: str, versions: tuple[ContentChange, ...], places: TreeChanges
) -> None:
    """Record what is about to be replaced."""
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
        atomic.write_beside(staging, KEEPING, content, mode=0o600)
        staging.folder.sync()  # without its name the record would be lost with the power
    except OSError as error:
        raise storage_error(staging.folder.path_of(KEEPING), error) from error


def settle(staging: StagingArea) -> None:
    """The changes happened: their record is the last one now, and the one before it is history."""
    try:
        if staging.folder.path in _WITH_HISTORY:
            _shift(staging)
        staging.folder.move(KEEPING, staging.folder, LAST)
        staging.folder.sync()
    except (OSError, StorageError):
        pass  # the changes themselves are durable


def _shift(staging: StagingArea) -> None:
    past = _past_numbers(staging)
    if staging.folder.stat(LAST) is not None:
        past.append((past[-1] if past else 0) + 1)
        staging.folder.move(LAST, staging.folder, _past_name(past[-1]))
    for number in past[: -(KEPT - 1)]:
        staging.remove(_past_name(number))


def _past_numbers(staging: StagingArea) -> list[int]:
    found = (name.removeprefix(PAST) for name in staging.folder.names() if name.startswith(PAST))
    return sorted(int(each) for each in found if each.isascii() and each.isdigit())


def _past_name(number: int) -> str:
    return f"{PAST}{number:0{_NUMBER_DIGITS}}"


def entries(staging: StagingArea) -> tuple[UndoEntry, ...]:
    """The history, the newest last; records that cannot be read are left out."""
    numbers = _past_numbers(staging)
    names = [(number, _past_name(number)) for number in numbers]
    names.append(((numbers[-1] if numbers else 0) + 1, LAST))
    found = []
    for number, name in names:
        status, recorded = staging.folder.stat(name), _load(staging, name)
        if status is not None and recorded is not None:
            at, paths = status.st_mtime, tuple(sorted(recorded.paths))
            found.append(UndoEntry(number, recorded.command, at, paths, name))
    return tuple(found)


def versions(staging: StagingArea, path: str) -> tuple[tuple[UndoEntry, bytes | None], ...]:
    """The commands that changed a document, the newest last, each with the text before it."""
    found = []
    for entry in entries(staging):
        recorded = _load(staging, entry.name) if path in entry.paths else None
        found += (
            [(entry, each.old) for each in recorded.documents if each.path == path]
            if recorded
            else []
        )
    return tuple(found)


def _in_the_way(
    history: Sequence[UndoEntry], entry: UndoEntry, is_as_left: Callable[[UndoEntry], bool]
) -> UndoEntry | None:
    """The record to undo before this one; None if its files are as it left them."""
    later = [
        each
        for each in history
        if each.number > entry.number and not {*entry.paths}.isdisjoint(each.paths)
    ]
    if not later or is_as_left(entry):
        return None
    # To undo an undo would bring back what is in the way.
    ready = [each for each in later if each.command != "undo" and is_as_left(each)]
    found = (ready or later)[-1]
    return _in_the_way(history, found, is_as_left) or found


def chosen(root: Root, staging: StagingArea, which: str) -> UndoRecord:
    """The record that is meant: a number, the beginning of a command, or by default the last.

    By default nothing that a hook wrote is meant. Refused if a later record has the same files,
    unless they are as this one left them, because the later one was undone.
    """
    if not which:
        load(staging)  # says why if there is no readable record
    history = entries(staging)
    for entry in reversed(history):
        is_named = entry.command == which or entry.command.startswith(f"{which} ")
        if entry.number == int(which) if _is_number(which) else is_named or not which:
            if entry.origin == "hook" and not _is_number(which):
                continue
            break
    else:
        raise NothingToUndo(f"there is no entry {which}" if which else "only hooks wrote here")

    def is_as_left(each: UndoEntry) -> bool:
        recorded = _load(staging, each.name)
        return recorded is not None and _happened(root, recorded)

    if found := _in_the_way(history, entry, is_as_left):
        shared = sorted({*entry.paths} & {*found.paths}) or sorted(found.paths)
        raise OverlapsLater(entry.number, shared[0], found.number, found.command)
    recorded = _load(staging, entry.name)
    assert recorded is not None, "the history has readable records only"
    return recorded


def _is_number(which: str) -> bool:
    return which.isascii() and which.isdigit()


def forget(staging: StagingArea) -> None:
    """The changes did not happen: the previous record stays the last one."""
    staging.remove(KEEPING)


def recover(root: Root, staging: StagingArea) -> None:
    """Settle or remove the record of a killed command."""
    if staging.folder.stat(KEEPING) is None:
        return
    recorded = _load(staging, KEEPING)
    if recorded is not None and _happened(root, recorded):
        settle(staging)
    else:
        forget(staging)


def load(staging: StagingArea) -> UndoRecord:
    """The record of the last command."""
    if staging.folder.stat(LAST) is None:
        raise NothingToUndo("no command is recorded here")
    recorded = _load(staging, LAST)
    if recorded is None:
        raise NothingToUndo("the record of the last command cannot be read")
    return recorded


def reverse(root: Root, recorded: UndoRecord, staging: str) -> tuple[dict[str, bytes], TreeChanges]:
    """The old documents and the moves that undo a command.

    A document or folder that the command created is moved into the staging folder, so that the
    next undo can bring it back. Refuses if anything was changed since.
    """
    back = [Move(move.target, move.source) for move in reversed(recorded.moves)]
    for document in recorded.documents:
        if digest(root.read(document.path, layout.limit_of(document.path))) != document.new_sha256:
            raise ChangedSince(document.path, recorded.command)
        if document.old is None:
            back.append(Move(document.path, undone_name(document.path, staging)))
    made = {document.path for document in recorded.documents if document.old is None}
    for folder in sorted(recorded.folders, reverse=True):
        present = {f"{folder}/{name}" for name in root.names(folder) or ()}
        if present - made:
            raise ChangedSince(folder, recorded.command)
        made.add(folder)
        back.append(Move(folder, undone_name(folder, staging)))
    texts = {
        document.path: document.old for document in recorded.documents if document.old is not None
    }
    return texts, TreeChanges(moves=tuple(back))


def rewrites_of(
    texts: dict[str, bytes], recorded: UndoRecord
) -> dict[str, Callable[[bytes | None], bytes]]:
    """Rewrites that restore each document if it is still as the command left it."""
    left = {document.path: document.new_sha256 for document in recorded.documents}

    def rewrite(path: str, content: bytes) -> Callable[[bytes | None], bytes]:
        def rewritten(current: bytes | None) -> bytes:
            if digest(current) != left[path]:
                raise ChangedSince(path, recorded.command)
            return content

        return rewritten

    return {path: rewrite(path, content) for path, content in texts.items()}


def _happened(root: Root, recorded: UndoRecord) -> bool:
    try:
        is_written = all(
            digest(root.read(document.path, layout.limit_of(document.path))) == document.new_sha256
            for document in recorded.documents
        )
    except DocumentError:
        return False
    return is_written and not moves.waiting(root, recorded.moves)


def _load(staging: StagingArea, name: str) -> UndoRecord | None:
    """A record, or None if it is invalid: it may have come with a clone."""
    try:
        content = staging.folder.read(name, _RECORD_LIMIT)
        record = json.loads(content or b"")
        if record["version"] != VERSION:
            return None
        recorded = UndoRecord(
            command=str(record["command"]),
            documents=tuple(_replaced(fields) for fields in record["documents"]),
            moves=tuple(
                Move(str(fields["source"]), str(fields["target"])) for fields in record["moves"]
            ),
            folders=tuple(str(folder) for folder in record["folders"]),
        )
        for path in (*(document.path for document in recorded.documents), *recorded.folders):
            require_document(path, staging.folder.path)
    except (ValueError, KeyError, TypeError, RecursionError, DocumentError, PathOutside):
        return None
    return recorded


def _replaced(fields: dict[str, object]) -> ReplacedDocument:
    old = fields["old"]
    return ReplacedDocument(
        path=str(fields["path"]),
        old=None if old is None else str(old).encode("utf-8", "surrogateescape"),
        new_sha256=str(fields["new_sha256"]),
    )
