"""The one run that executes in a project: a lock of the kernel's, held as long as it lives."""

from collections.abc import Iterator
from contextlib import contextmanager

from fairlead.errors import LockBusy, RunBusy
from fairlead.store import layout
from fairlead.store.confine import Root
from fairlead.store.desk import open_desk
from fairlead.store.lock import Lock
from fairlead.store.session import is_held

_LOOKING_SECONDS = 0.2


def is_running(folder: str, name: str = layout.RUN_LOCK) -> bool:
    """Whether a run executes in a project now; or a workflow, by the name of its lock."""
    return is_held(folder, name)


@contextmanager
def the_only_run(folder: str, command: str, name: str = layout.RUN_LOCK) -> Iterator[None]:
    """Be the run of a project, or of a workflow; a second one is told who runs, since when."""
    with Root(folder) as root, open_desk(root, layout.DESK) as desk:
        # Somebody may just be looking whether a run holds it.
        lock = Lock(desk, wait_seconds=_LOOKING_SECONDS, command=command, name=name)
        try:
            lock.__enter__()
        except LockBusy as error:
            raise RunBusy(error.holder or "by another process") from None
        try:
            yield
        finally:
            lock.__exit__()
