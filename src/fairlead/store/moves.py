"""Moves: files and folders that get another place as part of a step.

A move is a rename to a name that is free, so nothing is copied, replaced or removed. A move whose
target is there has been made: that is how whoever comes after a kill knows where to go on, even
when one move takes the place that another left, since they are made in their order.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass

from fairlead.errors import DiskFault, FileExists, NotAFile
from fairlead.store import layout
from fairlead.store.atomic import Changed, Desk, Place, confirm
from fairlead.store.confine import Folder, Root, components, fault, kind_of, leaf
from fairlead.store.notice import NotMoved


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
    for at, move in enumerate(moves):
        source = _now(move.source, moves[:at])
        found = root.stat(source) if source else None
        if found is None:
            raise Changed(move.source)
        if not (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)):
            raise NotAFile(move.source, kind_of(found))
        if found.st_dev != root.device():
            raise DiskFault(move.source, "is on another disk, and is not moved from there")
        target = _now(move.target, moves[:at])
        if target and root.stat(target) is not None:
            raise FileExists(move.target)


def waiting(root: Root, moves: tuple[Move, ...]) -> tuple[Move, ...]:
    """The moves that have still to be made."""
    return tuple(move for at, move in enumerate(moves) if not _is_made(root, moves, at))


def make_all(root: Root, desk: Desk, moves: tuple[Move, ...]) -> None:
    """Make those that are not made yet, durably; what somebody has made impossible is told."""
    for at, move in enumerate(moves):
        if not _is_made(root, moves, at) and not _make(root, desk, move):
            desk.notices.append(NotMoved(move.source, move.target))
    paths = {_parent(path): path for move in moves for path in (move.source, move.target)}
    for path in paths.values():
        folder = root.parent(path)
        if folder is not None:
            with Place(folder, leaf(path)) as place:
                confirm(place)


def _now(path: str, moves: tuple[Move, ...]) -> str:
    """Where something is now that will be at this path after the moves; empty: they took it away."""
    for move in reversed(moves):
        if f"{path}/".startswith(f"{move.target}/"):
            path = move.source + path[len(move.target) :]
        elif f"{path}/".startswith(f"{move.source}/"):
            return ""
    return path


def _is_made(root: Root, moves: tuple[Move, ...], at: int) -> bool:
    """Whether its target is there, or where later moves of the step have taken it."""
    path = moves[at].target
    if root.stat(path) is not None:
        return True
    for later in moves[at + 1 :]:
        if f"{path}/".startswith(f"{later.source}/"):
            path = later.target + path[len(later.source) :]
            if root.stat(path) is not None:
                return True
    return False


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
