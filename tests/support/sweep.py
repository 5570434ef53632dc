"""One fault at every system call of a command, with all promises checked after each.

The files are old or new, never torn; success is reported only if it is true and durable; an error
names the file; and the next command works and leaves nothing behind. A sweep returns findings, so
the same code tests the product and shows that a planted fault is found.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from fairlead.core.errors import AgentError
from fairlead.store.errors import LaterFault
from tests.support import shortwrite
from tests.support.durability import WATCHED, not_durable
from tests.support.programs import Command, Outcome, interpreter, run
from tests.support.strace import (
    Call,
    Injection,
    NothingInjected,
    Traced,
    after_the_start,
    from_the_lock_on,
    trace,
)
from tests.support.subjects import PROJECT, Subject
from tests.support.trees import (
    DiskVersion,
    Tree,
    documents,
    judge,
    placeless,
    put_tree,
    read_tree,
    service_names,
    shape_of,
)

_LOOKS = 5  # until two undisturbed runs agree; one of them may be unusual
KILL = "signal=KILL"
SHORT = "a short write"
LYING = "retval=1"
ERRORS = ("ENOSPC", "EIO", "EDQUOT", "EROFS")
ERROR_CODES = frozenset({3, 4, 7})
UNSURE_CODES = ("not-confirmed", "step-interrupted", "later-fault")
# The paths that an error can be about; the project folder is shown as a dot, and an unreadable part
# of the program by its full path or its module.
_PLACES = (
    *(
        ".planning",
        ".ultraplan",
        ".claude",
        "settings.local.json",
        "config.json",
        ".fairlead",
        ".continue-here.md",
    ),
    *(".gitignore", "USER_REQUIREMENTS.md", "guide.md", "fairlead: .: ", f"/{PROJECT}", "/home/"),
    *("fairlead: checks", "fairlead: /", "broken-program"),
)
# Calls about memory, signals, time or the process itself: no disk can make them fail.
NO_FILE_CALLS = frozenset(
    "brk mmap munmap mprotect mremap madvise futex getpid gettid getppid getuid geteuid getgid "
    "getegid getrandom rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack setitimer timer_create "
    "timer_settime timer_delete alarm clock_gettime clock_nanosleep nanosleep clock_getres poll "
    "select pselect6 ppoll arch_prctl set_tid_address set_robust_list rseq prlimit64 uname sysinfo "
    "sched_yield sched_getaffinity exit exit_group execve pipe2 getpgrp getsid umask "
    "restart_syscall epoll_create1 epoll_ctl epoll_wait".split()
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken promise, and the fault that broke it."""

    fault: str
    what: str

    def __str__(self) -> str:
        return f"{self.fault}: {self.what}"


@dataclass(frozen=True, slots=True)
class Point:
    """One fault to try."""

    call: Call
    effect: str
    onward: bool = False

    @property
    def injection(self) -> Injection:
        """The fault as an strace injection; strace has no short writes."""
        return Injection(self.call.name, self.call.number, self.effect, self.onward)

    @property
    def concerns_output(self) -> bool:
        """Whether the call writes to the terminal rather than to the disk."""
        return self.call.name == "write" and self.call.arguments[:2] in {"1<", "2<", "1,", "2,"}

    @property
    def silences_output(self) -> bool:
        """Whether the fault prevents the command from reporting anything."""
        return self.call.name == "write" and (self.onward or self.concerns_output)


@dataclass(frozen=True, slots=True)
class Afterwards:
    """The result of a read and of the next command after a fault."""

    wrong: tuple[str, ...]
    version: DiskVersion  # whether the next command found the old version or the new one


