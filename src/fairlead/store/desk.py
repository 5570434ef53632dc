"""The desk: our own folder beside what we write. Whoever makes it hides it from git at once."""

from __future__ import annotations

from fairlead.store import layout
from fairlead.store.confine import Folder, Root, fault

_PRIVATE = 0o600


def open_desk(root: Root, path: str) -> Folder:
    """The desk, made where it is missing."""
    desk = root.kept_folder(path)
    if desk.stat(layout.IGNORE) is None:
        put(desk, layout.IGNORE, layout.IGNORE_ALL)
    return desk


def put(desk: Folder, name: str, content: bytes) -> None:
    """Replace a small file of ours in one step; it waits for no disk."""
    writing = layout.writing_name()
    try:
        with open(desk.create(writing, _PRIVATE), "wb") as file:
            file.write(content)
        desk.move(writing, desk, name)
    except OSError as error:
        raise fault(desk.path_of(name), error) from error
