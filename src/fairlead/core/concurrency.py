"""Threads and what synchronises them. No other module may import `threading`.

An exception inside a thread is raised again where its end is awaited, so no failure is lost.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

Work = Callable[[], object]


class Mutex:
    """A reentrant lock, as a context."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class Latch:
    """Lets urgent work go first: others wait until it has passed, but only for a limited time."""

    def __init__(self) -> None:
        self._expected: set[str] = set()
        self._changed = threading.Condition()

    def expect(self, names: Iterable[str]) -> None:
        """Announce urgent work by its names."""
        with self._changed:
            self._expected.update(names)

    def release(self, name: str) -> None:
        """Urgent work has passed, or will not come any more."""
        with self._changed:
            self._expected.discard(name)
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """Wait until all urgent work has passed, at most this long."""
        with self._changed:
            self._changed.wait_for(lambda: not self._expected, seconds)


class OneTimeEvent:
    """An event that happens once, such as a request to stop; a signal handler may set it."""

    def __init__(self) -> None:
        self._is_set = False
        # `threading.Event.set` takes a lock, so a second signal during `set` would deadlock.
        self._queue: queue.SimpleQueue[None] = queue.SimpleQueue()

    def set(self) -> None:
        """Record that it has happened."""
        self._is_set = True
        self._queue.put(None)

    @property
    def is_set(self) -> bool:
        """Whether it has happened."""
        return self._is_set

    def wait(self, seconds: float) -> bool:
        """Wait for it, at most this long; whether it has happened."""
        try:
            self._queue.get(timeout=seconds)
        except queue.Empty:
            return self._is_set
        self._queue.put(None)  # for the next one that waits
        return True


class BackgroundWorker:
    """Runs one piece of work at a time in the background; the next one waits for the last.

    What a piece raised is raised by the next `submit` or `join`.
    """

    def __init__(self) -> None:
        self._mutex = Mutex()
        self._threads = ThreadGroup()

    def submit(self, work: Work) -> None:
        """Start a piece of work as soon as the last one has ended."""
        with self._mutex:
            self.join()
            self._threads.start("", work)

    def join(self) -> None:
        """Wait for the end of everything submitted."""
        with self._mutex:
            while self._threads.running:
                self._threads.wait()


class ThreadGroup:
    """Runs named pieces of work in threads. One thread owns the group and calls its methods."""

    def __init__(self) -> None:
        self._running: dict[str, threading.Thread] = {}
        self._ended: queue.SimpleQueue[tuple[str, BaseException | None]] = queue.SimpleQueue()

    @property
    def running(self) -> tuple[str, ...]:
        """The names of the pieces whose end has not been awaited."""
        return tuple(sorted(self._running))

    def start(self, name: str, work: Work) -> None:
        """Start a piece of work."""

        def body() -> None:
            problem: BaseException | None = None
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - `wait` raises it again
                problem = error
            self._ended.put((name, problem))

        thread = threading.Thread(target=body, name=name, daemon=True)
        thread.start()  # if this raises, the name is not among the running ones
        self._running[name] = thread

    def wait(self, seconds: float | None = None) -> str:
        """The name of a piece that has ended, or "" after this time. Raises what the piece raised."""
        try:
            name, problem = self._ended.get(timeout=seconds)
        except queue.Empty:
            return ""
        self._running.pop(name).join()
        if problem is not None:
            raise problem
        return name


def thread_pool(size: int) -> ThreadPoolExecutor:
    """Threads for the blocking work of an event loop."""
    return ThreadPoolExecutor(size)
