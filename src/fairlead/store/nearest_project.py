"""Finds and reads what the status line shows, as fast as possible.

The settings and the STATE.md of a folder are the nearest ones in at most ten folders, from this
folder upwards to the home folder. Two files of the host agent are read as well: its to-do list
and its transcript. Reading takes no lock, creates no file, and refuses links and pipes. Files
that cannot be read count as missing, because a status line cannot report errors.
"""

import os

from fairlead.core.errors import FairleadError
from fairlead.store import layout
from fairlead.store.confined import ConfinedFolder, Root, close_quietly, leaf, stat_of

FOLDERS = 10
TODOS_NAME = "todos"
TODO_LIMIT = 64 * 1024
TRANSCRIPT_TAIL = 256 * 1024

# A path may be missing, unreadable, or invalid on this system.
UNREADABLE = (OSError, ValueError, FairleadError)


class NearestProject:
    """The settings and the state that apply to a folder; None if there are none."""

    __slots__ = ("config", "has_workstreams", "project", "state")

    def __init__(self) -> None:
        self.config: str | None = None
        self.state: str | None = None
        self.project = ""  # the folder that contains the state
        self.has_workstreams = False  # the caller has to choose a workstream


def nearest_project(folder: str, home: str) -> NearestProject:
    """Find the settings and the state that apply to a folder."""
    nearest = NearestProject()
    for candidate in folders_above(folder, home):
        try:
            with Root(candidate) as root:
                planning = root.folder(layout.PLANNING)
        except UNREADABLE:
            continue
        if planning is None:
            continue
        with planning:
            _read_planning(planning, candidate, nearest)
        if nearest.config is not None and nearest.project:
            break
    return nearest


def folders_above(folder: str, home: str) -> "list[str]":
    """The folder and its parents, at most ten, ending with the home folder."""
    folder = folder.rstrip("/") or "/"
    folders = [folder]
    while len(folders) < FOLDERS and folder != home:
        above = os.path.dirname(folder)
        if above == folder:
            break
        folder = above
        folders.append(folder)
    return folders


def newest_todo(host_folder: str, session: str) -> str:
    """The newest to-do list of a session of the host; "" if there is none."""
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
    """The end of a transcript; "" if it cannot be read."""
    try:
        with Root(os.path.dirname(path)) as root:
            folder = root.parent(leaf(path))
        assert folder is not None
        with folder:
            return _tail_of(folder, leaf(path))
    except UNREADABLE:
        return ""


def _read_planning(planning: ConfinedFolder, folder: str, nearest: NearestProject) -> None:
    if nearest.config is None:
        nearest.config = _config_in(planning)
    if nearest.project:
        return
    nearest.state = _start_of(planning, layout.STATE_NAME, layout.STATE_LIMIT)
    if nearest.state is not None:
        nearest.project = folder
    elif _has_workstreams(planning):
        nearest.project = folder
        nearest.has_workstreams = True


def _config_in(planning: ConfinedFolder) -> "str | None":
    """The settings in this folder. An unreadable file still hides the ones further up."""
    try:
        if planning.stat(layout.CONFIG_NAME) is None:
            return None
    except UNREADABLE:
        return ""
    return _start_of(planning, layout.CONFIG_NAME, layout.CONFIG_LIMIT) or ""


def _has_workstreams(planning: ConfinedFolder) -> bool:
    try:
        inside = planning.folder(layout.WORKSTREAMS_NAME)
        if inside is None:
            return False
        with inside, os.scandir(inside.fd) as entries:
            return any(entry.is_dir(follow_symlinks=False) for entry in entries)
    except UNREADABLE:
        return False


def _start_of(folder: ConfinedFolder, name: str, limit: int) -> "str | None":
    try:
        content = folder.read_start(name, limit)
    except UNREADABLE:
        return None
    return None if content is None else as_text(content)


def _newest_in(folder: ConfinedFolder, session: str) -> str:
    newest, name_of_newest = -1, ""
    for name in folder.names():
        if name.startswith(session) and "-agent-" in name and name.endswith(".json"):
            status = folder.stat(name)
            milliseconds = status.st_mtime_ns // 1_000_000 if status else -1
            if milliseconds > newest:
                newest, name_of_newest = milliseconds, name
    return as_text(folder.read(name_of_newest, TODO_LIMIT) or b"") if name_of_newest else ""


def _tail_of(folder: ConfinedFolder, name: str) -> str:
    fd = folder.open_file(name)
    if fd is None:
        return ""
    try:
        start = max(0, stat_of(fd, name).st_size - TRANSCRIPT_TAIL)
        return as_text(os.pread(fd, TRANSCRIPT_TAIL, start))
    finally:
        close_quietly(fd)


def as_text(content: bytes) -> str:
    """Bytes as text for display; bytes that are not UTF-8 become U+FFFD."""
    return content.decode("utf-8", "replace")
