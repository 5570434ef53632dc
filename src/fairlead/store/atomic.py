"""Atomic writes: at every instant a document is its old version or its new one.

A new version is written in the staging folder, made durable, and exchanged with the document in
one system call. The version that comes out is then compared with the one that was read. If
another program changed it in between, it goes back and the caller repeats its edit on that
version. Nothing is written in place, and no content is removed unless another copy exists.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import signal
import stat
import time

from fairlead.core.errors import DocumentError, FairleadError
from fairlead.core.values import dataclass
from fairlead.store import layout
from fairlead.store.confined import (
    ConfinedFolder,
    Root,
    close_quietly,
    kind_of,
    leaf,
    read_file,
    reason,
    storage_error,
)
from fairlead.store.errors import NotAFile, NotConfirmed
from fairlead.store.rename import Renamer
from fairlead.store.staging import (
    IGNORE,
    RESCUED,
    STAGED,
    WRITING,
    rescued_name,
    staged_name,
    staged_parts,
    writing_name,
)

_WRITER_WAIT_SECONDS = 0.25
_POLL_SECONDS = 0.005
_FULL_SYNC = getattr(fcntl, "F_FULLFSYNC", None)
_LEASE = getattr(fcntl, "F_SETLEASE", None)


@dataclass(frozen=True, slots=True)
class Rescued:
    """A version that lost its place to a concurrent change, and where it is kept."""

    name: str  # the file name that it had
    kept: str  # the path of the copy

    def __str__(self) -> str:
        return f"a version of {self.name} that would have been lost is kept as {self.kept}"


@dataclass(frozen=True, slots=True)
class Completed:
    """A step of several files that an interrupted command had not finished."""

    command: str
    paths: tuple[str, ...]  # the files that were still to be written

    def __str__(self) -> str:
        return f"completed an interrupted step ({self.command}): {', '.join(self.paths)}"


@dataclass(frozen=True, slots=True)
class HidesOuterProject:
    """A new project was created inside another one, which commands here no longer find."""

    folder: str

    def __str__(self) -> str:
        return f"{self.folder} has a project, too; commands that run here use the new one"


@dataclass(frozen=True, slots=True)
class NotMoved:
    """A move that another program made impossible after it was planned."""

    source: str
    target: str

    def __str__(self) -> str:
        return (
            f"{self.source} was not moved to {self.target}: the source is gone or the target exists"
        )


# What a writer noticed or repaired before its own work. Every interface shows these.
Notice = Rescued | Completed | NotMoved | HidesOuterProject


class DocumentChanged(Exception):
    """Another program changed the document after it was read."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class StagingArea:
    """The open staging folder, as the process that has the lock uses it."""

    __slots__ = ("folder", "mode", "notices", "renamer")

    def __init__(
        self,
        folder: ConfinedFolder,
        renamer: Renamer,
        notices: list[Notice],
        *,
        mode: int = 0o666,
    ) -> None:
        self.folder = folder
        self.renamer = renamer
        self.mode = mode  # of new documents, before the umask
        self.notices = notices  # filled while writing

    def remove(self, name: str) -> None:
        """Remove a staged file. If that fails, the next writer collects it."""
        try:
            self.folder.remove(name)
        except OSError:
            pass

    def rescue(self, name: str, label: str) -> str:
        """Keep a version that lost its place where the user can find it; return its path."""
        kept = rescued_name(label)
        with self.folder.make(RESCUED) as rescued:
            path = rescued.path_of(kept)
            try:
                self.folder.move(name, rescued, kept)
                rescued.sync()
            except FileNotFoundError:
                return ""  # nothing is left to keep
            except OSError as error:
                raise storage_error(path, error) from error
        self.notices.append(Rescued(label, path))
        return path


class DocumentLocation:
    """Where a document is or will be: a name in an open folder, which this object closes."""

    __slots__ = ("folder", "name", "path")

    def __init__(self, folder: ConfinedFolder, name: str) -> None:
        self.folder = folder
        self.name = name
        self.path = folder.path_of(name)

    def __enter__(self) -> DocumentLocation:
        return self

    def __exit__(self, *_: object) -> None:
        self.folder.close()

    def read(self) -> bytes | None:
        """The current content of the document."""
        return self.folder.read(self.name, layout.limit_of(self.path))


