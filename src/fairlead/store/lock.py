"""Kernel locks: one writer at a time, and which sessions are running.

A lock is `flock` on a file that is never removed. It ends with its process, so it is never left
behind, judged stale or stolen, and a paused process keeps it. Waiting has a limit, and its error
names the process that has the lock. That name is only for people.

A running session locks a file of its own. When its process dies in any way, the kernel releases
the lock, so an abnormal exit is detected without help from the process that died.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterable

from fairlead.store.confined import (
    ConfinedFolder,
    Root,
    close_quietly,
    kind_of,
    reason,
    stat_of,
    storage_error,
)
from fairlead.store.errors import LockBusy, NoLocks, NoProject, NotAFile, SessionHeld
from fairlead.store.staging import LOCK, SESSION, STAGING, open_staging

_OPEN = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)
_SHARED = frozenset(["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs"])
_LONGEST_HOLDER = 200
RUN_WAITS = 60.0  # seconds, for records of a run: giving up would lose an answer that was paid for
_POLL_SECONDS = 0.005
_SESSION_WAIT_SECONDS = 0.5  # another process may just be testing the lock
_SESSION_POLL_SECONDS = 0.01


class Lock:
    """The lock of a project, as a context manager."""

    __slots__ = ("_command", "_name", "_staging", "_wait_seconds", "fd")

    def __init__(
        self, staging: ConfinedFolder, *, wait_seconds: float, command: str, name: str = LOCK
    ) -> None:
        self._name = name
        self._staging = staging
        self._wait_seconds = wait_seconds
        self._command = command
        self.fd = -1

    def __enter__(self) -> Lock:
        deadline = time.monotonic() + self._wait_seconds
        while True:
            self.fd = self._open()
            try:
                self._take(deadline)
                if self._is_current():
                    self._sign()
                    return self
            except BaseException:
                self._release()
                raise
            # The file was removed while we waited (`git clean`), so other writers lock another one.
            self._release()

    def __exit__(self, *_: object) -> None:
        self._release()

    def _open(self) -> int:
        # Checked before opening: opening some devices already has an effect.
        status = self._staging.stat(self._name)
        if status is not None:
            self._require_lock(status)
        try:
            return os.open(self._name, _OPEN, 0o600, dir_fd=self._staging.fd)
        except OSError as error:
            raise storage_error(self._staging.path_of(self._name), error) from error

    def _take(self, deadline: float) -> None:
        path = self._staging.path_of(self._name)
        nap = _POLL_SECONDS / 16  # most writers need the lock for a few milliseconds
        try:
            while not _try_lock(self.fd, fcntl.LOCK_EX):
                if time.monotonic() >= deadline:
                    raise LockBusy(self._wait_seconds, _holder(self.fd))
                time.sleep(nap)
                nap = min(2 * nap, _POLL_SECONDS)
        except OSError as error:
            if error.errno in _NO_LOCKS:
                raise NoLocks(path, reason(error)) from error
            raise storage_error(path, error) from error

    def _is_current(self) -> bool:
        locked = stat_of(self.fd, self._staging.path_of(self._name))
        self._require_lock(locked)
        named = self._staging.stat(self._name)
        return named is not None and (locked.st_dev, locked.st_ino) == (named.st_dev, named.st_ino)

    def _require_lock(self, status: os.stat_result) -> None:
        path = self._staging.path_of(self._name)
        if not stat.S_ISREG(status.st_mode):
            raise NotAFile(path, kind_of(status))
        if status.st_nlink > 1:
            raise NotAFile(path, "a file with several names (hard links)")

    def _release(self) -> None:
        fd, self.fd = self.fd, -1
        close_quietly(fd)

    def _sign(self) -> None:
        line = f"process {os.getpid()} on {os.uname().nodename}: {self._command}\n".encode()
        try:
            os.pwrite(self.fd, line, 0)
            os.ftruncate(self.fd, len(line))
        except OSError:
            pass  # the name of the holder is information only


def shared_kind(device: int) -> str:
    """The type of a network file system, where locks may not reach other machines; else ""."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
            return shared_among(mounts, device)
    except OSError:
        return ""  # no list of mounts on this system: rely on the errors of the lock itself


def shared_among(mounts: Iterable[str], device: int) -> str:
    """The same, from the lines of the kernel's mount table."""
    number = f"{os.major(device)}:{os.minor(device)}"
    for line in mounts:
        left, _, right = line.partition(" - ")
        kind = right.partition(" ")[0]
        if kind in _SHARED and left.split()[2] == number:
            return kind
    return ""


def _holder(fd: int) -> str:
    """The process that has the lock, and since when.

    Anyone can write the file, so only printable ASCII is shown.
    """
    try:
        text = os.pread(fd, _LONGEST_HOLDER, 0).decode("ascii", "replace").partition("\n")[0]
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(os.fstat(fd).st_mtime))
    except OSError:
        return ""
    text = "".join(char for char in text if " " <= char <= "~")
    return f"{text}, since {since}" if text else ""


class SessionLock:
    """The lock of a running session, as a context manager."""

    __slots__ = ("_folder", "_session", "_staging", "_wait_seconds", "fd")

    def __init__(
        self,
        folder: str,
        session: str,
        *,
        staging: str = STAGING,
        wait_seconds: float = _SESSION_WAIT_SECONDS,
    ) -> None:
        self._folder = folder
        self._session = session
        self._staging = staging
        self._wait_seconds = wait_seconds
        self.fd = -1  # a child process that inherits it keeps the lock, too

    def __enter__(self) -> SessionLock:
        try:
            with Root(self._folder) as root, open_staging(root, self._staging) as staging:
                name = SESSION + self._session
                try:
                    self.fd = os.open(name, _OPEN, 0o600, dir_fd=staging.fd)
                except OSError as error:
                    raise storage_error(staging.path_of(name), error) from error
        except FileNotFoundError:
            raise NoProject(self._folder) from None
        deadline = time.monotonic() + self._wait_seconds
        while not _try_lock(self.fd, fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                self.__exit__()
                raise SessionHeld(self._session)
            time.sleep(_SESSION_POLL_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        fd, self.fd = self.fd, -1
        close_quietly(fd)


def is_session_running(folder: str, session: str) -> bool:
    """Whether the process of this session is alive. Changes nothing."""
    return is_locked(folder, SESSION + session)


def is_locked(folder: str, name: str) -> bool:
    """Whether any process has this lock of the staging folder. Changes nothing."""
    fd = _open_for_test(folder, name)
    if fd < 0:
        return False
    try:
        return not _try_lock(fd, fcntl.LOCK_SH)
    finally:
        close_quietly(fd)


def _open_for_test(folder: str, name: str) -> int:
    """The lock file, open for reading; -1 if there is none."""
    try:
        with Root(folder) as root:
            staging = root.folder(STAGING)
        if staging is None:
            return -1
        with staging:
            found = staging.stat(name)
            is_file = found is not None and stat.S_ISREG(found.st_mode)
            return os.open(name, _READ, dir_fd=staging.fd) if is_file else -1
    except OSError:
        return -1


def _try_lock(fd: int, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
