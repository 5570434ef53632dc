"""Moves: files and folders that get another place as part of a step.

A move is a rename to a name that is free, so nothing is copied, replaced or removed. A move whose
target is there has been made: that is how whoever comes after a kill knows where to go on, even
when one move takes the place that another left, since they are made in their order.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator

from fairlead.errors import DiskFault, FileExists, NotAFile
from fairlead.store import layout
from fairlead.store.atomic import Changed, Desk, Place, confirm
from fairlead.store.confine import Folder, Root, components, fault, kind_of, leaf
from fairlead.store.notice import NotMoved
from fairlead.values import dataclass


@dataclass(frozen=True, slots=True)
class Move:
    """A file or folder, and the place it is to have."""

    source: str
    target: str


def require_inside(move: Move, desk: str) -> None:
    """Refuse a move that begins or ends anywhere but beside the desk, or on its shelf."""
    shelf = components(f"{desk}/{layout.REMOVED}")
    for path in (move.source, move.target):
        if components(path)[:-1] != shelf:
            layout.require_document(path, desk)


def require_possible(root: Root, moves: tuple[Move, ...]) -> None:
    """Refuse moves that cannot be made: before the commit point nothing has happened yet."""
    course = _Course(moves)
    for at, move in enumerate(moves):
        source = course.origin(move.source, at)
        found = root.stat(source) if source else None
        if found is None:
            raise Changed(move.source)
        if not (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)):
            raise NotAFile(move.source, kind_of(found))
        if found.st_dev != root.device():
            raise DiskFault(move.source, "is on another disk, and is not moved from there")
        target = course.origin(move.target, at)
        if target and root.stat(target) is not None:
            raise FileExists(move.target)


def waiting(root: Root, moves: tuple[Move, ...]) -> tuple[Move, ...]:
    """The moves that have still to be made."""
    course = _Course(moves)
    return tuple(move for at, move in enumerate(moves) if not _is_made(root, course, at))


def make_all(root: Root, desk: Desk, moves: tuple[Move, ...]) -> None:
    """Make those that are not made yet, durably; what somebody has made impossible is told."""
    course = _Course(moves)
    for at, move in enumerate(moves):
        if not _is_made(root, course, at) and not _make(root, desk, move):
            desk.notices.append(NotMoved(move.source, move.target))
    paths = {_parent(path): path for move in moves for path in (move.source, move.target)}
    for path in paths.values():
        folder = root.parent(path)
        if folder is not None:
            with Place(folder, leaf(path)) as place:
                confirm(place)


class _Course:
    """Where things are between the moves of a step, of which there may be thousands."""

    def __init__(self, moves: tuple[Move, ...]) -> None:
        self.moves = moves
        self._touching: dict[str, list[int]] = {}
        for at, move in enumerate(moves):
            for path in (move.source, move.target):
                self._touching.setdefault(path, []).append(at)

    def origin(self, path: str, at: int) -> str:
        """Where something was at first that is here after so many moves; empty: nothing is."""
        while True:
            at = max(self._indices(path, range(at)), default=-1)
            if at < 0:
                return path
            move = self.moves[at]
            if not f"{path}/".startswith(f"{move.target}/"):
                return ""
            path = move.source + path[len(move.target) :]

    def journey(self, path: str, at: int) -> Iterator[str]:
        """A path, and wherever the moves from this one on take what is there."""
        yield path
        while True:
            later = self._indices(path, range(at, len(self.moves)))
            at = min((each for each in later if self._takes(each, path)), default=-1)
            if at < 0:
                return
            path = self.moves[at].target + path[len(self.moves[at].source) :]
            yield path
            at += 1

    def _takes(self, at: int, path: str) -> bool:
        return f"{path}/".startswith(f"{self.moves[at].source}/")

    def _indices(self, path: str, among: range) -> Iterator[int]:
        """The moves that touch a path or a folder above it."""
        while path:
            yield from (at for at in self._touching.get(path, ()) if at in among)
            path = _parent(path)


def _is_made(root: Root, course: _Course, at: int) -> bool:
    """Whether its target is there, or where later moves of the step have taken it."""
    target = course.moves[at].target
    return any(root.stat(path) is not None for path in course.journey(target, at + 1))


def _make(root: Root, desk: Desk, move: Move) -> bool:
    """False when the source has gone or somebody has taken the target's name."""
    source = root.parent(move.source)
    if source is None:
        return False
    with source, _home(root, move.target) as target:
        try:
            desk.renamer.carry(source, leaf(move.source), target, leaf(move.target))
        except (FileExistsError, FileNotFoundError):
            return False
        except OSError as error:
            raise fault(move.target, error) from error
    return True


def _home(root: Root, path: str) -> Folder:
    return root.parent(path) or root.make_folder(_parent(path))


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
