"""Injects faults at one chosen system call of a real process.

A command is traced once to learn its calls; then it runs again with one fault at the k-th call of a
name. A fault that did not strike proves nothing, so it is an error of the test. The option
`--seccomp-bpf` is never used: with it strace accepts the injection and silently does nothing.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing import current_process
from pathlib import Path

from tests.support.programs import Command, Outcome, run, start

_LINE = re.compile(r"^(?:(?P<pid>\d+)\s+)?(?P<name>[a-z_][a-z0-9_]*)\((?P<rest>.*)$")
_RESULT = re.compile(r"^(?P<arguments>.*)\)\s+= (?P<result>-?\d+|0x[0-9a-f]+|\?)(?P<more>.*)$")
_MOST_CONTENT = "1048576"
_STOPPED = "--- stopped by SIGSTOP ---"


class NothingInjected(AssertionError):
    """The fault did not strike, so the run proves nothing."""


@dataclass(frozen=True, slots=True)
class Call:
    """One system call of the main thread."""

    name: str
    number: int  # its count among the calls of this name, as in strace
    arguments: str
    result: int | None  # None: the process ended first
    path: str  # the path of the result, if it is a descriptor
    injected: bool = False
    # What the tracer knows about the call; where it does not know, both are possible.
    may_change: bool = True  # it could change the disk, or a started program runs beside it
    may_see: tuple[str, ...] | None = None  # the paths it concerns; None: any path

    @property
    def place(self) -> str:
        """A short name for findings, such as `fsync#2`."""
        return f"{self.name}#{self.number}"


@dataclass(frozen=True, slots=True)
class Injection:
    """A fault at the k-th call of a name: once, or from then on."""

    name: str
    number: int
    effect: str  # in the notation of strace: signal=KILL, error=EIO, retval=1
    onward: bool = False

    @property
    def expression(self) -> str:
        """The argument of strace's -e option."""
        return f"inject={self.name}:{self.effect}:when={self.number}{'+' if self.onward else ''}"

    def __str__(self) -> str:
        return f"{self.effect} at {self.name}#{self.number}{' and after' if self.onward else ''}"


@dataclass(frozen=True, slots=True)
class Traced:
    """A run with all calls of its main thread."""

    outcome: Outcome
    calls: tuple[Call, ...]


