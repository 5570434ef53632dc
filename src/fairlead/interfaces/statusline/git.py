"""Git, for those who asked for it: the branch with its work, and how old STATE.md is.

One call each, with a limit. git takes no lock for it and starts no helper of the repository's
own choosing. Outside a repository, without git, or too late: nothing is shown.
"""

import os

from fairlead.interfaces.statusline.child import output_of

LIMIT_SECONDS = 1.5

_GIT = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false"]
_HEX = "0123456789abcdefABCDEF"


class Work:
    """A branch and how many files and commits are under way on it."""

    __slots__ = ("ahead", "behind", "branch", "staged", "unstaged", "untracked")

    def __init__(self) -> None:
        self.branch = ""
        self.staged = 0
        self.unstaged = 0
        self.untracked = 0
        self.ahead = 0
        self.behind = 0


def work_in(folder: str) -> Work:
    """The work in the repository that holds a folder; without a branch, there is none."""
    return read_status(_git(folder, "status", "--porcelain=v2", "--branch"))


def read_status(text: str) -> Work:
    """Read what `git status --porcelain=v2 --branch` prints."""
    work = Work()
    for line in text.split("\n"):
        kind, _, rest = line.partition(" ")
        if kind == "#":
            _read_header(work, rest)
        elif kind in ("1", "2"):
            work.staged += rest[:1] != "."
            work.unstaged += rest[1:2] != "."
        elif kind == "u":
            work.unstaged += 1
        elif kind == "?":
            work.untracked += 1
    return work


def commits_since(project: str, commit: str) -> int:
    """How many commits HEAD is ahead of the one at which STATE.md was written; 0 if unknown.

    Unknown also when that commit is not an ancestor of HEAD, or the project is only a folder
    inside somebody else's repository.
    """
    is_hash = 4 <= len(commit) <= 40 and all(mark in _HEX for mark in commit)
    if not is_hash or not os.path.exists(os.path.join(project, ".git")):
        return 0
    counted = _git(project, "rev-list", "--left-right", "--count", f"{commit}...HEAD").split()
    if len(counted) != 2 or counted[0] != "0" or not counted[1].isdigit():
        return 0
    return int(counted[1])


def _read_header(work: Work, header: str) -> None:
    name, _, rest = header.partition(" ")
    if name == "branch.head":
        work.branch = rest.strip()
    elif name == "branch.ab":
        ahead, _, behind = rest.partition(" ")
        work.ahead, work.behind = _count(ahead[1:]), _count(behind[1:])


def _count(digits: str) -> int:
    return int(digits) if digits.isdigit() else 0


def _git(folder: str, *arguments: str) -> str:
    return output_of([*_GIT, "-C", folder, *arguments], limit_seconds=LIMIT_SECONDS)
