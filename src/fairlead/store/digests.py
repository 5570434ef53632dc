"""What tells a file from every other: a digest of its content, or the marks the system gives it.

Digests are for files that must not change while somebody else works. Marks are for whoever looks
again and again: a file with the same ones has not been written to, and need not be read.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from fairlead.errors import DocumentError, PathOutside
from fairlead.store.confine import Root, fault, kind_of

Marks = tuple[int, ...]
Fact = TypeVar("Fact")


def digests_of(paths: Iterable[str]) -> dict[str, str]:
    """The digest of each file that is there, by its path; of anything else, what it is."""
    return {path: digest for path in paths if (digest := digest_of(path))}


def digest_of(path: str) -> str:
    """The digest of a file, or what it is if it is none; nothing, if nothing is there."""
    try:
        return _digest(path)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise fault(path, error) from error


def _digest(path: str) -> str:
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe keeps nobody waiting
    try:
        held = os.fstat(fd)
        if not stat.S_ISREG(held.st_mode):
            return kind_of(held)
        with open(fd, "rb", closefd=False) as file:
            return hashlib.sha256(file.read()).hexdigest()
    finally:
        os.close(fd)


def marks_in(home: str, path: str) -> dict[str, Marks]:
    """What is in a folder below another, sorted by path, each with its marks; none: no folder."""
    try:
        with Root(home) as root:
            folder = root.folder(path)
        if folder is None:
            return {}
        with folder, os.scandir(folder.fd) as entries:
            found = {each.name: each.stat(follow_symlinks=False) for each in entries}
    except (FileNotFoundError, DocumentError, PathOutside):  # whatever name somebody gave it
        return {}
    except OSError as error:
        raise fault(path, error) from error
    return {
        f"{path}/{name}": (each.st_ino, each.st_size, each.st_mtime_ns, each.st_ctime_ns)
        for name, each in sorted(found.items())
    }


class Derived(Generic[Fact]):
    """What was made of each file, made anew only when the file is another one."""

    def __init__(self, make: Callable[[str], Fact]) -> None:
        self._make = make
        self._held: dict[str, tuple[Marks, Fact]] = {}

    def of(self, path: str, marks: Marks) -> Fact:
        """What was made of a file with these marks, which were taken before it is read."""
        held = self._held.get(path)
        if held is None or held[0] != marks:
            held = (marks, self._make(path))
            self._held[path] = held
        return held[1]
