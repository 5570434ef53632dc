"""Desks: a project's writer taken apart, so that a test can stop between any two of its acts."""

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fairlead.store import layout
from fairlead.store.atomic import Desk
from fairlead.store.confine import Folder, Root
from fairlead.store.exchange import Renamer, prepare
from fairlead.store.files import Files

STATE = layout.STATE
PROJECT = layout.PROJECT


def a_project(folder: Path, **texts: str) -> Path:
    """A folder with a planning folder that holds the named documents."""
    (folder / layout.PLANNING).mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / layout.PLANNING / f"{name}.md").write_bytes(text.encode())
    return folder


@contextmanager
def a_desk(folder: Path, renamer: Renamer | None = None) -> Iterator[tuple[Root, Desk]]:
    """The root and the desk of a project, as its writer has them. Nobody takes the lock."""
    with Root(str(folder)) as root, root.make_folder(layout.DESK) as desk:
        yield root, Desk(desk, renamer or prepare(), [])


def a_renamer_that_cannot() -> Renamer:
    """What `prepare` returns on a system that knows neither exchange nor exclusive rename."""
    return Renamer(None, lambda: 0, 0, 0)


class Interrupted(Renamer):
    """The real renamer, but somebody else acts right before each of its first calls."""

    def __init__(self, *acts: Callable[[], object]) -> None:
        self._real = prepare()
        self._acts = list(acts)

    def swap(self, source: Folder, name: str, target: Folder, target_name: str) -> bool:
        self._interrupt()
        return self._real.swap(source, name, target, target_name)

    def place(self, source: Folder, name: str, target: Folder, target_name: str) -> None:
        self._interrupt()
        self._real.place(source, name, target, target_name)

    def _interrupt(self) -> None:
        if self._acts:
            self._acts.pop(0)()


@contextmanager
def limited_file_size(size: int) -> Iterator[None]:
    """No file of this process can grow beyond a size; the write that tries is cut short."""
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
    """What is on the desk and should not be there when nobody writes."""
    permanent = {layout.LOCK, layout.IGNORE, layout.LAST, layout.RESCUED}
    return sorted(set(names(folder / layout.DESK)) - permanent)


def rescued(folder: Path) -> list[bytes]:
    """The contents of the versions that were kept."""
    shelf = folder / layout.DESK / layout.RESCUED
    return [(shelf / name).read_bytes() for name in names(shelf)]


def names(folder: Path) -> list[str]:
    """The names in a folder; none, when it is not there."""
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def append(line: str) -> "Appending":
    """An edit that adds a line."""
    return Appending(line)


class Appending:
    """An edit that adds a line, and counts how often it was asked to."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.calls = 0

    def __call__(self, text: str) -> str:
        self.calls += 1
        return f"{text}{self.line}\n"


def clear_desk(folder: Path) -> Files:
    """Write as the next command would, without changing any document."""
    files = Files(str(folder))
    files.update(STATE, lambda text: text, command="next")
    return files
