"""Values of a workspace: file changes, trees and merges."""

import re
import unicodedata

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass

_DROPPINGS = lazy_pattern(
    r"""(?:^|/)(?:
        (?:__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.hypothesis|\.nyc_output)(?:/|$)
      | [^/]*\.py[co]$ | \.ds_store$ | thumbs\.db$ | \.coverage(?:\.[^/]*)?$ | [^/]*\.tsbuildinfo$
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that a commit adds (A), changes (M) or deletes (D)."""

    path: str
    kind: str
    is_repository: bool = False  # a new nested repository, whose commits are nowhere else
    before: tuple[str, str] = ("", "")  # mode and object id in the older commit
    after: tuple[str, str] = ("", "")  # the same in the newer one


@dataclass(frozen=True, slots=True)
class FileLines:
    """How many lines of a file a commit adds and removes; zero of a binary file."""

    path: str
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class Tree:
    """The contents of a workspace after an attempt."""

    id: str  # the tree that may land
    head: str  # the commit at which the agent left the workspace
    full: str  # the tree with everything, also what may not land
    fault: str = ""  # why the contents cannot land
    outward: frozenset[str] = frozenset()  # changed symbolic links that lead out of the project


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """A file that two commits changed differently, with both versions."""

    path: str
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class MergeResult:
    """A merge commit, or the conflicts that prevent it."""

    commit: str
    clashes: tuple[MergeConflict, ...] = ()


def is_dropping(path: str) -> bool:
    """Whether a tool left a file behind: it neither lands nor makes a tree dirty."""
    return bool(_DROPPINGS.search(compared_path(path)))


def compared_path(path: str) -> str:
    """A path as the most forgiving file system compares it: no case, no invisible characters."""
    text = unicodedata.normalize("NFKC", path.encode("utf-8", "replace").decode())
    shown = "".join(each for each in text if unicodedata.category(each) != "Cf")
    parts = shown.replace("\\", "/").split("/")
    return "/".join(part.rstrip(" .") or part for part in parts).lower()
