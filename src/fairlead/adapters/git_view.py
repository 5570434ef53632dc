"""A repository, looked at: nothing here changes a ref, an index or a file.

What cannot change is remembered: the tree of a commit, the changes between two, what follows what.
Git names files from the folder of the repository; here they are named from the project's folder,
which may lie below it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from fairlead.adapters import refs
from fairlead.adapters.git_program import GitProgram, said
from fairlead.adapters.git_settings import settings_of
from fairlead.adapters.remembered import Remembered
from fairlead.errors import GitTooOld
from fairlead.model.workspace import Change

_LEAST = (2, 38)  # merge-tree --write-tree
_MODULES, _MODULE_PATH = ".gitmodules", r"^submodule\..*\.path$"
_REPOSITORY = "160000"  # the mode of a link to another repository


class GitView(GitProgram):
    """The repository of one project, to look at."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        told = self._run("rev-parse", "--git-common-dir", "--git-dir", "--show-prefix").output
        *homes, self._prefix, _ = os.fsdecode(told).split("\n")  # of a project in a subfolder
        self.common, self._home = (os.path.realpath(os.path.join(folder, each)) for each in homes)
        self._top = os.path.join(folder, os.path.relpath(".", self._prefix or "."))
        self._choose_identity()
        self._trees = Remembered[str, str]()  # by commit
        self._changes = Remembered[tuple[str, str], tuple[Change, ...]]()
        self._follows = Remembered[tuple[str, str], bool]()  # whether a commit is part of another
        self._holders = Remembered[str, str]()  # by commit, one that it was found to be part of

    def require_recent(self) -> None:
        """Refuse a git that cannot merge without a checkout."""
        words = self._text("--version").split()
        parts = words[2].split(".") if len(words) > 2 else ["0", "0"]
        if tuple(int(part) for part in parts[:2]) < _LEAST:
            raise GitTooOld(".".join(parts), ".".join(map(str, _LEAST)))

    def branch(self) -> str:
        """The branch that the main tree is on; empty when it is on none."""
        return self._head_name().partition("refs/heads/")[2]

    def commit_of(self, name: str) -> str:
        """The commit that a name stands for, or nothing."""
        if refs.is_readable(self.common) and name.startswith(("refs/", "HEAD")):
            found = refs.commit_of(name, self._home, self.common)
            if found is not None:
                return found
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        return self._text(*words, may_fail=True)

    def dirty_paths(self, ignored: str) -> tuple[str, ...]:
        """What differs from the last commit in the main tree, leaving out one folder."""
        fields = self._run(
            "status", "--porcelain=v1", "-z", "--untracked-files=normal", "--no-renames"
        ).output
        paths = [self._local(os.fsdecode(each[3:])) for each in fields.split(b"\0") if each]
        return tuple(path for path in paths if not f"{path}/".startswith(f"{ignored}/"))

    def is_ignored(self, path: str) -> bool:
        """Whether git leaves a path alone."""
        return self._run("check-ignore", "--quiet", "--", path, may_fail=True).code == 0

    def ignored(self, paths: Sequence[str], at: str = "") -> Mapping[str, str]:
        """Which of these paths git never takes, each with the line that says so."""
        # What is beyond a link is somewhere else; git asks to be asked about that place.
        asked = {f"./{each}": each for each in paths if not self._is_linked(each)}
        listed = b"\0".join(map(os.fsencode, asked))
        words = ("check-ignore", "--verbose", "-z", "--stdin")
        done = self._run(*words, at=at, stdin=listed, may_fail=True)
        if done.code not in (0, 1) and len(paths) == 1:
            return {paths[0]: f"git {words[0]}: {said(done)}"}
        if done.code not in (0, 1):  # one of them is none that git can speak of
            return dict(pair for each in paths for pair in self.ignored((each,), at).items())
        fields = iter(os.fsdecode(done.output).split("\0"))
        rows = zip(fields, fields, fields, fields, strict=False)
        return {
            asked[path]: f"{source}:{line} ignores it ({pattern})"
            for source, line, pattern, path in rows
            if not pattern.startswith("!")
        }

    def _is_linked(self, path: str) -> bool:
        above = os.path.dirname(os.path.join(os.path.realpath(self.folder), path))
        return os.path.realpath(above) != os.path.normpath(above)

    def submodules(self) -> tuple[str, ...]:
        """The folders of the submodules of the last commit; in a new worktree they are empty."""
        if not os.path.exists(os.path.join(self._top, _MODULES)):  # git need not be asked
            return ()
        words = ("config", "--blob", f"HEAD:{_MODULES}", "-z", "--get-regexp", _MODULE_PATH)
        told = os.fsdecode(self._run(*words, may_fail=True).output).split("\0")
        return tuple(self._local(each.partition("\n")[2]) for each in told if each)

    def is_ancestor(self, commit: str, of: str) -> bool:
        """Whether a commit is part of the history of another."""
        found = self._follows.get((commit, of))
        if found is None:
            # A branch goes on from where it was: git is asked once for all that it had before.
            holder = self._holders.get(commit, of)
            found = holder != of and self.is_ancestor(holder, of)
            words = ("merge-base", "--is-ancestor", commit, of)
            found = found or self._run(*words, may_fail=True).code == 0
            self._follows[commit, of] = found
            if found and commit != of:
                self._holders[commit] = of
        return found

    def changes(self, base: str, commit: str) -> tuple[Change, ...]:
        """What a commit adds (A), changes (M) and deletes (D), seen from another."""
        found = self._changes.get((base, commit))
        if found is None:
            words = ("diff-tree", "-r", "-z", "--no-renames", base, commit)
            fields = os.fsdecode(self._run(*words).output).split("\0")
            found = tuple(map(_change, fields[::2], map(self._local, fields[1::2])))
            self._changes[base, commit] = found
        return found

    def guard(self) -> Mapping[str, str]:
        """All that an agent has no business with: refs, what HEAD names, configuration, hooks."""
        if refs.is_readable(self.common):
            found = refs.all_refs(self.common)
        else:
            told = self._text("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
            found = dict(line.split(" ", 1) for line in told)
        return {**found, "HEAD": self._head_name(), **settings_of(self.common)}

    def tree_id(self, commit: str) -> str:
        """The tree of a commit."""
        return self._trees.get(commit) or self._text("rev-parse", f"{commit}^{{tree}}")

    def unmerged(self, prefix: str, target: str) -> frozenset[str]:
        """The branches below a prefix that hold something the target does not."""
        where = (f"--no-merged=refs/heads/{target}", f"refs/heads/{prefix}")
        told = self._text("for-each-ref", "--format=%(refname:lstrip=2)", *where)
        return frozenset(told.splitlines())

    def _head_name(self) -> str:
        """What the HEAD of the main tree names: a branch in full, or a commit."""
        if refs.is_readable(self.common):
            return refs.head_name(self._home)
        return self._text("symbolic-ref", "--quiet", "HEAD", may_fail=True) or self.commit_of(
            "HEAD"
        )

    def _local(self, path: str) -> str:
        """A path of the repository, seen from the project's folder."""
        inside = path.removeprefix(self._prefix)
        if not self._prefix or 0 < len(inside) < len(path):
            return inside
        return os.path.relpath(path, self._prefix) + ("/" if path.endswith("/") else "")

    def _rooted(self, path: str) -> str:
        """A path of the project, seen from the repository's folder."""
        return os.path.normpath(os.path.join(self._prefix, path))


def _change(told: str, path: str) -> Change:
    """One difference as git tells it: both modes, both objects, and a letter."""
    before, after, *_, kind = told.removeprefix(":").split(" ")
    return Change(path, kind[:1], is_repository=after == _REPOSITORY != before)
