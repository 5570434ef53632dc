"""Run a program with limits, and end its whole tree of processes afterwards.

Standard output and error are written to private files as they arrive, up to a limit, and passed
to a listener. The end of a pipe does not mean the end of the program, because a process that it
left behind may keep the pipe open for ever. A supervisor process (`supervisor.py`) runs between us
and the program; when we die, it ends the tree. If the supervisor is killed too, `reap` finds the
rest by the name of the job in its environment.
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

from fairlead.agents import supervisor
from fairlead.agents.errors import NotPrivate
from fairlead.agents.model import CallLimits, EndKind
from fairlead.agents.streams import Exit
from fairlead.core import process
from fairlead.core.errors import NotStarted
from fairlead.core.values import dataclass
from fairlead.store.files import make_private_folders

PROMPT, OUTPUT, ERRORS = "prompt.txt", "stdout.log", "stderr.log"  # the files of a call
GRACE_SECONDS = 5.0  # between SIGTERM and SIGKILL
_TICK_SECONDS = 0.25
_SLEPT_SECONDS = 5.0  # a longer delay means that this machine slept
_PIECE = 1 << 16
_TAIL = 4096
_NEW = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW


@dataclass(frozen=True, slots=True)
class Launch:
    """A program to start."""

    words: tuple[str, ...]  # the first is an absolute path
    folder: str
    environment: Mapping[str, str]
    raw: str  # private folder for its output; empty: only the listener gets it
    limits: CallLimits
    call: str  # a unique name of this call
    stdin: bytes = b""  # stored beside the output
    has_stdin: bool = True  # False: the program reads that file itself
    is_private: bool = True  # files it creates are readable by the user only
    is_brief: bool = False  # it may end before another supervisor could be started

    @property
    def prompt(self) -> str:
        """The private file with the program's input."""
        return self.file(PROMPT)

    def file(self, name: str) -> str:
        """The path of one of the files of the call."""
        return os.path.join(self.raw, name) if self.raw else os.devnull


class Listener(Protocol):
    """Receives the output of a program."""

    @property
    def is_done(self) -> bool:
        """Whether the program has reported its end."""
        ...

    def on_output(self, data: bytes) -> bool:
        """Receive standard output; True if it contains an event."""
        ...

    def on_errors(self, data: bytes) -> None:
        """Receive standard error."""
        ...

    def on_sleep(self, seconds: float) -> None:
        """The machine slept for so long; limits do not count that time."""
        ...


