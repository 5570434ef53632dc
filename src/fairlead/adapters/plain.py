"""A project without git, as a workspace: one plan at a time, in place.

Nothing is merged and nothing can be taken back; a change is told by comparing digests. It is said
to people before anything begins.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Mapping, Sequence

from fairlead.model.workspace import Change, Merged, Tree

_LEFT_OUT = frozenset([".planning", ".git", "node_modules", ".venv", "__pycache__"])


class InPlace:
    """The project's own folder."""

    is_git = False

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._states: dict[str, dict[str, str]] = {}  # what was seen, by its digest
        self._stands_for: dict[str, str] = {}  # a state as it was, and as it is taken now

    @property
    def uses_own_identity(self) -> bool:
        """There are no commits."""
        return False

    def branch(self) -> str:
        """There is none."""
        return ""

    def switch(self, branch: str) -> None:
        """There is nothing to switch."""

    def commit_of(self, name: str) -> str:
        """There are no commits: the state that is there."""
        return self._remember()

    def is_ignored(self, path: str) -> bool:
        """Nothing is."""
        return False

    def ignored(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Nothing is."""
        return {}

    def submodules(self) -> tuple[str, ...]:
        """Work is done in place, where nothing is empty."""
        return ()

    def dirty_paths(self, ignored: str) -> tuple[str, ...]:
        """Everything is as it is."""
        return ()

    def is_ancestor(self, commit: str, of: str) -> bool:
        """What was made in place is in place."""
        return True

    def guard(self) -> Mapping[str, str]:
        """Nothing beside the files themselves."""
        return {}

    def prepare(self, place: str, base: str, branch: str = "") -> None:
        """Nothing is taken back: what is there now is taken for that state."""
        self._stands_for[base] = self._remember()

    def inside(self, place: str) -> str:
        """There is no other place."""
        return place

    def tree_of(self, place: str, base: str, left_out: str, declared: Collection[str] = ()) -> Tree:
        """What is there now."""
        held = self._remember()
        return Tree(held, held, held)

    def tree_id(self, commit: str) -> str:
        """A state is its own tree."""
        return commit

    def keep(self, tree: Tree, base: str, branch: str, message: str) -> str:
        """It stays where it is."""
        return tree.id

    def changes(self, base: str, commit: str) -> tuple[Change, ...]:
        """The difference between two states that were seen by this process."""
        before, after = (self._states.get(self._as_taken(each)) for each in (base, commit))
        if before is None or after is None:
            return ()
        kinds = {
            path: "A" if path not in before else "D" if path not in after else "M"
            for path in {*before, *after}
            if before.get(path) != after.get(path)
        }
        return tuple(Change(path, kinds[path]) for path in sorted(kinds))

    def at_commit(self, place: str, commit: str) -> None:
        """Nothing is taken back."""
        self.prepare(place, commit)

    def is_at(self, place: str, commit: str) -> bool:
        """Whether nothing has changed since."""
        return self._remember() == self._as_taken(commit)

    def remove(self, place: str) -> None:
        """The project stays."""

    def unmerged(self, prefix: str, target: str) -> frozenset[str]:
        """There are no branches."""
        return frozenset()

    def put_away(self, places: Mapping[str, str], kept: frozenset[str]) -> None:
        """The project stays."""

    def merged(self, target: str, commit: str, message: str) -> Merged:
        """Nothing to merge."""
        return Merged(commit)

    def land(self, branch: str, old: str, new: str, ignored: str) -> None:
        """It is there already."""

    def commit_paths(self, paths: Iterable[str], message: str) -> str:
        """There are no commits."""
        return ""

    def _as_taken(self, state: str) -> str:
        return self._stands_for.get(state, state)

    def _remember(self) -> str:
        digests = dict(_files(self.folder))
        listed = "\0".join(f"{k}\0{v}" for k, v in sorted(digests.items()))
        name = hashlib.sha256(os.fsencode(listed)).hexdigest()
        self._states[name] = digests
        return name


def _files(folder: str) -> Iterable[tuple[str, str]]:
    for above, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if each not in _LEFT_OUT]
        paths = [os.path.join(above, name) for name in names]
        for path in paths:
            if os.path.isfile(path) and not os.path.islink(path):
                yield os.path.relpath(path, folder), _digest(path)


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
