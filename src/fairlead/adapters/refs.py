"""Refs of a repository, read from git's own files: looked at before and after every call of an agent.

A newer form of repository keeps them elsewhere; there git itself is asked.
"""

from __future__ import annotations

import glob
import os

from fairlead.errors import GitFault

TABLES = os.path.join("reftable", "tables.list")  # where refs are no files: all of them
_POINTER = "ref: "
_LONGEST = 200  # characters of a name that is looked for by itself


def is_readable(common: str) -> bool:
    """Whether the refs are files."""
    return not os.path.isdir(os.path.join(common, os.path.dirname(TABLES)))


def all_refs(common: str) -> dict[str, str]:
    """Every ref by its full name; a file of its own says more than the packed list."""
    found = _packed(common)
    for above, _, names in os.walk(os.path.join(common, "refs")):
        for name in names:
            path = os.path.join(above, name)
            value = _line(path)
            if value and not name.endswith(".lock"):
                found[os.path.relpath(path, common)] = value
    return found


def _ref(name: str, common: str) -> str:
    """One of them, without a look at the others: a long job has a branch for every attempt."""
    # A worktree's HEAD is an agent's to write: what is no plain name of a ref is never a path.
    is_plain = name.startswith("refs/") and not name.endswith(".lock") and len(name) <= _LONGEST
    if not is_plain or ".." in name or "\0" in name:
        return all_refs(common).get(name, "")
    return _line(os.path.join(common, name)) or _packed(common).get(name, "")


def _packed(common: str) -> dict[str, str]:
    packed = content(os.path.join(common, "packed-refs")) or b""
    lines = packed.decode("utf-8", "surrogateescape").splitlines()
    pairs = (line.split(" ", 1) for line in lines if line[:1] not in ("#", "^"))
    return {name: value for value, name in pairs}


def head_name(home: str) -> str:
    """What the HEAD of a tree names: a branch, or a commit."""
    return _line(os.path.join(home, "HEAD")).removeprefix(_POINTER)


def head_of(home: str, common: str) -> str:
    """The commit that a tree is at, or nothing."""
    head = _line(os.path.join(home, "HEAD"))
    if not head.startswith(_POINTER):
        return head
    return _ref(head.removeprefix(_POINTER), common)


def commit_of(name: str, home: str, common: str) -> str | None:
    """The commit of a whole name, or nothing; None if only git can tell."""
    if name == "HEAD":
        found = head_of(home, common)
    elif name.startswith("refs/"):
        found = _ref(name, common)
    else:
        return None
    return None if found.startswith(_POINTER) else found


def own_folder(place: str, common: str) -> str:
    """Git's own folder of a worktree of this repository, and of no other."""
    path = os.path.join(place, ".git")
    # An agent may have put anything there: what is no file is not waited for.
    pointer = _line(path).removeprefix("gitdir: ") if os.path.isfile(path) else ""
    found = os.path.realpath(os.path.join(place, pointer))
    back = os.path.join(found, _line(os.path.join(found, "gitdir")))
    is_ours = os.path.dirname(found) == os.path.join(common, "worktrees")
    if not is_ours or os.path.realpath(os.path.dirname(back)) != os.path.realpath(place):
        name = os.path.join(os.path.basename(place), ".git")
        raise GitFault("worktree", f"{name} does not lead to this repository any more")
    return found


def content(path: str) -> bytes | None:
    """A small file of git's, or None."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None


def _line(path: str) -> str:
    return (content(path) or b"").decode("utf-8", "surrogateescape").strip()


def unlink(path: str) -> None:
    """Remove a file, if it is there."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def drop_dead_lock(path: str) -> None:
    """A lock of git's belongs to a process that has it open; without one it is a leftover."""
    if os.path.exists(path) and not _is_open(path):
        unlink(path)


def _is_open(path: str) -> bool:
    """Whether any process of ours to see has a file open."""
    wanted = os.path.realpath(path)
    for link in glob.iglob("/proc/[0-9]*/fd/*"):
        try:
            if os.readlink(link) == wanted:
                return True
        except OSError:
            continue
    return False
