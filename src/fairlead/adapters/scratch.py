"""Scratch folders: where a role may look and write, and nothing of it stays.

With git a worktree of the last commit, its jobs left out; without, a copy of the files. An agent
never stands in the project's own folder, so whatever it does there is simply thrown away.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from fairlead.adapters.git import Git
from fairlead.adapters.plain import InPlace

_JOBS = (".planning", "jobs")  # what others said, and say: nobody who is asked reads it
_LEFT_OUT = (".planning", ".git", "node_modules", ".venv", "__pycache__")


class Scratch:
    """Makes scratch folders of one project."""

    def __init__(self, workspace: Git | InPlace) -> None:
        self._workspace = workspace

    def make(self, place: str) -> None:
        """A clean one; whatever stood there goes."""
        self.remove(place)
        if isinstance(self._workspace, Git):
            self._workspace.prepare(place, "HEAD")
            jobs = os.path.join(os.path.realpath(place), *_JOBS)
            if os.path.realpath(jobs) == jobs:  # a link leads to somebody else's
                shutil.rmtree(jobs, ignore_errors=True)
            return
        os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
        shutil.copytree(
            self._workspace.folder,
            place,
            symlinks=True,
            ignore=shutil.ignore_patterns(*_LEFT_OUT),
        )

    def remove(self, place: str) -> None:
        """It goes."""
        if isinstance(self._workspace, Git):
            self._workspace.remove(place)
        else:
            shutil.rmtree(place, ignore_errors=True)

    def guard(self) -> Mapping[str, str]:
        """What no agent has any business with; branches aside, which others may be moving."""
        held = self._workspace.guard()
        moving = ("refs/", "HEAD")
        return {name: digest for name, digest in held.items() if not name.startswith(moving)}
