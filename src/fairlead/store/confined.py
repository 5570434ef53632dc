"""Confined paths: every path goes through a `Root` and cannot leave it.

A path is opened one component at a time, and links are never followed, so a folder that is
replaced by a link at the wrong moment leads nowhere. Links, pipes, devices and sockets are
refused before they are opened. The status line and the hooks use this module, so it imports
nothing that is slow to load.
"""

from __future__ import annotations

import errno
import os
import stat

from fairlead.core.errors import StorageError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LONGEST_NAME = 255
_MOST_READS = 5  # of a file that another program is writing
_PIECE = 1 << 16
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [device + digit for device in ("com", "lpt") for digit in "123456789¹²³"]
)
_KINDS = {
    stat.S_IFREG: "a file",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class Root:
    """An open folder, and the only way to the files below it.

    Paths use `/` between components. Methods return None for a path that does not exist.
    """

    __slots__ = ("_top",)

    def __init__(self, folder: str) -> None:
        try:
            fd = os.open(folder, _FOLDER & ~os.O_NOFOLLOW)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise storage_error(folder, error) from error
        self._top = ConfinedFolder(fd, "")

    def __enter__(self) -> Root:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the root. Folders that it returned stay open."""
        self._top.close()

    def device(self) -> int:
        """The device number of the file system."""
        return stat_of(self._top.fd, ".").st_dev

    def folder(self, path: str) -> ConfinedFolder | None:
        """Open a folder."""
        return self._walk(components(path))

    def parent(self, path: str) -> ConfinedFolder | None:
        """Open the folder that contains, or would contain, the last component of a path."""
        return self._walk(components(path)[:-1])

    def read(self, path: str, limit: int) -> bytes | None:
        """Read a regular file; one larger than `limit` bytes is refused."""
        folder = self.parent(path)
        if folder is None:
            return None
        with folder:
            return folder.read(leaf(path), limit)

    def read_start(self, path: str, limit: int) -> bytes | None:
        """Read the first `limit` bytes of a regular file."""
        folder = self.parent(path)
        if folder is None:
            return None
        with folder:
            return folder.read_start(leaf(path), limit)

    def stat(self, path: str) -> os.stat_result | None:
        """The status of a path. Links are not followed."""
        folder = self.parent(path)
        if folder is None:
            return None
        with folder:
            return folder.stat(leaf(path))

    def names(self, path: str) -> list[str] | None:
        """The sorted names in a folder."""
        folder = self.folder(path)
        if folder is None:
            return None
        with folder:
            return folder.names()

    def kept_folder(self, path: str) -> ConfinedFolder:
        """Open a folder, creating it if needed. An existing folder is not synced again."""
        return self.folder(path) or self.make_folder(path)

    def make_folder(self, path: str) -> ConfinedFolder:
        """Open a folder, creating it and its parents durably."""
        folder = self._again()
        for name in components(path):
            with folder as outer:
                folder = outer.make(name)
        return folder

    def _walk(self, parts: list[str]) -> ConfinedFolder | None:
        if not parts:
            return self._again()
        folder = self._top.folder(parts[0])
        for name in parts[1:]:
            if folder is None:
                return None
            with folder as outer:
                folder = outer.folder(name)
        return folder

    def _again(self) -> ConfinedFolder:
        try:
            return ConfinedFolder(os.open(".", _FOLDER, dir_fd=self._top.fd), "")
        except OSError as error:
            raise storage_error(".", error) from error


class ConfinedFolder:
    """An open folder below a root. Its methods act on names in this folder.

    Names are single components that a `Root` has checked, the kernel has listed, or `staging`
    has made. Reading methods convert system errors. Writing methods raise `OSError`, because
    only their caller knows whether the new version was already in place.
    """

    __slots__ = ("fd", "path")

    def __init__(self, fd: int, path: str) -> None:
        self.fd = fd
        self.path = path

    def __enter__(self) -> ConfinedFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the folder. Closing it twice is harmless."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            close_quietly(fd)

    def path_of(self, name: str) -> str:
        """The path of a name in this folder, relative to the root."""
        return f"{self.path}/{name}" if self.path else name

    def folder(self, name: str) -> ConfinedFolder | None:
        """Open a folder in this one."""
        try:
            return ConfinedFolder(os.open(name, _FOLDER, dir_fd=self.fd), self.path_of(name))
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                from fairlead.store.errors import NotAFolder

                raise NotAFolder(self.path_of(name), self._kind(name)) from error
            raise storage_error(self.path_of(name), error) from error

    def stat(self, name: str) -> os.stat_result | None:
        """The status of a name. Links are not followed."""
        try:
            return os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise storage_error(self.path_of(name), error) from error

    def read(self, name: str, limit: int) -> bytes | None:
        """Read a regular file; one larger than `limit` bytes is refused."""
        fd = self.open_file(name)
        if fd is None:
            return None
        try:
            return read_file(fd, self.path_of(name), limit)
        finally:
            close_quietly(fd)

    def read_start(self, name: str, limit: int) -> bytes | None:
        """Read the first `limit` bytes of a regular file."""
        fd = self.open_file(name)
        if fd is None:
            return None
        try:
            return _read(fd, limit)
        except OSError as error:
            raise storage_error(self.path_of(name), error) from error
        finally:
            close_quietly(fd)

    def open_file(self, name: str) -> int | None:
        """Open a regular file for reading; the caller closes it."""
        path = self.path_of(name)
        # Checked before opening: opening some devices already has an effect.
        status = self.stat(name)
        if status is None:
            return None
        _require_file(path, status)
        try:
            fd = os.open(name, _READ, dir_fd=self.fd)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO):
                from fairlead.store.errors import NotAFile

                raise NotAFile(path, self._kind(name)) from error
            raise storage_error(path, error) from error
        try:
            _require_file(path, stat_of(fd, path))
        except BaseException:
            close_quietly(fd)
            raise
        return fd

    def names(self) -> list[str]:
        """The sorted names in this folder."""
        try:
            return sorted(os.listdir(self.fd))
        except OSError as error:
            raise storage_error(self.path or ".", error) from error

    def make(self, name: str) -> ConfinedFolder:
        """Create a folder durably, if needed, and open it."""
        try:
            if self.stat(name) is None:
                # Nothing inside a private folder is open to others.
                mode = stat.S_IMODE(os.fstat(self.fd).st_mode) & 0o777 | 0o700
                os.mkdir(name, mode, dir_fd=self.fd)
        except FileExistsError:
            pass
        except OSError as error:
            raise storage_error(self.path_of(name), error) from error
        try:
            # Even if it exists: the process that created it may have died before syncing.
            self.sync()
        except OSError as error:
            raise storage_error(self.path_of(name), error) from error
        made = self.folder(name)
        if made is None:
            gone = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            raise storage_error(self.path_of(name), gone)
        return made

    def create(self, name: str, mode: int) -> int:
        """Create a new file and open it for writing; the caller closes it."""
        return os.open(name, _CREATE, mode, dir_fd=self.fd)

    def remove(self, name: str) -> None:
        """Remove a file."""
        os.unlink(name, dir_fd=self.fd)

    def move(self, name: str, target: ConfinedFolder, target_name: str) -> None:
        """Rename a file, replacing any file with the new name."""
        os.rename(name, target_name, src_dir_fd=self.fd, dst_dir_fd=target.fd)

    def link(self, name: str, target: ConfinedFolder, target_name: str) -> None:
        """Give a file a second name, which must be unused."""
        os.link(name, target_name, src_dir_fd=self.fd, dst_dir_fd=target.fd, follow_symlinks=False)

    def sync(self) -> None:
        """Make the names in this folder durable."""
        os.fsync(self.fd)

    def _kind(self, name: str) -> str:
        status = self.stat(name)
        return "a symbolic link" if status is None else kind_of(status)


def components(path: str) -> list[str]:
    """Split a path into components; refuse one that could leave the root on any system."""
    if path.startswith("/"):
        from fairlead.store.errors import PathOutside

        raise PathOutside(path, "is absolute")
    parts = path.split("/")
    for part in parts:
        if why := _objection(part):
            from fairlead.store.errors import PathOutside

            raise PathOutside(path, why)
    return parts


def read_file(fd: int, path: str, limit: int) -> bytes:
    """Read an open file; one larger than `limit` bytes is refused.

    A file that changes while it is read is read again, so that old and new text are not mixed.
    """
    for left in reversed(range(_MOST_READS)):
        before = stat_of(fd, path)
        try:
            content = b"" if before.st_size > limit else _read(fd, limit + 1)
        except OSError as error:
            raise storage_error(path, error) from error
        if max(before.st_size, len(content)) > limit:
            from fairlead.store.errors import TooLarge

            raise TooLarge(max(before.st_size, len(content)), limit).located(path)
        after = stat_of(fd, path)
        if not left or (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns):
            return content
    raise AssertionError("unreachable")


def stat_of(fd: int, path: str) -> os.stat_result:
    """The status of an open file."""
    try:
        return os.fstat(fd)
    except OSError as error:
        raise storage_error(path, error) from error


def close_quietly(fd: int) -> None:
    """Close a file that was only read; an error would mean nothing."""
    try:
        os.close(fd)
    except OSError:
        pass


def is_ordinary(name: str) -> bool:
    """Whether a name from the disk is safe as a path component."""
    return not _objection(name)


def leaf(path: str) -> str:
    """The last component of a path."""
    return path.rpartition("/")[2]


def kind_of(status: os.stat_result) -> str:
    """The kind of a file, in words."""
    return _KINDS.get(stat.S_IFMT(status.st_mode), "a special file")


def storage_error(path: object, error: OSError) -> StorageError:
    """The storage error for a system error, for cases where nothing was changed."""
    why = reason(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        from fairlead.store.errors import DiskFull

        return DiskFull(path, why)
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        from fairlead.store.errors import ReadOnly

        return ReadOnly(path, why)
    from fairlead.store.errors import DiskFault

    return DiskFault(path, why)


def reason(error: OSError) -> str:
    """The system's text for an error."""
    return error.strerror or str(error)


def _objection(part: str) -> str:
    if not part:
        return "is empty or has an empty part"
    if part in (".", ".."):
        return f"contains {part!r}"
    if "\\" in part:
        return "contains a backslash"
    if not part.isprintable() and any(char < " " or "\x7f" <= char < "\xa0" for char in part):
        return "contains a control character"
    if part[-1] in ". ":
        return "has a part that ends in a dot or a space"
    if part.partition(".")[0].rstrip(" ").lower() in _RESERVED:
        return "has a part that is reserved on some systems"
    try:
        size = len(part.encode())
    except UnicodeEncodeError:
        return "is not text"
    return "has a part that is too long" if size > _LONGEST_NAME else ""


def _require_file(path: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        from fairlead.store.errors import NotAFile

        raise NotAFile(path, kind_of(status))


def _read(fd: int, most: int) -> bytes:
    content = bytearray()
    while piece := os.pread(fd, min(most - len(content), _PIECE), len(content)):
        content += piece
    return bytes(content)
