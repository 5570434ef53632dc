"""The parts of a project's writer, so that a test can stop between any two of its steps."""

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fairlead.store import layout
from fairlead.store.atomic import StagingArea
from fairlead.store.confined import ConfinedFolder, Root
from fairlead.store.files import Files
from fairlead.store.rename import Renamer, prepare
from fairlead.store.staging import IGNORE, LAST, LOCK, PAST, RESCUED, STAGING

STATE = layout.STATE
PROJECT = layout.PROJECT


def a_project(folder: Path, **texts: str) -> Path:
    """A folder whose planning folder contains the given documents."""
    (folder / layout.PLANNING).mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / layout.PLANNING / f"{name}.md").write_bytes(text.encode())
    return folder


@contextmanager
def staging_area(
    folder: Path, renamer: Renamer | None = None
) -> Iterator[tuple[Root, StagingArea]]:
    """The root and the staging folder of a project, without the lock."""
    with Root(str(folder)) as root, root.make_folder(STAGING) as staging:
        yield root, StagingArea(staging, renamer or prepare(), [])


def a_renamer_that_cannot() -> Renamer:
    """The result of `prepare` on a system with neither exchange nor exclusive rename."""
    return Renamer(None, lambda: 0, 0, 0)


class Interrupted(Renamer):
    """The real renamer, with another process acting right before each of its first calls."""

    def __init__(self, *acts: Callable[[], object]) -> None:
        self._real = prepare()
        self._acts = list(acts)

    def swap(
        self, source: ConfinedFolder, name: str, target: ConfinedFolder, target_name: str
    ) -> bool:
        self._interrupt()
        return self._real.swap(source, name, target, target_name)

    def place(
        self, source: ConfinedFolder, name: str, target: ConfinedFolder, target_name: str
    ) -> None:
        self._interrupt()
        self._real.place(source, name, target, target_name)

    def _interrupt(self) -> None:
        if self._acts:
            self._acts.pop(0)()


@contextmanager
def limited_file_size(size: int) -> Iterator[None]:
    """No file of this process can grow beyond this size; a longer write is cut short."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def state_of(folder: Path) -> bytes:
    """The bytes of STATE.md."""
    return (folder / STATE).read_bytes()


def leftovers(folder: Path) -> list[str]:
    """The files in the staging folder that should not be there while no writer runs."""
    permanent = {LOCK, IGNORE, LAST, RESCUED}
    found = set(names(folder / STAGING)) - permanent
    return sorted(name for name in found if not name.startswith(PAST))


def rescued(folder: Path) -> list[bytes]:
    """The contents of the rescued versions."""
    shelf = folder / STAGING / RESCUED
    return [(shelf / name).read_bytes() for name in names(shelf)]


def names(folder: Path) -> list[str]:
    """The names in a folder; none if it does not exist."""
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def append(line: str) -> "Appending":
    """An edit that adds a line."""
    return Appending(line)


class Appending:
    """An edit that adds a line and counts its calls."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.calls = 0

    def __call__(self, text: str) -> str:
        self.calls += 1
        return f"{text}{self.line}\n"


def cleared_staging(folder: Path) -> Files:
    """Write as the next command would, without changing a document."""
    files = Files(str(folder))
    files.update(STATE, lambda text: text, command="next")
    return files