class SupervisorPool:
    """Supervisors that are started ahead: the next ones of a job start while a program runs.

    Each `start_ahead` replaces as many as were taken since the last one, so the pool grows to the
    number of short programs that run between two long ones.
    """

    def __init__(self, more: int = 0) -> None:
        self._more = more  # additional ones, once a program runs
        self.job = ""
        self._ready: list[process.SupervisedProcess] = []
        self._taken: list[str] = []  # the job of each; appending to a list is safe in threads

    @contextmanager
    def waiting(self, job: str) -> Iterator[None]:
        """Keep one ready during a job; unused ones end with it."""
        self.job, self._taken = job, [job]
        self.start_ahead()
        self._taken += [job] * self._more
        try:
            yield
        finally:
            self.job = ""
            while self._ready:
                self._ready.pop().close()

    def begin(self, launch: Launch) -> process.SupervisedProcess:
        """Start a program under a supervisor."""
        try:
            message = supervisor.start_message(
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
        supervised = self._take() or _new_supervisor(
            launch.environment.get(supervisor.JOB, launch.call)
        )
        self._taken.append(self.job)
        supervised.send(message)
        return supervised

    def start_ahead(self) -> None:
        """Start the supervisors of the next programs, while a job runs."""
        with suppress(IndexError, NotStarted):
            while self.job:
                self._ready.append(_new_supervisor(self._taken.pop()))

    def _take(self) -> process.SupervisedProcess | None:
        with suppress(IndexError):  # several calls may begin at once, and one takes the last
            while True:
                supervised = self._ready.pop()
                if supervised.supervisor.poll() is None:
                    return supervised
                supervised.close()
        return None


def _new_supervisor(job: str) -> process.SupervisedProcess:
    """Start a supervisor with the job in its environment, where `reap` finds it."""
    return process.start_supervisor(supervisor.start_words(sys.executable), {supervisor.JOB: job})


def supervise(
    launch: Launch,
    listener: Listener,
    is_wanted: Callable[[], bool],
    supervisors: SupervisorPool | None = None,
) -> Exit:
    """Run a program until it ends, exceeds a limit, or is not wanted any more."""
    if launch.raw:
        private_folder(launch.raw)
        _write_prompt(launch.prompt, launch.stdin)
    pool = supervisors or SupervisorPool()
    with (
        _Log(launch.file(OUTPUT), launch.limits.output_bytes) as output,
        _Log(launch.file(ERRORS), launch.limits.output_bytes) as errors,
    ):
        try:
            supervised = pool.begin(launch)
        except NotStarted as problem:  # a NUL among the words, or no process left
            return Exit(stopped=EndKind.SPAWN, reason=str(problem))
        # Only after the program has begun: starting two interpreters at once slows both down.
        on_begun = _nothing if launch.is_brief else pool.start_ahead
        try:
            pump = _Pump(supervised, launch.limits, listener, (output, errors))
            return pump.run(is_wanted, on_begun)
        finally:
            if not supervised.close():
                reap(supervisor.CALL, launch.call)


def _nothing() -> None:
    """Nothing to do."""


def reap(name: str, value: str, *, wait_seconds: float = 10.0) -> int:
    """End every process with this environment variable; return how many there were."""
    ended: set[supervisor.ProcessMark] = set()
    limit = time.monotonic() + wait_seconds
    while left := list(supervisor.carrying(name, value)):
        ended.update(left)
        supervisor.kill_all(lambda: supervisor.carrying(name, value))
        if time.monotonic() > limit:
            break
        time.sleep(0.01)
    return len(ended)


def private_folder(path: str) -> None:
    """Create a folder that only the user can open; refuse an existing one that others can."""
    make_private_folders(path)
    status = os.lstat(path)
    is_private = status.st_uid == os.geteuid() and not status.st_mode & 0o077
    if not (stat.S_ISDIR(status.st_mode) and is_private):
        raise NotPrivate(path)


def _write_prompt(path: str, content: bytes) -> None:
    with open(os.open(path, _NEW | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)


class _Log:
    """A private file with a size limit. Bytes that are not written are counted."""

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
        written = self._write(data[: self._left])
        self._left -= written
        self.dropped += len(data) - written

    def _write(self, data: bytes) -> int:
        try:
            return os.write(self._number, data) if data else 0
        except OSError:
            return 0


class _Pump:
    """Moves the output of one program and enforces its limits."""

    def __init__(
        self,
        supervised: process.SupervisedProcess,
        limits: CallLimits,
        listener: Listener,
        logs: tuple[_Log, _Log],
    ) -> None:
        self._supervised = supervised
        self._limits = limits
        self._listener = listener
        self._logs = dict(zip((supervised.output, supervised.errors), logs, strict=True))
        now = time.monotonic()
        self._wall_at = now + limits.wall.total_seconds()
        self._silence_at = now + limits.first_event.total_seconds()
        self._is_first = True
        self._linger_at = float("inf")
        self._give_up_at = float("inf")  # on a supervisor that does not answer
        self._code: int | None = None
        self._stopped: EndKind | None = None
        self._reason = ""

    def run(self, is_wanted: Callable[[], bool], on_begun: Callable[[], None]) -> Exit:
        """Move output until the supervisor reports that no process is left."""
        is_gone = False
        with selectors.DefaultSelector() as selector:
            for number in (*self._logs, self._supervised.status):
                os.set_blocking(number, False)
                selector.register(number, selectors.EVENT_READ)
            while not is_gone:
                ready = [key.fd for key in self._waited(selector)]
                on_begun()  # it has written something, or takes its time
                on_begun = _nothing
                for ended in [fd for fd in ready if fd in self._logs and not self._moved(fd)]:
                    selector.unregister(ended)
                is_gone = self._supervised.status in ready and self._read_status()
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
            self._listener.on_sleep(slept)
        return ready

    def _read_status(self) -> bool:
        """Read the supervisor's reports; True when no process is left, or no supervisor."""
        words = os.read(self._supervised.status, _PIECE).decode().splitlines()
        for word in words:
            match word.split():
                case ["exit", code]:
                    self._code = int(code)
                case ["spawn", number]:
                    self._stopped, self._reason = EndKind.SPAWN, os.strerror(int(number))
        if not words:
            self._stopped = self._stopped or EndKind.KILLED
            self._reason = self._reason or "its supervisor was killed"
        return not words or words[-1] == "gone"

    def _moved(self, number: int) -> bool:
        """Move one piece of output; False at the end of the pipe."""
        data = os.read(number, _PIECE)
        self._logs[number].add(data)
        if number == self._supervised.errors:
            self._listener.on_errors(data)
        elif data and self._listener.on_output(data):
            self._is_first = False
            self._silence_at = time.monotonic() + self._limits.idle.total_seconds()
        return bool(data)

    def _drain(self) -> None:
        """Read what is still in the pipes, without waiting for more."""
        for number in self._logs:
            try:
                while self._moved(number):
                    pass
            except BlockingIOError:
                pass  # a process out of our reach still has the pipe

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
        self._supervised.send(supervisor.TERMINATE)
        self._give_up_at = time.monotonic() + GRACE_SECONDS + 2

    def _exit(self) -> Exit:
        return Exit(
            code=self._code,
            stopped=self._stopped,
            reason=self._reason,
            errors=self._logs[self._supervised.errors].tail.decode("utf-8", "replace").strip(),
            dropped_bytes=sum(log.dropped for log in self._logs.values()),
            at=time.time(),
            zone=time.localtime().tm_gmtoff,
        )
