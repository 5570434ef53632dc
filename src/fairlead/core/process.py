"""Start child processes with a deadline. No other module may import `subprocess`.

A child is an argument list, never a shell command. It gets its own session, so that it and
everything it starts can be ended together: when its time is over, when it writes too much, when we
are interrupted, and when it leaves processes running behind it.
"""

from __future__ import annotations

import os
import resource
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from enum import StrEnum
from typing import IO

from fairlead.core.errors import NoProgram, NotStarted
from fairlead.core.values import dataclass

_PIECE = 1 << 16
_TICK_SECONDS = 0.05
_SEND_SECONDS = 5.0  # for a supervisor to read a piece of a message


class ExitKind(StrEnum):
    """How a child ended."""

    EXITED = "exited"
    TIMED_OUT = "timed-out"
    TOO_MUCH = "too-much"  # wrote more than its limit


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """What a child may use."""

    wall: timedelta
    output_bytes: int = 1 << 20  # of each stream
    grace: timedelta = timedelta(seconds=2)  # between SIGTERM and SIGKILL
    file_bytes: int = 0  # of each file that it writes, where the system can limit that; 0: any
    memory_bytes: int = 0  # of each of its processes, in the same way


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """The result of a child process."""

    ended: ExitKind
    code: int  # negative: the signal that ended it
    output: bytes
    errors: bytes


def search_path(outside: Iterable[str] = ()) -> str:
    """PATH without relative folders and without those inside the folders `outside`.

    A file in a project must not be started in place of an installed program. A project that
    contains the user's whole home is an exception, because their programs are there.
    """
    home = os.path.realpath(os.path.expanduser("~")) + os.sep
    prefixes = (os.path.realpath(folder) + os.sep for folder in outside)
    excluded = tuple(prefix for prefix in prefixes if not home.startswith(prefix))
    folders = filter(os.path.isabs, os.environ.get("PATH", "").split(os.pathsep))
    if not excluded:  # links need not be followed
        return os.pathsep.join(folders)
    return os.pathsep.join(
        folder for folder in folders if not (os.path.realpath(folder) + os.sep).startswith(excluded)
    )


def program(name: str, outside: Iterable[str] = ()) -> str:
    """The absolute path of a program on `search_path`; a relative path is refused."""
    is_path = os.path.basename(name) != name
    path = shutil.which(name, path=search_path(outside) or os.devnull)
    if path is None or (is_path and not os.path.isabs(name)):
        raise NoProgram(name)
    return path


def environment_of(names: Iterable[str], **more: str) -> dict[str, str]:
    """An environment of the named variables that are set, and of `more`."""
    return {name: os.environ[name] for name in names if name in os.environ} | more


def run(
    words: Sequence[str],
    *,
    folder: str,
    environment: Mapping[str, str],
    limits: ProcessLimits,
    stdin: bytes = b"",
    inherited: tuple[int, ...] = (),
) -> ProcessResult:
    """Run a program to its end. The child inherits the open files `inherited`.

    Standard input is a complete file before the child starts: with a pipe, a child whose parent
    dies would take the first part of the text for all of it.
    """
    # Without input no temporary file: Python may put one into the current folder.
    with tempfile.TemporaryFile() if stdin else open(os.devnull, "r+b") as input_file:
        input_file.write(stdin)
        input_file.flush()
        input_file.seek(0)
        try:
            child = subprocess.Popen(
                words,
                cwd=folder,
                env=environment,
                stdin=input_file,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                pass_fds=inherited,
            )
        except OSError as error:
            raise NotStarted(words[0], error.strerror or str(error)) from error
    with child:
        try:
            _limit(child, resource.RLIMIT_FSIZE, limits.file_bytes)
            _limit(child, resource.RLIMIT_DATA, limits.memory_bytes)
            reader = _OutputReader(child, limits)
            ended = reader.read_to_end()
        finally:
            _end_group(child, limits.grace)
        output, errors = reader.output_of(child.stdout), reader.output_of(child.stderr)
        return ProcessResult(ended, child.returncode, output, errors)


def _limit(child: subprocess.Popen[bytes], what: int, most: int) -> None:
    """Let a child that has just begun, and what it starts, use no more of a resource."""
    if most and hasattr(resource, "prlimit"):  # only on Linux
        with suppress(OSError):  # it has ended
            resource.prlimit(child.pid, what, (most, most))


@dataclass(frozen=True, slots=True)
class SupervisedProcess:
    """A running supervisor with its program, and our ends of the pipes. See `agents.supervision`."""

    supervisor: subprocess.Popen[bytes]
    output: int
    errors: int
    status: int
    control: int

    def send(self, message: bytes) -> None:
        """Send a message to the supervisor. One that does not read it is given up later."""
        with selectors.DefaultSelector() as selector, suppress(OSError):  # `status` tells why
            selector.register(self.control, selectors.EVENT_WRITE)
            while message and selector.select(_SEND_SECONDS):
                message = message[os.write(self.control, message) :]

    def close(self) -> bool:
        """End everything that still runs. False if the supervisor did not manage that."""
        os.close(self.control)
        try:
            code = self.supervisor.wait(5)
        except subprocess.TimeoutExpired:
            self.supervisor.kill()
            code = self.supervisor.wait()
        for number in (self.output, self.errors, self.status):
            os.close(number)
        return code == 0


