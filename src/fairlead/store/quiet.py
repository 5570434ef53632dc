"""Quiet: whether some program still has a file open for writing.

A program that opened a document before it was exchanged goes on writing into the version
that came out, so that one must not be judged, let alone removed, before the program is done.
Linux answers through leases. Where the system or the file system cannot tell, the answer is
that nobody writes.
"""

from __future__ import annotations

import fcntl
import signal
import time

from fairlead.store import layout
from fairlead.store.confine import Folder, let_go

_LEASE = getattr(fcntl, "F_SETLEASE", None)
_POLL_SECONDS = 0.005


def is_quiet(fd: int, desk: Folder, *, wait_seconds: float) -> bool:
    """Wait until nobody has the file open for writing; False when somebody still has.

    Nobody can begin to, either, until the descriptor is closed.
    """
    deadline = time.monotonic() + wait_seconds
    while _seems_written(fd):
        if time.monotonic() >= deadline:
            return not _can_tell(desk)
        time.sleep(_POLL_SECONDS)
    return True


def _seems_written(fd: int) -> bool:
    if _LEASE is None:
        return False
    try:
        # Who wants to write now is announced by this signal, which does nothing by default;
        # the usual one would end the process.
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(fd, _LEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _can_tell(desk: Folder) -> bool:
    """Some shared file systems call every file written; so ask about one that surely is not."""
    fd = desk.open_file(layout.IGNORE)
    if fd is None:
        return True
    try:
        return not _seems_written(fd)
    finally:
        let_go(fd)