def open_location(root: Root, path: str) -> DocumentLocation:
    """Open the location of a document, creating missing folders."""
    folder = root.parent(path)
    if folder is None:
        folder = root.make_folder(path.rpartition("/")[0])
    return DocumentLocation(folder, leaf(path))


def write(staging: StagingArea, location: DocumentLocation, old: bytes | None, new: bytes) -> None:
    """Replace a document durably, or create it if `old` is None."""
    if old == new:
        return
    staged = stage(staging, location, old, new)
    try:
        exchange(staging, staged, location, old, new)
    except NotConfirmed:
        raise
    except (DocumentChanged, FairleadError):
        staging.remove(staged)
        raise
    staging.remove(staged)
    confirm(location)


def stage(staging: StagingArea, location: DocumentLocation, old: bytes | None, new: bytes) -> str:
    """Write a new version durably into the staging folder and return its name there."""
    like = location.folder.stat(location.name)
    if like is not None:
        require_single(location.path, like)
    staged = staged_name(location.name, fingerprint(old), fingerprint(new))
    try:
        write_beside(staging, staged, new, mode=staging.mode, like=like)
    except OSError as error:
        raise storage_error(location.path, error) from error
    return staged


def write_beside(
    staging: StagingArea,
    name: str,
    content: bytes,
    *,
    mode: int = 0o666,
    like: os.stat_result | None = None,
    is_durable: bool = True,
) -> None:
    """Write a file into the staging folder. It gets its name only when it is complete."""
    writing = writing_name()
    try:
        # Private until it has the permissions of the file that it replaces.
        fd = staging.folder.create(writing, mode if like is None else 0o600)
        try:
            _write_all(fd, content)
            if like is not None:
                _copy_ownership(fd, like)
            if is_durable:
                sync_content(fd)
        finally:
            os.close(fd)
        staging.folder.move(writing, staging.folder, name)
    except OSError:
        staging.remove(writing)
        raise


def exchange(
    staging: StagingArea,
    staged: str,
    location: DocumentLocation,
    old: bytes | None,
    new: bytes,
) -> None:
    """Put a staged version in place, unless the document is no longer `old`.

    Afterwards the new version is visible, but its name is not yet durable. If this raises, the
    document is unchanged and the new version is still staged, except after `NotConfirmed`: then
    the new version may be in place.
    """
    if location.read() != old:
        raise DocumentChanged(location.path)
    try:
        swapped = _put(staging, staged, location, is_new=old is None)
    except (FileExistsError, FileNotFoundError) as error:
        raise DocumentChanged(location.path) from error
    except OSError as error:
        raise storage_error(location.path, error) from error
    if swapped:
        try:
            _settle(staging, staged, location, old, new)
        except (OSError, FairleadError) as error:
            # The version that came out may be someone's edit, so it stays in the staging folder.
            raise NotConfirmed(location.path, str(error)) from error


def confirm(location: DocumentLocation) -> None:
    """Make the name of a new version durable."""
    try:
        location.folder.sync()
    except OSError as error:
        raise NotConfirmed(location.path, reason(error)) from error


def collect(staging: StagingArea) -> None:
    """Clear what killed commands left in the staging folder. The caller must have the lock."""
    for name in staging.folder.names():
        if name.startswith(WRITING):
            staging.remove(name)
        elif name.startswith(STAGED):
            label, old, new = staged_parts(name)
            content = read_staged(staging, name, label)
            if content is not None and fingerprint(content) in (old, new):
                staging.remove(name)
            else:
                staging.rescue(name, label)


def read_staged(staging: StagingArea, staged: str, label: str) -> bytes | None:
    """The content of a staged file.

    None if it cannot be a version that Fairlead wrote (a link, or too large), or if a program
    is still writing to it.
    """
    try:
        fd = staging.folder.open_file(staged)
        if fd is None:
            return None
        try:
            if not has_no_writer(fd, staging.folder, wait_seconds=_WRITER_WAIT_SECONDS):
                return None
            return read_file(fd, staging.folder.path_of(staged), layout.limit_of(label))
        finally:
            close_quietly(fd)
    except DocumentError:
        return None


