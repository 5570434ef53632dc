"""Supervision: a program with limits, whose whole tree of processes is gone when it is over.

Standard output and error go to private files as they come, as far as the limit, and a copy to
a listener. The end is never tied to the end of a pipe: what the program left behind may hold
that open for ever. A keeper stands between us and the program; when we die, it ends the tree.
What a killed keeper leaves carries the job's name in its environment: `reap` finds it.
"""

from __future__ import annotations

import os
import selectors
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Protocol

from fairlead.adapters import keeper, process
from fairlead.errors import NotPrivate, NotStarted
from fairlead.model.agent_events import EndKind
from fairlead.model.agent_orders import Limits
from fairlead.model.agent_streams import Exit
from fairlead.values import dataclass

PROMPT, OUTPUT, ERRORS = "prompt.txt", "stdout.log", "stderr.log"  # what is kept of a call
GRACE_SECONDS = 5.0  # between being asked to end and being ended
_TICK_SECONDS = 0.25
_SLEPT_SECONDS = 5.0  # later than this, and it was us who stood still
_PIECE = 1 << 16
_TAIL = 4096
_NEW = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW


@dataclass(frozen=True, slots=True)
class Launch:
    """A program that is to be started."""

    words: tuple[str, ...]  # the first is an absolute path
    folder: str
    environment: Mapping[str, str]
    raw: str  # private folder for what it says; empty: the listener alone has it
    limits: Limits
    call: str  # this call's own name, unlike any other's
    stdin: bytes = b""  # kept beside the output
    has_stdin: bool = True  # False: the program reads that file itself
    is_private: bool = True  # what it makes is for us alone, whatever our own files are
    is_brief: bool = False  # it may be over before the next keeper has been started

    @property
    def prompt(self) -> str:
        """The private file with what the program reads."""
        return self.kept_as(PROMPT)

    def kept_as(self, name: str) -> str:
        """Where a part of the exchange is kept."""
        return os.path.join(self.raw, name) if self.raw else os.devnull


class Listener(Protocol):
    """Hears what a program says."""

    @property
    def is_done(self) -> bool:
        """Whether the program has said its last word."""
        ...

    def hear(self, data: bytes) -> bool:
        """Take in a piece; True if it was a sign of life."""
        ...

    def overhear(self, data: bytes) -> None:
        """Take in a piece of its standard error."""
        ...

    def slept(self, seconds: float) -> None:
        """Take in that time was lost which no limit counts."""
        ...


class Keepers:
    """Keepers that wait for their programs: within a job the next are started while one works.

    As many are started as were taken since: there come to be as many as are needed between one
    program that takes its time and the next.
    """

    def __init__(self, more: int = 0) -> None:
        self._more = more  # to wait beside the first, once a program has begun
        self.job = ""
        self._ready: list[process.Kept] = []
        self._taken: list[str] = []  # by their jobs; a list, since several calls may begin at once

    @contextmanager
    def waiting(self, job: str) -> Iterator[None]:
        """Have one wait at any time; those that got nothing to do go home at the end."""
        self.job, self._taken = job, [job]
        self.start_ahead()
        self._taken += [job] * self._more
        try:
            yield
        finally:
            self.job = ""
            while self._ready:
                self._ready.pop().close()

    def begin(self, launch: Launch) -> process.Kept:
        """Start a program behind its keeper."""
        try:
            order = keeper.program(
                launch.words,
                launch.folder,
                launch.environment,
                launch.prompt,
                GRACE_SECONDS,
                has_stdin=launch.has_stdin,
                is_private=launch.is_private,
            )
        except ValueError as problem:
            raise NotStarted(launch.words[0], str(problem)) from problem
        kept = self._one_that_waits() or _keeper(launch.environment.get(keeper.JOB, launch.call))
        self._taken.append(self.job)
        kept.ask(order)
        return kept

    def start_ahead(self) -> None:
        """Start the keepers of the next programs, if there can be any."""
        with suppress(IndexError, NotStarted):
            while self.job:
                self._ready.append(_keeper(self._taken.pop()))

    def _one_that_waits(self) -> process.Kept | None:
        with suppress(IndexError):  # several calls may begin at once, and one gets the last
            while True:
                kept = self._ready.pop()
                if kept.keeper.poll() is None:
                    return kept
                kept.close()
        return None


