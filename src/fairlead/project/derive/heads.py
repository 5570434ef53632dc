"""What the beginnings of plans and summaries say, kept while their files are unchanged.

A run that lands hundreds of plans scans the same folder after each. With this cache a scan reads
only the files that were written since the last one. It is separate from `scan.py` because commands
that scan once, such as the status line, do not import it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

from fairlead.store.confined import ConfinedFolder
from fairlead.store.digests import FileSignature, is_settled

Head = TypeVar("Head")
_MISSING: tuple[FileSignature, object] = ((), None)


class HeadCache:
    """The heads of files, each with the signature of the file it was made from."""

    def __init__(self) -> None:
        self._kept: dict[tuple[object, str], tuple[FileSignature, object]] = {}

    def heads(
        self,
        folder: ConfinedFolder,
        names: Collection[str],
        read: Callable[[Collection[str]], Iterable[bytes | None]],
        make: Callable[[bytes | None], Head],
    ) -> list[Head]:
        """The head of each file of a folder; `read` returns the beginnings of those that changed."""
        found = {name: _signature(folder, name) for name in names}
        keys = {name: (make, folder.path_of(name)) for name in names}
        kept = self._kept
        changed = [
            name
            for name, signature in found.items()
            if not signature or kept.get(keys[name], _MISSING)[0] != signature
        ]
        made = dict(zip(changed, map(make, read(changed)), strict=True))
        for name, head in made.items():
            if is_settled(found[name]):
                kept[keys[name]] = found[name], head
        return [made[name] if name in made else kept[keys[name]][1] for name in names]  # type: ignore[misc]


def _signature(folder: ConfinedFolder, name: str) -> FileSignature:
    """The signature of a file; empty if it is gone."""
    try:
        status = os.stat(name, dir_fd=folder.fd, follow_symlinks=False)
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