class Rig:
    """Prepared folders for a command, and the results of undisturbed runs to compare with."""

    def __init__(self, subject: Subject, scratch: Path, *, remembers: bool = False) -> None:
        """Prepare the folders. With `remembers`, each state of the disk is followed up once."""
        self.subject = subject
        self._remembers = remembers
        self.scratch = scratch
        self.source = scratch / "source"
        subject.prepare(self.source)
        self.old = read_tree(self.source)
        self.after_old = self._after(disturb=False)
        self.after_new = self._after(disturb=True)
        self.calls: tuple[Call, ...] = ()
        # Bytecode is cached by now, so later runs make the same calls.
        for _ in range(_LOOKS):
            before = _places(self.calls)
            self._look()
            if _places(self.calls) == before:
                break
        self._left: dict[frozenset[tuple[str, bytes]], list[str]] = {}

    def _look(self) -> None:
        with self.world() as world:
            traced = trace(self.subject.command(world))
            assert traced.outcome.code == 0, traced.outcome.describe()
            self.calls = traced.calls
            self.new = read_tree(world)
            self.unsafe = self.unsafe_in(traced, world)

    @property
    def calls_from_the_lock(self) -> tuple[Call, ...]:
        """The calls from the lock on."""
        return from_the_lock_on(self.calls)

    def again(self, call: Call) -> Call:
        """The same call in the current run: before the lock, the loader's calls may differ."""
        then = touching_files(self.calls_from_the_lock)
        with self.world() as world:
            now = touching_files(from_the_lock_on(trace(self.subject.command(world)).calls))
        if [each.name for each in now] != [each.name for each in then]:
            raise NothingInjected("from the lock on, the command makes other calls than it did")
        if call not in then:
            raise NothingInjected(f"{call.place} is before the lock, where calls vary")
        return now[then.index(call)]

    @property
    def calls_of_the_process(self) -> tuple[Call, ...]:
        """All calls of the process."""
        return after_the_start(self.calls)

    @contextmanager
    def world(self) -> Iterator[Path]:
        """A new copy of the prepared folders, always at a path of the same length."""
        with tempfile.TemporaryDirectory(prefix="world-", dir=self.scratch) as folder:
            yield put_tree(self.source, Path(folder) / "w")

    def changed(self, world: Path) -> list[Path]:
        """The files whose content the command changes."""
        before, after = documents(self.old), documents(self.new)
        named = {placeless(name): name for name in read_tree(world)}
        return [world / named.get(name, name) for name in after if after[name] != before.get(name)]

    def unsafe_in(self, traced: Traced, world: Path) -> tuple[str, ...]:
        """Why a successful run would not survive a power loss."""
        return not_durable(traced.calls, world / PROJECT, self.changed(world))

    def afterwards(self, world: Path) -> Afterwards:
        """The faults of a read and of the next command after a fault."""
        # A file, because all processes of a sweep share the folder.
        known = self.scratch / f"afterwards-{_name_of(shape_of(read_tree(world)))}.json"
        if self._remembers and known.exists():
            words = json.loads(known.read_text("utf-8"))
            return Afterwards(tuple(words[1:]), DiskVersion(words[0]))
        wrong = [*_reading_works(self, world), *_next_command_works(self, world)]
        version = judge(read_tree(world), self.after_old, self.after_new).version
        if self._remembers:
            beside = known.with_suffix(f".{os.getpid()}")
            beside.write_text(json.dumps([version, *wrong]), "utf-8")
            beside.replace(known)
        return Afterwards(tuple(wrong), version)

    def left_behind(self, world: Path) -> list[str]:
        """Files that are still in the service folder after the next command."""
        shape = shape_of(dict.fromkeys(service_names(read_tree(world)), b""))
        if not self._remembers or shape not in self._left:
            follow(self.subject, world)
            known = service_names(self.after_old) | service_names(self.after_new)
            left = sorted(service_names(read_tree(world)) - known)
            self._left[shape] = [f"left behind: {', '.join(left)}"] if left else []
        return self._left[shape]

    def _after(self, *, disturb: bool) -> Tree:
        with self.world() as world:
            if disturb:
                run(self.subject.command(world))
            done = follow(self.subject, world)
            assert done.code in self.subject.follow_up_codes, done.describe()
            return read_tree(world)


def follow(subject: Subject, world: Path) -> Outcome:
    """Run what follows a fault, and return how it ended."""
    for statement in subject.statements:
        run(subject.program.command(world / PROJECT, *statement))
    return run(subject.next_command(world))


def _name_of(shape: frozenset[tuple[str, bytes]]) -> str:
    return hashlib.sha256(repr(sorted(shape)).encode()).hexdigest()


def touching_files(calls: Iterable[Call]) -> list[Call]:
    """The calls that can touch a file.

    The others come and go from run to run: the allocator asks for memory when it needs some.
    """
    return [call for call in calls if call.name not in NO_FILE_CALLS]


def _places(calls: Iterable[Call]) -> list[str]:
    """The calls by name and count."""
    return [call.place for call in touching_files(calls)]


def kill_points(calls: Iterable[Call]) -> list[Point]:
    """A kill before each call that could change the disk, and before the last call.

    A kill before any other call leaves what a kill before the next of these leaves: the kernel
    releases the locks of a killed process, and nothing else of it remains.
    """
    every = list(calls)
    last = [call for call in every[-1:] if call.name == "exit_group"]
    changing = [call for call in touching_files(every) if call.may_change]
    return [Point(call, KILL) for call in (*changing, *last)]


def error_points(calls: Iterable[Call], errors: Iterable[str] = ERRORS) -> list[Point]:
    """Every error at every call that can fail, once and persistently."""
    return [
        Point(call, f"error={error}", onward)
        for call in touching_files(calls)
        for error in errors
        for onward in (False, True)
    ]


def sampled(points: list[Point]) -> list[Point]:
    """One fault at every call; the kinds take turns, so that no call and no kind is left out."""
    by_place: dict[str, list[Point]] = {}
    for point in points:
        by_place.setdefault(point.call.place, []).append(point)
    # Steps of three reach all eight kinds, and alternate between once and onward.
    return [every[3 * index % len(every)] for index, every in enumerate(by_place.values())]


def write_points(calls: Iterable[Call]) -> list[Point]:
    """A short write, and a write that claims a byte it did not write, at every write to a file."""
    effects = (LYING,) if shortwrite.why_not() else (SHORT, LYING)
    return [
        Point(call, effect)
        for call in calls
        if call.name == "write" and not Point(call, "").concerns_output
        for effect in effects
    ]


