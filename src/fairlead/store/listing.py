"""Listings: a folder's names with their kinds, and the beginnings of its files.

For those who look at thousands of files: the kind comes with the name, so that nothing is asked
of the system twice. Links and special files have names but are never opened; what has become
one since it was listed is not read either.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from typing import NamedTuple

from fairlead.store.confine import Folder, fault, is_ordinary, let_go

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
# What was listed has gone, or has become a link or something that is not read.
_NO_FILE = frozenset({errno.ENOENT, errno.ELOOP, errno.ENXIO, errno.ENODEV})
# Nearly every name here begins with a number, and then nothing can be objected to it.
_PLAIN = re.compile(r"[0-9][\w.-]{0,200}\w", re.ASCII)


class Listing(NamedTuple):
    """The sorted names of a folder that may be used."""

    files: tuple[str, ...]  # everything that is no folder
    folders: tuple[str, ...]
    odd: frozenset[str] = frozenset()  # files that are links or special


def listing_of(folder: Folder) -> Listing:
    """What is in an open folder."""
    files: list[str] = []
    folders: list[str] = []
    odd: list[str] = []
    try:
        with os.scandir(folder.fd) as entries:
            found = list(entries)
        for entry in found:
            name = entry.name
            if not _PLAIN.fullmatch(name) and not is_ordinary(name):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(name)
                continue
            files.append(name)
            if not entry.is_file(follow_symlinks=False):
                odd.append(name)
    except OSError as error:
        raise fault(folder.path or ".", error) from error
    return Listing(tuple(sorted(files)), tuple(sorted(folders)), frozenset(odd))


def beginning_of(folder: Folder, name: str, limit: int) -> bytes | None:
    """A listed file as far as `limit` bytes; None when it is no regular file any more."""
    try:
        fd = os.open(name, _READ, dir_fd=folder.fd)
    except OSError as error:
        if error.errno in _NO_FILE:
            return None
        raise fault(folder.path_of(name), error) from error  # a plan is not open because of it
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return None
        wanted = min(limit, found.st_size)
        content = os.read(fd, wanted) if wanted else b""
        while len(content) < wanted:
            more = os.read(fd, wanted - len(content))
            if not more:
                break
            content += more
        return content
    except OSError as error:
        raise fault(folder.path_of(name), error) from error
    finally:
        let_go(fd)
