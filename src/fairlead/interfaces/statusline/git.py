"""The git parts of the status line: the branch with its changes, and the age of STATE.md.

Each is one git call with a time limit. git takes no lock and runs no file-system monitor that the
repository configures. Outside a repository, without git, or after the limit nothing is shown.
"""

import os

from fairlead.interfaces.statusline.child import output_of

LIMIT_SECONDS = 1.5

_GIT = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false"]
_NO_SUBMODULES = "--ignore-submodules=all"  # git would start git inside them
_HEX = "0123456789abcdefABCDEF"


class BranchStatus:
    """A branch, with the number of changed files and of commits ahead and behind."""

    __slots__ = ("ahead", "behind", "name", "staged", "unstaged", "untracked")

    def __init__(self) -> None:
        self.name = ""
        self.staged = 0
        self.unstaged = 0
        self.untracked = 0
        self.ahead = 0
        self.behind = 0


def branch_status(folder: str) -> BranchStatus:
    """The branch checked out in a folder; its name is empty outside a repository."""
    return read_status(_git(folder, "status", "--porcelain=v2", "--branch", _NO_SUBMODULES))


def read_status(text: str) -> BranchStatus:
    """Parse the output of `git status --porcelain=v2 --branch`."""
    branch = BranchStatus()
    for line in text.split("\n"):
        kind, _, rest = line.partition(" ")
        if kind == "#":
            _read_header(branch, rest)
        elif kind in ("1", "2"):
            branch.staged += rest[:1] != "."
            branch.unstaged += rest[1:2] != "."
        elif kind == "u":
            branch.unstaged += 1
        elif kind == "?":
            branch.untracked += 1
    return branch


def commits_since(project: str, commit: str) -> int:
    """How many commits HEAD is ahead of the commit recorded in STATE.md; 0 if unknown.

    It is unknown when that commit is not an ancestor of HEAD, or when the project is not the top
    folder of its repository.
    """
    is_hash = 4 <= len(commit) <= 40 and all(character in _HEX for character in commit)
    if not is_hash or not os.path.exists(os.path.join(project, ".git")):
        return 0
    counts = _git(project, "rev-list", "--left-right", "--count", f"{commit}...HEAD").split()
    if len(counts) != 2 or counts[0] != "0" or not counts[1].isdigit():
        return 0
    return int(counts[1])


def _read_header(branch: BranchStatus, header: str) -> None:
    name, _, value = header.partition(" ")
    if name == "branch.head":
        branch.name = value.strip()
    elif name == "branch.ab":
        ahead, _, behind = value.partition(" ")
        branch.ahead, branch.behind = _count(ahead[1:]), _count(behind[1:])


def _count(digits: str) -> int:
    return int(digits) if digits.isdigit() else 0


def _git(folder: str, *arguments: str) -> str:
    return output_of([*_GIT, "-C", folder, *arguments], limit_seconds=LIMIT_SECONDS)
