"""Copies of a project: private ones for rehearsals, and scratch folders for roles.

A rehearsal works in a copy, so the project itself stays byte-identical. A role that only answers
stands in a scratch folder, which is deleted with everything the role did there.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import timedelta

from fairlead.core.errors import AgentError
from fairlead.core.process import ProcessLimits, environment_of, program, run, search_path
from fairlead.store.files import make_private_folders
from fairlead.store.layout import repository_of
from fairlead.vcs.errors import GitFault
from fairlead.vcs.folders import delete_below
from fairlead.vcs.git import Git
from fairlead.vcs.git_view import OWN_IDENTITY
from fairlead.vcs.in_place import InPlace

_PASSED_VARIABLES = ("HOME", "TMPDIR", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL")
_PREFIX, _UNFINISHED = "rehearsal-", "new-"
_ORIGIN = "origin.json"  # beside the copy: what it was made from
_LINK = ".project"  # beside the copy of a repository: a link to the project's folder in it
_JOBS = (".planning", "jobs")
_LEFT_OUT = (".planning", ".git", "node_modules", ".venv", "__pycache__")


class RehearsalCopies:
    """The copies below one private folder."""

    def __init__(self, parent: str, memory: str) -> None:
        self._parent = parent
        self._memory = memory  # the folder that is copied in its present state

    def find(self, name: str) -> str:
        """The folder of a project in its copy; empty: there is none."""
        parent = os.path.join(self._parent, _PREFIX + name)
        places = _project_folders(parent) if os.path.isdir(parent) else []
        if not places:
            return ""
        os.utime(parent)  # old copies are deleted by the time of their last use
        return places[0]

    def origin(self, name: str) -> str:
        """What was recorded when the copy was made; empty: nothing."""
        with (
            suppress(OSError),
            open(os.path.join(self._parent, _PREFIX + name, _ORIGIN), encoding="utf-8") as file,
        ):
            return file.read()
        return ""

    def new(self, folder: str, name: str, origin: str) -> str:
        """A copy of the last commit with the present memory; without git, of all files."""
        make_private_folders(self._parent)
        parent = tempfile.mkdtemp(prefix=_UNFINISHED, dir=self._parent)
        try:
            self._fill(parent, folder)
            with open(os.path.join(parent, _ORIGIN), "w", encoding="utf-8") as file:
                file.write(origin)
            # Renamed when complete: a killed command leaves no half copy with this name.
            final = os.path.join(self._parent, _PREFIX + name)
            os.rename(parent, final)
        except BaseException:
            shutil.rmtree(parent, ignore_errors=True)
            raise
        return _project_folders(final)[0]

    def _fill(self, parent: str, folder: str) -> None:
        top = _repository(folder)
        inside = os.path.relpath(folder, top or folder)
        copy = os.path.join(parent, os.path.basename(top or folder) or "project")
        place = os.path.normpath(os.path.join(copy, inside))
        if top:
            _git(parent, (top,), "clone", "--quiet", "--no-hardlinks", "--", top, copy)
            # A push must not reach the project.
            _git(copy, (top, copy), "remote", "remove", "origin")
            self._copy_identity(top, copy)
            shutil.rmtree(os.path.join(place, self._memory), ignore_errors=True)
        else:
            ignored = shutil.ignore_patterns(self._memory)
            shutil.copytree(folder, place, symlinks=True, ignore=ignored)
        if place != copy:
            os.makedirs(place, exist_ok=True)
            os.symlink(os.path.relpath(place, parent), os.path.join(parent, _LINK))
        memory = os.path.join(folder, self._memory)
        if os.path.isdir(memory):
            shutil.copytree(memory, os.path.join(place, self._memory), symlinks=True)

    def _copy_identity(self, top: str, copy: str) -> None:
        """Commit under the same name: the settings of a repository do not come with a clone."""
        for key in ("user.name", "user.email"):
            value = _git(top, (top,), "config", "--get", key, may_fail=True).strip()
            if value:
                _git(copy, (top, copy), "config", key, value)

    def old(self, kept: int) -> tuple[str, ...]:
        """The project folders of all copies but the newest ones."""
        if not os.path.isdir(self._parent):
            return ()
        with os.scandir(self._parent) as entries:
            found = list(entries)
        copies = [entry for entry in found if entry.name.startswith(_PREFIX)]
        copies.sort(key=lambda entry: entry.stat(follow_symlinks=False).st_mtime_ns, reverse=True)
        return tuple(place for entry in copies[kept:] for place in _project_folders(entry.path))

    def remove(self, place: str, more: Iterable[str]) -> None:
        """Delete a copy, and more folders that belong to it."""
        inside = os.path.relpath(os.path.realpath(place), os.path.realpath(self._parent))
        copy = inside.partition(os.sep)[0]
        copies = [os.path.join(self._parent, copy)] if copy.startswith(_PREFIX) else []
        for folder in (*copies, *more):
            shutil.rmtree(folder, ignore_errors=True)


def make_repository(folder: str, message: str) -> None:
    """Make a folder a repository, and commit everything in it as Fairlead."""
    name = [word for value in OWN_IDENTITY for word in ("-c", value)]
    _git(folder, (folder,), "init", "--quiet", "--initial-branch=main")
    _git(folder, (folder,), "add", "--all")
    _git(folder, (folder,), *name, "commit", "--quiet", "--no-gpg-sign", f"--message={message}")


def log_lines(folder: str, most: int) -> list[str]:
    """The newest commits of a repository, one line each."""
    # In the order of the history: commits of one second would otherwise come in any order.
    words = ("--topo-order", f"--max-count={most}", "--format=%h %s", "--no-color")
    shown = _git(folder, (folder,), "log", *words)
    return shown.splitlines()


def _git(folder: str, outside: tuple[str, ...], *words: str, may_fail: bool = False) -> str:
    options = ("-c", "core.hooksPath=/dev/null", "-c", "submodule.recurse=false")
    result = run(
        [program("git", outside), *options, *words],
        folder=folder,
        environment=environment_of(
            _PASSED_VARIABLES, PATH=search_path(outside), GIT_TERMINAL_PROMPT="0"
        ),
        limits=ProcessLimits(wall=timedelta(minutes=5)),
    )
    if result.code != 0 and not may_fail:
        raise GitFault(words[0], result.errors.decode("utf-8", "replace").strip())
    return result.output.decode("utf-8", "replace")


def _repository(folder: str) -> str:
    """The root of the repository that a folder belongs to; empty without one."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent
    return folder