def has_no_writer(fd: int, staging: ConfinedFolder, *, wait_seconds: float) -> bool:
    """Wait until no program has the file open for writing; False if one still has.

    `some-command >> STATE.md` keeps the file open while it runs and writes into the version that
    the exchange took out. Removing that version would lose its output. Linux answers this
    question through leases, which also keep new writers out until the descriptor is closed.
    Where the system or the file system cannot answer, the file counts as unused.
    """
    deadline = time.monotonic() + wait_seconds
    while _is_open_for_writing(fd):
        if time.monotonic() >= deadline:
            return not _has_leases(staging)
        time.sleep(_POLL_SECONDS)
    return True


def _is_open_for_writing(fd: int) -> bool:
    if _LEASE is None:
        return False
    try:
        # The kernel signals the lease holder when another program opens the file. SIGURG is
        # ignored by default; the usual SIGIO would end the process.
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(fd, _LEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _has_leases(staging: ConfinedFolder) -> bool:
    """False on shared file systems that report every file as open for writing.

    The test file is our own `.gitignore`, which nothing has open.
    """
    fd = staging.open_file(IGNORE)
    if fd is None:
        return True
    try:
        return not _is_open_for_writing(fd)
    finally:
        close_quietly(fd)


def digest(content: bytes | None) -> str | None:
    """The SHA-256 of a version; None for a missing file."""
    return None if content is None else hashlib.sha256(content).hexdigest()


def fingerprint(content: bytes | None) -> str:
    """A digest short enough for a file name."""
    return (digest(content) or "none")[:16]


def _put(staging: StagingArea, staged: str, location: DocumentLocation, *, is_new: bool) -> bool:
    """True if the two files were exchanged, so that the old version has the staged name."""
    if is_new:
        staging.renamer.place(staging.folder, staged, location.folder, location.name)
        return False
    if staging.renamer.swap(staging.folder, staged, location.folder, location.name):
        return True
    staging.folder.move(staged, location.folder, location.name)
    return False


def _settle(
    staging: StagingArea,
    staged: str,
    location: DocumentLocation,
    old: bytes | None,
    new: bytes,
) -> None:
    """Keep the exchange if the version that was read came out; otherwise reverse it."""
    if read_staged(staging, staged, location.name) == old:
        return
    try:
        staging.renamer.swap(staging.folder, staged, location.folder, location.name)
        if read_staged(staging, staged, location.name) == new:
            raise DocumentChanged(location.path)
        # Another program saved over our version between the two swaps. Its save is the latest,
        # so it stays in place, and the version before it is rescued.
        staging.renamer.swap(staging.folder, staged, location.folder, location.name)
    except FileNotFoundError:
        pass  # the document was removed: the staging folder has the only copy
    staging.rescue(staged, location.name)
    raise DocumentChanged(location.path)


def require_single(path: str, status: os.stat_result) -> None:
    """Refuse anything but a regular file with one name: other names would not change with it."""
    if not stat.S_ISREG(status.st_mode):
        raise NotAFile(path, kind_of(status))
    if status.st_nlink != 1:
        raise NotAFile(path, "a file with several names (hard links)")


def _copy_ownership(fd: int, like: os.stat_result) -> None:
    """Give a new version the owner, group and permissions of the one that it replaces."""
    current = os.fstat(fd)
    if (current.st_uid, current.st_gid) != (like.st_uid, like.st_gid):
        # Only root may change the owner, but any user may share a file with their groups.
        for owner in (like.st_uid, -1):
            try:
                os.fchown(fd, owner, like.st_gid)
                break
            except PermissionError:
                continue
    os.fchmod(fd, stat.S_IMODE(like.st_mode))


def _write_all(fd: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        count = os.write(fd, rest)
        if count == 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rest = rest[count:]
    if os.fstat(fd).st_size != len(content):
        # A write reported more bytes than it wrote.
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def sync_content(fd: int) -> None:
    """Make content durable. Never retry after an error: the kernel forgets the failed pages."""
    if _FULL_SYNC is None:
        os.fsync(fd)
    else:
        fcntl.fcntl(fd, _FULL_SYNC)
