"""Run git, and read a repository without changing a ref, an index or a file.

`GitProgram` starts git in one way only: everything is switched off that a repository could use to
run its own code. `GitView` answers questions about the repository of one project. Facts that
cannot change are cached: the tree of a commit, the changes between two, ancestry. Git names files
from the root of the repository; these classes name them from the folder of the project, which may
lie below it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TypeVar

from fairlead.core.patterns import lazy_pattern
from fairlead.core.process import (
    ExitKind,
    ProcessLimits,
    ProcessResult,
    environment_of,
    program,
    run,
    search_path,
)
from fairlead.core.values import replace
from fairlead.store import layout
from fairlead.vcs import refs
from fairlead.vcs.errors import GitFault, GitTooOld
from fairlead.vcs.folders import walk
from fairlead.vcs.model import FileChange, FileLines, is_dropping
from fairlead.vcs.private_folder import PrivateFolder, personal_folder, read_settings

_SWITCHED_OFF = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=false",
    "core.alternateRefsCommand=",
    "diff.external=",
    "protocol.ext.allow=never",
    "commit.gpgSign=false",
    "submodule.recurse=false",
    "status.submoduleSummary=false",
    "rerere.enabled=false",
    # Files that repeat what objects say, and that an agent could write.
    "core.commitGraph=false",
    "core.multiPackIndex=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
)
OWN_IDENTITY = ("user.name=Fairlead", "user.email=fairlead@localhost")
_LIMITS = ProcessLimits(wall=timedelta(minutes=2), output_bytes=64 << 20)
# Git keeps all differences in memory before it prints one, and a few small trees that contain each
# other many times have billions. This is enough for more than the output may hold.
_DIFF_LIMITS = replace(_LIMITS, memory_bytes=1 << 30)
_PASSED_VARIABLES = ("HOME", "XDG_CONFIG_HOME", "TMPDIR")
_FOR_SETTINGS = ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL")  # where the user's own settings are
_ALWAYS = {
    "LC_ALL": "C.UTF-8",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",  # a ref must not make one object look like another
    "GIT_NO_LAZY_FETCH": "1",
}
_NO_SETTINGS = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
}
_OLDEST = (2, 38)  # the first git with merge-tree --write-tree
_MODULES, _MODULE_PATH = ".gitmodules", r"^submodule\..*\.path$"
LINK_MODE = "160000"  # of a link to another repository
_REPOSITORY_FILES = (  # in a git folder: they name programs, hide files, or change history
    "config",
    "config.worktree",
    "commondir",
    "shallow",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "info/sparse-checkout",
    "objects/info/alternates",
    "objects/info/http-alternates",
)
_PERSONAL_FILES = ("config", "attributes", "ignore")  # in git's folder of the user's settings
# Status and diff would start git in a nested repository, which runs the programs it names.
IGNORE_SUBMODULES = "--ignore-submodules=all"
_MOST_ADDED = 5000  # commits between two positions of a branch; beyond that each is asked for
COMMIT_ID = lazy_pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LOG_LIMIT = 5000  # commits that are searched for landed work


class GitProgram:
    """Runs git in one folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        # Neither git nor what it starts may come from inside the project.
        outside = {folder, layout.repository_of(folder), layout.main_tree_of(folder)} - {""}
        self._program = program("git", outside)
        self._path = search_path(outside)
        self._private: PrivateFolder | None = None  # until the settings are read
        self._top = folder  # of the main working tree
        self._index = ""
        self._identity: tuple[str, ...] = ()

    @property
    def uses_own_identity(self) -> bool:
        """Whether commits carry Fairlead's name because the user has not configured one."""
        return bool(self._identity)

    def _text(
        self,
        *words: str,
        place: str = "",
        may_fail: bool = False,
        stdin: bytes = b"",
        more: Mapping[str, str] | None = None,
    ) -> str:
        result = self._run(*words, place=place, may_fail=may_fail, stdin=stdin, more=more)
        return os.fsdecode(result.output).strip() if result.code == 0 else ""

    def _run(
        self,
        *words: str,
        place: str = "",
        at: str = "",
        may_fail: bool = False,
        stdin: bytes = b"",
        more: Mapping[str, str] | None = None,
        is_protected: bool = True,
        limits: ProcessLimits = _LIMITS,
    ) -> ProcessResult:
        """Run git with the trusted settings; raise unless it succeeds or may fail.

        `place` is the worktree it works on, and `at` the folder in it; by default, the project.
        Unprotected, git uses the repository's own folder with the settings that are there.
        """
        settings = [*_SWITCHED_OFF, *self._identity]
        variables = dict(_ALWAYS)
        if self._private is None or not is_protected:
            variables |= environment_of(_FOR_SETTINGS)
        else:
            folder = self._private.path
            names = ("attributes", "core.attributesFile"), ("ignore", "core.excludesFile")
            settings += [f"{key}={self._private.file(name, folder)}" for name, key in names]
            variables |= {**_NO_SETTINGS, "GIT_DIR": folder, "GIT_WORK_TREE": place or self._top}
            variables |= {} if place else {"GIT_INDEX_FILE": self._index}
        options = [word for pair in settings for word in ("-c", pair)]
        variables |= more or {}
        environment = environment_of(_PASSED_VARIABLES, PATH=self._path, **variables)
        result = self._started(
            options, words, at or place or self.folder, environment, stdin, limits
        )
        if result.code != 0 and not may_fail:
            raise GitFault(words[0], first_line(result))
        return result

    def _started(
        self,
        options: Sequence[str],
        words: Sequence[str],
        folder: str,
        environment: Mapping[str, str],
        stdin: bytes,
        limits: ProcessLimits,
    ) -> ProcessResult:
        result = run(
            [self._program, *options, *words],
            folder=folder,
            environment=environment,
            limits=limits,
            stdin=stdin,
        )
        if result.ended is not ExitKind.EXITED:
            raise GitFault(words[0], f"ended by its limits ({result.ended})")
        return result


