"""Detects changed files, by a digest of the content or by what the system records about them.

Digests are for files that must not change while an agent works. Signatures are for polling: a
file with the same signature was not written, so it does not have to be read again.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from fairlead.core.errors import DocumentError
from fairlead.store.confined import Root, kind_of, storage_error
from fairlead.store.errors import PathOutside

FileSignature = tuple[int, ...]
Derived = TypeVar("Derived")


def digests_of(paths: Iterable[str]) -> dict[str, str]:
    """The digest of each existing path, as `digest_of` returns it."""
    return {path: digest for path in paths if (digest := digest_of(path))}


def digest_of(path: str) -> str:
    """The SHA-256 of a file; the kind of anything else, such as "a folder"; "" if missing.

    A link counts as what it leads to, or as a link if it leads nowhere.
    """
    try:
        return _digest(path)
    except OSError as error:
        try:
            status = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except OSError:
            raise storage_error(path, error) from error
        if stat.S_ISLNK(status.st_mode) or stat.S_ISSOCK(status.st_mode):
            return kind_of(status)
        raise storage_error(path, error) from error


def _digest(path: str) -> str:
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # do not block on a pipe
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            return kind_of(status)
        with open(fd, "rb", closefd=False) as file:
            return hashlib.sha256(file.read()).hexdigest()
    finally:
        os.close(fd)


def signatures_in(home: str, path: str) -> dict[str, FileSignature]:
    """The signature of each entry of `home/path`, sorted by path; empty if it is no folder."""
    try:
        with Root(home) as root:
            folder = root.folder(path)
        if folder is None:
            return {}
        with folder, os.scandir(folder.fd) as entries:
            statuses = {entry.name: entry.stat(follow_symlinks=False) for entry in entries}
    except (FileNotFoundError, DocumentError, PathOutside):  # an entry may have any name
        return {}
    except OSError as error:
        raise storage_error(path, error) from error
    return {f"{path}/{name}": _signature(status) for name, status in sorted(statuses.items())}


def file_signature(path: str) -> FileSignature:
    """The signature of one file; empty if there is none."""
    try:
        return _signature(os.lstat(path))
    except OSError:
        return ()


def _signature(status: os.stat_result) -> FileSignature:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class DerivedCache(Generic[Derived]):
    """Caches a value per file and computes it again only if the file has changed."""

    def __init__(self, make: Callable[[str], Derived]) -> None:
        self._make = make
        self._cached: dict[str, tuple[FileSignature, Derived]] = {}

    def of(self, path: str, signature: FileSignature) -> Derived:
        """The value of a file. Its signature must have been taken before this call."""
        cached = self._cached.get(path)
        if cached is None or cached[0] != signature:
            cached = (signature, self._make(path))
            self._cached[path] = cached
        return cached[1]
