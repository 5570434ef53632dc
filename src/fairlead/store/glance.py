"""A glance: what a status line looks at, found and read in the least possible time.

The settings and the STATE.md that hold for a folder are the nearest ones in ten folders, from
it upwards and not beyond the home folder. Besides there are two files of the host agent: its
to-do list and its transcript. Reads only: no lock, no file made, links and pipes refused. What
cannot be read is taken for missing, because a status line has nobody to complain to.
"""

import os

from fairlead.faults import FairleadError
from fairlead.store import layout
from fairlead.store.confine import Folder, Root, leaf, let_go, stat_of

FOLDERS = 10
TODOS_NAME = "todos"
TODO_LIMIT = 64 * 1024
TRANSCRIPT_TAIL = 256 * 1024

# What may be wrong with a path: it is absent, unreadable, or no system takes it.
UNREADABLE = (OSError, ValueError, FairleadError)


class Nearby:
    """What holds for a folder; None where there is nothing."""

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


def folders_above(folder: str, home: str) -> "list[str]":
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


def newest_todo(host_folder: str, session: str) -> str:
    """The newest to-do list that the host keeps for a session; empty when there is none."""
    try:
        with Root(host_folder) as root:
            folder = root.folder(TODOS_NAME)
        if folder is None:
            return ""
        with folder:
            return _newest_in(folder, session)
    except UNREADABLE:
        return ""


def transcript_tail(path: str) -> str:
    """The end of a transcript; empty when it cannot be read."""
    try:
        with Root(os.path.dirname(path)) as root:
            folder = root.parent(leaf(path))
        assert folder is not None
        with folder:
            return _tail_of(folder, leaf(path))
    except UNREADABLE:
        return ""


def _look_into(planning: Folder, place: str, found: Nearby) -> None:
    if found.config is None:
        found.config = _config_in(planning)
    if found.project:
        return
    found.state = _start_of(planning, layout.STATE_NAME, layout.STATE_LIMIT)
    if found.state is not None:
        found.project = place
    elif _has_workstreams(planning):
        found.project = place
        found.has_workstreams = True


def _config_in(planning: Folder) -> "str | None":
    """The settings here. A file that cannot be read still hides those above it."""
    try:
        if planning.stat(layout.CONFIG_NAME) is None:
            return None
    except UNREADABLE:
        return ""
    return _start_of(planning, layout.CONFIG_NAME, layout.CONFIG_LIMIT) or ""


def _has_workstreams(planning: Folder) -> bool:
    try:
        inside = planning.folder(layout.WORKSTREAMS_NAME)
        if inside is None:
            return False
        with inside, os.scandir(inside.fd) as entries:
            return any(entry.is_dir(follow_symlinks=False) for entry in entries)
    except UNREADABLE:
        return False


def _start_of(folder: Folder, name: str, limit: int) -> "str | None":
    try:
        content = folder.read_start(name, limit)
    except UNREADABLE:
        return None
    return None if content is None else as_text(content)


def _newest_in(folder: Folder, session: str) -> str:
    newest, name_of_newest = -1, ""
    for name in folder.names():
        if name.startswith(session) and "-agent-" in name and name.endswith(".json"):
            found = folder.stat(name)
            milliseconds = found.st_mtime_ns // 1_000_000 if found else -1
            if milliseconds > newest:
                newest, name_of_newest = milliseconds, name
    return as_text(folder.read(name_of_newest, TODO_LIMIT) or b"") if name_of_newest else ""


def _tail_of(folder: Folder, name: str) -> str:
    fd = folder.open_file(name)
    if fd is None:
        return ""
    try:
        start = max(0, stat_of(fd, name).st_size - TRANSCRIPT_TAIL)
        return as_text(os.pread(fd, TRANSCRIPT_TAIL, start))
    finally:
        let_go(fd)


def as_text(content: bytes) -> str:
    """Bytes as text for display: those that are not UTF-8 become U+FFFD."""
    return content.decode("utf-8", "replace")