def first_line(result: ProcessResult) -> str:
    """The first line that git printed, or its exit code."""
    lines = (result.errors or result.output).decode("utf-8", "replace").strip().splitlines()
    return lines[0] if lines else f"exit code {result.code}"


class GitView(GitProgram):
    """The repository of one project, for reading."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        output = self._run("rev-parse", "--git-common-dir", "--git-dir", "--show-prefix").output
        *git_folders, self._prefix, _ = os.fsdecode(output).split("\n")
        self.common, self._git_folder = (
            os.path.realpath(os.path.join(folder, path)) for path in git_folders
        )
        self._top = os.path.realpath(
            os.path.join(folder, os.path.relpath(".", self._prefix or "."))
        )
        self._index = os.path.join(self._git_folder, "index")
        self.trust_settings()
        self._trees = BoundedCache[str, str]()  # by commit
        self._changes = BoundedCache[tuple[str, str], tuple[FileChange, ...]]()
        self._ancestry = BoundedCache[tuple[str, str], bool]()
        self._listings = BoundedCache[str, tuple[tuple[str, ...], frozenset[str]]]()  # by commit
        self._descendants = BoundedCache[str, str]()  # by commit, a commit that contains it
        # A commit, and commits that it does not contain: one value, since threads share it.
        self._outside: tuple[str, frozenset[str]] = "", frozenset()

    def trust_settings(self) -> None:
        """Read git's settings as they are now; every later call of git uses these."""
        words = ("config", "--list", "--show-origin", "-z")
        listed = self._run(*words, may_fail=True, is_protected=False).output
        inside = (self._top, self.common)
        self.settings = read_settings(os.fsdecode(listed), self.common, inside)
        names = (self.settings.value(key).strip() for key in ("user.name", "user.email"))
        self._identity = () if all(names) else OWN_IDENTITY
        self._private = PrivateFolder(self.settings, self.common, self._git_folder)
        self._programs = frozenset(self._programs_inside())

    def _programs_inside(self) -> Iterator[str]:
        """The files in those folders of PATH that lie inside the project, such as `.venv/bin`."""
        outside = search_path((self._top,)).split(os.pathsep)
        for folder in search_path().split(os.pathsep):
            if folder not in outside:
                yield from _files_in(folder)

    def _is_in_the_way(self, program: str) -> bool:
        """Whether a program takes the place of one that is installed outside the project."""
        outside = search_path((self._top,)) or os.devnull
        return shutil.which(os.path.basename(program), path=outside) is not None

    @property
    def unused_drivers(self) -> tuple[str, ...]:
        """The filters and merge drivers that are left out, because an agent could change them."""
        return self.settings.left_out

    def require_recent(self) -> None:
        """Refuse a git that cannot merge without a checkout."""
        words = self._text("--version").split()
        parts = words[2].split(".") if len(words) > 2 else ["0", "0"]
        if tuple(int(part) for part in parts[:2]) < _OLDEST:
            raise GitTooOld(".".join(parts), ".".join(map(str, _OLDEST)))

    def branch(self) -> str:
        """The branch of the main working tree; empty when it is on none."""
        return self._head_name().partition("refs/heads/")[2]

    def commit_of(self, name: str) -> str:
        """The commit of a name; empty if there is none."""
        if refs.is_readable(self.common) and name.startswith(("refs/", "HEAD")):
            commit = refs.commit_of(name, self._git_folder, self.common)
            if commit is not None:
                return commit
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        return self._text(*words, may_fail=True)

    def dirty_paths(self, ignored: str) -> tuple[str, ...]:
        """The paths of the main working tree that differ from HEAD, outside one folder."""
        output = self._run(
            "status",
            "--porcelain=v1",
            "-z",
            "--untracked-files=normal",
            "--no-renames",
            IGNORE_SUBMODULES,
        ).output
        entries = [os.fsdecode(entry) for entry in output.split(b"\0") if entry]
        paths = [self._local(entry[3:]) for entry in entries if not self._is_left_behind(entry)]
        return tuple(path for path in paths if not f"{path}/".startswith(f"{ignored}/"))

    def _is_left_behind(self, entry: str) -> bool:
        """Whether an entry of git's status is a new file that a tool left, or a folder of such."""
        kind, path = entry[:2], entry[3:]
        if kind != "??" or is_dropping(path):
            return kind == "??"
        return path.endswith("/") and all(
            is_dropping(os.path.relpath(os.path.join(above, name), self._top))
            for above, _, names in walk(os.path.join(self._top, path))
            for name in names
        )

    def is_ignored(self, path: str) -> bool:
        """Whether git ignores a path."""
        return self._run("check-ignore", "--quiet", "--", path, may_fail=True).code == 0

    def ignored(self, paths: Sequence[str], place: str = "") -> Mapping[str, str]:
        """Those of the paths that git ignores, each with the line that says so."""
        # Git refuses a path behind a symbolic link, and one refusal would hide all answers.
        behind = {each for each in set(map(os.path.dirname, paths)) if self._is_behind_link(each)}
        asked = {f"./{path}": path for path in paths if os.path.dirname(path) not in behind}
        listed = b"\0".join(map(os.fsencode, asked))
        words = ("check-ignore", "--verbose", "-z", "--stdin")
        at = self._inside(place) if place else ""
        result = self._run(*words, place=place, at=at, stdin=listed, may_fail=True)
        if result.code not in (0, 1) and len(paths) == 1:
            return {paths[0]: f"git {words[0]}: {first_line(result)}"}
        if result.code not in (0, 1):  # git refuses one of the paths: ask about each alone
            return dict(pair for path in paths for pair in self.ignored((path,), place).items())
        fields = iter(os.fsdecode(result.output).split("\0"))
        rows = zip(fields, fields, fields, fields, strict=False)
        return {
            asked[path]: f"{source}:{line} ignores it ({pattern})"
            for source, line, pattern, path in rows
            if not pattern.startswith("!")
        }

    def _is_behind_link(self, folder: str) -> bool:
        path = os.path.join(os.path.realpath(self.folder), folder)
        return os.path.realpath(path) != os.path.normpath(path)

    def submodules(self) -> tuple[str, ...]:
        """The folders of HEAD's submodules, which are empty in a new worktree."""
        if not os.path.exists(os.path.join(self._top, _MODULES)):  # spares starting git
            return ()
        words = ("config", "--blob", f"HEAD:{_MODULES}", "-z", "--get-regexp", _MODULE_PATH)
        entries = os.fsdecode(self._run(*words, may_fail=True).output).split("\0")
        return tuple(self._local(entry.partition("\n")[2]) for entry in entries if entry)

    def is_ancestor(self, commit: str, of: str) -> bool:
        """Whether a commit is part of the history of another."""
        answer = self._ancestry.get((commit, of))
        if answer is None:
            # A branch only grows, so a commit that it contained before needs no new question.
            descendant = self._descendants.get(commit, of)
            answer = descendant != of and self.is_ancestor(descendant, of)
            answer = answer or self._contains(of, commit)
            self._ancestry[commit, of] = answer
            if answer and commit != of:
                self._descendants[commit] = of
        return answer

    def _contains(self, of: str, commit: str) -> bool:
        """Whether a commit contains another; what earlier answers imply is not asked again.

        Many commits may wait for one branch. What it did not contain at its last position, it
        contains now exactly if it is among the commits that were added since.
        """
        if not (COMMIT_ID.fullmatch(of) and COMMIT_ID.fullmatch(commit)):
            return self._is_in_history(commit, of)
        old, outside = self._outside
        if outside and old != of:
            outside = self._still_outside(outside, old, of)
        is_known = commit in outside or (commit, of) in self._ancestry
        is_contained = commit not in outside and (is_known or self._is_in_history(commit, of))
        self._outside = of, outside if is_contained else outside | {commit}
        return is_contained

    def _is_in_history(self, commit: str, of: str) -> bool:
        return self._run("merge-base", "--is-ancestor", commit, of, may_fail=True).code == 0

    def _still_outside(self, outside: frozenset[str], old: str, new: str) -> frozenset[str]:
        """Those commits outside an old position that are outside a new one; none if unknown."""
        words = ("rev-list", f"--max-count={_MOST_ADDED}", new, f"^{old}", "--")
        added = self._text(*words, may_fail=True).split()
        for each in outside.intersection(added):
            self._ancestry[each, new] = True
        return outside.difference(added) if 0 < len(added) < _MOST_ADDED else frozenset()

    def changes(self, base: str, commit: str) -> tuple[FileChange, ...]:
        """The files that a commit adds (A), changes (M) and deletes (D) relative to another."""
        changes = self._changes.get((base, commit))
        if changes is None:
            words = ("diff-tree", "-r", "-z", "--no-renames", base, commit)
            output = self._run(*words, limits=_DIFF_LIMITS).output
            fields = os.fsdecode(output).split("\0")
            changes = tuple(map(_file_change, fields[::2], map(self._local, fields[1::2])))
            self._changes[base, commit] = changes
        return changes

    def added_bytes(self, base: str, commit: str) -> int:
        """The size of all files that a commit adds or changes relative to another."""
        ids = "".join(f"{change.after[1]}\n" for change in self.changes(base, commit))
        if not ids:
            return 0
        # A deleted file has no object, and that of a nested repository is not here.
        words = ("cat-file", "--batch-check=%(objectsize)")
        sizes = self._run(*words, stdin=ids.encode()).output.split(b"\n")
        return sum(int(size) for size in sizes if size.isdigit())

    def line_counts(self, base: str, commit: str) -> tuple[FileLines, ...]:
        """The lines that a commit adds and removes relative to another, file by file."""
        options = ("-r", "-z", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv")
        output = os.fsdecode(self._run("diff-tree", *options, base, commit).output)
        counts = []
        for entry in output.split("\0")[:-1]:
            added, removed, path = entry.split("\t", 2)
            lines = [int(number) if number.isdigit() else 0 for number in (added, removed)]
            counts.append(FileLines(self._local(path), *lines))
        return tuple(counts)

    def guard(self) -> Mapping[str, str]:
        """Digests of everything an agent must not touch: refs, HEAD, configuration, hooks."""
        if refs.is_readable(self.common):
            values = refs.all_refs(self.common)
        else:
            form = (
                f"%(refname) %(if)%(symref)%(then){refs.POINTER}%(symref)%(else)%(objectname)%(end)"
            )
            lines = self._text("for-each-ref", f"--format={form}").splitlines()
            values = dict(line.split(" ", 1) for line in lines)
        files = ((self._name_of(path), digest_with_mode(path)) for path in self._guarded_files())
        return {**values, "HEAD": self._head_name(), **{name: each for name, each in files if each}}

    def _guarded_files(self) -> Iterator[str]:
        """Every file outside the working tree that can make git run programs or see other objects.

        They are compared before and after every call of an agent, so no program is started.
        """
        yield from _git_files(self.common)
        yield from _personal_files()
        yield from sorted(self.settings.files)
        if self.settings.hooks:
            yield from _files_in(os.path.join(self._top, self.settings.hooks))
        for folder in _nested_git_folders(self.common):
            yield from _git_files(folder)
        for path in self.submodules():
            yield from _git_files(os.path.join(self.folder, path, ".git"))
        # Verify commands may use programs of the project; an agent may install more of them.
        yield from sorted(self._programs)
        yield from (
            path
            for path in self._programs_inside()
            if path not in self._programs and self._is_in_the_way(path)
        )
        for folder in _files_in(os.path.join(self.common, "worktrees")):
            if not os.path.exists(os.path.join(folder, layout.ATTEMPT)):
                yield os.path.join(folder, "config.worktree")

    def _name_of(self, path: str) -> str:
        """A guarded file as people know it: from the git folder, or its full path."""
        inside = path.removeprefix(f"{self.common}/")
        return path if inside == path else f".git/{inside}"

    def path_of(self, name: str) -> str:
        """The path of a guarded file, by its name in `guard`."""
        inside = name.removeprefix(".git/")
        return name if inside == name else os.path.join(self.common, inside)

    def patch(self, base: str, commit: str, paths: Sequence[str]) -> str:
        """The changes of some files as text."""
        names = [f":(top,literal){self._rooted(path)}" for path in paths]
        options = ("-r", "-p", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")
        output = self._run("diff-tree", *options, base, commit, "--", *names).output
        return output.decode("utf-8", "replace")

    def tree_id(self, commit: str) -> str:
        """The tree of a commit."""
        return self._trees.get(commit) or self._text("rev-parse", f"{commit}^{{tree}}")

    def unmerged(self, prefix: str, target: str) -> frozenset[str]:
        """The branches below a prefix with commits that the target does not contain."""
        where = (f"--no-merged=refs/heads/{target}", f"refs/heads/{prefix}")
        output = self._text("for-each-ref", "--format=%(refname:lstrip=2)", *where)
        return frozenset(output.splitlines())

    def branches(self, prefix: str) -> tuple[str, ...]:
        """The branches whose names begin like this."""
        output = self._text("for-each-ref", "--format=%(refname:lstrip=2)", f"refs/heads/{prefix}")
        return tuple(output.splitlines())

    def messages_since(self, base: str) -> dict[str, str]:
        """The messages of the commits after a commit, by their ids, the newest first."""
        words = ("log", "-z", "--format=%H%n%B", f"{base}..HEAD", "--")
        output = self._run(*words).output.decode("utf-8", "replace")
        entries = (entry.partition("\n") for entry in output.split("\0") if entry)
        return {commit: message for commit, _, message in entries}

    def first_parents(self) -> dict[str, str]:
        """The messages of the commits of the branch itself, by their ids, the newest first."""
        words = ("log", "--first-parent", f"--max-count={_LOG_LIMIT}", "-z", "--format=%H%n%B")
        output = self._run(*words, "HEAD", "--").output.decode("utf-8", "replace")
        entries = (entry.partition("\n") for entry in output.split("\0") if entry)
        return {commit: message for commit, _, message in entries}

    def _head_name(self) -> str:
        """What HEAD of the main working tree names: a full branch name, or a commit."""
        if refs.is_readable(self.common):
            return refs.head_name(self._git_folder)
        branch = self._text("symbolic-ref", "--quiet", "HEAD", may_fail=True)
        return branch or self.commit_of("HEAD")

    def _inside(self, place: str) -> str:
        """The folder of the project in a worktree."""
        return os.path.join(place, self._rooted("")) if self._prefix else place

    def _local(self, path: str) -> str:
        """A path of the repository, seen from the project's folder."""
        inside = path.removeprefix(self._prefix)
        if not self._prefix or 0 < len(inside) < len(path):
            return inside
        return os.path.relpath(path, self._prefix) + ("/" if path.endswith("/") else "")

    def _rooted(self, path: str) -> str:
        """A path of the project, seen from the root of the repository."""
        return os.path.normpath(os.path.join(self._prefix, path))


def _file_change(entry: str, path: str) -> FileChange:
    """One entry of git's raw diff: both modes, both objects, and a letter."""
    before, after, old, new, kind = entry.removeprefix(":").split(" ")
    is_repository = after == LINK_MODE != before
    return FileChange(
        path, kind[:1], is_repository=is_repository, before=(before, old), after=(after, new)
    )


_Key = TypeVar("_Key")
_Fact = TypeVar("_Fact")


class BoundedCache(dict[_Key, _Fact]):
    """A cache that is emptied when it is full: recent facts are asked for again soon."""

    _MOST = 256

    def __setitem__(self, key: _Key, fact: _Fact) -> None:
        if len(self) >= self._MOST:
            self.clear()
        super().__setitem__(key, fact)


def digest_with_mode(path: str) -> str:
    """The digest of a regular file, and whether it may be executed; empty if there is none.

    A pipe or device in its place neither blocks nor raises.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        return f"not to be read: {error.strerror}"
    try:
        mode = os.fstat(fd).st_mode
        if not stat.S_ISREG(mode):
            return ""
        with open(fd, "rb", closefd=False) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return f"{digest}+x" if mode & stat.S_IXUSR else digest
    finally:
        os.close(fd)


def _git_files(folder: str) -> Iterator[str]:
    """The files in a git folder that can make git run programs."""
    yield from (os.path.join(folder, name) for name in _REPOSITORY_FILES)
    yield from _files_in(os.path.join(folder, "hooks"))


def _files_in(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    except OSError:
        return []


def _nested_git_folders(common: str) -> Iterator[str]:
    """The git folders of submodules; one may lie inside another."""
    for folder, folders, names in walk(os.path.join(common, "modules")):
        if "HEAD" in names:
            yield folder
            folders[:] = [name for name in folders if name == "modules"]


def _personal_files() -> list[str]:
    """The files that git reads for every repository of the user."""
    home = os.path.expanduser("~")
    main = os.environ.get("GIT_CONFIG_GLOBAL") or os.path.join(home, ".gitconfig")
    return [main, *(os.path.join(personal_folder(), name) for name in _PERSONAL_FILES)]
