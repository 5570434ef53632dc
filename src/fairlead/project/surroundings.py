"""What lies around a folder that is not a project: projects below it, and other tools' files."""

from __future__ import annotations

import os
from collections.abc import Iterator

from fairlead.core.values import dataclass
from fairlead.store.layout import PLANNING

_MOST_FOLDERS = 400  # that are looked at; a home folder has thousands
_SKIPPED = frozenset({"node_modules", "venv", "vendor", "target", "build", "dist", "__pycache__"})
# The folders in which other tools keep specifications and tasks.
_OTHER_TOOLS = {".specify": "Spec Kit", "backlog": "Backlog.md", ".beads": "Beads"}


@dataclass(frozen=True, slots=True)
class OtherTool:
    """A folder that another tool keeps here."""

    name: str
    folder: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What was found in and below a folder."""

    projects: tuple[str, ...]  # folders with a `.planning`, relative
    tools: tuple[OtherTool, ...]


def surroundings_of(folder: str) -> Surroundings:
    """Look into a folder and two levels below it, without following links."""
    tools = tuple(
        OtherTool(name, place)
        for place, name in _OTHER_TOOLS.items()
        if _is_folder(os.path.join(folder, place)) and _belongs(folder, place)
    )
    projects = [
        os.path.relpath(found, folder)
        for found in _folders_below(folder)
        if _is_folder(os.path.join(found, PLANNING))
    ]
    return Surroundings(tuple(sorted(projects)), tools)


def _belongs(folder: str, place: str) -> bool:
    """Whether a folder is the tool's: any project may have a `backlog` of its own."""
    if place != "backlog":
        return True
    names = ("config.yml", "tasks", "config.yaml")
    return any(os.path.lexists(os.path.join(folder, place, name)) for name in names)


def _folders_below(folder: str) -> Iterator[str]:
    level, left = [folder], _MOST_FOLDERS
    for _ in range(2):
        below = [os.path.join(parent, name) for parent in level for name in _names(parent)][:left]
        yield from below
        level, left = below, left - len(below)


def _names(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(
                entry.name
                for entry in entries
                if not entry.name.startswith(".")
                and entry.name not in _SKIPPED
                and entry.is_dir(follow_symlinks=False)
            )
    except OSError:
        return []


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)
