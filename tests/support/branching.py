"""Many faults from one start: a command is started once and copied before it changes anything.

The command runs under a tracer until its first call that could change the disk and is paused there.
Every trial is a clone of the paused process with one fault. Starting the interpreter is nine tenths
of a run, so cloning makes it affordable to try every fault at every call of every command.
"""

import ctypes
import errno
import os
import platform
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from tests.support.durability import WATCHED
from tests.support.programs import Command, Outcome
from tests.support.strace import Call, Injection, NothingInjected, Traced

MOST_CALLS = 50_000  # more calls than this mean an endless loop
KILL, STOP, SHORT = "signal=KILL", "signal=STOP", "a short write"

_TRACEME, _GETREGS, _SETREGS, _DETACH, _SYSCALL = 0, 12, 13, 17, 24
_SETOPTIONS, _GETEVENTMSG = 0x4200, 0x4201
_TRACESYSGOOD, _TRACEFORK, _EXITKILL = 1, 2, 0x100000
_SYSCALL_STOP, _FORKED = signal.SIGTRAP | 0x80, signal.SIGTRAP | (1 << 8)
_CLONE, _CLONE_PARENT = 56, 0x8000
_STARTING, _REAPING = frozenset({"clone", "fork", "vfork", "clone3"}), frozenset({"wait4"})
_WALL = 0x40000000
_NONE = ctypes.c_ulonglong(-1).value

_NAMES = {
    int(number): name
    for number, name in (
        word.split(":")
        for word in (
            "0:read 1:write 2:open 3:close 4:stat 5:fstat 6:lstat 7:poll 8:lseek 9:mmap "
            "10:mprotect 11:munmap 12:brk 13:rt_sigaction 14:rt_sigprocmask 15:rt_sigreturn "
            "16:ioctl 17:pread64 18:pwrite64 20:writev 21:access 23:select 24:sched_yield "
            "25:mremap 28:madvise 32:dup 33:dup2 35:nanosleep 38:setitimer 39:getpid 56:clone "
            "57:fork 58:vfork 59:execve "
            "60:exit 61:wait4 63:uname 72:fcntl 73:flock 74:fsync 75:fdatasync 76:truncate "
            "77:ftruncate 78:getdents 79:getcwd 80:chdir 81:fchdir 82:rename 83:mkdir 84:rmdir "
            "85:creat 86:link 87:unlink 88:symlink 89:readlink 90:chmod 91:fchmod 92:chown "
            "93:fchown 95:umask 96:gettimeofday 97:getrlimit 99:sysinfo 102:getuid 104:getgid "
            "107:geteuid 108:getegid 110:getppid 111:getpgrp 124:getsid 131:sigaltstack "
            "137:statfs 138:fstatfs 157:prctl 158:arch_prctl 186:gettid 202:futex "
            "204:sched_getaffinity 217:getdents64 218:set_tid_address 222:timer_create "
            "228:clock_gettime 229:clock_getres 230:clock_nanosleep 231:exit_group 232:epoll_wait "
            "233:epoll_ctl 257:openat "
            "258:mkdirat 262:newfstatat 263:unlinkat 264:renameat 265:linkat 266:symlinkat "
            "267:readlinkat 268:fchmodat 269:faccessat 270:pselect6 271:ppoll 273:set_robust_list "
            "280:utimensat 285:fallocate 291:epoll_create1 292:dup3 293:pipe2 302:prlimit64 316:renameat2 "
            "318:getrandom 326:copy_file_range 332:statx 334:rseq 435:clone3 437:openat2 439:faccessat2"
        ).split()
    )
}
_READING = frozenset(
    "read close stat fstat lstat poll lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask "
    "rt_sigreturn ioctl pread64 access select sched_yield mremap madvise dup dup2 getpid execve "
    "uname fcntl getdents getcwd readlink umask gettimeofday getrlimit sysinfo getuid getgid "
    "geteuid getegid getppid getpgrp getsid sigaltstack statfs fstatfs arch_prctl gettid futex "
    "sched_getaffinity getdents64 set_tid_address clock_gettime clock_getres newfstatat "
    "readlinkat faccessat set_robust_list prlimit64 getrandom statx rseq faccessat2 "
    "timer_create setitimer prctl epoll_create1 epoll_ctl epoll_wait".split()
)
_AT = frozenset(
    "openat openat2 mkdirat unlinkat renameat renameat2 linkat symlinkat".split()
)  # a descriptor comes before each name
_TWO_NAMES = frozenset("rename link symlink renameat renameat2 linkat".split())
# Calls by the kind of their first argument, to tell which paths they concern.
_BY_DESCRIPTOR = frozenset(
    "read pread64 write pwrite64 writev close fstat lseek ioctl fcntl flock fsync fdatasync "
    "ftruncate getdents getdents64 fchdir fchmod fchown fstatfs fallocate dup dup2 dup3".split()
)
_BY_NAME = frozenset("stat lstat access readlink open creat statfs chdir".split())
_BY_NAME_BESIDE = frozenset(
    "openat openat2 newfstatat readlinkat faccessat faccessat2 statx".split()
)
_FLAGS = {"O_CREAT": os.O_CREAT, "O_EXCL": os.O_EXCL, "O_TRUNC": os.O_TRUNC}
_CHANGING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_EXCHANGE = 2


