"""What a workspace tells: changes, trees and merges, as values."""

from functools import reduce

from fairlead.model.ids import slug
from fairlead.model.inventory import Inventory
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
    fault: str = ""  # why nothing can be made of what is there, with a tree of it or without


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


def branch_named(pattern: str, inventory: Inventory, phase: str, name: str) -> str:
    """The branch of a run, as a setting such as `gsd/phase-{phase}-{slug}` wants it."""
    version = inventory.milestone or "v1.0"
    named = [each.name for each in inventory.roadmap.milestones if each.version == version]
    is_phase = "{phase}" in pattern
    words = {
        "{phase}": phase,
        "{milestone}": version,
        "{slug}": slug(name) or "phase" if is_phase else slug("".join(named)) or "milestone",
    }
    return reduce(lambda text, word: text.replace(*word), words.items(), pattern)
