"""The supervisor: a small program between us and an agent that ends everything the agent started.

An isolated interpreter starts it (`start_words`) with the numbers of two pipes, CONTROL and STATUS.
The program to run arrives over CONTROL (`start_message`), so supervisors can be started ahead.
It adopts every orphan below it (subreaper), so neither a new session nor a double fork escapes.
`TERMINATE` on CONTROL sends SIGTERM to all, and SIGKILL after a grace period. When CONTROL is
closed, we are dead, and all are killed at once. This module imports nothing of Fairlead;
`supervision` also uses its functions.
"""

import ctypes
import os
import resource
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
else:  # the module `signal` builds enums, which takes as long as starting the interpreter
    import _signal as signal

JOB, CALL, DEPTH = "FAIRLEAD_JOB", "FAIRLEAD_CALL", "FAIRLEAD_DEPTH"
TERMINATE = b"T"

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_AFTER_EXIT_SECONDS = 0.5  # grace for processes that outlive the agent
_NEVER = float("inf")

_SIZE = 8  # bytes in front of a start message with its length

ProcessMark = tuple[int, int]  # number and start time; a number alone may be reused


def start_words(python: str) -> "list[str]":
    """The command that starts a supervisor: as a module, so that its compiled form is used."""
    folder = os.path.dirname(os.path.abspath(__file__))
    start = (
        "import sys; sys.path.append(sys.argv[1]); import supervisor; supervisor.main(sys.argv[2:])"
    )
    return [python, "-I", "-S", "-B", "-c", start, folder]


def start_message(
    words: "Sequence[str]",
    folder: str,
    environment: "Mapping[str, str]",
    prompt: str,
    grace: float,
    *,
    has_stdin: bool,
    is_private: bool,
) -> bytes:
    """The message that describes the program to run. Arguments would be visible to everyone."""
    options = (str(int(has_stdin)), str(int(is_private)))
    first = (str(grace), folder, prompt, *options, str(len(words)))
    fields = (*first, *words, *(f"{name}={value}" for name, value in environment.items()))
    if any("\0" in field for field in fields):
        raise ValueError("a word or a variable with a NUL in it")
    message = b"\0".join(os.fsencode(field) for field in fields)
    return len(message).to_bytes(_SIZE, "big") + message


def main(arguments: "list[str]") -> None:
    """Run one program until no process of it is left."""
    control, status = int(arguments[0]), int(arguments[1])
    for number in (control, status):
        os.set_inheritable(number, False)
    umask = os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # only CONTROL and SIGKILL end a supervisor
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    grace, start = _read_start_message(control, umask)
    child = _started(start, status)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):  # the agent's pipes close with the agent
        os.dup2(nothing, number)
    if child:
        _ProcessTree(child, control, status, grace).run(wake)
    _report(status, "gone")
    os._exit(0)  # no interpreter clean-up is needed


class _ProcessTree:
    """The program and everything below it."""

    def __init__(self, child: int, control: int, status: int, grace: float) -> None:
        self._child = child
        self._control = control
        self._status = status
        self._grace = grace
        self._kill_at = _NEVER
        self._is_running = True

    def run(self, wake: int) -> None:
        sources = [self._control, wake]
        while self._reaped():
            left = self._kill_at - time.monotonic()
            if left <= 0:
                kill_all(lambda: below(os.getpid()))
                self._signal_group(signal.SIGKILL)
                left = 0.02
            ready = select.select(sources, (), (), None if left == _NEVER else left)[0]
            if wake in ready:
                os.read(wake, 4096)
            if self._control in ready:
                self._on_control(os.read(self._control, 1))
                if self._kill_at <= time.monotonic():
                    sources = [wake]

    def _on_control(self, message: bytes) -> None:
        if message == TERMINATE and self._kill_at == _NEVER:
            self._terminate(self._grace)
        elif not message:
            self._kill_at = 0

    def _terminate(self, seconds: float) -> None:
        for mark in list(below(os.getpid())):
            signal_mark(mark, signal.SIGTERM)
            signal_mark(mark, signal.SIGCONT)  # a stopped process would not act on SIGTERM
        self._signal_group(signal.SIGTERM)
        self._kill_at = time.monotonic() + seconds

    def _signal_group(self, number: int) -> None:
        """Signal the program's group, where there is no /proc to find the other processes."""
        if os.path.isdir("/proc/self"):
            return
        try:
            os.killpg(self._child, number)
        except (ProcessLookupError, PermissionError):
            pass

    def _reaped(self) -> bool:
        """Collect ended processes; False when none is left."""
        while True:
            try:
                number, result = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if number == self._child:
                self._is_running = False
                _report(self._status, f"exit {os.waitstatus_to_exitcode(result)}")
                self._signal_group(signal.SIGKILL)
            elif number == 0:
                if not self._is_running and self._kill_at == _NEVER:
                    self._terminate(_AFTER_EXIT_SECONDS)
                return True


