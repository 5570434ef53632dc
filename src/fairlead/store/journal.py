"""Journals: files of lines that only ever grow.

A line is there when `append` has returned. A crash can only leave a last line without its line
break; the next writer cuts it under the lock, because nobody was told that it was written.
Everything before it is never touched again.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from fairlead.errors import NoProject, NotConfirmed, TooLarge, UnwritableValue
from fairlead.store import layout
from fairlead.store.atomic import require_single, sync_content
from fairlead.store.confine import Folder, Root, fault, leaf, let_go, reason, stat_of
from fairlead.store.desk import open_desk
from fairlead.store.lock import RUN_WAITS, Lock

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHUNK = 64 * 1024
LONGEST_LINE = 1024 * 1024


class Journal:
    """One journal of the project in a folder."""

    def __init__(
        self, folder: str, path: str, *, wait_seconds: float = RUN_WAITS, is_durable: bool = True
    ) -> None:
        self._folder = folder
        self.path = path
        self._wait_seconds = wait_seconds
        self._is_durable = is_durable  # False: lines may be lost with the machine's power

    def append(self, line_after: Callable[[str], str], *, command: str) -> str:
        """Add the line that follows the last one, and return it. It is durable when this returns."""
        try:
            with (
                Root(self._folder) as root,
                open_desk(root, layout.DESK) as desk,
                Lock(desk, wait_seconds=self._wait_seconds, command=command),
                self._home(root) as home,
            ):
                return self._append(home, line_after)
        except FileNotFoundError:
            raise NoProject(self._folder) from None

    def _home(self, root: Root) -> Folder:
        """The folder of the journal. Where the journal is, its folder was made durable before."""
        above = self.path.rpartition("/")[0]
        is_there = not self._is_durable or root.stat(self.path) is not None
        return root.kept_folder(above) if is_there else root.make_folder(above)

    def _append(self, home: Folder, line_after: Callable[[str], str]) -> str:
        name = leaf(self.path)
        found = home.stat(name)
        if found is not None:
            require_single(self.path, found)
        try:
            fd = os.open(name, _FLAGS, 0o666, dir_fd=home.fd)
        except OSError as error:
            raise fault(self.path, error) from error
        try:
            size, last = self._end(fd)
            line = line_after(last)
            content = line.encode()
            if not line.endswith("\n") or line.count("\n") != 1 or len(content) > LONGEST_LINE:
                raise UnwritableValue("the entry", "is not one line")
            self._write(fd, size, content)
            if self._is_durable and size == 0:  # also after one who died before this line
                home.sync()
            return line
        except OSError as error:
            raise fault(self.path, error) from error
        finally:
            let_go(fd)

    def _write(self, fd: int, size: int, content: bytes) -> None:
        os.ftruncate(fd, size)  # what a crash left of a line
        done = 0
        try:
            while done < len(content):
                done += os.pwrite(fd, content[done:], size + done)
        except OSError:
            os.ftruncate(fd, size)
            raise
        if not self._is_durable:
            return
        try:
            sync_content(fd)
        except OSError as error:
            raise NotConfirmed(self.path, reason(error)) from error

    def _end(self, fd: int) -> tuple[int, str]:
        """Where the last whole line ends, and that line."""
        at = stat_of(fd, self.path).st_size
        tail = b""
        while at > 0 and tail.count(b"\n") < 2:
            if len(tail) > 2 * LONGEST_LINE:
                raise TooLarge(len(tail), LONGEST_LINE).located(self.path)
            start = max(0, at - _CHUNK)
            tail = os.pread(fd, at - start, start) + tail
            at = start
        end = tail.rfind(b"\n") + 1
        first = tail.rfind(b"\n", 0, max(end - 1, 0)) + 1
        return at + end, tail[first:end].decode("utf-8", "replace")
