"""The web board in long use: random changes, memory, and many pages and followers at once."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from prove.frame import Tally, Trial
from tests.support.big_project import big_project
from tests.support.figures import PRODUCT
from tests.web.endurance import faults_after_changes, faults_of_a_crowd, growth_of_memory

_RUNS, _CHANGES = 10, 100
_FIRST, _LAST, _MOST_GROWTH = 1000, 5000, 0.05
_CROWD = 20


@dataclass(frozen=True, slots=True)
class BoardProof:
    """A claim about the board; a case is a run of changes, the memory, or a crowd."""

    name: str = "board"
    claim: str = (
        "after every random change the board equals a fresh derivation, its memory grows less than "
        "5 % between updates 1,000 and 5,000, and 20 pages and 20 followers are served at once"
    )
    unit: str = "updates"
    covers: tuple[str, ...] = PRODUCT
    workers: int = 2

    def why_not(self) -> str:
        """Nothing special is needed."""
        return ""

    def cases(self, seed: int, scratch: Path) -> Sequence[str]:
        """Runs of changes with seeds of their own, then the two others."""
        del scratch
        runs = [f"changes {seed * 1000 + number}" for number in range(_RUNS)]
        return [*runs, f"memory {seed}", "crowd 0"]

    @contextmanager
    def opened(self, scratch: Path) -> Iterator[Trial]:
        """A folder for this worker."""
        folder = scratch / f"board-{os.getpid()}"
        folder.mkdir()
        yield partial(_tried, folder)


def _tried(folder: Path, case: str) -> Tally:
    kind, _, seed = case.partition(" ")
    project = big_project(folder / "project", 12, plans=4)
    try:
        if kind == "changes":
            return Tally(_CHANGES, tuple(faults_after_changes(project, int(seed), _CHANGES)))
        if kind == "crowd":
            return Tally(2 * _CROWD, tuple(faults_of_a_crowd(project, _CROWD)))
        growth = growth_of_memory(project, int(seed), _FIRST, _LAST)
        grown = (f"memory grew by {growth:.1%}",) if growth >= _MOST_GROWTH else ()
        return Tally(_LAST, grown, {"growth of memory": round(growth, 4)})
    finally:
        shutil.rmtree(project)


BOARDS = (BoardProof(),)
