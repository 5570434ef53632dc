"""Fan-out: several pieces of work at once, and the one place with threads.

Work is given a name; what it raised is raised where the end is awaited, so no failure is lost.
`Turn` lets one of them through at a time.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable

Work = Callable[[], object]


class Turn:
    """One at a time, as a context."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class Precedence:
    """Who is in a hurry goes first; who lets them pass does not wait for long."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._changed = threading.Condition()

    def announce(self, names: Iterable[str]) -> None:
        """These are about to come."""
        with self._changed:
            self._names.update(names)

    def passed(self, name: str) -> None:
        """One of them is past, or does not come any more."""
        with self._changed:
            self._names.discard(name)
            self._changed.notify_all()

    def let_pass(self, seconds: float) -> None:
        """Wait until all are past, but not longer than this."""
        with self._changed:
            self._changed.wait_for(lambda: not self._names, seconds)


class Signal:
    """Something that happens once, such as a wish to stop; safe to give from a signal handler."""

    def __init__(self) -> None:
        self._is_given = False
        # An event holds a lock while it is set, which a second signal would wait for in vain.
        self._given: queue.SimpleQueue[None] = queue.SimpleQueue()

    def give(self) -> None:
        """It has happened."""
        self._is_given = True
        self._given.put(None)

    @property
    def is_given(self) -> bool:
        """Whether it has happened."""
        return self._is_given

    def wait(self, seconds: float) -> bool:
        """Wait for it, but not longer than this."""
        try:
            self._given.get(timeout=seconds)
        except queue.Empty:
            return self._is_given
        self._given.put(None)  # for whoever waits besides
        return True


class Afterwards:
    """One piece of work after another beside whoever asks for it; the next waits for the last.

    What a piece raised is raised where the next begins, or where the end is awaited.
    """

    def __init__(self) -> None:
        self._turn = Turn()
        self._beside = Fanout()

    def begin(self, work: Work) -> None:
        """Begin a piece of work when the last has ended."""
        with self._turn:
            self.settle()
            self._beside.start("", work)

    def settle(self) -> None:
        """Wait for the end of all that was begun."""
        with self._turn:
            while self._beside.running:
                self._beside.wait()


class Fanout:
    """Runs work beside the caller, who alone begins and ends it."""

    def __init__(self) -> None:
        self._running: dict[str, threading.Thread] = {}
        self._ended: queue.SimpleQueue[tuple[str, BaseException | None]] = queue.SimpleQueue()

    @property
    def running(self) -> tuple[str, ...]:
        """The names of what has not been awaited yet."""
        return tuple(sorted(self._running))

    def start(self, name: str, work: Work) -> None:
        """Begin a piece of work."""

        def body() -> None:
            problem: BaseException | None = None
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - it is raised again by `wait`
                problem = error
            self._ended.put((name, problem))

        thread = threading.Thread(target=body, name=name, daemon=True)
        thread.start()  # or raises: then there is nobody to wait for
        self._running[name] = thread

    def wait(self, seconds: float | None = None) -> str:
        """The name of a piece that has ended, or nothing in this time. Its problem is raised."""
        try:
            name, problem = self._ended.get(timeout=seconds)
        except queue.Empty:
            return ""
        self._running.pop(name).join()
        if problem is not None:
            raise problem
        return name