def try_point(rig: Rig, point: Point) -> list[Finding]:
    """Inject one fault into a new copy and return the broken promises."""
    try:
        return _tried(rig, point)
    except NothingInjected:
        return _tried(rig, replace(point, call=rig.again(point.call)))


def _tried(rig: Rig, point: Point) -> list[Finding]:
    with rig.world() as world:
        command = rig.subject.command(world)
        if point.effect == SHORT:
            traced = _with_short_write(command, point.call.number)
        else:
            watched = {point.call.name} if point.effect == KILL else WATCHED
            traced = trace(command, point.injection, watched)
        return findings_after(rig, point, traced, world)


def findings_after(rig: Rig, point: Point, traced: Traced, world: Path) -> list[Finding]:
    """The promises that a run with a fault broke, including those about the next command."""
    if point.effect == KILL:
        broken = list(_after_kill(rig, traced, world))
    else:
        broken = list(_after_error(rig, traced, world, point))
    is_sure = traced.outcome.code > 0 and not _says_unsure(traced.outcome)
    afterwards = rig.afterwards(world)
    broken += afterwards.wrong
    if is_sure and afterwards.version is DiskVersion.NEW and not point.silences_output:
        broken.append("reported as not done, yet the next command completed it")
    return [Finding(str(point.injection), what) for what in broken]


def _after_kill(rig: Rig, traced: Traced, world: Path) -> Iterator[str]:
    verdict = judge(read_tree(world), rig.old, rig.new)
    if verdict.torn:
        yield f"torn: {', '.join(verdict.torn)}"
    if traced.outcome.output and verdict.version not in (DiskVersion.NEW, DiskVersion.SAME):
        yield f"acknowledged, but the files are {verdict.version}"


def _after_error(rig: Rig, traced: Traced, world: Path, point: Point) -> Iterator[str]:
    outcome = traced.outcome
    verdict = judge(read_tree(world), rig.old, rig.new)
    if verdict.torn:
        yield f"torn: {', '.join(verdict.torn)} ({outcome.describe()})"
    if outcome.code == 0:
        if verdict.version not in (DiskVersion.NEW, DiskVersion.SAME):
            yield f"false success: the files are {verdict.version}"
        for reason in rig.unsafe_in(traced, world) if traced.calls else ():
            yield f"false success: {reason}"
        return
    if verdict.version is DiskVersion.NEW and not point.silences_output:
        if not _says_unsure(outcome):
            yield f"in place, yet reported as not done ({outcome.describe()})"
    if "Traceback" in outcome.text:
        yield f"a traceback instead of a message ({outcome.describe()})"
    elif not (outcome.code in ERROR_CODES or _is_unstarted(outcome) or point.silences_output):
        yield f"wrong kind of error ({outcome.describe()})"
    if not point.silences_output and not _names_a_path(outcome):
        yield f"the error names no file ({outcome.describe()})"


def _with_short_write(command: Command, number: int) -> Traced:
    with tempfile.TemporaryDirectory(prefix="short-") as scratch:
        log = Path(scratch) / "log"
        prefix = (interpreter(), "-I", "-S", shortwrite.__file__, str(log), str(number))
        outcome = run(command.behind(*prefix))
        if not log.exists():
            raise NothingInjected(f"write#{number} was not made short: {outcome.describe()}")
    return Traced(outcome, ())


def _says_unsure(outcome: Outcome) -> bool:
    """Whether the error says that the change may be there or will be completed later."""
    is_later = LaterFault.hint in outcome.text  # as text, the code is not shown
    return is_later or any(code in outcome.text for code in UNSURE_CODES)


def _is_unstarted(outcome: Outcome) -> bool:
    """Whether another program could not be started, which is not a fault of a document."""
    return outcome.code == AgentError.exit_code and "cannot be started" in outcome.text


def _names_a_path(outcome: Outcome) -> bool:
    return any(name in outcome.text for name in _PLACES)


def _reading_works(rig: Rig, world: Path) -> Iterator[str]:
    reading = run(rig.subject.read_command(world))
    if reading.code not in rig.subject.reader_codes:
        yield f"reading no longer works ({reading.describe()})"


def _next_command_works(rig: Rig, world: Path) -> Iterator[str]:
    """The next writer succeeds, completes or drops the interrupted step, and cleans up."""
    done = follow(rig.subject, world)
    if done.code not in rig.subject.follow_up_codes:
        yield f"the next command does not work ({done.describe()})"
        return
    now = read_tree(world)
    expected = (rig.after_old, rig.after_new)
    if documents(now) not in [documents(tree) for tree in expected]:
        verdict = judge(now, *expected)
        names = ", ".join((*verdict.torn, *verdict.strange))
        yield f"after the next command the files are {verdict.version}: {names}"
    left = service_names(now) - service_names(rig.after_old) - service_names(rig.after_new)
    if left:
        yield f"left behind: {', '.join(sorted(left))}"
