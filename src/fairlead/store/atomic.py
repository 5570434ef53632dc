"""Atomic writes: a document is its old version or its new one, at every instant.

A new version is written beside, on the desk, made durable, and exchanged with the document.
What comes out is compared with what was read: a change that somebody made in between goes
back to its place, and the caller applies its edit to that one. Nothing is written in place,
and nothing is removed whose content is not known to be somewhere else.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat

from fairlead.errors import DocumentError, FairleadError, NotAFile, NotConfirmed
from fairlead.store import layout
from fairlead.store.confine import Folder, Root, fault, kind_of, leaf, let_go, read_file, reason
from fairlead.store.exchange import Renamer
from fairlead.store.notice import Notice, Rescued
from fairlead.store.quiet import is_quiet

_QUIET_SECONDS = 0.25
_FULL_SYNC = getattr(fcntl, "F_FULLFSYNC", None)


class Changed(Exception):
    """A document is not what was read: somebody else changed it in between."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class Desk:
    """The folder where versions wait, as the one process uses it that holds the lock."""

    __slots__ = ("folder", "notices", "renamer")

    def __init__(self, folder: Folder, renamer: Renamer, notices: list[Notice]) -> None:
        self.folder = folder
        self.renamer = renamer
        self.notices = notices  # what was found and put right is added here

    def remove(self, name: str) -> None:
        """Remove a file of our own. One that stays is collected by the next writer."""
        try:
            self.folder.remove(name)
        except OSError:
            pass

    def rescue(self, name: str, label: str) -> str:
        """Keep a version that has lost its place where a person can find it, and say where."""
        kept = layout.rescued_name(label)
        with self.folder.make(layout.RESCUED) as shelf:
            path = shelf.path_of(kept)
            try:
                self.folder.move(name, shelf, kept)
                shelf.sync()
            except FileNotFoundError:
                return ""  # nothing is left to keep
            except OSError as error:
                raise fault(path, error) from error
        self.notices.append(Rescued(label, path))
        return path


class Place:
    """Where a document is or will be: a name in an open folder, which it owns."""

    __slots__ = ("folder", "name", "path")

    def __init__(self, folder: Folder, name: str) -> None:
        self.folder = folder
        self.name = name
        self.path = folder.path_of(name)

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *_: object) -> None:
        self.folder.close()

    def read(self) -> bytes | None:
        """The document as it is now."""
        return self.folder.read(self.name, layout.limit_of(self.path))


def place_of(root: Root, path: str) -> Place:
    """Open the place of a document, making the folders above it where they are missing."""
    folder = root.parent(path)
    if folder is None:
        folder = root.make_folder(path.rpartition("/")[0])
    return Place(folder, leaf(path))


def write(desk: Desk, place: Place, old: bytes | None, new: bytes) -> None:
    """Replace a document, or create it where `old` is None, durably."""
    if old == new:
        return
    staged = stage(desk, place, old, new)
    try:
        exchange(desk, staged, place, old, new)
    except NotConfirmed:
        raise
    except (Changed, FairleadError):
        desk.remove(staged)
        raise
    desk.remove(staged)
    confirm(place)


def stage(desk: Desk, place: Place, old: bytes | None, new: bytes) -> str:
    """Write a new version beside, durably, and return its name on the desk."""
    like = place.folder.stat(place.name)
    if like is not None:
        require_single(place.path, like)
    staged = layout.staged_name(place.name, fingerprint(old), fingerprint(new))
    try:
        write_beside(desk, staged, new, mode=layout.mode_of(place.path), like=like)
    except OSError as error:
        raise fault(place.path, error) from error
    return staged


def write_beside(
    desk: Desk,
    name: str,
    content: bytes,
    *,
    mode: int = 0o666,
    like: os.stat_result | None = None,
    is_durable: bool = True,
) -> None:
    """Write a file of the desk. It gets its name when it is complete, so that is never torn."""
    writing = layout.writing_name()
    try:
        # Private until it has the rights of the file that it replaces.
        fd = desk.folder.create(writing, mode if like is None else 0o600)
        try:
            _write_all(fd, content)
            if like is not None:
                _take_after(fd, like)
            if is_durable:
                sync_content(fd)
        finally:
            os.close(fd)
        desk.folder.move(writing, desk.folder, name)
    except OSError:
        desk.remove(writing)
        raise


