"""What other packages need from version control and an issue tracker, as protocols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # callers that use a port load its values themselves
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from fairlead.vcs.github import MadeIssue, NewIssue
    from fairlead.vcs.model import FileChange, MergeResult, Tree


class Tracker(Protocol):
    """An issue tracker on another machine."""

    def marked(self, since: datetime) -> Mapping[str, int]:
        """The issues with a Fairlead marker created since then: numbers by marker."""
        ...

    def make(self, issue: NewIssue, *, inherited: int) -> MadeIssue:
        """Create an issue. Its process inherits the open file `inherited`, even if ours dies."""
        ...


class Workspace(Protocol):
    """Where attempts work, and how their work lands in the project."""

    folder: str

    @property
    def uses_own_identity(self) -> bool:
        """Whether commits carry Fairlead's name because the user has not configured one."""
        ...

    @property
    def unused_drivers(self) -> tuple[str, ...]:
        """The filters and merge drivers that are not used, because an agent could change them."""
        ...

    is_git: bool

    def switch(self, branch: str) -> None:
        """Switch to a branch; create it here if it does not exist."""
        ...

    def branch(self) -> str:
        """The branch on which work lands; empty if there is none."""
        ...

    def commit_of(self, name: str) -> str:
        """The commit of a name; empty if there is none."""
        ...

    def dirty_paths(self, ignored: str) -> tuple[str, ...]:
        """The paths that differ from the last commit, outside one folder."""
        ...

    def hidden_changes(self, ignored: str) -> tuple[str, ...]:
        """The committed files whose difference from the last commit git does not show."""
        ...

    def ignored(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Those of the paths that never land, each with the reason."""
        ...

    def submodules(self) -> tuple[str, ...]:
        """The folders of submodules, which are empty in a clean workspace."""
        ...

    def is_ancestor(self, commit: str, of: str) -> bool:
        """Whether a commit is part of the history of another."""
        ...

    def changes(self, base: str, commit: str) -> tuple[FileChange, ...]:
        """The files that a commit changes relative to another."""
        ...

    def patch(self, base: str, commit: str, paths: Sequence[str]) -> str:
        """The changes of some files as text."""
        ...

    def guard(self) -> Mapping[str, str]:
        """Digests of everything that an agent must not touch."""
        ...

    def path_of(self, name: str) -> str:
        """The path of a guarded file, by its name in `guard`."""
        ...

    def restore_ref(self, name: str, wanted: str, expected: str) -> None:
        """Move a ref back to where it was, and the files of the project with it."""
        ...

    def trust_settings(self) -> None:
        """Use the settings of version control as they are now."""
        ...

    def prepare(self, place: str, base: str, branch: str = "") -> None:
        """Create a clean workspace at a commit."""
        ...

    def inside(self, place: str) -> str:
        """The folder of the project in a workspace."""
        ...

    def tree_of(self, place: str, base: str, left_out: str, declared: Collection[str] = ()) -> Tree:
        """The contents of a workspace, with and without one folder.

        A declared file that exists and cannot land is a fault of the tree.
        """
        ...

    def tree_id(self, commit: str) -> str:
        """The tree of a commit."""
        ...

    def keep(self, tree: Tree, base: str, branch: str, message: str) -> str:
        """Commit the tree on the base; the branch gets everything that was made."""
        ...

    def without(self, tree: Tree, base: str, paths: Collection[str]) -> Tree:
        """The tree in which these paths are as in the base; `full` stays."""
        ...

    def without_tracked(self, commit: str, names: Collection[str]) -> tuple[str, ...]:
        """Those of the folder names that no folder with tracked files has."""
        ...

    def at_commit(self, place: str, commit: str, kept: Collection[str] = ()) -> None:
        """Give a workspace exactly the files of a commit; folders named in `kept` stay."""
        ...

    def is_at(self, place: str, commit: str) -> bool:
        """Whether a workspace has exactly the files of a commit."""
        ...

    def differences(self, place: str, commit: str) -> tuple[str, ...]:
        """The paths in a workspace that differ from a commit."""
        ...

    def remove(self, place: str) -> None:
        """Delete a workspace; its branch stays."""
        ...

    def unmerged(self, prefix: str, target: str) -> frozenset[str]:
        """The branches below a prefix with commits that the target does not contain."""
        ...

    def put_away(
        self, places: Mapping[str, str], kept: frozenset[str], *, reuses: bool = False
    ) -> None:
        """Delete workspaces and their branches, except the branches in `kept`.

        With `reuses`, `prepare` may use the workspaces again.
        """
        ...

    def merged(self, target: str, commit: str, message: str) -> MergeResult:
        """Merge a commit into another, or report the conflicts."""
        ...

    def first_parents(self) -> Mapping[str, str]:
        """The messages of the commits of the branch itself, by their ids, the newest first."""
        ...

    def reverted(self, commits: Sequence[str], message: str) -> MergeResult:
        """A commit after HEAD that reverts merges, or the conflicts that prevent it."""
        ...

    def land(self, branch: str, old: str, new: str, ignored: str) -> None:
        """Fast-forward a branch, and the project's files with it."""
        ...

    def commit_paths(self, paths: Iterable[str], message: str) -> str:
        """Commit some paths; empty if there is nothing to commit."""
        ...
