"""Git as a `Workspace`: worktrees for attempts, one commit per task, merges without a checkout.

Commits and merges are made from trees (`commit-tree`, `merge-tree`), never in a checkout. Only
landing changes the main working tree, with one fast-forward that can be repeated after a crash.
An agent may damage its own worktree in any way: that is reported as a value, and the worktree is
created again.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from fairlead.core.process import ProcessResult
from fairlead.core.values import replace
from fairlead.store import layout
from fairlead.store.digests import FileSignature, file_signature
from fairlead.store.files import make_private_folders
from fairlead.vcs import refs
from fairlead.vcs.errors import BranchName, GitFault, LandingBlocked, TreeDirty
from fairlead.vcs.folders import delete_folder, walk
from fairlead.vcs.git_view import (
    COMMIT_ID,
    IGNORE_SUBMODULES,
    LINK_MODE,
    GitView,
    first_line,
)
from fairlead.vcs.model import FileChange, MergeConflict, MergeResult, Tree, is_dropping
from fairlead.vcs.objects import ObjectStore
from fairlead.vcs.private_folder import PrivateFolder

_NESTED = "became a repository of its own (git init), so its files cannot land"
_NO_OBJECT = "0" * 40
_REPLACED = b"short read while indexing"  # git measures a file before it opens it
_MOST_READS = 10
_UNKNOWN = "."  # a worktree that cannot be compared


class Git(GitView):
    """The repository of one project, for reading and writing."""

    is_git = True

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        # Our own index of each worktree, with the commit it was read from and its signature.
        self._indexes: dict[str, tuple[str, str, FileSignature]] = {}
        self._spare: dict[str, None] = {}  # worktrees that were put away, for the next attempts
        self._objects = ObjectStore(self.common)

    # -- attempts --------------------------------------------------------------------------

    def prepare(self, place: str, base: str, branch: str = "") -> None:
        """Create a clean worktree at a commit, on a new branch or on none."""
        self.require_intact()
        make_private_folders(os.path.dirname(place))
        base = base if COMMIT_ID.fullmatch(base) else self.commit_of(base) or base
        if not refs.is_readable(self.common):  # only git can make a worktree then
            on = ("-b", branch) if branch else ("--detach",)
            self._run_unprotected("worktree", "add", "--quiet", "--no-checkout", *on, place, base)
            self._check_out(place, base)
            return
        if os.path.lexists(place) or not refs.is_in_place(place):
            raise GitFault("worktree", f"{place} exists, or a folder above it is a link")
        if branch:
            self._set_ref(f"refs/heads/{branch}", base, _NO_OBJECT)
        head = f"ref: refs/heads/{branch}" if branch else base
        if not self._is_reused(place, head, base):
            os.mkdir(place, 0o700)
            refs.make_worktree(place, self.common, head)
            self._check_out(place, base)

    def _is_reused(self, place: str, head: str, base: str) -> bool:
        """Whether a spare worktree was moved here, so that only files that differ are written.

        It is made clean like a worktree before a verify command; without success it is deleted.
        """
        while self._spare:
            spare, _ = self._spare.popitem()
            try:
                delete_folder(refs.own_folder(spare, self.common))
                os.rename(spare, place)
                os.chmod(place, 0o700)
                self._indexes[place] = self._indexes.pop(spare)
                refs.make_worktree(place, self.common, head)
                self._make_clean(place, base)
                return True
            except (GitFault, OSError):
                self.remove(spare)
                self.remove(place)
        return False

    def inside(self, place: str) -> str:
        """The folder of the project in a worktree."""
        return self._inside(place)

    def show(self, place: str, commit: str, base: str) -> None:
        """Give a worktree of `base` the files of a commit as if they were made there.

        Its HEAD stays.
        """
        self._check_out(place, commit, base)

    @property
    def objects(self) -> str:
        """The folder with the objects of the repository."""
        return os.path.join(self.common, "objects")

    def _check_out(self, place: str, commit: str, base: str = "") -> None:
        """Give a worktree the tracked files of a commit, and its git a fresh index."""
        index = self._trusted_index(place)[0]
        if not index:
            index = self._private_folder.new_index()
            if base:  # git deletes only files that its index names
                self._run("read-tree", base, place=place, more={"GIT_INDEX_FILE": index})
        self._run("read-tree", "--reset", "-u", commit, place=place, more={"GIT_INDEX_FILE": index})
        self._remember_index(place, index, commit)
        own = refs.own_folder(place, self.common)
        with open(os.path.join(own, layout.ATTEMPT), "ab"):
            pass
        refs.unlink(os.path.join(own, "index"))
        shutil.copy2(index, os.path.join(own, "index"))
        self._make_inside(place)

    def _make_inside(self, place: str) -> None:
        """Make the folder of the project in a worktree: a commit may have none."""
        try:
            os.makedirs(self.inside(place), exist_ok=True)
        except OSError as error:
            why = f"{self._prefix} is no folder in this commit: {error.strerror}"
            raise GitFault("checkout", why) from error

    def _trusted_index(self, place: str) -> tuple[str, str]:
        """Our own index of a worktree and its commit; nothing if somebody else changed it."""
        index, commit, signature = self._indexes.get(place, ("", "", ()))
        is_ours = index and file_signature(index) == signature
        return (index, commit) if is_ours else ("", "")

    def _remember_index(self, place: str, index: str, commit: str) -> None:
        self._indexes[place] = (index, commit, file_signature(index))

    def tree_of(self, place: str, base: str, left_out: str, declared: Collection[str] = ()) -> Tree:
        """The files of a worktree as a tree, with and without one folder. Changes nothing in it."""
        try:
            return self._tree_of(place, base, left_out, declared)
        except GitFault as fault:
            # If the repository itself still accepts an object, the worktree is at fault.
            words = ("hash-object", "-w", "--stdin")
            if self._run(*words, stdin=str(fault).encode(), may_fail=True).code != 0:
                raise
            return Tree("", base, "", f"what the agent left cannot be saved: {fault}")

    def _tree_of(self, place: str, base: str, left_out: str, declared: Collection[str]) -> Tree:
        self.require_intact()
        own = refs.own_folder(place, self.common)
        head = self._head_of(place, own) or base
        if head != base:  # the agent can write anything into its HEAD
            head = self.commit_of(head) or base
        full = self._added(place, base)
        changed = self.changes(base, full)
        kept = [change for change in changed if not f"{change.path}/".startswith(f"{left_out}/")]
        nested = ", ".join(change.path for change in kept if change.is_repository)
        if nested:
            return Tree("", base, "", f"{nested} {_NESTED}")
        outward = frozenset(path for path in _paths(kept) if _leads_out(self.inside(place), path))
        tree = Tree(full, head, full, outward=outward)
        if len(kept) < len(changed):
            tree = self.without(tree, base, {change.path for change in changed} - _paths(kept))
        missing = {*declared}.difference(change.path for change in changed)
        if lost := self._ignored_files(place, missing):
            why = "; ".join(f"{path} could not land: {reason}" for path, reason in lost.items())
            return replace(tree, full=self._added_to(full, place, lost), fault=why)
        return tree

    def require_intact(self) -> None:
        """Raise if an object was written since the last look whose content its id does not name."""
        damaged = self._objects.check(lambda packs: self._run("verify-pack", "--", *packs))
        if damaged:
            raise GitFault("fsck", f"something changed the object {damaged}")
        if loose := self._objects.to_pack():
            self._pack(loose)

    def _pack(self, ids: Iterable[str]) -> None:
        """Move loose objects into a pack, which the next look verifies; if git cannot, they stay."""
        listed = "".join(f"{id_}\n" for id_ in ids).encode()
        words = (
            "pack-objects",
            "--quiet",
            "--window=0",
            "--compression=1",  # of loose objects as well: a long run packs large folders again
            os.path.join(self.objects, "pack", "pack"),
        )
        if self._run(*words, stdin=listed, may_fail=True).code == 0:
            self._run("prune-packed", "--quiet", may_fail=True)

    def without(self, tree: Tree, base: str, paths: Collection[str]) -> Tree:
        """The tree in which these paths are as in the base; what the agent made stays in `full`."""
        entries = [
            f"{mode} {object_id}\t{self._rooted(change.path)}\0"
            for change in self.changes(base, tree.id)
            if change.path in paths
            for mode, object_id in [change.before]
        ]
        if not entries:
            return tree
        with self._scratch_index() as variables:
            self._run("read-tree", tree.id, more=variables)
            # First what goes: a file may have taken the place of a folder.
            lines = sorted(entries, key=lambda entry: not entry.startswith("000000"))
            listed = os.fsencode("".join(lines))
            self._run("update-index", "-z", "--index-info", more=variables, stdin=listed)
            return replace(tree, id=self._text("write-tree", more=variables))

    @contextmanager
    def _scratch_index(self) -> Iterator[dict[str, str]]:
        """Variables for git with an empty index."""
        index = self._private_folder.new_index()
        try:
            yield {"GIT_INDEX_FILE": index}
        finally:
            refs.unlink(index)

    @property
    def _private_folder(self) -> PrivateFolder:
        assert self._private is not None
        return self._private

    def _ignored_files(self, place: str, paths: Collection[str]) -> Mapping[str, str]:
        """The existing files among these paths that git ignores in a worktree, each with the reason."""
        inside = self.inside(place)
        files = sorted(path for path in paths if os.path.isfile(os.path.join(inside, path)))
        return self.ignored(files, place) if files else {}

    def _added_to(self, tree: str, place: str, paths: Iterable[str]) -> str:
        """The tree with more files of a worktree, even if git ignores them."""
        names = [f":(literal){self._rooted(path)}" for path in paths]
        with self._scratch_index() as variables:
            self._run("read-tree", tree, place=place, more=variables)
            self._run("add", "--force", "--", *names, place=place, more=variables)
            return self._text("write-tree", place=place, more=variables)

    def _added(self, place: str, base: str) -> str:
        """The tree of everything in a worktree.

        With our own index git reads only changed files; the index of the agent's git is never used.
        Submodules stay as they are in the base: to look at one, git would start git inside it.
        """
        with self._scratch_index() as variables:
            index, commit = self._trusted_index(place)
            if index and commit == base:
                # A copy, with its time: git compares it with those of the files.
                shutil.copy2(index, variables["GIT_INDEX_FILE"])
            else:
                self._run("read-tree", base, place=place, more=variables)
            excluded = [f":(top,exclude,literal){path}" for path in self._links(base)]
            self._run("add", "--all", "--", ".", *excluded, place=place, more=variables)
            return self._text("write-tree", place=place, more=variables)

    def _links(self, commit: str) -> tuple[str, ...]:
        """The paths of a commit's links to other repositories, from the root of the repository."""
        return self._listed(commit)[0]

    def without_tracked(self, commit: str, names: Collection[str]) -> tuple[str, ...]:
        """Those of the folder names that no folder with tracked files has."""
        folders = self._listed(commit)[1]
        return tuple(name for name in names if name not in folders)

    def _listed(self, commit: str) -> tuple[tuple[str, ...], frozenset[str]]:
        """The links of a commit to other repositories, and the names of all its folders."""
        listed = self._listings.get(commit)
        if listed is None:
            words = ("ls-tree", "-r", "-z", "--full-tree", commit)
            entries = os.fsdecode(self._run(*words).output).split("\0")
            parents = {each.partition("\t")[2].rpartition("/")[0] for each in entries}
            folders = frozenset(name for parent in parents for name in parent.split("/"))
            found = (each.partition("\t")[2] for each in entries if each.startswith(LINK_MODE))
            listed = self._listings[commit] = tuple(found), folders
        return listed

    def _listed_after(
        self, base: str, changes: Iterable[FileChange]
    ) -> tuple[tuple[str, ...], frozenset[str]]:
        """The listing of a commit on a base; folders that the changes emptied are still in it."""
        links, folders = self._listed(base)
        paths = [self._rooted(change.path) for change in changes]
        added = {name for path in paths for name in path.rpartition("/")[0].split("/")}
        return tuple(link for link in links if link not in paths), folders | added

    def keep(self, tree: Tree, base: str, branch: str, message: str) -> str:
        """Commit the tree on the base; the branch gets everything that the agent made."""
        commit = self._commit(tree.id, message, base)
        self._changes[base, commit] = changes = self.changes(base, tree.id)
        self._listings[commit] = self._listed_after(base, changes)
        is_complete = tree.head == base and tree.full == tree.id
        kept = commit if is_complete else self._commit(tree.full, message, tree.head)
        name = f"refs/heads/{branch}"
        for locked in (name, refs.TABLES):  # an agent's git may have died over a lock
            refs.drop_dead_lock(os.path.join(self.common, f"{locked}.lock"))
        self._set_ref(name, kept)
        return commit

    def loose_commit(self, tree: str, message: str, base: str) -> str:
        """A commit of a tree on the base that no branch keeps."""
        return self._commit(tree, message, base)

    def _set_ref(self, name: str, *values: str) -> None:
        """Move a ref itself: an agent may have made it a pointer to another branch."""
        self._run("update-ref", "--no-deref", name, *values)

    def at_commit(self, place: str, commit: str, kept: Collection[str] = ()) -> None:
        """Give a worktree exactly the tracked files of a commit; folders named in `kept` stay.

        A worktree that cannot be reset is created again, without them.
        """
        try:
            # If the folder is no worktree any more, git would use a repository above it.
            own = refs.own_folder(place, self.common)
            if refs.is_readable(self.common):  # an agent can leave settings in git's folder for it
                delete_folder(own)
                refs.make_worktree(place, self.common, commit)
            self._make_clean(place, commit, kept)
        except GitFault:
            self.remove(place)
            self.prepare(place, commit)

    def _make_clean(self, place: str, commit: str, kept: Collection[str] = ()) -> None:
        self._check_out(place, commit)
        excluded = [word for name in kept for word in ("-e", f"{name}/")]
        index = {"GIT_INDEX_FILE": self._trusted_index(place)[0]}
        self._run("clean", "-q", "-ffdx", *excluded, place=place, more=index)
        _remove_special_files(place, kept)
        self._make_inside(place)

    def is_at(self, place: str, commit: str) -> bool:
        """Whether a worktree has exactly the files of a commit, apart from ignored ones."""
        return not self.differences(place, commit)

    def differences(self, place: str, commit: str) -> tuple[str, ...]:
        """The paths in a worktree that differ from a commit, apart from ignored ones."""
        with self._scratch_index() as variables:
            index, read = self._trusted_index(place)
            if not os.path.isdir(place) or not index or read != commit:
                return (_UNKNOWN,)
            shutil.copy2(index, variables["GIT_INDEX_FILE"])
            try:
                refs.own_folder(place, self.common)
                words = ("status", "--porcelain=v1", "-z", "--no-renames", IGNORE_SUBMODULES)
                untracked = "--untracked-files=all"
                output = self._run(*words, untracked, place=place, more=variables).output
            except GitFault:
                return (_UNKNOWN,)
        entries = os.fsdecode(output).split("\0")
        # The second letter is about the files; the first compares with the main tree's HEAD.
        return tuple(self._local(each[3:]) for each in entries if each and each[1] != " ")

    def hidden_changes(self, ignored: str) -> tuple[str, ...]:
        """The committed files that differ from HEAD while git's status is silent, outside a folder.

        Flags and old times in the index hide them; a new index has neither. Files that are missing
        from a sparse checkout are no change, and without its filters git cannot compare.
        """
        if self.unused_drivers:
            return ()
        words = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=no")
        with self._scratch_index() as variables:
            self._run("read-tree", "HEAD", more=variables)
            output = self._run(*words, IGNORE_SUBMODULES, more=variables).output
        left_out = " D" if self.settings.value("core.sparsecheckout").lower() == "true" else " "
        entries = [each for each in os.fsdecode(output).split("\0") if each]
        changed = {self._local(each[3:]) for each in entries if each[1] not in left_out}
        hidden = sorted(changed.difference(self.dirty_paths(ignored)))
        return tuple(path for path in hidden if not path.startswith(f"{ignored}/"))

    def remove(self, place: str) -> None:
        """Delete a worktree; its branch stays. What a link leads to is not touched."""
        if refs.is_in_place(place) or os.path.islink(place):
            delete_folder(place)
        self._indexes.pop(place, None)
        self._spare.pop(place, None)
        refs.forget_worktree(place, self.common)

    def put_away(
        self, places: Mapping[str, str], kept: frozenset[str], *, reuses: bool = False
    ) -> None:
        """Delete worktrees and their branches, except the branches in `kept`.

        Files that exist only in such a worktree are committed to its branch first. With `reuses`
        the next attempts get the worktrees.
        """
        deletions = []
        for place, branch in places.items():
            name = f"refs/heads/{branch}"
            commit = self.commit_of(name)
            if branch not in kept:
                deletions += [f"delete {name}\n"] if commit else []
            elif os.path.isdir(place) and commit:
                self._commit_leftovers(place, name, commit)
            if reuses:
                self.release(place)
            else:
                self.remove(place)
        if deletions:
            listed = "".join(deletions).encode()
            self._run("update-ref", "--no-deref", "--stdin", stdin=listed, may_fail=True)

    def release(self, place: str) -> None:
        """Let the next attempt have a worktree; one that we cannot make clean is deleted."""
        if self._trusted_index(place)[0] and refs.is_readable(self.common):
            self._spare[place] = None
        else:
            self.remove(place)

    def _commit_leftovers(self, place: str, name: str, commit: str) -> None:
        tree = self.tree_of(place, commit, layout.ATTEMPT)
        full = self._salvaged(place, commit) if tree.fault else tree.full
        if not any(self._is_committed(full, each) for each in (commit, tree.head)):
            leftovers = self._commit(full, "left behind by an attempt that did not end\n", commit)
            self._set_ref(name, leftovers)

    def _is_committed(self, tree: str, commit: str) -> bool:
        """Whether a commit has the files of a tree, apart from what tools left behind."""
        known = self.tree_id(commit)
        return tree == known or all(is_dropping(each.path) for each in self.changes(known, tree))

    def _salvaged(self, place: str, base: str) -> str:
        """The tree of a folder that is no worktree any more, as far as git accepts its files."""
        words = ("add", "--all", "--ignore-errors", "--", ".")
        for above, folders, names in walk(place):  # git adds no files of a nested repository
            if ".git" in folders:
                delete_folder(os.path.join(above, ".git"))
                folders.remove(".git")
            if ".git" in names and above != place:
                refs.unlink(os.path.join(above, ".git"))
        with self._scratch_index() as index:
            variables = {**index, **_settings({"core.safecrlf": "false"})}
            self._run("read-tree", base, place=place, more=variables)
            added = self._run(*words, place=place, more=variables, may_fail=True)
            if added.code not in (0, 1):
                # A required filter failed, and git added nothing: add the bytes unfiltered.
                variables |= _settings({"core.safecrlf": "false", **self._no_filters()})
                self._run(*words, place=place, more=variables, may_fail=True)
            return self._text("write-tree", place=place, more=variables)

    def _no_filters(self) -> dict[str, str]:
        """Settings that switch off every filter: git reads an empty value as false."""
        keys = (key for key, _ in self.settings.entries if key.startswith("filter."))
        return dict.fromkeys(keys, "")

    # -- landing ---------------------------------------------------------------------------

    def merged(self, target: str, commit: str, message: str) -> MergeResult:
        """Merge a commit into another without a checkout; report the conflicts if there are any."""
        self.require_intact()
        words = ("merge-tree", "--write-tree", "-z", target, commit)
        result = self._run(*words, at=self._top, may_fail=True)  # names files from its folder
        fields = os.fsdecode(result.output).split("\0")
        tree = fields[0]
        if result.code not in (0, 1) or not tree:  # an unknown name also ends with 1
            raise GitFault("merge-tree", first_line(result))
        if result.code == 0:
            merge = self._commit(tree, message, target, commit)
            self._ancestry[commit, merge] = True
            position, outside = self._outside
            self._outside = position, outside - {commit}  # it lands now: nobody waits for it
            # Everything in it is in one of both; what only one of both has may be missing.
            pairs = zip(self._listed(target), self._listed(commit), strict=True)
            links, folders = (dict.fromkeys((*one, *other)) for one, other in pairs)
            self._listings[merge] = tuple(links), frozenset(folders)
            return MergeResult(merge)
        stages = fields[1 : fields.index("", 1)]
        paths = dict.fromkeys(stage.partition("\t")[2] for stage in stages)
        conflicts = [
            MergeConflict(self._local(path), self._side(target, path), self._side(commit, path))
            for path in paths
        ]
        return MergeResult("", tuple(conflicts))

    def reverted(self, commits: Sequence[str], message: str) -> MergeResult:
        """A commit after HEAD that reverts merges, in this order, without a checkout."""
        head = now = self.commit_of("HEAD")
        for commit in commits:
            # Merging from the merge back to its first parent takes out what it brought.
            base = self._commit(self._tree_id(commit), "base")
            ours = self._commit(self._tree_id(now), "now", base)
            theirs = self._commit(self._tree_id(f"{commit}^1"), "before", base)
            result = self.merged(ours, theirs, "reverted")
            if not result.commit:
                return result
            now = result.commit
        return MergeResult(self._commit(self._tree_id(now), message, head))

    def _tree_id(self, name: str) -> str:
        return self._text("rev-parse", "--verify", f"{name}^{{tree}}")

    def land(self, branch: str, old: str, new: str, ignored: str) -> None:
        """Fast-forward a branch; if it is checked out, also the files of the main working tree."""
        self.require_intact()
        if self.branch() != branch:
            self._run("update-ref", f"refs/heads/{branch}", new, old)
            return
        for locked in (f"refs/heads/{branch}", "packed-refs"):  # as in `keep`
            refs.drop_dead_lock(os.path.join(self.common, f"{locked}.lock"))
        refs.drop_dead_lock(os.path.join(self._git_folder, "HEAD.lock"))
        words = ("merge", "--ff-only", "--quiet", new)
        # Git refuses if a file is in the way: perhaps one that a killed landing left behind.
        if self._run(*words, may_fail=True).code != 0:
            self._complete_landing(old, new, ignored)
            result = self._run(*words, may_fail=True)
            if result.code != 0:
                raise LandingBlocked(branch, first_line(result))

    def commit_paths(self, paths: Iterable[str], message: str) -> str:
        """Commit some paths of the main working tree; empty if there is nothing to commit."""
        listed = b"\0".join(os.fsencode(path) for path in paths)
        names = ("--pathspec-from-file=-", "--pathspec-file-nul")
        added = self._reading("add", "--force", *names, stdin=listed)
        if added.code != 0:
            raise GitFault("add", first_line(added))
        words = ("commit", "--quiet", "--only", "--message", message, *names)
        result = self._reading(*words, stdin=listed)
        if result.code == 0:
            return self.commit_of("HEAD")
        differs = ("diff", "--cached", "--quiet", "--", *(f":(literal){path}" for path in paths))
        if self._run(*differs, may_fail=True).code != 0:
            raise GitFault("commit", first_line(result))
        return ""

    def _reading(self, *words: str, stdin: bytes) -> ProcessResult:
        """Run a command that reads files, and again if one was replaced while git read it."""
        for _ in range(_MOST_READS):
            result = self._run(*words, stdin=stdin, may_fail=True)
            if _REPLACED not in result.errors:
                return result
        return self._run(*words, stdin=stdin, may_fail=True)

    def restore_ref(self, name: str, wanted: str, expected: str) -> None:
        """Move a ref, or HEAD, back to where it was, and the files of the main working tree with it.

        Changes that a person has not committed stay; git refuses if one of them is in the way.
        """
        is_head = name == "HEAD"
        if refs.is_odd(expected):
            self._remove_odd_ref(name)
            expected = ""
            if not wanted:
                return
        old, new = (self.commit_of(each) if is_head else each for each in (expected, wanted))
        if is_head or name == self._head_name():
            refresh = ("update-index", "-q", "--refresh", "--ignore-submodules")
            self._run(*refresh, may_fail=True)
            if old and new and old != new:
                self._run("read-tree", "-m", "-u", old, new)
        if is_head:
            words = (
                ("symbolic-ref", "HEAD", wanted)
                if "/" in wanted
                else ("update-ref", "--no-deref", "HEAD", wanted)
            )
            if self._run_unprotected(*words).code != 0:
                raise GitFault(words[0], f"HEAD cannot be set to {wanted}")
        elif wanted:
            self._set_ref(name, wanted, expected or _NO_OBJECT)
        else:
            self._set_ref("-d", name, expected)

    def _remove_odd_ref(self, name: str) -> None:
        """Remove a pointer to another ref, or anything else that has the place of a ref."""
        if refs.is_readable(self.common):
            refs.unlink(os.path.join(self.common, name))
        else:
            self._set_ref("-d", name)

    def restore_folder(self, path: str) -> None:
        """Make the files below a folder those of the last commit; files git does not know stay."""
        if self._blob("HEAD", path):
            self._run("checkout", "--quiet", "HEAD", "--", f":(literal){path}")

    def switch(self, branch: str) -> None:
        """Switch to a branch; create it here if it does not exist."""
        name = f"refs/heads/{branch}"
        if branch[:1] == "-" or self._run("check-ref-format", name, may_fail=True).code != 0:
            raise BranchName(branch)
        create = () if self.commit_of(name) else ("--no-track", "--create")
        if self._run_unprotected("switch", "--quiet", *create, branch).code != 0:
            raise TreeDirty(self.dirty_paths(os.devnull) or (branch,))

    # -- inside ----------------------------------------------------------------------------

    def _run_unprotected(self, *words: str) -> ProcessResult:
        """Run git in the repository's own folder: only there can it replace HEAD."""
        unsafe = _settings(
            {
                f"{driver}.{name}": ""
                for driver in self.settings.left_out
                for name in ("clean", "smudge", "process", "required")
            }
        )
        return self._run(*words, may_fail=True, more=unsafe, is_protected=False)

    def _head_of(self, place: str, own: str) -> str:
        """The HEAD commit of a worktree, or nothing; `own` is git's folder for it."""
        if refs.is_readable(self.common):
            return refs.head_of(own, self.common)
        head = refs.head_name(own)
        return self.commit_of(head) if head else ""

    def _complete_landing(self, old: str, new: str, ignored: str) -> None:
        """Revert what a killed fast-forward left behind: files of the new commit without the commit.

        A file that is neither the old nor the new version is the user's work and stops the landing.
        """
        refs.drop_dead_lock(os.path.join(self._git_folder, "index.lock"))
        dirty = set(self.dirty_paths(ignored))
        touched = {change.path: change.kind for change in self.changes(old, new)}
        half_done = [path for path in touched if path in dirty or _below(path, dirty)]
        for path in half_done:
            now = self._file_id(path)
            if now not in (self._blob(old, path), self._blob(new, path)):
                raise LandingBlocked(path, "it was changed in the main tree in the meantime")
        for path in half_done:
            if touched[path] == "A":
                self._run("rm", "--quiet", "--cached", "--ignore-unmatch", "--", path)
                refs.unlink(os.path.join(self.folder, path))
            else:
                self._run("checkout", "--quiet", old, "--", path)

    def _file_id(self, path: str) -> str:
        if not os.path.lexists(os.path.join(self.folder, path)):
            return ""
        name = self._rooted(path)  # git matches attributes from the root
        path = os.path.join(self._top, name)
        return self._text("hash-object", f"--path={name}", "--", path)

    def _blob(self, commit: str, path: str) -> str:
        name = f"{commit}:{self._rooted(path)}"
        return self._text("rev-parse", "--verify", "--quiet", name, may_fail=True)

    def _side(self, commit: str, path: str) -> str:
        result = self._run("cat-file", "blob", f"{commit}:{path}", may_fail=True)
        return result.output.decode("utf-8", "replace") if result.code == 0 else ""

    def _commit(self, tree: str, message: str, *parents: str) -> str:
        options = [word for parent in parents for word in ("-p", parent)]
        commit = self._text("commit-tree", tree, *options, "-F", "-", stdin=message.encode())
        self._trees[commit] = tree
        return commit


