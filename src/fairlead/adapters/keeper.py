"""The keeper: a small program between us and another that ends all that the other started.

Started by an isolated interpreter, see `start_words`, with CONTROL STATUS. Which program it keeps
comes over CONTROL, see `program`: it can be started ahead, while there is nothing else to do.
It inherits every orphan below it, so that neither a new session nor a double fork gets away.
A `T` on CONTROL asks all to end and ends them after some seconds of grace. CONTROL closed means that
we are dead, and all are ended at once. It imports nothing of ours; `supervision` uses its tools.
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
else:  # `signal` makes enums of this, which takes as long as starting the interpreter
    import _signal as signal

JOB, CALL, DEPTH = "FAIRLEAD_JOB", "FAIRLEAD_CALL", "FAIRLEAD_DEPTH"
ASK = b"T"

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_AFTER_EXIT_SECONDS = 0.5  # for what the agent left running when it ended
_NEVER = float("inf")

_SIZE = 8  # bytes that tell how long an order is

Mark = tuple[int, int]  # a process: its number and the moment it was started


def start_words(python: str) -> "list[str]":
    """How a keeper is started: by name, so that its compiled form is used."""
    folder = os.path.dirname(os.path.abspath(__file__))
    start = "import sys; sys.path.append(sys.argv[1]); import keeper; keeper.main(sys.argv[2:])"
    return [python, "-I", "-S", "-B", "-c", start, folder]


def program(
    words: "Sequence[str]",
    folder: str,
    environment: "Mapping[str, str]",
    prompt: str,
    grace: float,
    *,
    has_stdin: bool,
    is_private: bool,
) -> bytes:
    """What a keeper is told of its program: all of it at once, and nothing by way of arguments."""
    ways = (str(int(has_stdin)), str(int(is_private)))
    first = (str(grace), folder, prompt, *ways, str(len(words)))
    told = (*first, *words, *(f"{name}={value}" for name, value in environment.items()))
    if any("\0" in each for each in told):
        raise ValueError("a word or a variable with a NUL in it")
    order = b"\0".join(os.fsencode(each) for each in told)
    return len(order).to_bytes(_SIZE, "big") + order


def main(arguments: "list[str]") -> None:
    """Keep one child until nothing of it is left."""
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
        signal.signal(number, signal.SIG_IGN)  # only CONTROL and death end a keeper
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    grace, start = _program(control, umask)
    child = _started(start, status)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):  # the agent's pipes close with the agent
        os.dup2(nothing, number)
    if child:
        _Watch(child, control, status, grace).to_the_end(wake)
    _tell(status, "gone")
    os._exit(0)  # nothing is left to be put in order


class _Watch:
    def __init__(self, child: int, control: int, status: int, grace: float) -> None:
        self._child = child
        self._control = control
        self._status = status
        self._grace = grace
        self._kill_at = _NEVER
        self._is_running = True

    def to_the_end(self, wake: int) -> None:
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
                self._heard(os.read(self._control, 1))
                if self._kill_at <= time.monotonic():
                    sources = [wake]

    def _heard(self, word: bytes) -> None:
        if word == ASK and self._kill_at == _NEVER:
            self._ask(self._grace)
        elif not word:
            self._kill_at = 0

    def _ask(self, seconds: float) -> None:
        for mark in list(below(os.getpid())):
            signal_mark(mark, signal.SIGTERM)
            signal_mark(mark, signal.SIGCONT)  # a stopped process hears nothing
        self._signal_group(signal.SIGTERM)
        self._kill_at = time.monotonic() + seconds

    def _signal_group(self, number: int) -> None:
        """Where there is no /proc, the agent's group is all that can be reached."""
        if os.path.isdir("/proc/self"):
            return
        try:
            os.killpg(self._child, number)
        except (ProcessLookupError, PermissionError):
            pass

    def _reaped(self) -> bool:
        """Take leave of the dead; False when nobody is left."""
        while True:
            try:
                number, result = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if number == self._child:
                self._is_running = False
                _tell(self._status, f"exit {os.waitstatus_to_exitcode(result)}")
                self._signal_group(signal.SIGKILL)
            elif number == 0:
                if not self._is_running and self._kill_at == _NEVER:
                    self._ask(_AFTER_EXIT_SECONDS)
                return True


