"""Clean trees: what a verify command judges is exactly what would land.

Before a verify command runs, its worktree gets the tracked files of the commit and nothing else.
Only dependency folders stay, and only as they were before the agent started; otherwise the setup
command makes them again. Without a setup command a folder that the agent made is used, and said.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from fairlead.plans.model import CommandResult
from fairlead.text.inline import file_name
from fairlead.vcs.folders import walk

if TYPE_CHECKING:
    from fairlead.execution.context import ExecutionContext

_AGENT_MADE = "made or changed by the agent, and used by the verify command"
_SETUPS = (  # a file that a project has, and the command that installs its dependencies
    ("package-lock.json", "npm ci"),
    ("npm-shrinkwrap.json", "npm ci"),
    ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
    ("yarn.lock", "yarn install --frozen-lockfile"),
    ("bun.lockb", "bun install --frozen-lockfile"),
    ("uv.lock", "uv sync --frozen"),
    ("poetry.lock", "poetry install"),
    ("Pipfile.lock", "pipenv sync"),
    ("Gemfile.lock", "bundle install"),
    ("composer.lock", "composer install"),
)


class CleanTrees:
    """The worktrees of one run, and the state of their dependency folders."""

    def __init__(self, context: ExecutionContext) -> None:
        self._context = context
        # The command comes from the repository, so only the exact line that a person approved runs.
        line = context.options.setup
        self.setup = line if line and setup_digest(line) in context.approved else ""
        self._before: dict[str, str] = {}  # by worktree: its dependency folders before the agent

    def begin(self, place: str, commit: str) -> None:
        """Install what the project needs, and remember it: the agent starts next."""
        if not self._context.job.is_git:
            return
        if self.setup:
            result = self._set_up(place)
            if result.exit_code != 0:
                self._context.tell("note", place.rpartition("/")[2], _failure(result))
        kept = self._context.workspace.without_tracked(commit, self._context.options.kept)
        self._before[place] = self._state(place, kept)

    def make(self, place: str, commit: str) -> tuple[tuple[str, ...], str]:
        """Give a worktree exactly the files of a commit; remarks, and why it cannot be verified."""
        context, workspace = self._context, self._context.workspace
        if not context.job.is_git:
            if not workspace.is_at(place, commit):
                workspace.at_commit(place, commit)
            return (), ""
        kept = workspace.without_tracked(commit, context.options.kept)
        with context.placing:
            if not os.path.isdir(place):
                workspace.prepare(place, commit)
            else:
                workspace.at_commit(place, commit, kept)
        state = self._state(place, kept)
        if self._before.get(place) == state and (state or not self.setup):
            return (), ""
        if not self.setup:
            made = ", ".join(map(file_name, _folders(place, kept)))
            return ((f"{made}: {_AGENT_MADE}",) if made else ()), ""
        with context.placing:
            workspace.at_commit(place, commit)
        result = self._set_up(place)
        if result.exit_code != 0 or result.problem:
            return (), _failure(result)
        with context.placing:
            workspace.at_commit(place, commit, kept)  # the setup may run scripts of the project
        self._before[place] = self._state(place, kept)
        return (), ""

    def _set_up(self, place: str) -> CommandResult:
        context = self._context
        inside, limit = context.workspace.inside(place), context.options.limits.verify
        is_wanted = lambda: not context.over.is_set  # noqa: E731
        return context.roster.shell.run(self.setup, inside, limit, is_wanted)

    def _state(self, place: str, kept: Collection[str]) -> str:
        """A digest of what the system records about every file in the dependency folders.

        A file cannot be changed without a new change time, so its content need not be read.
        """
        digest, is_empty = hashlib.sha256(), True
        for folder in _folders(place, kept):
            for above, folders, names in walk(os.path.join(place, folder)):
                folders.sort()
                for name in sorted((*folders, *names)):
                    is_empty = False
                    path = os.path.join(above, name)
                    status = os.lstat(path)
                    facts = status.st_mode, status.st_ino, status.st_size
                    times = status.st_mtime_ns, status.st_ctime_ns
                    digest.update(os.fsencode(f"{path}\0{facts}\0{times}\0"))
        return "" if is_empty else digest.hexdigest()


def _folders(place: str, kept: Collection[str]) -> Iterator[str]:
    """The dependency folders in a worktree, from its root."""
    for above, folders, _ in walk(place):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in [name for name in folders if name in kept]:
            folders.remove(name)
            yield os.path.relpath(os.path.join(above, name), place)


def _failure(result: CommandResult) -> str:
    problem = result.problem or f"it ended with {result.exit_code}"
    return f"the setup command failed: {problem}\n{result.tail}".strip()


def setup_digest(line: str) -> str:
    """The digest under which a person approves a setup command."""
    return hashlib.sha256(f"setup\0{line}".encode("utf-8", "surrogateescape")).hexdigest()


def proposed_setup(folder: str) -> str:
    """The command that installs the dependencies of a project, by its lock file; empty: none."""
    found = (line for name, line in _SETUPS if os.path.isfile(os.path.join(folder, name)))
    return next(found, "")
