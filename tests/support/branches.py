"""Crash sweeps on copies of one started process: the same faults and checks at a lower cost.

The project stays in one place, because the paused process has it open, and is restored after each
trial. No call before the pause can change the disk, so a kill there leaves the old files; a sample
of such kills is tried with real processes too.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.branching import PausedCommand
from tests.support.strace import Call, Injection, NothingInjected, Traced, processor
from tests.support.subjects import PROJECT
from tests.support.sweep import Finding, Point, Rig, findings_after
from tests.support.trees import FOLDER, put_tree, read_tree


class Branches:
    """The command of a rig, paused once and copied for every trial."""

    def __init__(self, rig: Rig) -> None:
        self._rig = rig
        self._world = put_tree(rig.source, rig.scratch / f"branches-{os.getpid()}" / "w")
        self._paused: PausedCommand | None = None
        self._folders: dict[str, int] = {}

    @property
    def project(self) -> Path:
        """The project folder that the command works in."""
        return self._world.resolve() / PROJECT

    def undisturbed(self) -> tuple[int, tuple[Call, ...]]:
        """The number of calls before the pause, and all calls from there on."""
        with self.after(None) as (_, traced):
            assert traced.outcome.code == 0, traced.outcome.describe()
            assert self._paused is not None
            return self._paused.before, traced.calls

    @contextmanager
    def after(
        self, injection: Injection | None, meanwhile: Callable[[Path], None] | None = None
    ) -> Iterator[tuple[Path, Traced]]:
        """The files after a run with one fault, or with an action in the middle of it."""
        with _on_one_processor():
            self._put_back()
            paused = self._paused_command()
            action = (lambda: meanwhile(self._world)) if meanwhile else None
            yield self._world, paused.branch(injection, action)

    def try_point(self, point: Point) -> list[Finding]:
        """Inject one fault and return the broken promises."""
        try:
            with self.after(point.injection) as (world, traced):
                return findings_after(self._rig, point, traced, world)
        except NothingInjected:
            self.close()  # paused after another number of calls: the next trial starts anew
            raise

    def close(self) -> None:
        """End the paused process."""
        if self._paused is not None:
            self._paused.close()
        self._paused = None

    def _paused_command(self) -> PausedCommand:
        # The paused process has folders open: replacing them would cut it off.
        folders = _folders_in(self._world)
        if folders != self._folders:
            self.close()
        if self._paused is None:
            self._paused = PausedCommand(self._rig.subject.command(self._world))
            self._folders = folders
        return self._paused

    def _put_back(self) -> None:
        """Restore the prepared files, touching only what differs."""
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
    """Pin tracer and traced process to one processor: a switch to another waits for a wake-up."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {processor()})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
