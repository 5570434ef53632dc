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


class Copies:
    """The copies below one private folder."""

    def __init__(self, above: str, memory: str) -> None:
        self._above = above
        self._memory = memory  # the folder that is copied as it is now

    def new(self, folder: str) -> str:
        """A copy of the last commit with the memory as it is now; without git, of all files."""
        os.makedirs(self._above, mode=0o700, exist_ok=True)
        above = tempfile.mkdtemp(prefix=_PREFIX, dir=self._above)
        place = os.path.join(above, os.path.basename(folder))
        if os.path.exists(os.path.join(folder, ".git")):
            self._git(above, "clone", "--quiet", "--no-hardlinks", "--", folder, place)
            self._git(place, "remote", "remove", "origin")  # no way leads back
            shutil.rmtree(os.path.join(place, self._memory), ignore_errors=True)
        else:
            ignored = shutil.ignore_patterns(self._memory)
            shutil.copytree(folder, place, symlinks=True, ignore=ignored)
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
        inside = [
            os.path.join(each.path, name) for each in ours[kept:] for name in os.listdir(each.path)
        ]
        return tuple(inside)

    def remove(self, place: str, more: Iterable[str]) -> None:
        """A copy goes, and what was kept for it elsewhere."""
        for each in (os.path.dirname(place), *more):
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
