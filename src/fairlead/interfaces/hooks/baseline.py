"""What the project looked like when a session started, to tell whether anything happened in it.

A fingerprint of the files in `.planning` and of git's HEAD, one small private file per session in
the staging folder. Without a fingerprint nothing is known, and then nothing is recorded.
"""

from __future__ import annotations

import os
from hashlib import sha256

from fairlead.core.errors import FairleadError
from fairlead.store import layout
from fairlead.store.confined import ConfinedFolder, Root
from fairlead.store.staging import STAGING, STAGING_NAME, open_staging, replace_small_file

_PREFIX = "seen-"  # of the name of a fingerprint
_KEPT = 20  # sessions; older ones are forgotten
_MOST_FILES = 20_000
_DIGITS = 64
_LINK_LIMIT = 4096


def keep_baseline(folder: str, session: str) -> None:
    """Remember the project as it is now."""
    try:
        with Root(folder) as root, open_staging(root, STAGING) as staging:
            replace_small_file(staging, _name(session), fingerprint(folder).encode())
            _forget_oldest(staging)
    except (OSError, FairleadError):
        pass  # a session without a baseline is not recorded


def has_baseline(folder: str, session: str) -> bool:
    """Whether the session has started in this project."""
    return bool(_baseline(folder, session))


def has_changed(folder: str, session: str) -> bool:
    """Whether the project is known to differ from what the session started with."""
    kept = _baseline(folder, session)
    return bool(kept) and kept != fingerprint(folder)


def _baseline(folder: str, session: str) -> str:
    try:
        with Root(folder) as root:
            kept = root.read(f"{STAGING}/{_name(session)}", _DIGITS)
    except (OSError, FairleadError):
        return ""
    return (kept or b"").decode("ascii", "replace")


def forget_baseline(folder: str, session: str) -> None:
    """Remove the fingerprint of a session that has ended."""
    try:
        with Root(folder) as root, open_staging(root, STAGING) as staging:
            if staging.stat(_name(session)) is not None:
                staging.remove(_name(session))
    except (OSError, FairleadError):
        pass


def fingerprint(folder: str) -> str:
    """A digest of names, sizes and times below `.planning`, and of the commit that is checked out.

    Reading the contents would take too long in a large project.
    """
    digest = sha256()
    for line in sorted(_entries(os.path.join(folder, layout.PLANNING))):
        digest.update(line.encode("utf-8", "surrogateescape"))
    digest.update(_head(os.path.join(folder, ".git")).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _entries(top: str) -> list[str]:
    found: list[str] = []
    folders = [top]
    while folders and len(found) < _MOST_FILES:
        try:
            entries = list(os.scandir(folders.pop()))
        except OSError:
            continue
        for entry in entries:
            if entry.name == STAGING_NAME:
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            else:
                status = entry.stat(follow_symlinks=False)
                found.append(f"{entry.path}\0{status.st_size}\0{status.st_mtime_ns}\n")
    return found


def _head(git: str) -> str:
    """The commit of HEAD, read without git; a linked worktree has a file that names its folder."""
    text = _line(git)
    if text.startswith("gitdir: "):
        git = os.path.join(os.path.dirname(git), text.removeprefix("gitdir: "))
    head = _line(os.path.join(git, "HEAD"))
    if not head.startswith("ref: "):
        return head
    common = _line(os.path.join(git, "commondir"))
    name = head.removeprefix("ref: ")
    return head + _line(os.path.join(git, common, name)) + _line(os.path.join(git, "logs", "HEAD"))


def _line(path: str) -> str:
    """The last part of a small file; empty if there is none."""
    try:
        # Not blocking: a pipe in place of the file must not stop the hook.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        size = os.fstat(descriptor).st_size
        content = os.pread(descriptor, _LINK_LIMIT, max(0, size - _LINK_LIMIT))
        return content.decode("utf-8", "surrogateescape").strip()
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def _name(session: str) -> str:
    return _PREFIX + sha256(session.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _forget_oldest(staging: ConfinedFolder) -> None:
    kept = [name for name in staging.names() if name.startswith(_PREFIX)]
    times = {name: status.st_mtime for name in kept if (status := staging.stat(name))}
    for name in sorted(times, key=lambda name: times[name])[:-_KEPT]:
        staging.remove(name)
