"""The loop of a job, and the lock that allows one running process per job.

The loop looks at the disk, decides and performs until nothing is left to do. It remembers only
which actions it has begun. `stop` keeps it from beginning anything new; `over` also ends running
calls, and the next run repeats their attempts. The kernel frees the lock when its process dies.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeVar

from fairlead.core.concurrency import OneTimeEvent, ThreadGroup
from fairlead.jobs.errors import RunBusy
from fairlead.jobs.paths import RUN_LOCK
from fairlead.store.confined import Root
from fairlead.store.errors import LockBusy
from fairlead.store.lock import Lock, is_locked
from fairlead.store.staging import STAGING, open_staging

_LOOK_SECONDS = 0.2  # how soon the loop notices that it has to stop
_CANCEL_REQUEST = "cancel"  # a file in the private folder of a job
_LOCK_SECONDS = 0.2  # `is_running` takes a lock for a moment: that is not a second run


class _Keyed(Protocol):
    @property
    def key(self) -> str: ...


Action = TypeVar("Action", bound=_Keyed)


class JobSteps(Protocol[Action]):
    """A job as the loop sees it."""

    def look(self, running: tuple[str, ...], *, is_stopping: bool) -> Sequence[Action]:
        """Look at the disk, and return the actions that may begin now."""
        ...

    def perform(self, action: Action) -> None:
        """Do one action."""
        ...

    def is_long(self, action: Action) -> bool:
        """Whether the action runs in a thread of its own."""
        ...


def run_job(
    job: JobSteps[Action],
    stop: OneTimeEvent,
    over: OneTimeEvent,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> None:
    """Run a job for as long as there is something to do; a cancelled one ends its calls."""
    threads = ThreadGroup()

    def is_stopped() -> bool:
        if not over.is_set and is_cancelled():
            over.set()
            stop.set()
        return stop.is_set

    try:
        while _run_round(job, is_stopped, over, threads):
            pass
    except BaseException:
        over.set()
        _drain(threads)
        raise


def _run_round(
    job: JobSteps[Action],
    is_stopped: Callable[[], bool],
    over: OneTimeEvent,
    threads: ThreadGroup,
) -> bool:
    """Begin what may begin, and wait until an action ends. False: nothing is left."""
    has_stopped = is_stopped()
    is_stopping = has_stopped or over.is_set
    actions = job.look(threads.running, is_stopping=is_stopping)
    for action in actions:
        _begin(threads, job, action)
    if not threads.running:
        return bool(actions) and not is_stopping
    while not threads.wait(_LOOK_SECONDS) and has_stopped == is_stopped():
        pass
    while threads.running and threads.wait(0):  # one look is enough for all that have ended
        pass
    return True


def _begin(threads: ThreadGroup, job: JobSteps[Action], action: Action) -> None:
    if job.is_long(action):
        threads.start(action.key, lambda: job.perform(action))
    else:
        job.perform(action)


def _drain(threads: ThreadGroup) -> None:
    while threads.running:
        try:
            threads.wait(_LOOK_SECONDS)
        except BaseException:  # noqa: BLE001, S112 - the caller raises the first problem
            continue


def is_cancelled(private: str) -> bool:
    """Whether a person asked, in another process, to end the job of this private folder."""
    return os.path.lexists(os.path.join(private, _CANCEL_REQUEST))


def end_elsewhere(
    private: str, runs: Callable[[], bool], pause: Callable[[], None], looks: int = 120
) -> bool:
    """Ask the process that runs a job to end its calls, and wait; False: it still runs."""
    os.makedirs(private, mode=0o700, exist_ok=True)
    request = os.path.join(private, _CANCEL_REQUEST)
    os.close(os.open(request, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))
    try:
        while looks and runs():
            looks -= 1
            pause()
    finally:
        os.unlink(request)
    return looks > 0


def is_running(folder: str, name: str = RUN_LOCK) -> bool:
    """Whether a process holds this lock of a project: by default, the lock of executions."""
    return is_locked(folder, name)


@contextmanager
def the_only_run(folder: str, command: str, name: str = RUN_LOCK) -> Iterator[None]:
    """Hold the lock of a run; a second run is refused with the holder of the lock."""
    with Root(folder) as root, open_staging(root, STAGING) as staging:
        lock = Lock(staging, wait_seconds=_LOCK_SECONDS, command=command, name=name)
        try:
            lock.__enter__()
        except LockBusy as error:
            raise RunBusy(error.holder or "by another process") from None
        try:
            yield
        finally:
            lock.__exit__()
