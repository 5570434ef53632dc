"""Git, behind the workspace port: worktrees for attempts, task commits, merges that cannot half happen.

Commits and merges are made from trees (`commit-tree`, `merge-tree`), never in somebody's checkout;
only landing touches the main tree, as one fast-forward that can be repeated after a crash. What an
agent made of its own worktree is no fault of ours: it is told as a value, and the worktree made anew.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Mapping

from fairlead.adapters import refs
from fairlead.adapters.git_program import said
from fairlead.adapters.git_view import GitView
from fairlead.errors import BranchName, GitFault, LandingBlocked, TreeDirty
from fairlead.model.workspace import Clash, Merged, Tree

_MARKER = "fairlead-attempt"  # in git's own folder of a worktree: commands in there only read
_INDEX = "fairlead-index"  # ours, beside git's own
_NESTED = "became a repository of its own (git init), so its files cannot land"


class Git(GitView):
    """The repository of one project, to work in."""

    is_git = True

    # -- attempts --------------------------------------------------------------------------

    def prepare(self, place: str, base: str, branch: str = "") -> None:
        """A clean worktree at a commit, on a branch of its own or on none."""
        os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
        on = ("-b", branch) if branch else ("--detach",)
        self._run("worktree", "add", "--quiet", *on, "--", place, base)
        with open(os.path.join(refs.own_folder(place, self.common), _MARKER), "xb"):
            pass
        os.makedirs(self.inside(place), exist_ok=True)

    def inside(self, place: str) -> str:
        """The folder of the project in a worktree."""
        return os.path.join(place, self._rooted("")) if self._prefix else place

    def tree_of(self, place: str, base: str, left_out: str, declared: Collection[str] = ()) -> Tree:
        """What a worktree holds now, with and without one folder; nothing in it is changed."""
        try:
            return self._tree_of(place, base, left_out, declared)
        except GitFault as fault:
            # Whose fault is it? A repository that still takes an object is in order.
            words = ("hash-object", "-w", "--stdin")
            if self._run(*words, stdin=str(fault).encode(), may_fail=True).code != 0:
                raise
            return Tree("", base, "", f"what the agent left cannot be kept: {fault}")

    def _tree_of(self, place: str, base: str, left_out: str, declared: Collection[str]) -> Tree:
        own = refs.own_folder(place, self.common)
        head = self._head_of(place, own) or base
        if head != base:  # it is an agent's to write
            head = self.commit_of(head) or base
        index = os.path.join(own, _INDEX)
        held = {"GIT_INDEX_FILE": index}
        try:
            # The worktree's own index knows which files it has seen: only changed ones are read.
            # A kill while the worktree was made may have left none.
            full = self._added(place, held) if _copied(os.path.join(own, "index"), index) else ""
            full = full or self._added(place, held, base)
            changed = self.changes(base, full)
            ours = [each for each in changed if not f"{each.path}/".startswith(f"{left_out}/")]
            nested = ", ".join(each.path for each in ours if each.is_repository)
            if nested:
                return Tree("", base, "", f"{nested} {_NESTED}")
            tree = full
            if len(ours) < len(changed):
                gone = ("reset", "--quiet", base, "--", f":(literal){self._rooted(left_out)}")
                self._run(*gone, at=place, more=held, may_fail=True)
                tree = self._text("write-tree", at=place, more=held)
            missing = {*declared}.difference(each.path for each in changed)
            if lost := self._left_aside(place, missing):
                why = "; ".join(f"{path} could not land: {each}" for path, each in lost.items())
                return Tree(tree, head, self._added_to(full, place, lost, held), why)
            return Tree(tree, head, full)
        finally:
            refs.unlink(index)

    def _left_aside(self, place: str, paths: Collection[str]) -> Mapping[str, str]:
        """Which of these files are in a worktree and ignored there, each with the reason."""
        inside = self.inside(place)
        found = sorted(each for each in paths if os.path.isfile(os.path.join(inside, each)))
        return self.ignored(found, at=inside) if found else {}

    def _added_to(
        self, tree: str, place: str, paths: Iterable[str], held: Mapping[str, str]
    ) -> str:
        """A tree with more files of a worktree, whatever git is told to ignore."""
        names = [f":(literal){self._rooted(path)}" for path in paths]
        self._run("read-tree", tree, at=place, more=held)
        self._run("add", "--force", "--", *names, at=place, more=held)
        return self._text("write-tree", at=place, more=held)

    def _added(self, place: str, held: Mapping[str, str], base: str = "") -> str:
        """The tree of everything in a worktree; nothing, if its index is of no use."""
        if base:
            self._run("read-tree", base, at=place, more=held)
        done = self._run("add", "--all", "--", ".", at=place, more=held, may_fail=not base)
        return self._text("write-tree", at=place, more=held) if done.code == 0 else ""

    def keep(self, tree: Tree, base: str, branch: str, message: str) -> str:
        """One commit on the base with the tree; the branch keeps whatever the agent made."""
        commit = self._commit(tree.id, message, base)
        self._changes[base, commit] = self.changes(base, tree.id)
        is_all = tree.head == base and tree.full == tree.id
        kept = commit if is_all else self._commit(tree.full, message, tree.head)
        name = f"refs/heads/{branch}"
        for locked in (name, refs.TABLES):  # by an agent's git
            refs.drop_dead_lock(os.path.join(self.common, f"{locked}.lock"))
        self._run("update-ref", name, kept)
        return commit

    def at_commit(self, place: str, commit: str) -> None:
        """The worktree, with the files of a commit; what git ignores stays.

        One that cannot be mended is made anew, and then nothing stays.
        """
        try:
            # Where it is none any more, git would look for a repository in the folders above.
            own = refs.own_folder(place, self.common)
            refs.drop_dead_lock(os.path.join(own, "index.lock"))
            self._run("checkout", "--quiet", "--force", "--detach", commit, at=place)
            self._run("clean", "-q", "--force", "-d", at=place)
            os.makedirs(self.inside(place), exist_ok=True)
        except GitFault:
            self.remove(place)
            self.prepare(place, commit)

    def is_at(self, place: str, commit: str) -> bool:
        """Whether a worktree is there and holds exactly the files of a commit."""
        if not os.path.isdir(place):
            return False
        words = ("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all")
        told = self._run(*words, at=place, may_fail=True).output.split(b"\0")
        changed = [each for each in told if each and not each.startswith(b"#")]
        return not changed and f"# branch.oid {commit}".encode() in told

    def remove(self, place: str) -> None:
        """The worktree goes; its branch stays."""
        shutil.rmtree(place, ignore_errors=True)
        self._run("worktree", "prune", may_fail=True)

    def put_away(self, places: Mapping[str, str], kept: frozenset[str]) -> None:
        """Worktrees that nobody needs go, each with its branch, save the branches that are kept.

        What is in such a worktree and nowhere else stays on its branch.
        """
        gone = []
        for place, branch in places.items():
            name = f"refs/heads/{branch}"
            held = self.commit_of(name)
            if branch not in kept:
                gone += [f"delete {name}\n"] if held else []
            elif os.path.isdir(place) and held:
                self._keep_what_is_left(place, name, held)
            shutil.rmtree(place, ignore_errors=True)
        if places:
            self._run("worktree", "prune", may_fail=True)
        if gone:
            self._run("update-ref", "--stdin", stdin="".join(gone).encode(), may_fail=True)

    def _keep_what_is_left(self, place: str, name: str, held: str) -> None:
        tree = self.tree_of(place, held, _MARKER)
        full = self._salvaged(place, held) if tree.fault else tree.full
        if full not in (self.tree_id(held), self.tree_id(tree.head)):  # as it was verified
            left = self._commit(full, "left behind by an attempt that did not end\n", held)
            self._run("update-ref", name, left)

    def _salvaged(self, place: str, base: str) -> str:
        """The files in what is no worktree any more, as far as git takes them."""
        index = os.path.join(self.common, _INDEX)
        refs.drop_dead_lock(f"{index}.lock")
        taken = {
            "GIT_DIR": self.common,
            "GIT_WORK_TREE": place,
            "GIT_INDEX_FILE": index,
            **_settings({"core.safecrlf": "false"}),
        }
        words = ("add", "--all", "--ignore-errors", "--", ".")
        for above, folders, names in os.walk(place):  # git takes no files of another repository
            if ".git" in folders and above != place:
                shutil.rmtree(os.path.join(above, ".git"), ignore_errors=True)
                folders.remove(".git")
            if ".git" in names and above != place:
                refs.unlink(os.path.join(above, ".git"))
        try:
            self._run("read-tree", base, at=place, more=taken)
            if self._run(*words, at=place, more=taken, may_fail=True).code not in (0, 1):
                # A filter that must not fail ends git with nothing taken: bytes as they are, then.
                taken |= _settings({"core.safecrlf": "false", **self._no_filters()})
                self._run(*words, at=place, more=taken, may_fail=True)
            return self._text("write-tree", at=place, more=taken)
        finally:
            refs.unlink(index)

    def _no_filters(self) -> dict[str, str]:
        """Settings that switch off every filter there is; nothing is no, where git asks for a yes."""
        words = ("config", "--null", "--name-only", "--get-regexp", r"^filter\.")
        names = os.fsdecode(self._run(*words, may_fail=True).output).split("\0")
        return dict.fromkeys(filter(None, names), "")

    # -- landing ---------------------------------------------------------------------------

    def merged(self, target: str, commit: str, message: str) -> Merged:
        """The merge of a commit into another, made without any checkout; or where they clash."""
        words = ("merge-tree", "--write-tree", "-z", target, commit)
        done = self._run(*words, at=self._top, may_fail=True)
        fields = os.fsdecode(done.output).split("\0")
        tree = fields[0]
        if done.code not in (0, 1) or not tree:  # a name that stands for no commit ends with 1 too
            raise GitFault("merge-tree", said(done))
        if done.code == 0:
            made = self._commit(tree, message, target, commit)
            self._follows[commit, made] = True
            return Merged(made)
        stages = fields[1 : fields.index("", 1)]
        paths = dict.fromkeys(each.partition("\t")[2] for each in stages)
        clashes = [
            Clash(self._local(path), self._side(target, path), self._side(commit, path))
            for path in paths
        ]
        return Merged("", tuple(clashes))

    def land(self, branch: str, old: str, new: str, ignored: str) -> None:
        """Move a branch forward; where it is checked out, the files of the main tree follow."""
        if self.branch() != branch:
            self._run("update-ref", f"refs/heads/{branch}", new, old)
            return
        words = ("merge", "--ff-only", "--quiet", new)
        # Git refuses whatever is in its way; only then what a killed one left is looked for.
        if self._run(*words, may_fail=True).code != 0:
            self._complete_landing(old, new, ignored)
            done = self._run(*words, may_fail=True)
            if done.code != 0:
                raise LandingBlocked(branch, said(done))

    def commit_paths(self, paths: Iterable[str], message: str) -> str:
        """A commit of some paths of the main tree alone; nothing to commit gives nothing."""
        listed = b"\0".join(os.fsencode(path) for path in paths)
        names = ("--pathspec-from-file=-", "--pathspec-file-nul")
        self._run("add", "--force", *names, stdin=listed)
        words = ("commit", "--quiet", "--only", "--message", message, *names)
        done = self._run(*words, stdin=listed, may_fail=True)
        if done.code == 0:
            return self.commit_of("HEAD")
        look = ("diff", "--cached", "--quiet", "--", *(f":(literal){path}" for path in paths))
        if self._run(*look, may_fail=True).code != 0:
            raise GitFault("commit", said(done))
        return ""

    def switch(self, branch: str) -> None:
        """Go to a branch, made here if there is none."""
        name = f"refs/heads/{branch}"
        if branch[:1] == "-" or self._run("check-ref-format", name, may_fail=True).code != 0:
            raise BranchName(branch)
        made = () if self.commit_of(name) else ("--no-track", "--create")
        if self._run("switch", "--quiet", *made, branch, may_fail=True).code != 0:
            raise TreeDirty(self.dirty_paths(os.devnull) or (branch,))

    # -- inside ----------------------------------------------------------------------------

    def _head_of(self, place: str, own: str) -> str:
        """The commit that a worktree is at, or nothing; `own` is git's folder for it."""
        if refs.is_readable(self.common):
            return refs.head_of(own, self.common)
        return self._text("rev-parse", "--verify", "--quiet", "HEAD", at=place, may_fail=True)

    def _complete_landing(self, old: str, new: str, ignored: str) -> None:
        """Take back what a killed fast-forward left behind: files of the new commit, not yet its own.

        A file that is neither the old nor the new version is somebody's work and stops the landing.
        """
        refs.drop_dead_lock(os.path.join(self._home, "index.lock"))
        dirty = set(self.dirty_paths(ignored))
        touched = {each.path: each.kind for each in self.changes(old, new)}
        half_done = [path for path in touched if path in dirty or _below(path, dirty)]
        for path in half_done:
            now = self._file_id(path)
            if now not in (self._blob(old, path), self._blob(new, path)):
                raise LandingBlocked(path, "it was changed in the main tree meanwhile")
        for path in half_done:
            if touched[path] == "A":
                self._run("rm", "--quiet", "--cached", "--ignore-unmatch", "--", path)
                refs.unlink(os.path.join(self.folder, path))
            else:
                self._run("checkout", "--quiet", old, "--", path)

    def _file_id(self, path: str) -> str:
        if not os.path.lexists(os.path.join(self.folder, path)):
            return ""
        name = self._rooted(path)  # attributes are found by the name from there
        return self._text("hash-object", f"--path={name}", "--", name, at=self._top)

    def _blob(self, commit: str, path: str) -> str:
        name = f"{commit}:{self._rooted(path)}"
        return self._text("rev-parse", "--verify", "--quiet", name, may_fail=True)

    def _side(self, commit: str, path: str) -> str:
        done = self._run("cat-file", "blob", f"{commit}:{path}", may_fail=True)
        return done.output.decode("utf-8", "replace") if done.code == 0 else ""

    def _commit(self, tree: str, message: str, *parents: str) -> str:
        above = [word for parent in parents for word in ("-p", parent)]
        commit = self._text("commit-tree", tree, *above, "-F", "-", stdin=message.encode())
        self._trees[commit] = tree
        return commit


def _settings(held: Mapping[str, str]) -> dict[str, str]:
    """Settings of git, as the environment of one call of it."""
    found = {"GIT_CONFIG_COUNT": str(len(held))}
    for at, (name, value) in enumerate(held.items()):
        found |= {f"GIT_CONFIG_KEY_{at}": name, f"GIT_CONFIG_VALUE_{at}": value}
    return found


def _copied(path: str, to: str) -> bool:
    """Whether there was a file to copy; it lies where an agent can write."""
    try:
        shutil.copyfile(path, to)
    except OSError:
        return False
    return True


def _below(path: str, folders: set[str]) -> bool:
    """Whether git named a whole new folder instead of the file in it."""
    return any(each.endswith("/") and path.startswith(each) for each in folders)
