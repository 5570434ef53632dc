"""Lists a folder and reads the beginnings of its files, fast enough for thousands of files.

The kind of an entry comes with its name, so that no second system call is needed. Links and
special files are listed but never opened. A file that became a link after it was listed is not
followed, and nothing blocks.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fairlead.core.patterns import lazy_pattern
from fairlead.store.confined import ConfinedFolder, close_quietly, is_ordinary, storage_error

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
# The listed file is gone, or became a link or a special file.
_NO_FILE = frozenset({errno.ENOENT, errno.ELOOP, errno.ENXIO, errno.ENODEV})
_PIECE = 16 * 1024  # larger than nearly every file
# One match for all names at once: nearly every name starts with a digit and is harmless.
_PLAIN = lazy_pattern(r"(?:[0-9][0-9A-Za-z_.-]*[0-9A-Za-z_]/)*")


class FolderListing(NamedTuple):
    """The sorted names of a folder, without those that are unsafe as path components."""

    files: tuple[str, ...]  # everything except folders
    folders: tuple[str, ...]
    odd: frozenset[str] = frozenset()  # links and special files among the files


def entries_in(folder: ConfinedFolder) -> list[os.DirEntry[str]]:
    """The entries of an open folder."""
    try:
        with os.scandir(folder.fd) as entries:
            return list(entries)
    except OSError as error:
        raise storage_error(folder.path or ".", error) from error


def listing_of(
    folder: ConfinedFolder, entries: list[os.DirEntry[str]] | None = None
) -> FolderListing:
    """The names in an open folder; `entries`: its entries, if the caller has them."""
    found = entries_in(folder) if entries is None else entries
    try:
        if not _PLAIN.fullmatch("".join([f"{entry.name}/" for entry in found])):
            found = [entry for entry in found if is_ordinary(entry.name)]
        files = [entry.name for entry in found if entry.is_file(follow_symlinks=False)]
        if len(files) == len(found):
            return FolderListing(tuple(sorted(files)), ())
        folders = [entry.name for entry in found if entry.is_dir(follow_symlinks=False)]
    except OSError as error:
        raise storage_error(folder.path or ".", error) from error
    odd = {entry.name for entry in found}.difference(files, folders)
    return FolderListing(tuple(sorted((*files, *odd))), tuple(sorted(folders)), frozenset(odd))


def beginnings_of(
    folder: ConfinedFolder, names: Iterable[str], limit: int
) -> Iterator[bytes | None]:
    """The first `limit` bytes of each listed file; None if it is no longer a regular file."""
    at, first = folder.fd, min(limit, _PIECE)
    for name in names:
        try:
            fd = os.open(name, _READ, dir_fd=at)
        except OSError as error:
            if error.errno not in _NO_FILE:  # a disk error must not look like a missing file
                raise storage_error(folder.path_of(name), error) from error
            yield None
            continue
        try:
            content = os.read(fd, first)
            # Only an empty result means the end: some file systems return less than is left.
            while len(content) < limit and (more := os.read(fd, limit - len(content))):
                content += more
        except (IsADirectoryError, BlockingIOError):
            yield None
            continue
        except OSError as error:
            raise storage_error(folder.path_of(name), error) from error
        finally:
            close_quietly(fd)
        yield content


def beginning_of(folder: ConfinedFolder, name: str, limit: int) -> bytes | None:
    """The first `limit` bytes of one listed file; None if it is no longer a regular file."""
    return next(beginnings_of(folder, (name,), limit))