def start_supervisor(words: Sequence[str], environment: Mapping[str, str]) -> SupervisedProcess:
    """Start a supervisor in its own session; it waits for its program.

    Its last two arguments are the numbers of its control and status pipes.
    """
    ends: list[int] = []
    try:
        for _ in range(4):
            ends += os.pipe()
        output, child_output, errors, child_errors, status, child_status, child_control, control = (
            ends
        )
        child = subprocess.Popen(
            [*words, str(child_control), str(child_status)],
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=child_output,
            stderr=child_errors,
            start_new_session=True,
            pass_fds=(child_control, child_status),
        )
    except OSError as error:
        for number in ends:
            os.close(number)
        raise NotStarted(words[0], error.strerror or str(error)) from error
    for number in (child_output, child_errors, child_status, child_control):
        os.close(number)
    os.set_blocking(control, False)
    return SupervisedProcess(child, output, errors, status, control)


@dataclass(frozen=True, slots=True)
class BackgroundProcess:
    """A process that goes on without us: its messages, and what it printed before the first one."""

    messages: int  # our end of the pipe
    output: IO[bytes]

    def first_line(self, wall: timedelta) -> bytes | None:
        """Its first message; empty: it ended without one, None: it sent none in this time."""
        deadline = time.monotonic() + wall.total_seconds()
        line = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self.messages, selectors.EVENT_READ)
            while b"\n" not in line:
                if not selector.select(max(deadline - time.monotonic(), 0)):
                    return None
                piece = os.read(self.messages, _PIECE)
                if not piece:
                    return b""
                line += piece
        return line.partition(b"\n")[0]

    def printed(self) -> bytes:
        """The end of its output so far."""
        size = os.fstat(self.output.fileno()).st_size
        return os.pread(self.output.fileno(), _PIECE, max(size - _PIECE, 0))

    def close(self) -> None:
        """Stop listening; the process goes on."""
        os.close(self.messages)
        self.output.close()


def start_in_background(words: Sequence[str], folder: str) -> BackgroundProcess:
    """Start a program that outlives us and our terminal, with our environment and no input.

    Its last argument is the number of the pipe for its messages. The program forks once more, so
    that it belongs to no process of ours: whoever ends us and our children does not end it.
    """
    # Read together with the messages, and never by name.
    output = tempfile.TemporaryFile()  # noqa: SIM115  # closed by `BackgroundProcess.close`
    messages, its_messages = os.pipe()
    try:
        child = subprocess.Popen(
            [*words, str(its_messages)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            pass_fds=(its_messages,),
        )
    except OSError as error:
        os.close(messages)
        output.close()
        raise NotStarted(words[0], error.strerror or str(error)) from error
    finally:
        os.close(its_messages)
    child.wait()
    return BackgroundProcess(messages, output)


class _OutputReader:
    """Reads both streams of a child at once: a child whose output is not read blocks."""

    def __init__(self, child: subprocess.Popen[bytes], limits: ProcessLimits) -> None:
        self._child = child
        self._limits = limits
        self._deadline = time.monotonic() + limits.wall.total_seconds()
        self._output: dict[IO[bytes] | None, bytearray] = {
            child.stdout: bytearray(),
            child.stderr: bytearray(),
        }

    def output_of(self, stream: IO[bytes] | None) -> bytes:
        """The output of a stream, up to the limit."""
        return bytes(self._output[stream][: self._limits.output_bytes])

    def read_to_end(self) -> ExitKind:
        """Read until the child has ended or must be ended."""
        with selectors.DefaultSelector() as selector:
            for stream in self._output:
                assert stream is not None
                selector.register(stream, selectors.EVENT_READ)
            while selector.get_map():
                # Asked before looking at the pipes: whatever an ended child wrote is in them.
                has_ended = self._child.poll() is not None
                ready = selector.select(min(max(self._left(), 0), _TICK_SECONDS))
                for closed in [key.fileobj for key, _ in ready if not self._read(key.fileobj)]:
                    selector.unregister(closed)
                # A process that the child left behind may keep the pipes open for ever.
                is_read = has_ended and not ready
                if is_read or self._is_too_much() or self._left() <= 0:
                    break
        if self._is_too_much():
            return ExitKind.TOO_MUCH
        try:
            self._child.wait(max(self._left(), 0))
        except subprocess.TimeoutExpired:
            return ExitKind.TIMED_OUT
        return ExitKind.EXITED

    def _is_too_much(self) -> bool:
        return max(map(len, self._output.values())) > self._limits.output_bytes

    def _left(self) -> float:
        return self._deadline - time.monotonic()

    def _read(self, ready: object) -> bool:
        """Read one piece; False at the end of the stream."""
        stream = self._child.stdout if ready is self._child.stdout else self._child.stderr
        assert stream is not None
        piece = os.read(stream.fileno(), _PIECE)
        self._output[stream].extend(piece)
        return bool(piece)


def _end_group(child: subprocess.Popen[bytes], grace: timedelta) -> None:
    """End the child, if it still runs, and everything it started."""
    if child.poll() is None:
        _signal_group(child, signal.SIGTERM)
        try:
            child.wait(grace.total_seconds())
        except subprocess.TimeoutExpired:
            pass
    # The number of a group is not reused while the group has members.
    _signal_group(child, signal.SIGKILL)
    child.wait()


def _signal_group(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(child.pid, number)
    except (ProcessLookupError, PermissionError):
        pass
