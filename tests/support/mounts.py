"""Real disks that fail: full, read-only, or without power. For root on Linux only.

The kernel simulates the power loss: the shutdown ioctl makes ext4 and XFS drop unwritten data, and
the next mount replays the journal. Every mount ends with its block, also if a test fails.
"""

import fcntl
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path

PAGE = 4096
_SHUTDOWN = 0x8004587D


class Loss(IntEnum):
    """The data that still reaches the disk during a power loss."""

    JOURNAL_ONLY = 1  # names arrive, data does not: the worst case
    NOTHING = 2


@dataclass(frozen=True, slots=True)
class FileSystem:
    """A kind of file system: how to make and mount it."""

    name: str
    make: tuple[str, ...]
    megabytes: int
    options: str = "loop"

    def why_not(self) -> str:
        """Why this kind cannot be made here; empty if it can."""
        if not _found(self.make[0]):
            return f"{self.make[0]} is not installed"
        return why_not_mount() or _why_not_loop()


FILE_SYSTEMS = {
    kind.name: kind
    for kind in (
        FileSystem("ext4", ("mkfs.ext4", "-q", "-F"), 32),
        FileSystem("ext4-noauto_da_alloc", ("mkfs.ext4", "-q", "-F"), 32, "loop,noauto_da_alloc"),
        FileSystem("xfs", ("mkfs.xfs", "-q", "-f"), 320, "loop,nouuid"),
    )
}


class Disk:
    """A file system in an image file that can lose its power."""

    def __init__(self, kind: FileSystem, image: Path, folder: Path) -> None:
        self.kind = kind
        self.image = image
        self.folder = folder

    def mount(self) -> None:
        """Attach it."""
        _run("mount", "-o", self.kind.options, str(self.image), str(self.folder))

    def lose_power(self, loss: Loss) -> None:
        """Cut the power and mount again."""
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, _SHUTDOWN, struct.pack("I", loss))
        finally:
            os.close(descriptor)
        _run("umount", str(self.folder))
        if _attached(self.image):
            # A process in another mount namespace still uses the dead mount: continue with a copy.
            copy = self.image.with_name(f"{self.image.name}-again")
            _run("cp", "--sparse=always", str(self.image), str(copy))
            self.image = copy
        self.mount()

    def settle(self) -> None:
        """Flush everything, so that only later writes can be lost."""
        _run("sync", "-f", str(self.folder))


@contextmanager
def disk(kind: FileSystem) -> Iterator[Disk]:
    """A new file system in a scratch file."""
    with tempfile.TemporaryDirectory(prefix="disk-") as scratch:
        image, folder = Path(scratch) / "image", Path(scratch) / "m"
        folder.mkdir()
        with image.open("wb") as file:
            file.truncate(kind.megabytes << 20)
        _run(*kind.make, str(image))
        mounted = Disk(kind, image, folder)
        mounted.mount()
        try:
            yield mounted
        finally:
            _unmount(folder)


@contextmanager
def small_disk(kilobytes: int) -> Iterator[Path]:
    """A file system in memory with a few pages."""
    with tempfile.TemporaryDirectory(prefix="small-") as scratch:
        _run("mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", scratch)
        try:
            yield Path(scratch)
        finally:
            _unmount(Path(scratch))


def fill(folder: Path, *, leave_pages: int) -> None:
    """Fill the file system of the folder, except for some pages."""
    with (folder / "fill").open("wb", buffering=0) as file:
        with suppress(OSError):
            while True:
                file.write(b"\0" * PAGE)
        file.truncate(max(0, file.tell() - leave_pages * PAGE))


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """The folder, mounted over itself read-only."""
    _run("mount", "--bind", str(folder), str(folder))
    try:
        _run("mount", "-o", "remount,bind,ro", str(folder))
        yield
    finally:
        _unmount(folder)


@contextmanager
def immutable(path: Path) -> Iterator[None]:
    """The file or folder with the immutable flag, which binds root too."""
    _run("chattr", "+i", str(path))
    try:
        yield
    finally:
        _run("chattr", "-i", str(path))


@cache
def why_not_mount() -> str:
    """Why nothing can be mounted here; empty if mounting works."""
    if not sys.platform.startswith("linux"):
        return "mounting is done on Linux only"
    if os.geteuid() != 0:
        return "mounting needs root"
    with tempfile.TemporaryDirectory(prefix="probe-") as scratch:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", scratch],
            capture_output=True,
            check=False,
        )
        if done.returncode:
            return "this machine does not allow mounting"
        _unmount(Path(scratch))
    return ""


@cache
def _why_not_loop() -> str:
    done = subprocess.run(["losetup", "-f"], capture_output=True, check=False)
    return "" if done.returncode == 0 else "no loop device is free"


def _attached(image: Path) -> bool:
    done = subprocess.run(["losetup", "-j", str(image)], capture_output=True, check=False)
    return bool(done.stdout.strip())


def _found(program: str) -> bool:
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") is not None


def _unmount(folder: Path) -> None:
    done = subprocess.run(["umount", str(folder)], capture_output=True, check=False)
    if done.returncode:  # a file is still open there: detach the name at least
        subprocess.run(["umount", "-l", str(folder)], capture_output=True, check=False)


def _run(*words: str) -> None:
    environment = {**os.environ, "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"}
    done = subprocess.run(words, capture_output=True, check=False, env=environment)
    if done.returncode:
        raise OSError(f"{' '.join(words)}: {done.stderr.decode(errors='replace').strip()}")