def exchange(desk: Desk, staged: str, place: Place, old: bytes | None, new: bytes) -> None:
    """Put a staged version in its place, unless the document is no longer `old`.

    Afterwards the new version is visible, but its name is not yet durable. When this raises,
    the document is not ours and the new version still staged; except for `NotConfirmed`,
    which says that the new version may be in place.
    """
    if place.read() != old:
        raise Changed(place.path)
    try:
        swapped = _put(desk, staged, place, is_new=old is None)
    except (FileExistsError, FileNotFoundError) as error:
        raise Changed(place.path) from error
    except OSError as error:
        raise fault(place.path, error) from error
    if swapped:
        try:
            _settle(desk, staged, place, old, new)
        except (OSError, FairleadError) as error:
            # Whatever it was: what came out may be somebody's, and must stay on the desk.
            raise NotConfirmed(place.path, str(error)) from error


def confirm(place: Place) -> None:
    """Make the name of a new version durable."""
    try:
        place.folder.sync()
    except OSError as error:
        raise NotConfirmed(place.path, reason(error)) from error


def collect(desk: Desk) -> None:
    """Clear what killed commands left on the desk. Only the holder of the lock may."""
    for name in desk.folder.names():
        if name.startswith(layout.WRITING):
            desk.remove(name)
        elif name.startswith(layout.STAGED):
            label, old, new = layout.staged_parts(name)
            content = read_staged(desk, name, label)
            if content is not None and fingerprint(content) in (old, new):
                desk.remove(name)
            else:
                desk.rescue(name, label)


def read_staged(desk: Desk, staged: str, label: str) -> bytes | None:
    """What has a staged name.

    None when it cannot be a version of ours, or not yet be judged: it is a link, or too
    large, or some program is still writing it.
    """
    try:
        fd = desk.folder.open_file(staged)
        if fd is None:
            return None
        try:
            if not is_quiet(fd, desk.folder, wait_seconds=_QUIET_SECONDS):
                return None
            return read_file(fd, desk.folder.path_of(staged), layout.limit_of(label))
        finally:
            let_go(fd)
    except DocumentError:
        return None


def digest(content: bytes | None) -> str | None:
    """What tells one version from every other; None for a file that is not there."""
    return None if content is None else hashlib.sha256(content).hexdigest()


def fingerprint(content: bytes | None) -> str:
    """A digest short enough for a file's name."""
    return (digest(content) or "none")[:16]


def _put(desk: Desk, staged: str, place: Place, *, is_new: bool) -> bool:
    """True when the document was exchanged, and now has the staged name."""
    if is_new:
        desk.renamer.place(desk.folder, staged, place.folder, place.name)
        return False
    if desk.renamer.swap(desk.folder, staged, place.folder, place.name):
        return True
    desk.folder.move(staged, place.folder, place.name)
    return False


def _settle(desk: Desk, staged: str, place: Place, old: bytes | None, new: bytes) -> None:
    """Keep the exchange if the version that was read came out; else give back what did."""
    if read_staged(desk, staged, place.name) == old:
        return
    try:
        desk.renamer.swap(desk.folder, staged, place.folder, place.name)
        if read_staged(desk, staged, place.name) == new:
            raise Changed(place.path)
        # Somebody saved over our version in that very instant. The latest keeps the place,
        # and the one before it is kept as well.
        desk.renamer.swap(desk.folder, staged, place.folder, place.name)
    except FileNotFoundError:
        pass  # the document was removed: only the desk still has what came out
    desk.rescue(staged, place.name)
    raise Changed(place.path)


def require_single(path: str, found: os.stat_result) -> None:
    """Refuse what is no regular file, or one that has a second name: it would change as well."""
    if not stat.S_ISREG(found.st_mode):
        raise NotAFile(path, kind_of(found))
    if found.st_nlink != 1:
        raise NotAFile(path, "a file with several names (hard links)")


def _take_after(fd: int, like: os.stat_result) -> None:
    """Give a new version the owner, the group and the rights of the one it replaces."""
    mine = os.fstat(fd)
    if (mine.st_uid, mine.st_gid) != (like.st_uid, like.st_gid):
        # Only the superuser may give files away, but others may share them with a group.
        for owner in (like.st_uid, -1):
            try:
                os.fchown(fd, owner, like.st_gid)
                break
            except PermissionError:
                continue
    os.fchmod(fd, stat.S_IMODE(like.st_mode))


def _write_all(fd: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        count = os.write(fd, rest)
        if count == 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rest = rest[count:]
    if os.fstat(fd).st_size != len(content):
        # Some call said that it had written more than it did.
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def sync_content(fd: int) -> None:
    """Make content durable. After an error this is never tried again: the kernel forgets it."""
    if _FULL_SYNC is None:
        os.fsync(fd)
    else:
        fcntl.fcntl(fd, _FULL_SYNC)
