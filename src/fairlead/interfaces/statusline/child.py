"""A child process of the status line: git, or the user's own status line command.

Started from an argument list, without a shell, in its own process group, which is killed when the
time is up. `subprocess` would take longer to import than the whole status line takes to run.
"""

import os
import select
import time

OUTPUT_LIMIT = 8 * 1024 * 1024

# The numbers of the signals: importing `signal` is slow.
_SIGKILL = 9
_SIGPIPE = 13
_CHUNK = 1 << 16
_POLL_SECONDS = 0.002


class Child:
    """A running program that is given input and read until it ends."""

    __slots__ = ("_deadline", "_input", "_pid", "_stdin", "_stdout")

    def __init__(self, arguments: "list[str]", *, limit_seconds: float, feed: bytes = b"") -> None:
        """Start the program. Raises OSError when it does not exist."""
        self._deadline = time.monotonic() + limit_seconds
        self._input = feed
        child_stdin, self._stdin = os.pipe()
        self._stdout, child_stdout = os.pipe()
        try:
            self._pid = os.posix_spawnp(
                arguments[0],
                arguments,
                os.environ,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, child_stdin, 0),
                    (os.POSIX_SPAWN_DUP2, child_stdout, 1),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
                setpgroup=0,
                # Python ignores SIGPIPE, and the child would inherit that.
                setsigdef=[_SIGPIPE],
            )
        except BaseException:
            os.close(self._stdin)
            os.close(self._stdout)
            raise
        finally:
            os.close(child_stdin)
            os.close(child_stdout)
        os.set_blocking(self._stdin, False)

    def output(self) -> "str | None":
        """Everything it printed; None when it failed, printed too much or took too long."""
        try:
            printed = self._communicate()
            code = None if printed is None else self._exit_code()
        finally:
            self._close_input()
            os.close(self._stdout)
        if printed is None or code is None:
            self._kill()
            return None
        return printed.decode("utf-8", "replace") if code == 0 else None

    def _communicate(self) -> "bytes | None":
        """Write and read at the same time, so that neither side can block the other."""
        chunks: list[bytes] = []
        remaining = OUTPUT_LIMIT
        poll = select.poll()
        poll.register(self._stdout, select.POLLIN)
        poll.register(self._stdin, select.POLLOUT)
        while remaining > 0:
            seconds_left = self._deadline - time.monotonic()
            ready = poll.poll(seconds_left * 1000) if seconds_left > 0 else []
            if not ready:
                return None
            descriptors = [descriptor for descriptor, _ in ready]
            if self._stdin in descriptors and not self._write_chunk():
                poll.unregister(self._stdin)
                self._close_input()
            if self._stdout not in descriptors:
                continue
            chunk = os.read(self._stdout, _CHUNK)
            if not chunk:
                return b"".join(chunks)
            chunks.append(chunk)
            remaining -= len(chunk)
        return None

    def _write_chunk(self) -> bool:
        """Write part of the input; False when all is written or the child has closed its end."""
        try:
            self._input = self._input[os.write(self._stdin, self._input[:_CHUNK]) :]
        except BlockingIOError:
            return True
        except OSError:
            return False
        return bool(self._input)

    def _close_input(self) -> None:
        descriptor, self._stdin = self._stdin, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _exit_code(self) -> "int | None":
        while True:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() >= self._deadline:
                return None
            time.sleep(_POLL_SECONDS)

    def _kill(self) -> None:
        try:
            os.killpg(self._pid, _SIGKILL)
            os.waitpid(self._pid, 0)
        except OSError:
            pass


def output_of(arguments: "list[str]", *, limit_seconds: float) -> str:
    """Run a program and return what it printed; empty when it failed."""
    try:
        return Child(arguments, limit_seconds=limit_seconds).output() or ""
    except OSError:
        return ""
