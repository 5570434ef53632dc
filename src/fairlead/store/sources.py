"""Sources: the files of a code base, listed without reading them.

Links are not followed, folders of tools and of what they make are left out, and there is a limit,
so that a home folder called a project ends as well.
"""

from __future__ import annotations

import os
from typing import NamedTuple

LEFT_OUT = frozenset(
    ("venv", "node_modules", "__pycache__", "dist", "build", "target", "vendor", "coverage")
)
_KEPT = (".github", ".ci")  # of the folders that tools hide
_MOST = 20_000


class Sources(NamedTuple):
    """What a folder holds."""

    paths: tuple[str, ...]  # sorted
    is_cut: bool  # there are more


def sources_of(folder: str, most: int = _MOST) -> Sources:
    """The files below a folder that people wrote, by their paths."""
    found: list[str] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(filter(_is_looked_into, folders))
        inside = os.path.relpath(place, folder)
        lead = "" if inside == os.curdir else f"{inside}/"
        for name in sorted(names):
            path = os.path.join(place, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            if len(found) == most:
                return Sources(tuple(sorted(found)), is_cut=True)
            found.append(lead + name)
    return Sources(tuple(sorted(found)), is_cut=False)


def _is_looked_into(name: str) -> bool:
    return name in _KEPT or not (name.startswith(".") or name in LEFT_OUT)
