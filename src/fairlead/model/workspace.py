"""What a workspace tells: changes, trees and merges, as values."""

from fairlead.values import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """One file that a commit adds (A), changes (M) or deletes (D)."""

    path: str
    kind: str
    is_repository: bool = False  # it was none before: a link to a history that nobody has


@dataclass(frozen=True, slots=True)
class Tree:
    """What a workspace holds: the tree that may land, the commit its agent left it at, and all."""

    id: str
    head: str
    full: str
    fault: str = ""  # why nothing can be made of what is there; then there is no tree


@dataclass(frozen=True, slots=True)
class Clash:
    """A file that two commits changed differently, with both sides."""

    path: str
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Merged:
    """A merge commit; or, without one, where the two clash."""

    commit: str
    clashes: tuple[Clash, ...] = ()
