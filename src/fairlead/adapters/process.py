"""Processes: a child with a deadline, and the only module that starts one.

A child is an argument list, never a line for a shell. It gets a session of its own, so that it
and whatever it starts can be ended together: when its time is over, when it says more than it
may, when we are interrupted, and when it has left something running behind it.
"""

from __future__ import annotations

import os
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

from fairlead.errors import NoProgram, NotStarted
from fairlead.values import dataclass

_PIECE = 1 << 16
_TICK_SECONDS = 0.05
_ASK_SECONDS = 5.0  # for a keeper to take in a piece of what it is told


class Ended(StrEnum):
    """How a child came to its end."""

    EXITED = "exited"
    TIMED_OUT = "timed-out"
    TOO_MUCH = "too-much"  # said more than it may


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may take."""

    wall: timedelta
    output_bytes: int = 1 << 20  # of each stream
    grace: timedelta = timedelta(seconds=2)  # between being asked to end and being ended


@dataclass(frozen=True, slots=True)
class Finished:
    """What came of a child."""

    ended: Ended
    code: int  # negative: the signal that ended it
    output: bytes
    errors: bytes


def search_path(outside: Iterable[str] = ()) -> str:
    """PATH without folders that depend on where we stand, and without those inside some folders.

    What lies in a project is the project's: it must not be found in place of a program. A
    project that is the whole home of a person is an exception: their programs live there.
    """
    home = os.path.realpath(os.path.expanduser("~")) + os.sep
    named = (os.path.realpath(each) + os.sep for each in outside)
    inside = tuple(each for each in named if not home.startswith(each))
    folders = [each for each in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(each)]
    return os.pathsep.join(
        each for each in folders if not (os.path.realpath(each) + os.sep).startswith(inside)
    )


def program(name: str, outside: Iterable[str] = ()) -> str:
    """The absolute path of a program on our search path; a path must be absolute already."""
    is_path = os.path.basename(name) != name
    found = shutil.which(name, path=search_path(outside) or os.devnull)
    if found is None or (is_path and not os.path.isabs(name)):
        raise NoProgram(name)
    return found


def surroundings(names: Iterable[str], **more: str) -> dict[str, str]:
    """An environment of the named variables only, as far as they are set, and some of our own."""
    return {name: os.environ[name] for name in names if name in os.environ} | more


def run(
    words: Sequence[str],
    *,
    folder: str,
    environment: Mapping[str, str],
    limits: Limits,
    stdin: bytes = b"",
    held: tuple[int, ...] = (),
) -> Finished:
    """Run a program to its end. `held` are open files that it keeps open for as long as it lives.

    What it reads is complete before it starts: had it a pipe and we died, it would take the
    beginning of a text for the whole.
    """
    # Python looks for a place for such files even in the folder we stand in: only if it must.
    with tempfile.TemporaryFile() if stdin else open(os.devnull, "r+b") as given:
        given.write(stdin)
        given.flush()
        given.seek(0)
        try:
            child = subprocess.Popen(
                words,
                cwd=folder,
                env=environment,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                pass_fds=held,
            )
        except OSError as error:
            raise NotStarted(words[0], error.strerror or str(error)) from error
    with child:
        try:
            hearing = _Hearing(child, limits)
            ended = hearing.to_the_end()
        finally:
            _end_group(child, limits.grace)
        output, errors = hearing.said(child.stdout), hearing.said(child.stderr)
        return Finished(ended, child.returncode, output, errors)


@dataclass(frozen=True, slots=True)
class Kept:
    """A program behind its keeper, and our ends of the pipes. See `supervision`."""

    keeper: subprocess.Popen[bytes]
    output: int
    errors: int
    status: int
    control: int

    def ask(self, word: bytes) -> None:
        """Say a word to the keeper, or most of it: one that does not listen is given up later."""
        with selectors.DefaultSelector() as selector, suppress(OSError):  # its status says the rest
            selector.register(self.control, selectors.EVENT_WRITE)
            while word and selector.select(_ASK_SECONDS):
                word = word[os.write(self.control, word) :]

    def close(self) -> bool:
        """Let go: what still runs is ended. False if the keeper did not get that done."""
        os.close(self.control)
        try:
            code = self.keeper.wait(5)
        except subprocess.TimeoutExpired:
            self.keeper.kill()
            code = self.keeper.wait()
        for number in (self.output, self.errors, self.status):
            os.close(number)
        return code == 0


def keep(keeper: Sequence[str], environment: Mapping[str, str]) -> Kept:
    """Start a keeper with its two numbers, in a session of its own; it waits for its program."""
    ends: list[int] = []
    try:
        for _ in range(4):
            ends += os.pipe()
        output, said, errors, cried, status, telling, hearing, control = ends
        child = subprocess.Popen(
            [*keeper, str(hearing), str(telling)],
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=cried,
            start_new_session=True,
            pass_fds=(hearing, telling),
        )
    except OSError as error:
        for number in ends:
            os.close(number)
        raise NotStarted(keeper[0], error.strerror or str(error)) from error
    for number in (said, cried, telling, hearing):
        os.close(number)
    os.set_blocking(control, False)
    return Kept(child, output, errors, status, control)


class _Hearing:
    """Both streams at once, without threads: a child that is not read from stands still."""

    def __init__(self, child: subprocess.Popen[bytes], limits: Limits) -> None:
        self._child = child
        self._limits = limits
        self._deadline = time.monotonic() + limits.wall.total_seconds()
        self._said: dict[IO[bytes] | None, bytearray] = {
            child.stdout: bytearray(),
            child.stderr: bytearray(),
        }

    def said(self, stream: IO[bytes] | None) -> bytes:
        """What came from a stream, as far as the limit."""
        return bytes(self._said[stream][: self._limits.output_bytes])

    def to_the_end(self) -> Ended:
        """Read until the child has ended or has to be."""
        with selectors.DefaultSelector() as selector:
            for stream in self._said:
                assert stream is not None
                selector.register(stream, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(min(max(self._left(), 0), _TICK_SECONDS))
                for done in [key.fileobj for key, _ in ready if not self._heard(key.fileobj)]:
                    selector.unregister(done)
                # What the child left behind may hold the pipes open for ever.
                is_alone = not ready and self._child.poll() is not None
                if is_alone or self._is_too_much() or self._left() <= 0:
                    break
        if self._is_too_much():
            return Ended.TOO_MUCH
        try:
            self._child.wait(max(self._left(), 0))
        except subprocess.TimeoutExpired:
            return Ended.TIMED_OUT
        return Ended.EXITED

    def _is_too_much(self) -> bool:
        return max(map(len, self._said.values())) > self._limits.output_bytes

    def _left(self) -> float:
        return self._deadline - time.monotonic()

    def _heard(self, stream: object) -> bool:
        """Read one piece; False at the end of the stream."""
        each = self._child.stdout if stream is self._child.stdout else self._child.stderr
        assert each is not None
        piece = os.read(each.fileno(), _PIECE)
        self._said[each].extend(piece)
        return bool(piece)


def _end_group(child: subprocess.Popen[bytes], grace: timedelta) -> None:
    """End the child, if it still runs, and all that it started."""
    if child.poll() is None:
        _signal_group(child, signal.SIGTERM)
        try:
            child.wait(grace.total_seconds())
        except subprocess.TimeoutExpired:
            pass
    # A group keeps its number for as long as it has members, so this reaches nobody else.
    _signal_group(child, signal.SIGKILL)
    child.wait()


def _signal_group(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(child.pid, number)
    except (ProcessLookupError, PermissionError):
        pass
