"""Moves: files and folders that get another place as part of a step.

A move is a rename to a name that is free, so nothing is copied, replaced or removed. The moves
of a step are made in their order: one that is found done proves all before it, and that is how
whoever comes after a kill knows where to go on, even when one takes the place that another left.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass

from fairlead.errors import DiskFault, FileExists, NotAFile
from fairlead.store import layout
from fairlead.store.atomic import Changed, Desk, Place, confirm
from fairlead.store.confine import Folder, Root, components, fault, kind_of, leaf


@dataclass(frozen=True, slots=True)
class Move:
    """A file or folder, and the place it is to have."""

    source: str
    target: str


def require_inside(move: Move, desk: str) -> None:
    """Refuse a move that begins or ends anywhere but beside the desk, or on its shelf."""
    layout.require_document(move.source, desk)
    parts = components(move.target)
    shelf = components(f"{desk}/{layout.REMOVED}")
    if parts[:-1] != shelf:
        layout.require_document(move.target, desk)


def require_possible(root: Root, moves: tuple[Move, ...]) -> None:
    """Refuse moves that cannot be made: before the commit point nothing has happened yet."""
    freed: set[str] = set()
    made: set[str] = set()
    for move in moves:
        _require_source(root, move, made)
        is_there = root.stat(move.target) is not None and move.target not in freed
        if is_there or move.target in made:
            raise FileExists(move.target)
        freed.add(move.source)
        made.add(move.target)


def is_waiting(root: Root, moves: tuple[Move, ...]) -> tuple[Move, ...]:
    """The moves that have still to be made."""
    for at in range(len(moves), 0, -1):
        if _is_done(root, moves[at - 1]):
            return moves[at:]
    return moves


def make_all(root: Root, desk: Desk, moves: tuple[Move, ...]) -> tuple[Move, ...]:
    """Make those that are not made yet, durably. Returns those that cannot be made any more."""
    lost = []
    for move in is_waiting(root, moves):
        if not _make(root, desk, move):
            lost.append(move)
    for path in {_parent(path): path for move in moves for path in (move.source, move.target)}.values():
        folder = root.parent(path)
        if folder is not None:
            with Place(folder, leaf(path)) as place:
                confirm(place)
    return tuple(lost)


def _require_source(root: Root, move: Move, made: set[str]) -> None:
    if any(move.source.startswith(f"{target}/") for target in made):
        return  # it lies in a folder that an earlier move of the step brings
    found = root.stat(move.source)
    if found is None:
        raise Changed(move.source)
    if not (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)):
        raise NotAFile(move.source, kind_of(found))
    if found.st_dev != root.device():
        raise DiskFault(move.source, "is on another disk, and is not moved from there")


def _is_done(root: Root, move: Move) -> bool:
    return root.stat(move.source) is None and root.stat(move.target) is not None


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