def _keeper(job: str) -> process.Kept:
    """A keeper that a later run finds, should it be left behind: see `reap`."""
    return process.keep(keeper.start_words(sys.executable), {keeper.JOB: job})


def supervise(
    launch: Launch,
    listener: Listener,
    is_wanted: Callable[[], bool],
    keepers: Keepers | None = None,
) -> Exit:
    """Run a program to its end, whoever brings that about."""
    if launch.raw:
        private_folder(launch.raw)
        _write_prompt(launch.prompt, launch.stdin)
    keepers = keepers or Keepers()
    with (
        _Log(launch.kept_as(OUTPUT), launch.limits.output_bytes) as output,
        _Log(launch.kept_as(ERRORS), launch.limits.output_bytes) as errors,
    ):
        try:
            kept = keepers.begin(launch)
        except NotStarted as problem:  # no system can start this, or has no processes left
            return Exit(stopped=EndKind.SPAWN, reason=str(problem))
        # Not before the program has begun: two interpreters at once take each other's time.
        begun = _nothing if launch.is_brief else keepers.start_ahead
        try:
            pump = _Pump(kept, launch.limits, listener, (output, errors))
            return pump.to_the_end(is_wanted, begun)
        finally:
            if not kept.close():
                reap(keeper.CALL, launch.call)


def _nothing() -> None:
    """There is nobody to tell."""


def reap(name: str, value: str, *, wait_seconds: float = 10.0) -> int:
    """End every process whose environment has this value; how many there were."""
    found: set[keeper.Mark] = set()
    limit = time.monotonic() + wait_seconds
    while left := list(keeper.carrying(name, value)):
        found.update(left)
        keeper.kill_all(lambda: keeper.carrying(name, value))
        if time.monotonic() > limit:
            break
        time.sleep(0.01)
    return len(found)


def identity(number: int) -> str:
    """A process, told apart from every other one before or after it; empty if there is none."""
    mark = keeper.mark_of(number)
    return f"{_boot()}:{mark[0]}:{mark[1]}" if mark else ""


def is_alive(name: str) -> bool:
    """Whether the process of this identity still runs."""
    parts = name.split(":")
    return len(parts) == 3 and parts[1].isdecimal() and identity(int(parts[1])) == name


def _boot() -> str:
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def private_folder(path: str) -> None:
    """Make a folder that only we can see; refuse one that others can."""
    os.makedirs(path, mode=0o700, exist_ok=True)
    found = os.lstat(path)
    is_ours = found.st_uid == os.geteuid() and not found.st_mode & 0o077
    if not (stat.S_ISDIR(found.st_mode) and is_ours):
        raise NotPrivate(path)