class _Registers(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_ulonglong)
        for name in (
            "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags "
            "rsp ss fs_base gs_base ds es fs gs"
        ).split()
    ]


_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long


def why_not() -> str:
    """Why this machine cannot do it; empty if it can."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return "processes are copied on x86-64 Linux only"
    return ""


@dataclass(slots=True)
class _Walk:
    """The progress of a process: whether it is inside a call, and the number of calls by name."""

    pid: int
    seen: Counter[str] = field(default_factory=Counter)
    inside: bool = False


class PausedCommand:
    """A started command, paused before its first call that could change the disk.

    Calls are numbered from the pause. Before it, their number depends on where the command is
    started: it looks at the processes above it, for example.
    """

    def __init__(self, command: Command) -> None:
        self._process = subprocess.Popen(
            command.words,
            cwd=command.folder,
            env=dict(command.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=lambda: _libc.ptrace(_TRACEME, 0, None, None),  # noqa: PLW1509
        )
        self.before = 0  # calls so far; none of them can have changed anything
        self._walk = _Walk(self._process.pid)
        for stream in self._streams:
            os.set_blocking(stream, False)
        os.waitpid(self._walk.pid, 0)  # stopped at its start
        _ptrace(_SETOPTIONS, self._walk.pid, _TRACESYSGOOD | _TRACEFORK | _EXITKILL)
        while True:
            call = self._next_call()
            if _may_change(self._walk.pid, call, self._registers):
                break
            self.before += 1

    def branch(
        self, injection: Injection | None = None, meanwhile: Callable[[], None] | None = None
    ) -> Traced:
        """Run a copy to its end, with a fault if one is given, and check that the fault struck."""
        self._output()
        walk = _Walk(self._copy())
        try:
            code, calls, struck = _followed(walk, injection, meanwhile)
        except BaseException:
            _end(walk.pid)
            raise
        output, errors = self._output()
        outcome = Outcome(code, output, errors, 0.0)
        if injection is not None and not struck:
            raise NothingInjected(f"{injection}: {outcome.describe()}")
        return Traced(outcome, calls)

    def close(self) -> None:
        """End the paused process."""
        _end(self._walk.pid)
        self._process.communicate()

    @property
    def _streams(self) -> tuple[int, int]:
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        return self._process.stdout.fileno(), self._process.stderr.fileno()

    def _output(self) -> tuple[bytes, bytes]:
        first, second = (b"".join(_available(stream)) for stream in self._streams)
        return first, second

    def _next_call(self) -> str:
        """Go on to the next entry of a call."""
        while True:
            _stop_of(self._walk.pid, _SYSCALL_STOP)
            self._walk.inside = not self._walk.inside
            if self._walk.inside:
                self._registers = _registers(self._walk.pid)
                return _name(self._registers)

    def _copy(self) -> int:
        """A copy of the paused process that is about to make the same call.

        The current call becomes a clone, and both processes then repeat it: its instruction is two
        bytes long. Our own process is the parent of the copy, so it can reap it.
        """
        kept, pid = self._registers, self._walk.pid
        asking = _Registers.from_buffer_copy(kept)
        asking.orig_rax, asking.rdi = _CLONE, _CLONE_PARENT | signal.SIGCHLD
        asking.rsi = asking.rdx = asking.r10 = asking.r8 = 0
        _set_registers(pid, asking)
        _stop_of(pid, _FORKED)
        copy = _forked(pid)
        again = _Registers.from_buffer_copy(kept)
        again.rip -= 2
        again.rax, again.orig_rax = kept.orig_rax, _NONE
        _set_registers(copy, again)
        _stop_of(pid, _SYSCALL_STOP)  # the clone has returned
        _set_registers(pid, again)
        _stop_of(pid, _SYSCALL_STOP)  # and the first call is entered again
        return copy


def _followed(
    walk: _Walk, injection: Injection | None, meanwhile: Callable[[], None] | None
) -> tuple[int, tuple[Call, ...], bool]:
    calls: list[Call] = []
    struck, name, arguments = False, "", ""
    children, may_change = 0, True
    may_see: tuple[str, ...] | None = None
    result: int | None = None  # the result that the injected call returns
    hit, passed_on = False, 0
    while True:
        with suppress(ProcessLookupError):  # a killed process cannot be continued
            _ptrace(_SYSCALL, walk.pid, passed_on)
        passed_on = 0
        status = _waited(walk.pid)
        if not os.WIFSTOPPED(status):
            return os.waitstatus_to_exitcode(status), tuple(calls), struck
        if status >> 8 == _FORKED:
            _ptrace(_DETACH, _forked(walk.pid), 0)  # a started program is not under test
            continue
        if os.WSTOPSIG(status) != _SYSCALL_STOP:
            passed_on = os.WSTOPSIG(status)
            continue
        registers = _registers(walk.pid)
        walk.inside = not walk.inside
        if walk.inside:
            name = _name(registers)
            walk.seen[name] += 1
            arguments = _arguments(walk.pid, name, registers)
            if injection is None:
                may_change = children > 0 or _may_change(walk.pid, name, registers)
                may_see = None if children else _paths(walk.pid, name, registers)
            hit = injection is not None and _meets(injection, name, walk.seen[name])
            if name == "exit_group" or (hit and injection and injection.effect == KILL):
                calls.append(Call(name, walk.seen[name], arguments, None, ""))
            if hit and injection is not None:
                struck = True
                result = _inject(walk.pid, registers, injection.effect)
            continue
        if hit and result is not None:
            registers.rax = ctypes.c_ulonglong(result).value
            _set_registers(walk.pid, registers)
        value = ctypes.c_longlong(registers.rax).value
        injected = hit and result is not None
        calls.append(
            Call(name, walk.seen[name], arguments, value, "", injected, may_change, may_see)
        )
        if value > 0:
            children += (name in _STARTING) - (name in _REAPING)
        if len(calls) > MOST_CALLS:
            os.kill(walk.pid, signal.SIGKILL)
        if hit and meanwhile is not None:
            meanwhile()
        hit, result = False, None


def _inject(pid: int, registers: _Registers, effect: str) -> int | None:
    """Apply the fault before the call; return the result that the call must seem to have."""
    kind, _, value = effect.partition("=")
    if effect == KILL:
        os.kill(pid, signal.SIGKILL)
    elif effect == SHORT:
        if registers.rdx < 2:
            raise NothingInjected("nothing to shorten")
        registers.rdx = 1
        _set_registers(pid, registers)
    elif kind in {"error", "retval"}:
        registers.orig_rax = _NONE  # the call is skipped
        _set_registers(pid, registers)
        return int(value) if kind == "retval" else -int(getattr(errno, value))
    return None


def _meets(injection: Injection, name: str, number: int) -> bool:
    if name != injection.name:
        return False
    return number >= injection.number if injection.onward else number == injection.number


def _may_change(pid: int, name: str, registers: _Registers) -> bool:
    if name in {"open", "openat"}:
        flags = registers.rdx if name == "openat" else registers.rsi
        where = registers.rsi if name == "openat" else registers.rdi
        return bool(flags & _CHANGING) and not _text(pid, where).startswith("/dev/")
    return name not in _READING


def _arguments(pid: int, name: str, registers: _Registers) -> str:
    """The arguments in the notation of strace, for the calls that the checks need."""
    if name not in WATCHED:
        return ""
    one, two, three, four = registers.rdi, registers.rsi, registers.rdx, registers.r10
    if name in _AT:
        words = [_descriptor(pid, one), f'"{_text(pid, two)}"']
        if name in _TWO_NAMES:
            words += [_descriptor(pid, three), f'"{_text(pid, four)}"']
        if name == "openat":
            words.append("|".join(word for word, bit in _FLAGS.items() if three & bit))
        if name == "renameat2" and registers.r8 & _EXCHANGE:
            words.append("RENAME_EXCHANGE")
        return ", ".join(words)
    if name in {"mkdir", "unlink", "rmdir", "open", "creat", *_TWO_NAMES}:
        words = [f'"{_text(pid, one)}"']
        if name in _TWO_NAMES:
            words.append(f'"{_text(pid, two)}"')
        return ", ".join(words)
    return _descriptor(pid, one)


def _paths(pid: int, name: str, registers: _Registers) -> tuple[str, ...] | None:
    """The paths that a call concerns; None if that is not known."""
    if name in _BY_NAME:
        return (_joined(_place(pid, -1), _text(pid, registers.rdi)),)
    if name in _BY_NAME_BESIDE:
        beside = _place(pid, registers.rdi)
        return (_joined(beside, _text(pid, registers.rsi)),) if beside else None
    if name in _BY_DESCRIPTOR:
        place = _place(pid, registers.rdi)
        return (place,) if place.startswith("/") else None
    return None


def _joined(folder: str, name: str) -> str:
    return os.path.normpath(os.path.join(folder, name))


def _place(pid: int, value: int) -> str:
    number = ctypes.c_int(value & 0xFFFFFFFF).value
    with suppress(OSError):
        return os.readlink(f"/proc/{pid}/{'cwd' if number < 0 else f'fd/{number}'}")
    return ""


def _descriptor(pid: int, value: int) -> str:
    number, place = ctypes.c_int(value & 0xFFFFFFFF).value, _place(pid, value)
    if not place:
        return str(number)
    return f"{'AT_FDCWD' if number < 0 else number}<{place}>"


def _text(pid: int, address: int) -> str:
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        found = memory.read(min(4096, 4096 - address % 4096)) or b""
        if b"\0" not in found:
            found += memory.read(4096) or b""
    return os.fsdecode(found.partition(b"\0")[0])


def _name(registers: _Registers) -> str:
    number = int(registers.orig_rax)
    return _NAMES.get(number, f"call-{number}")


def _registers(pid: int) -> _Registers:
    registers = _Registers()
    _ptrace(_GETREGS, pid, ctypes.addressof(registers))
    return registers


def _set_registers(pid: int, registers: _Registers) -> None:
    _ptrace(_SETREGS, pid, ctypes.addressof(registers))


def _stop_of(pid: int, kind: int) -> None:
    """Let a process run to a stop of this kind; pass on signals that arrive meanwhile."""
    passed_on = 0
    while True:
        _ptrace(_SYSCALL, pid, passed_on)
        status = _waited(pid)
        if not os.WIFSTOPPED(status):
            raise NothingInjected("the command ended before it changed anything")
        if status >> 8 == kind:
            return
        passed_on = 0 if status >> 16 else os.WSTOPSIG(status)


def _forked(pid: int) -> int:
    """The process that was just forked, stopped at its start."""
    message = ctypes.c_ulong()
    _ptrace(_GETEVENTMSG, pid, ctypes.addressof(message))
    _waited(int(message.value))
    return int(message.value)


def _waited(pid: int) -> int:
    return os.waitpid(pid, _WALL)[1]


def _ptrace(request: int, pid: int, value: int) -> None:
    if _libc.ptrace(request, pid, None, value) == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _available(stream: int) -> Iterator[bytes]:
    with suppress(BlockingIOError):
        while piece := os.read(stream, 65536):
            yield piece


def _end(pid: int) -> None:
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(pid, signal.SIGKILL)
        while os.WIFSTOPPED(os.waitpid(pid, _WALL)[1]):
            pass