def _project_folders(parent: str) -> list[str]:
    """Where the project is in a copy."""
    names = os.listdir(parent)
    if _LINK in names:
        return [os.path.realpath(os.path.join(parent, _LINK))]
    return [os.path.join(parent, name) for name in names if name != _ORIGIN]


class ScratchFolders:
    """Creates scratch folders of one project: worktrees of the last commit, or copies without git."""

    def __init__(self, workspace: Git | InPlace) -> None:
        self._workspace = workspace

    def make(self, place: str) -> None:
        """Create a clean scratch folder, in place of any that exists."""
        self.remove(place)
        if isinstance(self._workspace, Git):
            self._workspace.prepare(place, "HEAD")
            # A role must not read what other roles said.
            inside = os.path.relpath(self._workspace.inside(place), place)
            delete_below(place, os.path.join(inside, *_JOBS))
            return
        make_private_folders(os.path.dirname(place))
        shutil.copytree(
            self._workspace.folder,
            place,
            symlinks=True,
            ignore=shutil.ignore_patterns(*_LEFT_OUT),
        )

    def remove(self, place: str) -> None:
        """Delete a scratch folder."""
        if isinstance(self._workspace, Git):
            self._workspace.remove(place)
        else:
            shutil.rmtree(place, ignore_errors=True)

    def guard(self) -> Mapping[str, str]:
        """Digests of what no agent may touch, without branches: another run may be moving them."""
        moving = ("refs/", "HEAD")
        digests = self._workspace.guard().items()
        return {name: digest for name, digest in digests if not name.startswith(moving)}


def workspace_of(folder: str) -> Git | InPlace:
    """Git where there is a repository with a commit; else the folder itself."""
    try:
        found = Git(folder)
        if not found.commit_of("HEAD"):
            return InPlace(folder)
        found.require_recent()
        return found
    except AgentError:
        if repository_of(folder):
            raise
        return InPlace(folder)