def _program(control: int, umask: int) -> "tuple[float, Callable[[], None]]":
    """The grace and the start of what is to be kept; without an order there is nothing to do."""
    size = int.from_bytes(_whole(control, _SIZE), "big")
    grace, folder, prompt, has_stdin, is_private, count, *told = _whole(control, size).split(b"\0")
    words, variables = told[: int(count)], told[int(count) :]
    environment = dict(each.split(b"=", 1) for each in variables)

    def start() -> None:
        os.chdir(folder)
        given = os.open(prompt, os.O_RDONLY | os.O_NOFOLLOW)
        os.lseek(given, 0, os.SEEK_SET if has_stdin == b"1" else os.SEEK_END)
        os.dup2(given, 0)
        if is_private == b"0":
            os.umask(umask)
        os.execve(words[0], words, environment)

    return float(grace), start


def _whole(control: int, size: int) -> bytes:
    """So many bytes of an order; who gave it may die over it."""
    found = b""
    while len(found) < size:
        piece = os.read(control, size - len(found))
        if not piece:
            os._exit(0)
        found += piece
    return found


def _started(start: "Callable[[], None]", status: int) -> int:
    """Start the agent; 0 and a word on STATUS when it cannot be."""
    parent = os.getpid()
    failing, failed = os.pipe()  # closed by a start that succeeds
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
    reason = os.read(failing, 16)
    if reason:
        os.waitpid(child, 0)
        _tell(status, f"spawn {reason.decode()}")
        return 0
    return child


def _tell(status: int, word: str) -> None:
    try:
        os.write(status, word.encode() + b"\n")
    except OSError:
        pass  # nobody listens any more; the work here goes on


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def kill_all(find: "Callable[[], Iterable[Mark]]") -> None:
    """End what `find` finds, again and again until nothing new comes up.

    All are held before any is ended, each as soon as it is found: whoever forks faster than we
    look would stay ahead of us.
    """
    held: set[Mark] = set()
    for _ in range(100):
        known = len(held)
        for mark in find():
            if mark not in held:
                signal_mark(mark, signal.SIGSTOP)
                held.add(mark)
        if len(held) == known:
            break
    for mark in held:
        signal_mark(mark, signal.SIGKILL)


def below(ancestor: int) -> "Iterator[Mark]":
    """Every living process below one."""
    numbers = _children(ancestor)
    while numbers:
        number = numbers.pop()
        mark = mark_of(number)
        if mark:
            yield mark
        numbers += _children(number)


def _children(number: int) -> "list[int]":
    """The children of a process; one file a thread, which is much faster than asking all."""
    try:
        threads = os.listdir(f"/proc/{number}/task")
    except OSError:
        return []
    if not os.path.exists(f"/proc/{number}/task/{number}/children"):  # a kernel without them
        return [each for each in _numbers() if _stat(each)[1:2] == [str(number)]]
    texts = [_read(f"/proc/{number}/task/{thread}/children") for thread in threads]
    return [int(word) for word in b" ".join(texts).split()]


def carrying(name: str, value: str) -> "Iterator[Mark]":
    """Every living process of ours that has a variable of this value, save ourselves."""
    wanted = f"{name}={value}".encode()
    for number in _numbers():
        if number != os.getpid() and wanted in _read(f"/proc/{number}/environ").split(b"\0"):
            mark = mark_of(number)
            if mark:
                yield mark


def mark_of(number: int) -> "Mark | None":
    """A process by number and the moment it was started; None if there is none."""
    fields = _stat(number)
    return (number, int(fields[19])) if fields and fields[0] not in "ZX" else None


def signal_mark(mark: Mark, number: int) -> None:
    """Send a signal to exactly this process, not to the next one with its number."""
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
    except FileNotFoundError:  # no /proc here: the process group is all that is known
        return []


def _stat(number: int) -> "list[str]":
    """The fields of a process from its state on; none if it has gone."""
    text = _read(f"/proc/{number}/stat")
    return text[text.rfind(b")") + 1 :].decode("ascii", "replace").split()


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
