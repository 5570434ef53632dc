"""Listings: a folder's names with their kinds, and the beginnings of its files.

For those who look at thousands of files: the kind comes with the name, so that nothing is asked
of the system twice. Links and special files have names but are never opened; what has become a
link since it was listed is not followed, and nothing is waited for.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fairlead.store.confine import Folder, fault, is_ordinary, let_go

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
# What was listed has gone, or has become a link or something that is not read.
_NO_FILE = frozenset({errno.ENOENT, errno.ELOOP, errno.ENXIO, errno.ENODEV})
_PIECE = 16 * 1024  # nearly every file is smaller
# Nearly every name here begins with a number, and then nothing can be objected to it.
_PLAIN = re.compile(r"(?:[0-9][0-9A-Za-z_.-]*[0-9A-Za-z_]/)*")


class Listing(NamedTuple):
    """The sorted names of a folder that may be used."""

    files: tuple[str, ...]  # everything that is no folder
    folders: tuple[str, ...]
    odd: frozenset[str] = frozenset()  # files that are links or special


def listing_of(folder: Folder) -> Listing:
    """What is in an open folder."""
    try:
        with os.scandir(folder.fd) as entries:
            found = list(entries)
        if not _PLAIN.fullmatch("".join([f"{entry.name}/" for entry in found])):
            found = [entry for entry in found if is_ordinary(entry.name)]
        files = [entry.name for entry in found if entry.is_file(follow_symlinks=False)]
        if len(files) == len(found):
            return Listing(tuple(sorted(files)), ())
        folders = [entry.name for entry in found if entry.is_dir(follow_symlinks=False)]
    except OSError as error:
        raise fault(folder.path or ".", error) from error
    odd = {entry.name for entry in found}.difference(files, folders)
    return Listing(tuple(sorted((*files, *odd))), tuple(sorted(folders)), frozenset(odd))


def beginnings_of(folder: Folder, names: Iterable[str], limit: int) -> Iterator[bytes | None]:
    """Listed files as far as `limit` bytes each; None for what is no file any more."""
    at, first = folder.fd, min(limit, _PIECE)
    for name in names:
        try:
            fd = os.open(name, _READ, dir_fd=at)
        except OSError as error:
            if error.errno not in _NO_FILE:  # a plan is not open because of a fault
                raise fault(folder.path_of(name), error) from error
            yield None
            continue
        try:
            content = os.read(fd, first)
            # Only an empty answer is the end: some file systems give less than they have.
            while len(content) < limit and (more := os.read(fd, limit - len(content))):
                content += more
        except (IsADirectoryError, BlockingIOError):
            yield None
            continue
        except OSError as error:
            raise fault(folder.path_of(name), error) from error
        finally:
            let_go(fd)
        yield content


def beginning_of(folder: Folder, name: str, limit: int) -> bytes | None:
    """One listed file as far as `limit` bytes; None when it is no file any more."""
    return next(beginnings_of(folder, (name,), limit))
