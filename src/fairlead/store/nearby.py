"""Nearby: the settings and the STATE.md that a status line shows for a folder.

Looks into ten folders, from the one given upwards and not beyond the home folder; the nearest
file of each kind wins. Reads only: no lock, no file made, links and pipes refused. What cannot
be read is treated as missing, because a status line has nobody to complain to. Imports nothing
that costs time.
"""

from __future__ import annotations

import os

from fairlead.errors import FairleadError
from fairlead.store import layout
from fairlead.store.confine import Folder, Root

FOLDERS = 10

# What a folder may refuse to be: absent, unreadable, or a name that no system takes.
UNREADABLE = (OSError, ValueError, FairleadError)


class Nearby:
    """What was found; None where there is nothing."""

    __slots__ = ("config", "has_workstreams", "project", "state")

    def __init__(self) -> None:
        self.config: str | None = None
        self.state: str | None = None
        self.project = ""  # the folder whose state it is
        self.has_workstreams = False  # the state has to be chosen among several


def look_around(folder: str, home: str) -> Nearby:
    """Find the settings and the state that hold for a folder."""
    found = Nearby()
    for place in folders_above(folder, home):
        try:
            with Root(place) as root:
                planning = root.folder(layout.PLANNING)
        except UNREADABLE:
            continue
        if planning is None:
            continue
        with planning:
            _look_into(planning, place, found)
        if found.config is not None and found.project:
            break
    return found


def folders_above(folder: str, home: str) -> list[str]:
    """The folder and those above it, ten at most, ending with the home folder."""
    folder = folder.rstrip("/") or "/"
    places = [folder]
    while len(places) < FOLDERS and folder != home:
        above = os.path.dirname(folder)
        if above == folder:
            break
        folder = above
        places.append(folder)
    return places


def load_start(folder: Folder, name: str, limit: int) -> str | None:
    """Load a text as far as it is safe, or None. Bytes that are not UTF-8 become U+FFFD."""
    try:
        content = folder.read_start(name, limit)
    except UNREADABLE:
        return None
    return None if content is None else content.decode("utf-8", "replace")


def _look_into(planning: Folder, place: str, found: Nearby) -> None:
    if found.config is None:
        found.config = _config_in(planning)
    if found.project:
        return
    found.state = load_start(planning, layout.STATE_NAME, layout.STATE_LIMIT)
    if found.state is not None:
        found.project = place
    elif _has_folders(planning, layout.WORKSTREAMS_NAME):
        found.project = place
        found.has_workstreams = True


def _config_in(planning: Folder) -> str | None:
    """The settings here. A file that cannot be read still hides those above it."""
    try:
        if planning.stat(layout.CONFIG_NAME) is None:
            return None
    except UNREADABLE:
        return ""
    return load_start(planning, layout.CONFIG_NAME, layout.CONFIG_LIMIT) or ""


def _has_folders(planning: Folder, name: str) -> bool:
    try:
        inside = planning.folder(name)
        if inside is None:
            return False
        with inside, os.scandir(inside.fd) as entries:
            return any(entry.is_dir(follow_symlinks=False) for entry in entries)
    except UNREADABLE:
        return False
