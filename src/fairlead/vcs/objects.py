"""The objects of a repository: each must have the content that its id names.

Git believes what it reads. An agent with the person's rights could replace the object of a verify
script, or of a tree that would show its changes. So every object that was written since the last
look is read and compared with its id. Each look takes time for every file, so the objects of a
long run are packed from time to time.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Callable, Iterator, Sequence

from fairlead.core.concurrency import Mutex
from fairlead.store.digests import (
    DerivedCache,
    FileSignature,
    entries_of,
    entry_signature,
    file_signature,
)

_FAN_OUT = 2  # letters of an id that name its folder
_ID_LENGTHS = {40: "sha1", 64: "sha256"}
_PIECE = 1 << 20
_PACKS, _PACK_FOLDER = (".idx", ".pack"), "pack"
_PACKED_AT_ONCE = 400  # objects: every look takes time for each that is not packed


class ObjectStore:
    """The objects of a repository as they were at the last look."""

    def __init__(self, common: str) -> None:
        self._top = os.path.join(common, "objects")
        self._looking = Mutex()
        self._seen: dict[str, FileSignature] | None = None  # None: nobody has looked yet
        self._loose: dict[str, None] = {}  # ids of loose objects that were read and are right
        self._packs: dict[str, str] = {}  # digests of the files of packs that git has verified
        # A folder that is unchanged has the same files, but each of them may have been written.
        self._listings = DerivedCache(_objects_in)

    def check(self, verify_packs: Callable[[Sequence[str]], object]) -> str:
        """The id of an object that is not what its id says; empty if all that is new are right.

        The first look only remembers what is there. A look that finds a fault is forgotten, so
        that the next one finds it again.
        """
        with self._looking:
            before, now = self._seen, dict(self._files())
            if before is None:
                self._seen = now
                return ""
            written = [path for path, each in now.items() if before.get(path) != each]
            loose = ["".join(path.split(os.sep)[-2:]) for path in written if _is_loose_path(path)]
            for id_ in loose:
                if not _is_named_right(os.path.join(self._top, id_[:2], id_[2:]), id_):
                    return id_
            # Git gives a pack a new time whenever somebody writes an object that is in it.
            digests = {path: _digest(path) for path in written if path.endswith(_PACKS)}
            new = [path for path, digest in digests.items() if self._packs.get(path) != digest]
            if new:
                verify_packs(tuple({f"{path.rpartition('.')[0]}.idx": None for path in new}))
            self._packs |= digests
            self._loose |= dict.fromkeys(loose)
            self._seen = now
            return ""

    def to_pack(self) -> tuple[str, ...]:
        """The loose objects that appeared since the first look, once there are enough for a pack."""
        with self._looking:
            if len(self._loose) < _PACKED_AT_ONCE:
                return ()
            packed, self._loose = self._loose, {}
        return tuple(packed)

    def _files(self) -> Iterator[tuple[str, FileSignature]]:
        for folder in entries_of(self._top):
            if folder.name != _PACK_FOLDER and len(folder.name) != _FAN_OUT:
                continue
            marks = entry_signature(folder, follows=True)
            for path in self._listings.of(folder.path, marks):
                if signature := file_signature(path, follows=True):
                    yield path, signature


def _objects_in(folder: str) -> list[str]:
    """The loose objects or the files of packs in a folder."""
    is_pack = os.path.basename(folder) == _PACK_FOLDER
    is_object = _is_of_pack if is_pack else _is_loose
    return [entry.path for entry in entries_of(folder) if is_object(entry.name)]


def _is_of_pack(name: str) -> bool:
    return name.endswith(_PACKS)


def _is_loose_path(path: str) -> bool:
    return not path.endswith(_PACKS)


def _digest(path: str) -> str:
    """The digest of a file; empty if it is gone."""
    digest = hashlib.sha256()
    try:
        for piece in _pieces(path):
            digest.update(piece)
    except FileNotFoundError:
        return ""
    return digest.hexdigest()


def _is_loose(name: str) -> bool:
    return len(name) + _FAN_OUT in _ID_LENGTHS


def _is_named_right(path: str, id_: str) -> bool:
    """Whether a loose object has the content of its id; one that is gone has."""
    digest, reader = hashlib.new(_ID_LENGTHS[len(id_)]), zlib.decompressobj()
    try:
        for piece in _pieces(path):
            left = piece
            while left:
                digest.update(reader.decompress(left, _PIECE))
                left = reader.unconsumed_tail
    except FileNotFoundError:
        return True
    except (OSError, zlib.error):
        return False
    return digest.hexdigest() == id_


def _pieces(path: str) -> Iterator[bytes]:
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        while piece := file.read(_PIECE):
            yield piece
