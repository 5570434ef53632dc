"""Folders that an agent may have filled: walking and deleting them without recursion.

An agent can nest folders deeper than Python recurses and deeper than a path can be long.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from itertools import count

from fairlead.store.digests import entries_of

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def walk(top: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each folder with its folders and its other names, as `os.walk` yields them.

    The caller may remove names from the list of folders. A folder that cannot be read is left out.
    """
    left = [top]
    while left:
        above = left.pop()
        folders: list[str] = []
        names: list[str] = []
        for entry in entries_of(above):
            is_folder = entry.is_dir(follow_symlinks=False)
            (folders if is_folder else names).append(entry.name)
        yield above, folders, names
        left += [os.path.join(above, name) for name in reversed(folders)]


def delete_below(top: str, path: str) -> None:
    """Delete a folder below another; one behind a link stays, because it may be elsewhere."""
    top = os.path.realpath(top)
    folder = os.path.normpath(os.path.join(top, path))
    if folder.startswith(f"{top}{os.sep}") and os.path.realpath(folder) == folder:
        shutil.rmtree(folder, ignore_errors=True)


def delete_folder(path: str) -> None:
    """Delete a folder, even if somebody made a folder in it read-only; a link is not followed."""
    if os.path.islink(path) or not os.path.isdir(path):
        with suppress(FileNotFoundError):
            os.unlink(path)
        return
    _allow(path)
    top = os.open(path, _FOLDER)
    try:
        _empty(top)
    finally:
        os.close(top)
    os.rmdir(path)


def _empty(top: int) -> None:
    """Empty a folder: what lies deeper is moved up first, so that no path grows."""
    numbers = count()
    while names := os.listdir(top):
        for name in names:
            if not _is_unlinked(name, top):
                _move_up(name, top, numbers)
                os.rmdir(name, dir_fd=top)


def _move_up(name: str, top: int, numbers: Iterator[int]) -> None:
    """Move the folders of a folder into the one above it, and delete its files."""
    inner = os.open(name, _FOLDER, dir_fd=top)
    try:
        for each in os.listdir(inner):
            if not _is_unlinked(each, inner):
                new = f".deleted-{next(numbers)}"
                os.rename(each, new, src_dir_fd=inner, dst_dir_fd=top)
    finally:
        os.close(inner)


def _is_unlinked(name: str, folder: int) -> bool:
    """Whether a name was no folder, and is gone; a folder is made writable."""
    try:
        os.unlink(name, dir_fd=folder)
    except OSError:
        _allow(name, folder)
        return False
    return True


def _allow(name: str, folder: int | None = None) -> None:
    with suppress(OSError):
        os.chmod(name, 0o700, dir_fd=folder, follow_symlinks=True)
