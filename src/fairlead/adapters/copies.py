"""Private copies of a project, to rehearse in: the project itself stays as it is, byte for byte."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from datetime import timedelta

from fairlead.adapters.process import Limits, program, run, surroundings
from fairlead.errors import GitFault

_PASSED_ON = ("PATH", "HOME", "TMPDIR", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL")
_PREFIX = "rehearsal-"
_LINK = ".project"  # beside the copy of a repository, to the project's folder in it


class Copies:
    """The copies below one private folder."""

    def __init__(self, above: str, memory: str) -> None:
        self._above = above
        self._memory = memory  # the folder that is copied as it is now

    def new(self, folder: str) -> str:
        """A copy of the last commit with the memory as it is now; without git, of all files."""
        os.makedirs(self._above, mode=0o700, exist_ok=True)
        above = tempfile.mkdtemp(prefix=_PREFIX, dir=self._above)
        top = _repository(folder)
        inside = os.path.relpath(folder, top or folder)
        copy = os.path.join(above, os.path.basename(top or folder))
        place = os.path.normpath(os.path.join(copy, inside))
        if top:
            self._git(above, "clone", "--quiet", "--no-hardlinks", "--", top, copy)
            self._git(copy, "remote", "remove", "origin")  # no way leads back
            shutil.rmtree(os.path.join(place, self._memory), ignore_errors=True)
        else:
            ignored = shutil.ignore_patterns(self._memory)
            shutil.copytree(folder, place, symlinks=True, ignore=ignored)
        if place != copy:
            os.makedirs(place, exist_ok=True)
            os.symlink(os.path.relpath(place, above), os.path.join(above, _LINK))
        memory = os.path.join(folder, self._memory)
        if not os.path.isdir(memory):
            return place
        shutil.copytree(memory, os.path.join(place, self._memory), symlinks=True)
        return place

    def old(self, kept: int) -> tuple[str, ...]:
        """Every copy but the newest ones."""
        if not os.path.isdir(self._above):
            return ()
        with os.scandir(self._above) as entries:
            ours = [each for each in entries if each.name.startswith(_PREFIX)]
        ours.sort(key=lambda each: each.stat(follow_symlinks=False).st_mtime_ns, reverse=True)
        return tuple(place for each in ours[kept:] for place in _places(each.path))

    def remove(self, place: str, more: Iterable[str]) -> None:
        """A copy goes, and what was kept for it elsewhere."""
        inside = os.path.relpath(os.path.realpath(place), os.path.realpath(self._above))
        copy = inside.partition(os.sep)[0]
        gone = [os.path.join(self._above, copy)] if copy.startswith(_PREFIX) else []
        for each in (*gone, *more):
            shutil.rmtree(each, ignore_errors=True)

    def _git(self, folder: str, *words: str) -> None:
        done = run(
            [program("git"), "-c", "core.hooksPath=/dev/null", *words],
            folder=folder,
            environment=surroundings(_PASSED_ON, GIT_TERMINAL_PROMPT="0"),
            limits=Limits(wall=timedelta(minutes=5)),
        )
        if done.code != 0:
            raise GitFault(words[0], done.errors.decode("utf-8", "replace").strip())


def _repository(folder: str) -> str:
    """The folder of the repository that a folder belongs to; nothing without one."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above
    return folder


def _places(above: str) -> list[str]:
    """Where the project is in a copy."""
    names = os.listdir(above)
    if _LINK in names:
        return [os.path.realpath(os.path.join(above, _LINK))]
    return [os.path.join(above, name) for name in names]
