"""A child of the status line: git, or the line that somebody had before ours.

Started from an argument list without a shell, in a group of its own, and killed with its whole
group when its time is over. Not `subprocess`, which takes longer to import than the rest of
the line takes to show; and not an adapter, because the status line reaches none.
"""

import os
import select
import time

OUTPUT_LIMIT = 8 * 1024 * 1024

# SIGKILL and SIGPIPE; the module that names them is slow to import.
_KILL = 9
_PIPE = 13
_PIECE = 1 << 16
_PAUSE_SECONDS = 0.002


class Child:
    """A running program, fed with bytes and read until it ends."""

    __slots__ = ("_deadline", "_input", "_pid", "_stdin", "_stdout")

    def __init__(self, arguments: "list[str]", *, limit_seconds: float, feed: bytes = b"") -> None:
        """Start it; raises OSError when there is no such program."""
        self._deadline = time.monotonic() + limit_seconds
        self._input = feed
        theirs_in, self._stdin = os.pipe()
        self._stdout, theirs_out = os.pipe()
        try:
            self._pid = os.posix_spawnp(
                arguments[0],
                arguments,
                os.environ,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, theirs_in, 0),
                    (os.POSIX_SPAWN_DUP2, theirs_out, 1),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
                setpgroup=0,
                # Python ignores it, and a child would inherit that.
                setsigdef=[_PIPE],
            )
        except BaseException:
            os.close(self._stdin)
            os.close(self._stdout)
            raise
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        os.set_blocking(self._stdin, False)

    def output(self) -> "str | None":
        """Everything it printed; None when it failed, said too much or took too long."""
        try:
            printed = self._talk()
            code = None if printed is None else self._exit_code()
        finally:
            self._close_input()
            os.close(self._stdout)
        if printed is None or code is None:
            self._kill()
            return None
        return printed.decode("utf-8", "replace") if code == 0 else None

    def _talk(self) -> "bytes | None":
        """Feed it and listen at once, so that neither side waits for the other for ever."""
        pieces: list[bytes] = []
        room = OUTPUT_LIMIT
        poll = select.poll()
        poll.register(self._stdout, select.POLLIN)
        poll.register(self._stdin, select.POLLOUT)
        while room > 0:
            left = self._deadline - time.monotonic()
            ready = poll.poll(left * 1000) if left > 0 else []
            if not ready:
                return None
            fds = [fd for fd, _ in ready]
            if self._stdin in fds and not self._feed():
                poll.unregister(self._stdin)
                self._close_input()
            if self._stdout not in fds:
                continue
            piece = os.read(self._stdout, _PIECE)
            if not piece:
                return b"".join(pieces)
            pieces.append(piece)
            room -= len(piece)
        return None

    def _feed(self) -> bool:
        """Write a piece of the input; False when there is no more, or nobody reads it."""
        try:
            self._input = self._input[os.write(self._stdin, self._input[:_PIECE]) :]
        except BlockingIOError:
            return True
        except OSError:
            return False
        return bool(self._input)

    def _close_input(self) -> None:
        fd, self._stdin = self._stdin, -1
        if fd >= 0:
            os.close(fd)

    def _exit_code(self) -> "int | None":
        while True:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() >= self._deadline:
                return None
            time.sleep(_PAUSE_SECONDS)

    def _kill(self) -> None:
        try:
            os.killpg(self._pid, _KILL)
            os.waitpid(self._pid, 0)
        except OSError:
            pass


def output_of(arguments: "list[str]", *, limit_seconds: float) -> str:
    """Run a program to its end and return what it printed; empty when it did not work."""
    try:
        return Child(arguments, limit_seconds=limit_seconds).output() or ""
    except OSError:
        return ""
