"""Listing: the names of the files of a folder, for somebody who wants to find their way."""

import os

_HIDDEN = (".git", ".planning", "node_modules", ".venv", "__pycache__")


def paths_below(folder: str, most: int) -> tuple[str, ...]:
    """The files below a folder, sorted; at most so many, and none of what is not the work."""
    found: list[str] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if each not in _HIDDEN)
        inside = os.path.relpath(place, folder)
        found += [os.path.normpath(os.path.join(inside, name)) for name in sorted(names)]
        if len(found) >= most:
            break
    return tuple(found[:most])
