"""Detects changed files, by a digest of the content or by what the system records about them.

Digests are for files that must not change while an agent works. Signatures are for polling: a
file with the same signature was not written, so it does not have to be read again.
"""

import hashlib
import os
import stat
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Generic, TypeVar

from fairlead.core.errors import DocumentError
from fairlead.store.confined import ConfinedFolder, Root, kind_of, storage_error
from fairlead.store.errors import PathOutside
from fairlead.store.listing import entries_in

FileSignature = tuple[int, ...]
Derived = TypeVar("Derived")
_UNSETTLED_NS = 100_000_000  # a file written in the last moments may change unnoticed
_KEPT_ROUNDS = 50


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
            found = {entry.name: _signature(entry.stat(follow_symlinks=False)) for entry in entries}
    except (FileNotFoundError, DocumentError, PathOutside):  # an entry may have any name
        return {}
    except OSError as error:
        raise storage_error(path, error) from error
    return {f"{path}/{name}": found[name] for name in sorted(found)}


def file_signature(path: str, *, follows: bool = False) -> FileSignature:
    """The signature of one file; empty if there is none."""
    try:
        return _signature(os.stat(path, follow_symlinks=follows))
    except OSError:
        return ()


def entries_of(folder: str) -> list[os.DirEntry[str]]:
    """The entries of a folder; none if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def entry_signature(entry: os.DirEntry[str], *, follows: bool = False) -> FileSignature:
    """The signature of an entry; empty if it is gone already."""
    try:
        return _signature(entry.stat(follow_symlinks=follows))
    except OSError:
        return ()


def signatures_of(entries: Iterable[os.DirEntry[str]]) -> dict[str, FileSignature]:
    """The signature of each entry by its path; entries that are gone already are left out."""
    return {entry.path: each for entry in entries if (each := entry_signature(entry))}


def is_settled(signature: FileSignature) -> bool:
    """Whether a file is old enough: one of just now could be written again without a new signature."""
    return time.time_ns() - max(signature[2:], default=0) > _UNSETTLED_NS


def _signature(status: os.stat_result) -> FileSignature:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class DerivedCache(Generic[Derived]):
    """Caches a value per file and computes it again only if the file may have changed."""

    def __init__(self, make: Callable[[str], Derived]) -> None:
        self._make = make
        self._cached: dict[str, tuple[FileSignature, Derived]] = {}

    def of(self, path: str, signature: FileSignature) -> Derived:
        """The value of a file. Its signature must have been taken before this call."""
        cached = self._cached.get(path)
        if cached is not None and cached[0] == signature:
            return cached[1]
        derived = self._make(path)
        if is_settled(signature):
            self._cached[path] = (signature, derived)
        return derived

    def all_of(self, signatures: Mapping[str, FileSignature]) -> dict[str, Derived]:
        """The value of each file, as `of` returns it; thousands of files are looked up at once."""
        cached = self._cached
        return {
            path: kept[1]
            if (kept := cached.get(path)) is not None and kept[0] == signature
            else self.of(path, signature)
            for path, signature in signatures.items()
        }


class FileCache:
    """Values made from files, for a server that asks the same questions again and again.

    A value is kept with the signature of its files and made again when that differs. Files are
    looked at once per round; a round is one answer of the server. Values that no recent round
    asked for are dropped, so that the cache does not outgrow the project.
    """

    def __init__(self, now_ns: Callable[[], int]) -> None:
        self._now_ns = now_ns
        self._round = 0
        self._made = 0
        self._kept: dict[Hashable, list[Any]] = {}  # key -> round, number, signature, value

    def next_round(self) -> None:
        """Look at the files again from now on."""
        self._round += 1
        if self._round % _KEPT_ROUNDS == 0:
            oldest = self._round - _KEPT_ROUNDS
            self._kept = {key: kept for key, kept in self._kept.items() if kept[0] > oldest}

    def current(self, key: Hashable) -> Any | None:
        """The value that this round has made or confirmed; None: not yet."""
        kept = self._kept.get(key)
        return kept[3] if kept and kept[0] == self._round else None

    def value(self, key: Hashable, signature: Any, make: Callable[[], Derived]) -> Derived:
        """The value for this signature, which was taken before; None matches nothing."""
        kept = self._kept.get(key)
        if kept is None or signature is None or kept[2] != signature:
            self._made += 1
            kept = self._kept[key] = [self._round, self._made, signature, make()]
        kept[0] = self._round
        found: Derived = kept[3]
        return found

    def number(self, key: Hashable) -> int:
        """A number that differs whenever the value was made again."""
        kept = self._kept.get(key)
        return kept[1] if kept else 0

    def of_file(self, kind: object, path: str, make: Callable[[], Derived]) -> Derived:
        """One kind of value that is made from a file."""
        key = kind, path
        found: Derived | None = self.current(key)
        if found is not None:
            return found
        signature = file_signature(path)
        return self.value(key, signature if self._is_settled(signature) else None, make)

    def folder_signature(
        self, folder: ConfinedFolder, entries: list[os.DirEntry[str]], inner: str = ""
    ) -> object | None:
        """The signature of an open folder, and of one folder in it; None: it may still change."""
        newest = self._now_ns() - _UNSETTLED_NS
        signatures: dict[str, FileSignature] = {}
        try:
            for entry in entries:  # thousands in all, so nothing is called twice
                found = entry.stat(follow_symlinks=False)
                written, changed = found.st_mtime_ns, found.st_ctime_ns
                if written >= newest or changed >= newest:
                    return None
                signatures[entry.name] = found.st_ino, found.st_size, written, changed
            below = folder.folder(inner) if inner in signatures else None
        except (OSError, DocumentError):
            return None
        if below is None:
            return signatures
        with below:
            inside = self.folder_signature(below, entries_in(below))
        return None if inside is None else (signatures, inside)

    def _is_settled(self, signature: FileSignature) -> bool:
        return bool(signature) and max(signature[2:]) < self._now_ns() - _UNSETTLED_NS
