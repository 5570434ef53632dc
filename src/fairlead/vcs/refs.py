"""Read the refs of a repository from git's own files.

They are compared before and after every call of an agent, so starting git each time would be slow.
Repositories with the newer reftable format are not read here: `is_readable` says so, and the
callers ask git.
"""

from __future__ import annotations

import errno
import glob
import itertools
import os
import stat

from fairlead.store import layout
from fairlead.store.digests import entries_of
from fairlead.vcs.errors import GitFault
from fairlead.vcs.folders import delete_folder

TABLES = os.path.join("reftable", "tables.list")  # the list of all refs in the reftable format
NOT_A_REF = "not a ref"  # the value of anything else that has the place of a ref
POINTER = "ref: "  # begins the value of a ref that names another one
_LONGEST = 200  # characters of a name that is used as a path
_NO_FILE = (errno.ENOENT, errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.ENXIO)


def is_readable(common: str) -> bool:
    """Whether the refs are files."""
    return not os.path.isdir(os.path.join(common, os.path.dirname(TABLES)))


def all_refs(common: str) -> dict[str, str]:
    """Every ref by its full name; a ref's own file overrides the packed list."""
    values, folders = _packed(common), ["refs"]
    while folders:
        above = folders.pop()
        for entry in entries_of(f"{common}/{above}"):
            name = f"{above}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):  # git follows a link: that is not a ref
                folders.append(name)
            elif not name.endswith(".lock"):
                values[name] = _line(f"{common}/{name}") or NOT_A_REF
    return values


def is_odd(value: str) -> bool:
    """Whether the place of a ref has something else than a commit: no person puts that there."""
    return " " in value


def _ref(name: str, common: str) -> str:
    """One ref, without reading all: a long job has a branch for every attempt."""
    # An agent can write anything into its worktree's HEAD: only a plain ref name becomes a path.
    is_plain = name.startswith("refs/") and not name.endswith(".lock") and len(name) <= _LONGEST
    if not is_plain or ".." in name or "\0" in name:
        return all_refs(common).get(name, "")
    return _line(os.path.join(common, name)) or _packed(common).get(name, "")


def _packed(common: str) -> dict[str, str]:
    packed = content(os.path.join(common, "packed-refs")) or b""
    lines = packed.decode("utf-8", "surrogateescape").splitlines()
    pairs = (line.split(" ", 1) for line in lines if line[:1] not in ("#", "^"))
    return {name: value for value, name in pairs}


def head_name(git_folder: str) -> str:
    """What HEAD names: a full branch name, or a commit."""
    return _line(os.path.join(git_folder, "HEAD")).removeprefix(POINTER)


def head_of(git_folder: str, common: str) -> str:
    """The commit of HEAD, or nothing."""
    head = _line(os.path.join(git_folder, "HEAD"))
    if not head.startswith(POINTER):
        return head
    return _ref(head.removeprefix(POINTER), common)


def commit_of(name: str, git_folder: str, common: str) -> str | None:
    """The commit of a full name; empty if there is none, None if only git can tell."""
    if name == "HEAD":
        commit = head_of(git_folder, common)
    elif name.startswith("refs/"):
        commit = _ref(name, common)
    else:
        return None
    return None if commit.startswith(POINTER) else commit


def own_folder(place: str, common: str) -> str:
    """Git's folder for a worktree; raises if the worktree does not belong to this repository."""
    path = os.path.join(place, ".git")
    # An agent may have put anything there, also a pipe that would block.
    pointer = _line(path).removeprefix("gitdir: ") if os.path.isfile(path) else ""
    folder = os.path.realpath(os.path.join(place, pointer))
    back = os.path.join(folder, _line(os.path.join(folder, "gitdir")))
    is_ours = os.path.dirname(folder) == os.path.join(common, "worktrees") and is_in_place(place)
    if not is_ours or os.path.realpath(os.path.dirname(back)) != os.path.realpath(place):
        name = os.path.join(os.path.basename(place), ".git")
        raise GitFault("worktree", f"{name} does not point to this repository any more")
    return folder


def is_in_place(place: str) -> bool:
    """Whether neither a worktree nor the folders of its job above it were replaced by links.

    A link could lead to files of the person, which a clean checkout would delete.
    """
    above = os.path.dirname(place)
    return not any(map(os.path.islink, (place, above, os.path.dirname(above))))


def make_worktree(place: str, common: str, head: str) -> None:
    """Register a folder as a worktree, as `git worktree add` does; `head` is a commit or a ref."""
    parent = os.path.join(common, "worktrees")
    os.makedirs(parent, exist_ok=True)
    name = os.path.basename(place)
    names = (f"{name}{number or ''}" for number in itertools.count())
    folder = next(each for each in (os.path.join(parent, name) for name in names) if _made(each))
    pointer = os.path.join(place, ".git")
    files = {"commondir": "../..", "gitdir": pointer, "HEAD": head}
    for file, text in files.items():
        _write(os.path.join(folder, file), f"{text}\n")
    _write(os.path.join(folder, layout.ATTEMPT), "")
    unlink(pointer)
    _write(pointer, f"gitdir: {folder}\n")


def _made(folder: str) -> bool:
    try:
        os.mkdir(folder)
    except FileExistsError:
        return False
    return True


def _write(path: str, text: str) -> None:
    with open(path, "xb") as file:
        file.write(os.fsencode(text))


def forget_worktree(place: str, common: str) -> None:
    """Remove git's folder for a worktree that was deleted."""
    pointer = os.path.join(place, ".git")
    for folder in glob.glob(os.path.join(glob.escape(common), "worktrees", "*")):
        if _line(os.path.join(folder, "gitdir")) == pointer:
            delete_folder(folder)


def content(path: str) -> bytes | None:
    """The content of one of git's small files, or None. A pipe in its place does not block."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in _NO_FILE:
            return None
        raise
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        with open(fd, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(fd)


def _line(path: str) -> str:
    return (content(path) or b"").decode("utf-8", "surrogateescape").strip()


def unlink(path: str) -> None:
    """Remove a file if it exists."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def drop_dead_lock(path: str) -> None:
    """Remove a lock file of git that no running process has open."""
    if os.path.lexists(path) and not _is_open(path):
        delete_folder(path)  # an agent may have made a folder of this name


def _is_open(path: str) -> bool:
    """Whether a process that we may look at has a file open."""
    target = os.path.realpath(path)
    for link in glob.iglob("/proc/[0-9]*/fd/*"):
        try:
            if os.readlink(link) == target:
                return True
        except OSError:
            continue
    return False