def _write_prompt(path: str, content: bytes) -> None:
    with open(os.open(path, _NEW | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)


class _Log:
    """A private file with a limit. What does not fit, or cannot be written, is counted."""

    def __init__(self, path: str, limit: int) -> None:
        self._number = os.open(path, _NEW | os.O_APPEND, 0o600)
        self._left = limit
        self.dropped = 0
        self.tail = b""

    def __enter__(self) -> _Log:
        return self

    def __exit__(self, *_: object) -> None:
        if self.dropped:
            self._write(f"\n[{self.dropped} bytes dropped]\n".encode())
        os.close(self._number)

    def add(self, data: bytes) -> None:
        self.tail = (self.tail + data[-_TAIL:])[-_TAIL:]
        kept = self._write(data[: self._left])
        self._left -= kept
        self.dropped += len(data) - kept

    def _write(self, data: bytes) -> int:
        try:
            return os.write(self._number, data) if data else 0
        except OSError:
            return 0


class _Pump:
    """The exchange with one program, and its clocks."""

    def __init__(
        self, kept: process.Kept, limits: Limits, listener: Listener, logs: tuple[_Log, _Log]
    ) -> None:
        self._kept = kept
        self._limits = limits
        self._listener = listener
        self._logs = dict(zip((kept.output, kept.errors), logs, strict=True))
        now = time.monotonic()
        self._wall_at = now + limits.wall.total_seconds()
        self._silence_at = now + limits.first_event.total_seconds()
        self._is_first = True
        self._linger_at = float("inf")
        self._give_up_at = float("inf")  # on a keeper that does not answer
        self._code: int | None = None
        self._stopped: EndKind | None = None
        self._reason = ""

    def to_the_end(self, is_wanted: Callable[[], bool], begun: Callable[[], None]) -> Exit:
        """Listen until the keeper says that nothing is left."""
        is_gone = False
        with selectors.DefaultSelector() as selector:
            for number in (*self._logs, self._kept.status):
                os.set_blocking(number, False)
                selector.register(number, selectors.EVENT_READ)
            while not is_gone:
                ready = [key.fd for key in self._waited(selector)]
                begun()  # it has said something, or thinks
                begun = _nothing
                for ended in [
                    each for each in ready if each in self._logs and not self._moved(each)
                ]:
                    selector.unregister(ended)
                is_gone = self._kept.status in ready and self._told()
                self._stop_if(is_wanted)
                is_gone = is_gone or time.monotonic() > self._give_up_at
        self._drain()
        return self._exit()

    def _waited(self, selector: selectors.BaseSelector) -> Iterable[selectors.SelectorKey]:
        before = time.monotonic()
        ready = [key for key, _ in selector.select(_TICK_SECONDS)]
        slept = time.monotonic() - before - _TICK_SECONDS
        if slept > _SLEPT_SECONDS:
            self._wall_at += slept
            self._silence_at += slept
            self._linger_at += slept
            self._listener.slept(slept)
        return ready

    def _told(self) -> bool:
        """Take in the keeper's words; True when nothing is left, or no keeper."""
        words = os.read(self._kept.status, _PIECE).decode().splitlines()
        for word in words:
            match word.split():
                case ["exit", code]:
                    self._code = int(code)
                case ["spawn", number]:
                    self._stopped, self._reason = EndKind.SPAWN, os.strerror(int(number))
        if not words:
            self._stopped = self._stopped or EndKind.KILLED
            self._reason = self._reason or "its keeper was killed"
        return not words or words[-1] == "gone"

    def _moved(self, number: int) -> bool:
        """Move one piece; False at the end of the pipe."""
        data = os.read(number, _PIECE)
        self._logs[number].add(data)
        if number == self._kept.errors:
            self._listener.overhear(data)
        elif data and self._listener.hear(data):
            self._is_first = False
            self._silence_at = time.monotonic() + self._limits.idle.total_seconds()
        return bool(data)

    def _drain(self) -> None:
        """Take what is still in the pipes, without waiting for more."""
        for number in self._logs:
            try:
                while self._moved(number):
                    pass
            except BlockingIOError:
                pass  # somebody beyond our reach holds the pipe

    def _stop_if(self, is_wanted: Callable[[], bool]) -> None:
        if self._give_up_at < float("inf"):
            return
        now, limits = time.monotonic(), self._limits
        if self._listener.is_done and self._linger_at == float("inf"):
            self._linger_at = now + limits.after_end.total_seconds()
        if not is_wanted():
            self._stop(EndKind.KILLED, "it was stopped")
        elif now > self._linger_at:
            self._stop(EndKind.KILLED, "it had finished and did not end")
        elif now > self._wall_at:
            self._stop(EndKind.TIMEOUT, f"over its limit of {limits.wall}")
        elif now > self._silence_at and not self._listener.is_done:
            limit = limits.first_event if self._is_first else limits.idle
            self._stop(EndKind.IDLE, f"no sign of life for {limit}")

    def _stop(self, kind: EndKind, reason: str) -> None:
        self._stopped, self._reason = kind, reason
        self._kept.ask(keeper.ASK)
        self._give_up_at = time.monotonic() + GRACE_SECONDS + 2

    def _exit(self) -> Exit:
        return Exit(
            code=self._code,
            stopped=self._stopped,
            reason=self._reason,
            errors=self._logs[self._kept.errors].tail.decode("utf-8", "replace").strip(),
            dropped_bytes=sum(log.dropped for log in self._logs.values()),
            at=time.time(),
            zone=time.localtime().tm_gmtoff,
        )
