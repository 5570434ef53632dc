"""Trees of files as values: taken before, after and in between, and compared byte for byte.

The service folder (lock, staging, intent records) is the store's own affair while a command
runs; it is compared by names only, and only after the next writer had its chance to clean up.
"""

import os
import re
import shutil
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

SERVICE = ".fairlead"

_RANDOM = re.compile(r"[0-9a-f]{16}")
_PROCESS = re.compile(rb"(?:process|pid) \d+")
_PLACE = re.compile(rb'"project": "/[^"]*"')  # a person's record names the folder it is about

Tree = Mapping[str, bytes]
FOLDER = b"<folder>"


class Standing(StrEnum):
    """Which version of a set of files is on disk."""

    OLD = "old"
    NEW = "new"
    SAME = "same"  # the command changes nothing, so old and new cannot be told apart
    MIXED = "mixed"  # some files old, others new: allowed for a while in a step of many files
    TORN = "torn"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The standing, and the files that are neither old nor new."""

    standing: Standing
    torn: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()  # files that belong to neither version


def read_tree(root: Path) -> dict[str, bytes]:
    """Every file and folder below root. A link or a special file is shown as what it is."""
    found: dict[str, bytes] = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder) / name
            found[path.relative_to(root).as_posix()] = _content(path)
    return found


def documents(tree: Tree) -> dict[str, bytes]:
    """The part that belongs to people: everything outside the service folder."""
    return {
        placeless(name): _PLACE.sub(b"P", content)
        for name, content in tree.items()
        if not _is_service(name) and content != FOLDER
    }


def placeless(name: str) -> str:
    """A name without what chance or the folder's own place decides."""
    return _RANDOM.sub("R", name)


def service_names(tree: Tree) -> frozenset[str]:
    """The names inside the service folder."""
    return frozenset(placeless(name) for name in tree if _is_service(name))


def judge(now: Tree, old: Tree, new: Tree) -> Verdict:
    """Compare the documents of a tree with both versions it may have."""
    present, before, after = documents(now), documents(old), documents(new)
    strange = tuple(sorted(set(present) - set(before) - set(after)))
    torn = tuple(
        name
        for name in sorted(set(before) | set(after))
        if present.get(name) not in (before.get(name), after.get(name))
    )
    if torn:
        return Verdict(Standing.TORN, torn, strange)
    mine = {name: content for name, content in present.items() if name not in strange}
    if before == after:
        standing = Standing.SAME
    elif mine == before:
        standing = Standing.OLD
    elif mine == after:
        standing = Standing.NEW
    else:
        standing = Standing.MIXED
    return Verdict(standing, (), strange)


def shape_of(tree: Tree) -> frozenset[tuple[str, bytes]]:
    """The tree without what chance decides: random names, and the process that signed the lock."""
    return frozenset(
        (placeless(name), _PLACE.sub(b"P", _PROCESS.sub(b"P", content)))
        for name, content in tree.items()
    )


def put_tree(source: Path, target: Path) -> Path:
    """Make target a fresh copy of source."""
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(source, target, symlinks=True)
    return target


def _content(path: Path) -> bytes:
    mode = path.lstat().st_mode
    if stat.S_ISDIR(mode):
        return FOLDER
    if stat.S_ISLNK(mode):
        return b"<link> " + os.fsencode(os.readlink(path))
    if not stat.S_ISREG(mode):
        return b"<special>"
    return path.read_bytes()


def _is_service(name: str) -> bool:
    return any(part.startswith(SERVICE) for part in name.split("/"))