def _leads_out(folder: str, path: str) -> bool:
    """Whether a path is a link to a place outside a folder, or into its git folder.

    Other links on the way are followed, so that none can disguise where it leads.
    """
    place = os.path.join(folder, path)
    if not os.path.islink(place):
        return False
    target, top = os.readlink(place), os.path.realpath(folder)
    led = os.path.realpath(place)
    written = os.path.normpath(os.path.join(os.path.dirname(place), target))
    names = {os.path.relpath(led, top).split(os.sep)[0]}
    names.add(os.path.relpath(written, folder).split(os.sep)[0])
    return os.path.isabs(target) or not names.isdisjoint((os.pardir, ".git"))


def _remove_special_files(place: str, kept: Collection[str]) -> None:
    """Remove pipes, sockets and devices, which git does not see; folders named in `kept` stay."""
    folders = [place]
    while folders:
        with os.scandir(folders.pop()) as listed:
            entries = list(listed)
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders += [entry.path] if entry.name not in (".git", *kept) else []
            elif not entry.is_symlink():
                os.unlink(entry.path)


def _settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Git settings as environment variables for one call."""
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for at, (name, value) in enumerate(settings.items()):
        variables |= {f"GIT_CONFIG_KEY_{at}": name, f"GIT_CONFIG_VALUE_{at}": value}
    return variables


def _paths(changes: Iterable[FileChange]) -> set[str]:
    return {change.path for change in changes}


def _below(path: str, folders: set[str]) -> bool:
    """Whether git listed a new folder instead of the file in it."""
    return any(name.endswith("/") and path.startswith(name) for name in folders)
