"""Sessions: who is alive, told by the kernel.

A running session holds a lock on a file of its own. When its process dies, in whatever way, the
kernel lets go of it: that is how an abnormal exit is seen without any help of the process that
died. The file itself says nothing and is never removed.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time

from fairlead.errors import NoProject, SessionHeld
from fairlead.store import layout
from fairlead.store.confine import Root, fault, let_go
from fairlead.store.desk import open_desk

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PATIENCE_SECONDS = 0.5  # somebody may just be looking
_POLL_SECONDS = 0.01


class SessionLock:
    """Held by a session for as long as it runs, as a context."""

    __slots__ = ("_desk", "_folder", "_session", "_wait_seconds", "fd")

    def __init__(
        self,
        folder: str,
        session: str,
        *,
        desk: str = layout.DESK,
        wait_seconds: float = _PATIENCE_SECONDS,
    ) -> None:
        self._folder = folder
        self._session = session
        self._desk = desk
        self._wait_seconds = wait_seconds
        self.fd = -1  # whoever inherits it holds the lock too

    def __enter__(self) -> SessionLock:
        try:
            with Root(self._folder) as root, open_desk(root, self._desk) as desk:
                name = layout.SESSION + self._session
                try:
                    self.fd = os.open(name, _FLAGS, 0o600, dir_fd=desk.fd)
                except OSError as error:
                    raise fault(desk.path_of(name), error) from error
        except FileNotFoundError:
            raise NoProject(self._folder) from None
        deadline = time.monotonic() + self._wait_seconds
        while not _take(self.fd, fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                self.__exit__()
                raise SessionHeld(self._session)
            time.sleep(_POLL_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        fd, self.fd = self.fd, -1
        let_go(fd)


def is_live(folder: str, session: str) -> bool:
    """Whether a process holds the lock of this session. Looking changes nothing."""
    return is_held(folder, layout.SESSION + session)


def is_held(folder: str, name: str) -> bool:
    """Whether a process holds a lock of the desk. Looking changes nothing."""
    fd = _opened(folder, name)
    if fd < 0:
        return False
    try:
        return not _take(fd, fcntl.LOCK_SH)
    finally:
        let_go(fd)


def _opened(folder: str, name: str) -> int:
    """The file of a session, for looking; below 0 if there is none."""
    try:
        with Root(folder) as root:
            desk = root.folder(layout.DESK)
        if desk is None:
            return -1
        with desk:
            found = desk.stat(name)
            is_file = found is not None and stat.S_ISREG(found.st_mode)
            return os.open(name, _LOOK, dir_fd=desk.fd) if is_file else -1
    except OSError:
        return -1


def _take(fd: int, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
