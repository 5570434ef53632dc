"""A project without git as a `Workspace`: one plan at a time, in the project's own folder.

Nothing is merged and nothing can be undone; changes are found by comparing digests. Commands warn
about this before they start.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Mapping, Sequence

from fairlead.vcs.model import FileChange, MergeResult, Tree

_LEFT_OUT = frozenset([".planning", ".git", "node_modules", ".venv", "__pycache__"])


class InPlace:
    """The project's own folder as a workspace. A state of its files takes the place of a commit."""

    is_git = False

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._states: dict[str, dict[str, str]] = {}  # digests by path, by the digest of the state
        self._replaced_by: dict[str, str] = {}  # a state, and the state that counts as it now

    @property
    def uses_own_identity(self) -> bool:
        """There are no commits."""
        return False

    @property
    def unused_drivers(self) -> tuple[str, ...]:
        """There are no drivers."""
        return ()

    def branch(self) -> str:
        """There is none."""
        return ""

    def switch(self, branch: str) -> None:
        """There is nothing to switch."""

    def commit_of(self, name: str) -> str:
        """The present state, whatever the name."""
        return self._present_state()

    def is_ignored(self, path: str) -> bool:
        """Nothing is ignored."""
        return False

    def ignored(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Nothing is ignored."""
        return {}

    def submodules(self) -> tuple[str, ...]:
        """There are none."""
        return ()

    def dirty_paths(self, ignored: str) -> tuple[str, ...]:
        """Nothing is committed, so nothing differs."""
        return ()

    def hidden_changes(self, ignored: str) -> tuple[str, ...]:
        """There is no index that could hide a change."""
        return ()

    def is_ancestor(self, commit: str, of: str) -> bool:
        """Work done in place is always part of the project."""
        return True

    def patch(self, base: str, commit: str, paths: Sequence[str]) -> str:
        """Nothing of earlier states is kept."""
        return ""

    def guard(self) -> Mapping[str, str]:
        """There is nothing besides the files themselves."""
        return {}

    def path_of(self, name: str) -> str:
        """Every guarded file is named by its path."""
        return name

    def restore_ref(self, name: str, wanted: str, expected: str) -> None:
        """There are no refs."""

    def trust_settings(self) -> None:
        """There are no settings."""

    def prepare(self, place: str, base: str, branch: str = "") -> None:
        """Nothing is undone: from now on the present state counts as the base."""
        self._replaced_by[base] = self._present_state()

    def inside(self, place: str) -> str:
        """The project is the workspace."""
        return place

    def tree_of(self, place: str, base: str, left_out: str, declared: Collection[str] = ()) -> Tree:
        """The present state."""
        state = self._present_state()
        return Tree(state, state, state)

    def tree_id(self, commit: str) -> str:
        """A state is its own tree."""
        return commit

    def keep(self, tree: Tree, base: str, branch: str, message: str) -> str:
        """Nothing to do: the files are in place."""
        return tree.id

    def changes(self, base: str, commit: str) -> tuple[FileChange, ...]:
        """The difference between two states that this process has seen."""
        before, after = (self._states.get(self._current(state)) for state in (base, commit))
        if before is None or after is None:
            return ()
        kinds = {
            path: "A" if path not in before else "D" if path not in after else "M"
            for path in {*before, *after}
            if before.get(path) != after.get(path)
        }
        return tuple(FileChange(path, kinds[path]) for path in sorted(kinds))

    def without(self, tree: Tree, base: str, paths: Collection[str]) -> Tree:
        """Nothing is undone."""
        return tree

    def without_tracked(self, commit: str, names: Collection[str]) -> tuple[str, ...]:
        """Nothing is tracked."""
        return tuple(names)

    def at_commit(self, place: str, commit: str, kept: Collection[str] = ()) -> None:
        """Nothing is undone; see `prepare`."""
        self.prepare(place, commit)

    def is_at(self, place: str, commit: str) -> bool:
        """Whether nothing has changed since."""
        return self._present_state() == self._current(commit)

    def differences(self, place: str, commit: str) -> tuple[str, ...]:
        """The project, if something has changed since."""
        return () if self.is_at(place, commit) else (".",)

    def remove(self, place: str) -> None:
        """The project stays."""

    def unmerged(self, prefix: str, target: str) -> frozenset[str]:
        """There are no branches."""
        return frozenset()

    def branches(self, prefix: str) -> tuple[str, ...]:
        """There are no branches."""
        return ()

    def first_parents(self) -> dict[str, str]:
        """There are no commits."""
        return {}

    def reverted(self, commits: Sequence[str], message: str) -> MergeResult:
        """There are no commits to revert."""
        return MergeResult("")

    def messages_since(self, base: str) -> dict[str, str]:
        """There are no commits."""
        return {}

    def restore_folder(self, path: str) -> None:
        """There is no commit to restore it from."""

    def put_away(
        self, places: Mapping[str, str], kept: frozenset[str], *, reuses: bool = False
    ) -> None:
        """The project stays."""

    def merged(self, target: str, commit: str, message: str) -> MergeResult:
        """There is nothing to merge."""
        return MergeResult(commit)

    def land(self, branch: str, old: str, new: str, ignored: str) -> None:
        """Nothing to do: the files are in place."""

    def commit_paths(self, paths: Iterable[str], message: str) -> str:
        """There are no commits."""
        return ""

    def _current(self, state: str) -> str:
        return self._replaced_by.get(state, state)

    def _present_state(self) -> str:
        digests = dict(_files(self.folder))
        listed = "\0".join(f"{k}\0{v}" for k, v in sorted(digests.items()))
        name = hashlib.sha256(os.fsencode(listed)).hexdigest()
        self._states[name] = digests
        return name


def _files(folder: str) -> Iterable[tuple[str, str]]:
    for above, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _LEFT_OUT]
        paths = [os.path.join(above, name) for name in names]
        for path in paths:
            if os.path.isfile(path) and not os.path.islink(path):
                yield os.path.relpath(path, folder), _digest(path)


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
