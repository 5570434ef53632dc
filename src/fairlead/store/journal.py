"""Append-only files of lines.

A line is durable when `append` returns. A crash can only leave a last line without a line break.
The next writer removes that line under the lock, because its `append` never returned. Earlier
lines are never changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from fairlead.store.atomic import require_single, sync_content
from fairlead.store.confined import (
    ConfinedFolder,
    Root,
    close_quietly,
    leaf,
    reason,
    stat_of,
    storage_error,
)
from fairlead.store.errors import NoProject, NotConfirmed, TooLarge
from fairlead.store.lock import RUN_WAITS, Lock
from fairlead.store.staging import STAGING, open_staging
from fairlead.text.errors import UnwritableValue

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
        self._is_durable = is_durable  # False: a power failure may lose lines

    def append(self, line_after: Callable[[str], str], *, command: str) -> str:
        """Append the line that `line_after` makes from the last line, and return it."""
        try:
            with (
                Root(self._folder) as root,
                open_staging(root, STAGING) as staging,
                Lock(staging, wait_seconds=self._wait_seconds, command=command),
                self._home(root) as home,
            ):
                return self._append(home, line_after)
        except FileNotFoundError:
            raise NoProject(self._folder) from None

    def _home(self, root: Root) -> ConfinedFolder:
        """The folder of the journal. It is already durable if the journal exists."""
        above = self.path.rpartition("/")[0]
        is_there = not self._is_durable or root.stat(self.path) is not None
        return root.kept_folder(above) if is_there else root.make_folder(above)

    def _append(self, home: ConfinedFolder, line_after: Callable[[str], str]) -> str:
        name = leaf(self.path)
        self._require_file(home.stat(name))
        try:
            fd = os.open(name, _FLAGS, 0o666, dir_fd=home.fd)
        except OSError as error:
            # Another process may have put a link there since the first look: name that.
            self._require_file(home.stat(name))
            raise storage_error(self.path, error) from error
        try:
            self._require_file(stat_of(fd, self.path))
            size, last = self._end(fd)
            line = line_after(last)
            content = line.encode()
            if not line.endswith("\n") or line.count("\n") != 1 or len(content) > LONGEST_LINE:
                raise UnwritableValue("the entry", "is not one line")
            self._write(fd, size, content)
            if self._is_durable and size == 0:  # also if a killed writer created the file
                home.sync()
            return line
        except OSError as error:
            raise storage_error(self.path, error) from error
        finally:
            close_quietly(fd)

    def _require_file(self, found: os.stat_result | None) -> None:
        if found is not None:
            require_single(self.path, found)

    def _write(self, fd: int, size: int, content: bytes) -> None:
        os.ftruncate(fd, size)  # drop an incomplete line that a crash left
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
        """The offset after the last complete line, and that line."""
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
