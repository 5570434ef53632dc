"""Decides from the system calls of a run whether acknowledged changes survive a power loss.

It assumes the strictest file system: data is safe only after fsync of its file, and a name only
after fsync of its folder. A missing fsync is found without root rights and without a power switch,
even if the local file system would have kept the data.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from tests.support.strace import Call

_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_DESCRIPTOR = re.compile(r"^(-?\d+|AT_FDCWD)(?:<((?:[^>\\]|\\.)*)>)?")
_AT = {
    "openat",
    "openat2",
    "mkdirat",
    "unlinkat",
    "renameat",
    "renameat2",
    "linkat",
    "symlinkat",
}
_WRITERS = {"write", "pwrite64", "writev", "pwritev", "ftruncate", "fallocate", "copy_file_range"}
# The calls that the decision needs.
WATCHED = frozenset(_AT | _WRITERS) | set(
    "open creat fsync fdatasync mkdir symlink unlink rmdir rename link".split()
)


class _Disk:
    """Names and files as the calls made them, and what no fsync has covered yet."""

    def __init__(self) -> None:
        self.file_of: dict[str, int] = {}
        self.unsynced_files: set[int] = set()
        self.unsynced_names: dict[str, set[str]] = {}
        self.published_early: list[str] = []
        self._next = 0

    def file(self, path: str) -> int:
        if path not in self.file_of:
            self._next += 1
            self.file_of[path] = self._next
        return self.file_of[path]

    def named(self, path: str) -> None:
        self.unsynced_names.setdefault(os.path.dirname(path), set()).add(path)

    def rename(self, old: str, new: str, *, exchange: bool) -> None:
        moved = self.file(old)
        if moved in self.unsynced_files:
            self.published_early.append(new)
        if exchange:
            self.file_of[old], self.file_of[new] = self.file(new), moved
        else:
            self.file_of[new] = moved
            del self.file_of[old]
        self.named(old)
        self.named(new)

    def sync(self, path: str) -> None:
        self.unsynced_files.discard(self.file(path))
        self.unsynced_names.pop(path, None)


def not_durable(calls: Iterable[Call], folder: Path, changed: Iterable[Path]) -> tuple[str, ...]:
    """Why the changed files may be lost or torn after a power loss; empty if they are safe."""
    disk = _Disk()
    for call in calls:
        if call.result is not None and call.result >= 0:
            _replay(disk, call, folder)
    reasons = []
    for path in changed:
        name = str(path)
        if disk.file(name) in disk.unsynced_files:
            reasons.append(f"the content of {path.name} was never confirmed by fsync")
        if name in disk.published_early:
            reasons.append(f"{path.name} was renamed into place before its content was fsynced")
        step = name
        while step != str(folder.parent):  # a name is safe only if all folders above it are
            if step in disk.unsynced_names.get(os.path.dirname(step), set()):
                reasons.append(f"the name {os.path.relpath(step, folder)} was never confirmed")
            step = os.path.dirname(step)
    return tuple(dict.fromkeys(reasons))


def _replay(disk: _Disk, call: Call, folder: Path) -> None:
    name = call.name
    if name in {"open", "openat", "openat2", "creat"}:
        if "O_CREAT" in call.arguments or name == "creat":
            target = paths_of(call, folder)[0]
            if "O_EXCL" in call.arguments or target not in disk.file_of:
                disk.named(target)
            disk.unsynced_files.add(disk.file(target))
        elif "O_TRUNC" in call.arguments:
            disk.unsynced_files.add(disk.file(paths_of(call, folder)[0]))
    elif name in _WRITERS:
        disk.unsynced_files.add(disk.file(path_of_descriptor(call.arguments)))
    elif name in {"fsync", "fdatasync"} and not call.injected:
        disk.sync(path_of_descriptor(call.arguments))
    elif name in {"mkdir", "mkdirat", "symlink", "symlinkat"}:
        disk.named(paths_of(call, folder)[-1])
    elif name in {"unlink", "unlinkat", "rmdir"}:
        gone = paths_of(call, folder)[0]
        disk.named(gone)
        disk.file_of.pop(gone, None)
    elif name in {"rename", "renameat", "renameat2"}:
        old, new = paths_of(call, folder)[:2]
        disk.rename(old, new, exchange="RENAME_EXCHANGE" in call.arguments)
    elif name in {"link", "linkat"}:
        old, new = paths_of(call, folder)[:2]
        disk.file_of[new] = disk.file(old)
        disk.named(new)


def paths_of(call: Call, folder: Path) -> list[str]:
    """The absolute paths a call names, in order."""
    bases = [str(folder)]
    if call.name in _AT:
        bases = [
            match[2] or str(folder)
            for part in call.arguments.split(", ")
            if (match := _DESCRIPTOR.match(part))
        ] or bases
    found = []
    for index, string in enumerate(_STRING.findall(call.arguments)):
        base = bases[min(index, len(bases) - 1)]
        found.append(os.path.normpath(os.path.join(base, string)))
    return found


def path_of_descriptor(arguments: str) -> str:
    """The path behind the descriptor that is a call's first argument."""
    match = _DESCRIPTOR.match(arguments)
    path = (match[2] or "") if match else ""
    return path.removesuffix(" (deleted)")
