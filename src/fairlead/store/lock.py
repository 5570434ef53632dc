"""The lock: one writer at a time, held by the kernel.

It is `flock` on a file that is never removed, so it ends with the process that holds it and
cannot be left behind, judged stale or stolen; a paused holder keeps it. Waiting is done in
the kernel, has a limit, and names the holder. What the file says about the holder is for
people and decides nothing.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterable

from fairlead.errors import LockBusy, NoLocks, NotAFile
from fairlead.store import layout
from fairlead.store.confine import Folder, fault, kind_of, let_go, reason, stat_of

_OPEN = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)
_SHARED = frozenset(["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs"])
_LONGEST_HOLDER = 200
RUN_WAITS = 60.0  # seconds, for records of a run: giving up would throw a paid answer away
_POLL_SECONDS = 0.005
_AGAIN_SECONDS = 0.05


class Lock:
    """The lock of a project, as a context. It is taken on entry and released on exit."""

    __slots__ = ("_command", "_desk", "_name", "_wait_seconds", "fd")

    def __init__(
        self, desk: Folder, *, wait_seconds: float, command: str, name: str = layout.LOCK
    ) -> None:
        self._name = name
        self._desk = desk
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
            # The file was removed while we waited (`git clean`): it keeps nobody out.
            self._release()

    def __exit__(self, *_: object) -> None:
        self._release()

    def _open(self) -> int:
        # Looked at first: opening alone already does something to some devices.
        found = self._desk.stat(self._name)
        if found is not None:
            self._require_lock(found)
        try:
            return os.open(self._name, _OPEN, 0o600, dir_fd=self._desk.fd)
        except OSError as error:
            raise fault(self._desk.path_of(self._name), error) from error

    def _take(self, deadline: float) -> None:
        path = self._desk.path_of(self._name)
        try:
            if _try(self.fd):
                return
            remaining = deadline - time.monotonic()
            if remaining > 0 and _wait(self.fd, remaining):
                return
        except OSError as error:
            if error.errno in _NO_LOCKS:
                raise NoLocks(path, reason(error)) from error
            raise fault(path, error) from error
        raise LockBusy(self._wait_seconds, _holder(self.fd))

    def _is_current(self) -> bool:
        ours = stat_of(self.fd, self._desk.path_of(self._name))
        self._require_lock(ours)
        found = self._desk.stat(self._name)
        return found is not None and (ours.st_dev, ours.st_ino) == (found.st_dev, found.st_ino)

    def _require_lock(self, found: os.stat_result) -> None:
        path = self._desk.path_of(self._name)
        if not stat.S_ISREG(found.st_mode):
            raise NotAFile(path, kind_of(found))
        if found.st_nlink > 1:
            raise NotAFile(path, "a file with several names (hard links)")

    def _release(self) -> None:
        fd, self.fd = self.fd, -1
        let_go(fd)

    def _sign(self) -> None:
        line = f"process {os.getpid()} on {os.uname().nodename}: {self._command}\n".encode()
        try:
            os.pwrite(self.fd, line, 0)
            os.ftruncate(self.fd, len(line))
        except OSError:
            pass  # information only


class _Expired(Exception):
    """The wait is over."""


class _Alarm:
    """Ends a wait in the kernel, and does nothing outside of it."""

    __slots__ = ("is_waiting",)

    def __init__(self) -> None:
        self.is_waiting = False

    def ring(self, *_: object) -> None:
        if self.is_waiting:
            self.is_waiting = False
            raise _Expired


def shared_kind(device: int) -> str:
    """The kind of a file system that several machines may share, where locks may not reach."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
            return shared_among(mounts, device)
    except OSError:
        return ""  # a system without this list: the lock itself has to tell


def shared_among(mounts: Iterable[str], device: int) -> str:
    """The same, from the lines of the kernel's list of mounts."""
    number = f"{os.major(device)}:{os.minor(device)}"
    for line in mounts:
        left, _, right = line.partition(" - ")
        kind = right.partition(" ")[0]
        if kind in _SHARED and left.split()[2] == number:
            return kind
    return ""


def _try(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait(fd: int, seconds: float) -> bool:
    import signal

    alarm = _Alarm()
    try:
        handler = signal.signal(signal.SIGALRM, alarm.ring)
    except ValueError:
        return _poll(fd, seconds)  # signals belong to the main thread, and this is another
    began = time.monotonic()
    # It rings again and again: the first one may come just before the call that it must end.
    earlier, interval = signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_SECONDS)
    try:
        alarm.is_waiting = True
        fcntl.flock(fd, fcntl.LOCK_EX)
        alarm.is_waiting = False
    except _Expired:
        return False
    finally:
        alarm.is_waiting = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL if handler is None else handler)
        if earlier:
            rest = max(earlier - (time.monotonic() - began), _POLL_SECONDS)
            signal.setitimer(signal.ITIMER_REAL, rest, interval)
    return True


def _poll(fd: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    nap = _POLL_SECONDS / 16  # most hold it for a few milliseconds
    while time.monotonic() < deadline:
        if _try(fd):
            return True
        time.sleep(nap)
        nap = min(2 * nap, _POLL_SECONDS)
    return False


def _holder(fd: int) -> str:
    """Who holds the lock, since when; from a file that anybody can write, so only plain text."""
    try:
        text = os.pread(fd, _LONGEST_HOLDER, 0).decode("ascii", "replace").partition("\n")[0]
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(os.fstat(fd).st_mtime))
    except OSError:
        return ""
    text = "".join(char for char in text if " " <= char <= "~")
    return f"{text}, since {since}" if text else ""
