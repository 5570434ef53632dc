"""The sweeps on copies of one started process: the same faults and the same judgement, cheaper.

The world stays where it is, because the held process has it open, and is put back in place after
each trial. Before the held call nothing can have changed the disk, so a kill there leaves the old
files; that is a fact of the calls themselves, and a sample of it is tried by real kills too.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.branching import Trunk
from tests.support.strace import Call, Injection, NothingInjected, Traced, processor
from tests.support.sweep import Finding, Point, Rig, findings_after
from tests.support.trees import FOLDER, put_tree, read_tree


class Branches:
    """A rig's command, held once and copied for every trial."""

    def __init__(self, rig: Rig) -> None:
        self._rig = rig
        self._world = put_tree(rig.source, rig.scratch / f"branches-{os.getpid()}" / "w")
        self._trunk: Trunk | None = None
        self._folders: dict[str, int] = {}

    def undisturbed(self) -> tuple[int, tuple[Call, ...]]:
        """How many calls come before the held one, and all calls from there on."""
        with self.after(None) as (_, traced):
            assert traced.outcome.code == 0, traced.outcome.describe()
            assert self._trunk is not None
            return self._trunk.before, traced.calls

    @contextmanager
    def after(
        self, injection: Injection | None, meanwhile: Callable[[Path], None] | None = None
    ) -> Iterator[tuple[Path, Traced]]:
        """The world after a run with one fault, or with something done in the middle of it."""
        with _on_one_processor():
            self._put_back()
            trunk = self._held()
            action = (lambda: meanwhile(self._world)) if meanwhile else None
            yield self._world, trunk.branch(injection, action)

    def try_point(self, point: Point) -> list[Finding]:
        """Inject one fault, and say which promises it broke."""
        try:
            with self.after(point.injection) as (world, traced):
                return findings_after(self._rig, point, traced, world)
        except NothingInjected:
            self.close()  # held after another number of calls: the next try starts anew
            raise

    def close(self) -> None:
        """End the held process."""
        if self._trunk is not None:
            self._trunk.close()
        self._trunk = None

    def _held(self) -> Trunk:
        # The held process knows folders by what is behind their names.
        folders = _folders_in(self._world)
        if folders != self._folders:
            self.close()
        if self._trunk is None:
            self._trunk = Trunk(self._rig.subject.command(self._world))
            self._folders = folders
        return self._trunk

    def _put_back(self) -> None:
        """Make the world the prepared one again, touching only what differs."""
        old, now = self._rig.old, read_tree(self._world)
        for name in sorted(set(now) - set(old), reverse=True):
            place = self._world / name
            place.rmdir() if now[name] == FOLDER else place.unlink()
        for name in sorted(old):
            place = self._world / name
            if old[name] == now.get(name):
                continue
            if old[name] == FOLDER:
                place.mkdir()
            else:
                place.unlink(missing_ok=True)
                shutil.copy2(self._rig.source / name, place)


def _folders_in(world: Path) -> dict[str, int]:
    return {folder: os.stat(folder).st_ino for folder, _, _ in os.walk(world)}


@contextmanager
def _on_one_processor() -> Iterator[None]:
    """Tracer and traced take turns; between two processors each turn would wait for a wake-up."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {processor()})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
