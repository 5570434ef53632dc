"""Ports: what the engine needs from outside, as protocols that adapters fulfil."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the values of a port are loaded by who uses them
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from fairlead.model.agent_events import AgentEvent, Ending
    from fairlead.model.agent_orders import Order
    from fairlead.model.issue import Issue, MadeIssue
    from fairlead.model.workspace import Change, Merged, Tree


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The present moment in UTC."""
        ...


class Tracker(Protocol):
    """Keeps issues, outside of this machine."""

    def marked(self, since: datetime) -> Mapping[str, int]:
        """The issues that carry a marker of ours and were made since then, by marker."""
        ...

    def make(self, issue: Issue, *, held: int) -> MadeIssue:
        """Make an issue. The open file `held` stays open until that has ended, even without us."""
        ...


class Agent(Protocol):
    """A program that changes files."""

    @property
    def name(self) -> str:
        """The name it goes by in settings."""
        ...

    def start(
        self,
        order: Order,
        watch: Callable[[AgentEvent], None],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Ending:
        """Carry out an order; every event is shown to `watch`. Ends early once it is not wanted."""
        ...


class Recall(Protocol):
    """Remembers the calls of agents by what is kept of them."""

    def __call__(self, name: str, role: str, raw: str, /) -> Ending | None:
        """What a call of an agent came to of which nobody saw the end; None: it never began."""
        ...


class Checker(Protocol):
    """Runs the commands that a person allowed, each with a limit."""

    def run(self, command: tuple[str, ...], folder: str) -> tuple[int, str]:
        """Run one to its end: its exit code, and the last line it said. Raises if it has no end."""
        ...


class Workspace(Protocol):
    """Where attempts work, and how their work lands in the project."""

    folder: str

    @property
    def uses_own_identity(self) -> bool:
        """Whether commits carry our name because nobody said theirs."""
        ...

    is_git: bool

    def switch(self, branch: str) -> None:
        """Go to a branch, made here if there is none."""
        ...

    def branch(self) -> str:
        """The branch that work lands on; empty when there is none."""
        ...

    def commit_of(self, name: str) -> str:
        """The commit that a name stands for, or nothing."""
        ...

    def dirty_paths(self, ignored: str) -> tuple[str, ...]:
        """What differs from the last commit, leaving out one folder."""
        ...

    def ignored(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Which of these paths are never taken over, each with the reason."""
        ...

    def submodules(self) -> tuple[str, ...]:
        """The folders of other repositories, which are empty in a clean workspace."""
        ...

    def is_ancestor(self, commit: str, of: str) -> bool:
        """Whether a commit is part of the history of another."""
        ...

    def changes(self, base: str, commit: str) -> tuple[Change, ...]:
        """What a commit changes, seen from another."""
        ...

    def guard(self) -> Mapping[str, str]:
        """Everything an agent has no business with, as digests."""
        ...

    def prepare(self, place: str, base: str, branch: str = "") -> None:
        """A clean workspace at a commit."""
        ...

    def inside(self, place: str) -> str:
        """The folder of the project in a workspace."""
        ...

    def tree_of(self, place: str, base: str, left_out: str, declared: Collection[str] = ()) -> Tree:
        """What a workspace holds now, with and without one folder.

        It is a fault if a declared file is there that could not land.
        """
        ...

    def tree_id(self, commit: str) -> str:
        """The tree of a commit."""
        ...

    def keep(self, tree: Tree, base: str, branch: str, message: str) -> str:
        """One commit on the base with the tree; the branch keeps all that was made."""
        ...

    def at_commit(self, place: str, commit: str) -> None:
        """The workspace with the files of a commit."""
        ...

    def is_at(self, place: str, commit: str) -> bool:
        """Whether a workspace holds exactly the files of a commit."""
        ...

    def remove(self, place: str) -> None:
        """The workspace goes; its branch stays."""
        ...

    def unmerged(self, prefix: str, target: str) -> frozenset[str]:
        """The branches below a prefix that hold something the target does not."""
        ...

    def put_away(self, places: Mapping[str, str], kept: frozenset[str]) -> None:
        """Workspaces that nobody needs go, each with its branch, save the branches that are kept."""
        ...

    def merged(self, target: str, commit: str, message: str) -> Merged:
        """The merge of a commit into another, or where they clash."""
        ...

    def land(self, branch: str, old: str, new: str, ignored: str) -> None:
        """Move a branch forward, and the project's files with it."""
        ...

    def commit_paths(self, paths: Iterable[str], message: str) -> str:
        """A commit of some paths alone; nothing to commit gives nothing."""
        ...
