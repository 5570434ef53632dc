"""File trees as values, compared byte for byte before and after a command.

The service folder (lock, staging, intent records) may change while a command runs; it is compared
by names only, and only after the next writer could clean up.
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
_PLACE = re.compile(rb'"project": "/[^"]*"')  # a record of the user names the folder it is about

Tree = Mapping[str, bytes]
FOLDER = b"<folder>"


class DiskVersion(StrEnum):
    """The version of a set of files on disk."""

    OLD = "old"
    NEW = "new"
    SAME = "same"  # the command changes nothing, so old and new are equal
    MIXED = "mixed"  # some files old, others new: permitted during a step with many files
    TORN = "torn"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The version on disk, and the files that are neither old nor new."""

    version: DiskVersion
    torn: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()  # files that belong to neither version


def read_tree(root: Path) -> dict[str, bytes]:
    """Every file and folder below a root; links and special files are marked."""
    tree: dict[str, bytes] = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder) / name
            tree[path.relative_to(root).as_posix()] = _content(path)
    return tree


def documents(tree: Tree) -> dict[str, bytes]:
    """The user's files: everything outside the service folder."""
    return {
        placeless(name): _PLACE.sub(b"P", content)
        for name, content in tree.items()
        if not _is_service(name) and content != FOLDER
    }


def placeless(name: str) -> str:
    """A name without its random and location-dependent parts."""
    return _RANDOM.sub("R", name)


def service_names(tree: Tree) -> frozenset[str]:
    """The names inside the service folder."""
    return frozenset(placeless(name) for name in tree if _is_service(name))


def judge(now: Tree, old: Tree, new: Tree) -> Verdict:
    """Compare the documents of a tree with the two permitted versions."""
    present, before, after = documents(now), documents(old), documents(new)
    strange = tuple(sorted(set(present) - set(before) - set(after)))
    torn = tuple(
        name
        for name in sorted(set(before) | set(after))
        if present.get(name) not in (before.get(name), after.get(name))
    )
    if torn:
        return Verdict(DiskVersion.TORN, torn, strange)
    mine = {name: content for name, content in present.items() if name not in strange}
    if before == after:
        version = DiskVersion.SAME
    elif mine == before:
        version = DiskVersion.OLD
    elif mine == after:
        version = DiskVersion.NEW
    else:
        version = DiskVersion.MIXED
    return Verdict(version, (), strange)


def shape_of(tree: Tree) -> frozenset[tuple[str, bytes]]:
    """The tree without random parts: generated names, and the process in the lock file."""
    return frozenset(
        (placeless(name), _PLACE.sub(b"P", _PROCESS.sub(b"P", content)))
        for name, content in tree.items()
    )


def put_tree(source: Path, target: Path) -> Path:
    """Make target a new copy of source."""
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