def _read_start_message(control: int, umask: int) -> "tuple[float, Callable[[], None]]":
    """The grace period, and a function that becomes the program."""
    size = int.from_bytes(_read_exactly(control, _SIZE), "big")
    fields = _read_exactly(control, size).split(b"\0")
    grace, folder, prompt, has_stdin, is_private, count, *rest = fields
    words, variables = rest[: int(count)], rest[int(count) :]
    environment = dict(variable.split(b"=", 1) for variable in variables)

    def start() -> None:
        os.chdir(folder)
        stdin = os.open(prompt, os.O_RDONLY | os.O_NOFOLLOW)
        os.lseek(stdin, 0, os.SEEK_SET if has_stdin == b"1" else os.SEEK_END)
        os.dup2(stdin, 0)
        if is_private == b"0":
            os.umask(umask)
        os.execve(words[0], words, environment)

    return float(grace), start


def _read_exactly(control: int, size: int) -> bytes:
    """Read so many bytes; exit if our parent ends before it has sent them."""
    message = b""
    while len(message) < size:
        piece = os.read(control, size - len(message))
        if not piece:
            os._exit(0)
        message += piece
    return message


def _started(start: "Callable[[], None]", status: int) -> int:
    """Start the program; 0 and a report on STATUS if it cannot be started."""
    parent = os.getpid()
    failure, failed = os.pipe()  # closed by a successful execve
    child = os.fork()
    if child == 0:
        try:
            for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGCHLD", "SIGPIPE", "SIGXFSZ"):
                signal.signal(getattr(signal, name), signal.SIG_DFL)
            os.setsid()
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == parent:
                start()
        except OSError as error:
            os.write(failed, str(error.errno).encode())
        finally:
            os._exit(127)
    os.close(failed)
    reason = os.read(failure, 16)
    if reason:
        os.waitpid(child, 0)
        _report(status, f"spawn {reason.decode()}")
        return 0
    return child


def _report(status: int, text: str) -> None:
    try:
        os.write(status, text.encode() + b"\n")
    except OSError:
        pass  # our parent is dead; the processes still have to be ended


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def kill_all(find: "Callable[[], Iterable[ProcessMark]]") -> None:
    """Kill the processes that `find` finds, again until it finds no new one.

    Each is stopped as soon as it is found and killed at the end: a program that forks faster than
    we search would otherwise stay ahead.
    """
    stopped: set[ProcessMark] = set()
    for _ in range(100):
        before = len(stopped)
        for mark in find():
            if mark not in stopped:
                signal_mark(mark, signal.SIGSTOP)
                stopped.add(mark)
        if len(stopped) == before:
            break
    for mark in stopped:
        signal_mark(mark, signal.SIGKILL)


def below(ancestor: int) -> "Iterator[ProcessMark]":
    """Every running process below one."""
    numbers = _children(ancestor)
    while numbers:
        number = numbers.pop()
        mark = mark_of(number)
        if mark:
            yield mark
        numbers += _children(number)


def _children(number: int) -> "list[int]":
    """The children of a process, from one file per thread: faster than reading all processes."""
    try:
        threads = os.listdir(f"/proc/{number}/task")
    except OSError:
        return []
    if not os.path.exists(f"/proc/{number}/task/{number}/children"):  # not in every kernel
        return [other for other in _numbers() if _stat(other)[1:2] == [str(number)]]
    texts = [_read(f"/proc/{number}/task/{thread}/children") for thread in threads]
    return [int(word) for word in b" ".join(texts).split()]


def carrying(name: str, value: str) -> "Iterator[ProcessMark]":
    """Every running process of this user with this environment variable, except our own."""
    variable = f"{name}={value}".encode()
    for number in _numbers():
        if number != os.getpid() and variable in _read(f"/proc/{number}/environ").split(b"\0"):
            mark = mark_of(number)
            if mark:
                yield mark


def mark_of(number: int) -> "ProcessMark | None":
    """Number and start time of a process; None if it does not run."""
    fields = _stat(number)
    return (number, int(fields[19])) if fields and fields[0] not in "ZX" else None


def signal_mark(mark: ProcessMark, number: int) -> None:
    """Send a signal to exactly this process, not to a later one with the same number."""
    try:
        handle = os.pidfd_open(mark[0])
    except OSError:
        return
    try:
        if mark_of(mark[0]) == mark:
            signal.pidfd_send_signal(handle, number)
    except OSError:
        pass
    finally:
        os.close(handle)


def _numbers() -> "Iterable[int]":
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    except FileNotFoundError:  # no /proc: only the process group is known
        return []


def _stat(number: int) -> "list[str]":
    """The fields of a process from its state on; empty if it has ended."""
    text = _read(f"/proc/{number}/stat")
    return text[text.rfind(b")") + 1 :].decode("ascii", "replace").split()


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