@cache
def why_not() -> str:
    """Why tracing does not work here; empty if it does."""
    if not sys.platform.startswith("linux"):
        return "strace needs Linux"
    if shutil.which("strace") is None:
        return "strace is not installed"
    probe = subprocess.run(
        ["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True, check=False
    )
    return "" if probe.returncode == 0 else "this machine does not allow tracing"


def trace(
    command: Command,
    injection: Injection | None = None,
    watched: Iterable[str] = (),
    *,
    content: bool = False,
    alone: bool = False,
) -> Traced:
    """Run under strace, with a fault if one is given, and check that it struck.

    Only the watched calls and the injected one are listed, or all if none is named. `content` lists
    what they write in full. With `alone` the fault never strikes a child process, which goes on.
    """
    with tempfile.TemporaryDirectory(prefix="trace-") as scratch:
        log = Path(scratch) / "log"
        outcome = run(_traced(command, log, injection, watched, content=content, alone=alone))
        calls = calls_in(log.read_text("utf-8", "replace"))
    if injection is not None and not _has_struck(injection, outcome, calls):
        raise NothingInjected(f"{injection}: {outcome.describe()}")
    return Traced(outcome, calls)


@contextmanager
def paused(command: Command, injection: Injection) -> Iterator[subprocess.Popen[bytes]]:
    """The command, stopped right after the given call; it continues when the block ends."""
    with tempfile.TemporaryDirectory(prefix="trace-") as scratch:
        log = Path(scratch) / "log"
        child = start(_traced(command, log, injection, (injection.name,)))
        try:
            pid = _stopped_pid(child, log)
        except BaseException:
            child.kill()
            child.communicate()
            raise
        try:
            yield child
        finally:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def calls_in(log: str) -> tuple[Call, ...]:
    """The calls of the main thread, which is the first one to appear."""
    seen: Counter[str] = Counter()
    calls: list[Call] = []
    main = ""
    for line in log.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        pid = match["pid"] or "alone"
        main = main or pid
        if pid == main:
            seen[match["name"]] += 1
            calls.append(_call(match["name"], seen[match["name"]], match["rest"]))
    return tuple(calls)


def from_the_lock_on(calls: tuple[Call, ...]) -> tuple[Call, ...]:
    """The calls from the lock to the end."""
    for index, call in enumerate(calls):
        if call.name == "flock":
            return calls[index:]
    raise AssertionError("the command never takes a kernel lock")


def after_the_start(calls: tuple[Call, ...]) -> tuple[Call, ...]:
    """All calls except the one that starts the program, before which there is nothing to kill."""
    return tuple(call for call in calls if call.name != "execve")


def _traced(
    command: Command,
    log: Path,
    injection: Injection | None,
    watched: Iterable[str],
    *,
    content: bool = False,
    alone: bool = False,
) -> Command:
    options: tuple[str, ...] = ("-e", injection.expression) if injection else ()
    names = {*watched}
    if names and injection:
        names.add(injection.name)
    if names:
        options += ("-e", f"trace={','.join(sorted(names))}")
    if content:
        options += ("-x", "-s", _MOST_CONTENT)
    follow: tuple[str, ...] = () if alone else ("-f",)
    if follow and names and not (injection and injection.effect.startswith("signal")):
        # The other calls do not stop the process then. With it, strace injects no signals.
        follow += ("--seccomp-bpf",)
    return command.behind(
        *_on_one_processor(), "strace", *follow, "-qq", "-y", "-o", str(log), *options
    )


def _on_one_processor() -> tuple[str, ...]:
    """Pin tracer and traced process to one processor, which is three times faster."""
    if shutil.which("taskset") is None:
        return ()
    return ("taskset", "-c", str(processor()))


def processor() -> int:
    """The processor for the traced runs of this worker."""
    processors = sorted(os.sched_getaffinity(0))
    return processors[_lane() % len(processors)]


def _lane() -> int:
    """A number for this worker among the concurrent ones."""
    names = (
        os.environ.get("PYTEST_XDIST_WORKER", ""),
        current_process().name,
        threading.current_thread().name,
    )
    digits = [re.findall(r"\d+$", name) for name in names]
    return sum(int(numbers[0]) for numbers in digits if numbers)


def _call(name: str, number: int, rest: str) -> Call:
    match = _RESULT.match(rest)
    if match is None or match["result"] == "?":
        return Call(name, number, rest, None, "")
    path = match["more"].strip()
    path = path[1 : path.rfind(">")] if path.startswith("<") and ">" in path else ""
    return Call(
        name,
        number,
        match["arguments"],
        int(match["result"], 0),
        path,
        injected="(INJECTED)" in match["more"],
    )


def _has_struck(injection: Injection, outcome: Outcome, calls: tuple[Call, ...]) -> bool:
    if injection.effect == "signal=KILL":
        last = calls[-1] if calls else None
        killed = outcome.code == -signal.SIGKILL
        return killed and last is not None and last.place == f"{injection.name}#{injection.number}"
    return any(call.injected for call in calls)


def _stopped_pid(child: subprocess.Popen[bytes], log: Path) -> int:
    limit = time.monotonic() + 300
    while time.monotonic() < limit:
        text = log.read_text("utf-8", "replace") if log.exists() else ""
        for line in text.splitlines():
            if line.endswith(_STOPPED):
                return int(line.split()[0])
        if child.poll() is not None:
            raise NothingInjected("the process ended before it could be stopped")
        time.sleep(0.002)
    raise NothingInjected("the process was not stopped in time")
