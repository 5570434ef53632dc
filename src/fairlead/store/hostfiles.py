"""Files of the host agent that a status line looks into: its to-do lists and its transcript.

Both are read with limits and never followed through links; whatever is wrong with them, the
answer is that they say nothing.
"""

from __future__ import annotations

import os

from fairlead.errors import FairleadError
from fairlead.store.confine import Folder, Root, leaf, let_go, stat_of

TRANSCRIPT_TAIL = 256 * 1024

_TODOS = "todos"
_TODO_LIMIT = 1024 * 1024
_UNREADABLE = (OSError, ValueError, FairleadError)


def newest_todo(config_folder: str, session: str) -> str:
    """The newest to-do list that the host keeps for a session; empty when there is none."""
    try:
        with Root(config_folder) as root:
            folder = root.folder(_TODOS)
        if folder is None:
            return ""
        with folder:
            return _newest(folder, session)
    except _UNREADABLE:
        return ""


def transcript_tail(path: str) -> str:
    """The end of a transcript; empty when it cannot be read."""
    try:
        with Root(os.path.dirname(path)) as root:
            folder = root.parent(leaf(path))
        assert folder is not None
        with folder:
            return _tail(folder, leaf(path))
    except _UNREADABLE:
        return ""


def _newest(folder: Folder, session: str) -> str:
    newest, name_of_newest = -1, ""
    for name in folder.names():
        if name.startswith(session) and "-agent-" in name and name.endswith(".json"):
            found = folder.stat(name)
            if found is not None and found.st_mtime_ns // 1_000_000 > newest:
                newest, name_of_newest = found.st_mtime_ns // 1_000_000, name
    content = folder.read(name_of_newest, _TODO_LIMIT) if name_of_newest else None
    return (content or b"").decode("utf-8", "replace")


def _tail(folder: Folder, name: str) -> str:
    fd = folder.open_file(name)
    if fd is None:
        return ""
    try:
        size = stat_of(fd, name).st_size
        content = os.pread(fd, TRANSCRIPT_TAIL, max(0, size - TRANSCRIPT_TAIL))
    finally:
        let_go(fd)
    return content.decode("utf-8", "replace")
