"""Moves of files and folders as part of a step.

A move is a rename to an unused name, so nothing is copied, replaced or removed. A move is done if
its target exists. This tells the next writer where to continue after a kill, even if one move
takes a name that another one left, because moves are made in order.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator

from fairlead.core.values import dataclass
from fairlead.store.atomic import DocumentChanged, DocumentLocation, NotMoved, StagingArea, confirm
from fairlead.store.confined import ConfinedFolder, Root, components, kind_of, leaf, storage_error
from fairlead.store.errors import DiskFault, FileExists, NotAFile
from fairlead.store.staging import REMOVED, require_document


@dataclass(frozen=True, slots=True)
class Move:
    """A file or folder, and its new path."""

    source: str
    target: str


def require_inside(move: Move, staging: str) -> None:
    """Refuse a move unless both ends are documents or in the folder for removed files."""
    removed = components(f"{staging}/{REMOVED}")
    for path in (move.source, move.target):
        if components(path)[:-1] != removed:
            require_document(path, staging)


def require_possible(root: Root, moves: tuple[Move, ...]) -> None:
    """Refuse impossible moves. Called before the commit point, while nothing has changed."""
    sequence = _MoveSequence(moves)
    for at, move in enumerate(moves):
        source = sequence.origin(move.source, at)
        found = root.stat(source) if source else None
        if found is None:
            raise DocumentChanged(move.source)
        if not (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)):
            raise NotAFile(move.source, kind_of(found))
        if found.st_dev != root.device():
            raise DiskFault(move.source, "is on another file system and cannot be moved")
        target = sequence.origin(move.target, at)
        if target and root.stat(target) is not None:
            raise FileExists(move.target)


def waiting(root: Root, moves: tuple[Move, ...]) -> tuple[Move, ...]:
    """The moves that are not made yet."""
    sequence = _MoveSequence(moves)
    return tuple(move for at, move in enumerate(moves) if not _is_made(root, sequence, at))


def make_all(root: Root, staging: StagingArea, moves: tuple[Move, ...]) -> None:
    """Make the remaining moves durably; add a notice for each one that became impossible."""
    sequence = _MoveSequence(moves)
    for at, move in enumerate(moves):
        if not _is_made(root, sequence, at) and not _make(root, staging, move):
            staging.notices.append(NotMoved(move.source, move.target))
    paths = {_parent(path): path for move in moves for path in (move.source, move.target)}
    for path in paths.values():
        folder = root.parent(path)
        if folder is not None:
            with DocumentLocation(folder, leaf(path)) as place:
                confirm(place)


class _MoveSequence:
    """Where files are between the moves of a step, of which there may be thousands."""

    def __init__(self, moves: tuple[Move, ...]) -> None:
        self.moves = moves
        self._touching: dict[str, list[int]] = {}
        for at, move in enumerate(moves):
            for path in (move.source, move.target):
                self._touching.setdefault(path, []).append(at)

    def origin(self, path: str, at: int) -> str:
        """The original path of the file that has this path after `at` moves; "" if none has."""
        while True:
            at = max(self._indices(path, range(at)), default=-1)
            if at < 0:
                return path
            move = self.moves[at]
            if not f"{path}/".startswith(f"{move.target}/"):
                return ""
            path = move.source + path[len(move.target) :]

    def journey(self, path: str, at: int) -> Iterator[str]:
        """A path, followed by every path that the moves from `at` on give to the same file."""
        yield path
        while True:
            later = self._indices(path, range(at, len(self.moves)))
            at = min((index for index in later if self._takes(index, path)), default=-1)
            if at < 0:
                return
            path = self.moves[at].target + path[len(self.moves[at].source) :]
            yield path
            at += 1

    def _takes(self, at: int, path: str) -> bool:
        return f"{path}/".startswith(f"{self.moves[at].source}/")

    def _indices(self, path: str, among: range) -> Iterator[int]:
        """The indices of the moves that touch a path or a folder above it."""
        while path:
            yield from (at for at in self._touching.get(path, ()) if at in among)
            path = _parent(path)


def _is_made(root: Root, sequence: _MoveSequence, at: int) -> bool:
    """Whether the target exists, at its path or where later moves took it."""
    target = sequence.moves[at].target
    return any(root.stat(path) is not None for path in sequence.journey(target, at + 1))


def _make(root: Root, staging: StagingArea, move: Move) -> bool:
    """False if the source is gone or the target exists."""
    source = root.parent(move.source)
    if source is None:
        return False
    with source, _home(root, move.target) as target:
        try:
            staging.renamer.carry(source, leaf(move.source), target, leaf(move.target))
        except (FileExistsError, FileNotFoundError):
            return False
        except OSError as error:
            raise storage_error(move.target, error) from error
    return True


def _home(root: Root, path: str) -> ConfinedFolder:
    return root.parent(path) or root.make_folder(_parent(path))


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
