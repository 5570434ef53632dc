"""The objects of a repository: each must have the content that its id names.

Git believes what it reads. An agent with the person's rights could replace the object of a verify
script, or of a tree that would show its changes. So every object that was written since the last
look is read and compared with its id.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Iterator

from fairlead.store.digests import FileSignature, entries_of, entry_signature

_FAN_OUT = 2  # letters of an id that name its folder
_ID_LENGTHS = {40: "sha1", 64: "sha256"}
_PIECE = 1 << 20
_PACKS = (".idx", ".pack")


class ObjectStore:
    """The objects of a repository as they were at the last look."""

    def __init__(self, common: str) -> None:
        self._top = os.path.join(common, "objects")
        self._seen: dict[str, FileSignature] | None = None  # None: nobody has looked yet

    def changed(self) -> tuple[str, tuple[str, ...]]:
        """An object that is not what its id says, if there is one, and packs that are new.

        The first look only remembers what is there.
        """
        before, now = self._seen, dict(self._files())
        if before is None:
            self._seen = now
            return "", ()
        written = [path for path, each in now.items() if before.get(path) != each]
        packs = [path for path in written if path.endswith(".idx")]
        packs += [f"{path[:-5]}.idx" for path in written if path.endswith(".pack")]
        for path in written:
            if path.endswith(_PACKS):
                continue
            id_ = "".join(path.split(os.sep)[-2:])
            if not _is_named_right(path, id_):
                return id_, ()
        self._seen = now
        return "", tuple(dict.fromkeys(packs))

    def _files(self) -> Iterator[tuple[str, FileSignature]]:
        for folder in entries_of(self._top):
            is_pack = folder.name == "pack"
            inside = entries_of(folder.path) if is_pack or len(folder.name) == _FAN_OUT else []
            for entry in inside:
                is_object = entry.name.endswith(_PACKS) if is_pack else _is_loose(entry.name)
                if is_object and (signature := entry_signature(entry, follows=True)):
                    yield entry.path, signature


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
