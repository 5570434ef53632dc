"""Confinement: every path goes through a `Root`, and none of them can leave it.

A path is walked one component at a time from an open folder, and a link is never followed,
neither to read nor to write, so nothing that is swapped underneath leads outside. Links,
pipes, devices and sockets are refused before they are opened. The status line and the
hooks start through this module: it imports nothing that costs time.
"""

from __future__ import annotations

import errno
import os
import stat

from fairlead.faults import (
    DiskFault,
    DiskFull,
    NotAFile,
    NotAFolder,
    PathOutside,
    ReadOnly,
    StorageError,
    TooLarge,
)

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LONGEST_NAME = 255
_MOST_READS = 5  # of a file that somebody else is writing
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

    Paths are text with `/` between the components. Where nothing is there, the answer is None.
    """

    __slots__ = ("_top",)

    def __init__(self, folder: str) -> None:
        try:
            fd = os.open(folder, _FOLDER & ~os.O_NOFOLLOW)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise fault(folder, error) from error
        self._top = Folder(fd, "")

    def __enter__(self) -> Root:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the folder. Open folders that were handed out stay open."""
        self._top.close()

    def device(self) -> int:
        """The number of the file system that holds the folder."""
        return stat_of(self._top.fd, ".").st_dev

    def folder(self, path: str) -> Folder | None:
        """Open a folder."""
        return self._walk(components(path))

    def parent(self, path: str) -> Folder | None:
        """Open the folder that holds, or would hold, the last component of a path."""
        return self._walk(components(path)[:-1])

    def read(self, path: str, limit: int) -> bytes | None:
        """Read a regular file of at most `limit` bytes; a larger one is refused unread."""
        folder = self.parent(path)
        if folder is None:
            return None
        with folder:
            return folder.read(leaf(path), limit)

    def read_start(self, path: str, limit: int) -> bytes | None:
        """Read a regular file as far as `limit` bytes, however large it is."""
        folder = self.parent(path)
        if folder is None:
            return None
        with folder:
            return folder.read_start(leaf(path), limit)

    def stat(self, path: str) -> os.stat_result | None:
        """What is at this path, a link itself and not what it points to."""
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

    def kept_folder(self, path: str) -> Folder:
        """Open a folder, made where it is missing; one that is there waits for no disk."""
        return self.folder(path) or self.make_folder(path)

    def make_folder(self, path: str) -> Folder:
        """Open a folder, making it and those above it where they are missing."""
        folder = self._again()
        for name in components(path):
            with folder as outer:
                folder = outer.make(name)
        return folder

    def _walk(self, parts: list[str]) -> Folder | None:
        if not parts:
            return self._again()
        folder = self._top.folder(parts[0])
        for name in parts[1:]:
            if folder is None:
                return None
            with folder as outer:
                folder = outer.folder(name)
        return folder

    def _again(self) -> Folder:
        try:
            return Folder(os.open(".", _FOLDER, dir_fd=self._top.fd), "")
        except OSError as error:
            raise fault(".", error) from error


class Folder:
    """An open folder below a root, in which system calls act by name.

    Names are single components which a `Root` has checked, which the kernel has listed, or
    which `layout` has made. What reads turns errors of the system into ours; what writes
    leaves them to the writer, who alone knows whether the new version was in place already.
    """

    __slots__ = ("fd", "path")

    def __init__(self, fd: int, path: str) -> None:
        self.fd = fd
        self.path = path

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the folder; a second time does nothing."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            let_go(fd)

    def path_of(self, name: str) -> str:
        """The path of a name in here, from the root on."""
        return f"{self.path}/{name}" if self.path else name

    def folder(self, name: str) -> Folder | None:
        """Open a folder in here."""
        try:
            return Folder(os.open(name, _FOLDER, dir_fd=self.fd), self.path_of(name))
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise NotAFolder(self.path_of(name), self._kind(name)) from error
            raise fault(self.path_of(name), error) from error

    def stat(self, name: str) -> os.stat_result | None:
        """What has this name, a link itself and not what it points to."""
        try:
            return os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise fault(self.path_of(name), error) from error

    def read(self, name: str, limit: int) -> bytes | None:
        """Read a regular file of at most `limit` bytes; a larger one is refused unread."""
        fd = self.open_file(name)
        if fd is None:
            return None
        try:
            return read_file(fd, self.path_of(name), limit)
        finally:
            let_go(fd)

    def read_start(self, name: str, limit: int) -> bytes | None:
        """Read a regular file as far as `limit` bytes, however large it is."""
        fd = self.open_file(name)
        if fd is None:
            return None
        try:
            return _read(fd, limit)
        except OSError as error:
            raise fault(self.path_of(name), error) from error
        finally:
            let_go(fd)

    def open_file(self, name: str) -> int | None:
        """Open a regular file for reading; the caller closes it."""
        path = self.path_of(name)
        # Looked at first: opening alone already does something to some devices.
        found = self.stat(name)
        if found is None:
            return None
        _require_file(path, found)
        try:
            fd = os.open(name, _READ, dir_fd=self.fd)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO):
                raise NotAFile(path, self._kind(name)) from error
            raise fault(path, error) from error
        try:
            _require_file(path, stat_of(fd, path))
        except BaseException:
            let_go(fd)
            raise
        return fd

    def names(self) -> list[str]:
        """The sorted names in here."""
        try:
            return sorted(os.listdir(self.fd))
        except OSError as error:
            raise fault(self.path or ".", error) from error

    def make(self, name: str) -> Folder:
        """Make a folder in here, durably, and open it. One that is there already is opened."""
        try:
            if self.stat(name) is None:
                os.mkdir(name, dir_fd=self.fd)
        except FileExistsError:
            pass
        except OSError as error:
            raise fault(self.path_of(name), error) from error
        try:
            # Also when it was there: whoever made it may have died before this line.
            self.sync()
        except OSError as error:
            raise fault(self.path_of(name), error) from error
        made = self.folder(name)
        if made is None:
            gone = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            raise fault(self.path_of(name), gone)
        return made

    def create(self, name: str, mode: int) -> int:
        """Create a file that was not there, open for writing; the caller closes it."""
        return os.open(name, _CREATE, mode, dir_fd=self.fd)

    def remove(self, name: str) -> None:
        """Remove a file."""
        os.unlink(name, dir_fd=self.fd)

    def move(self, name: str, target: Folder, target_name: str) -> None:
        """Rename a file, replacing what has the new name."""
        os.rename(name, target_name, src_dir_fd=self.fd, dst_dir_fd=target.fd)

    def link(self, name: str, target: Folder, target_name: str) -> None:
        """Give a file a second name, which must be free."""
        os.link(name, target_name, src_dir_fd=self.fd, dst_dir_fd=target.fd, follow_symlinks=False)

    def sync(self) -> None:
        """Make the names in here durable."""
        os.fsync(self.fd)

    def _kind(self, name: str) -> str:
        found = self.stat(name)
        return "a symbolic link" if found is None else kind_of(found)


def components(path: str) -> list[str]:
    """The components of a path that stays inside, on every system; any other is refused."""
    if path.startswith("/"):
        raise PathOutside(path, "is absolute")
    parts = path.split("/")
    for part in parts:
        if why := _objection(part):
            raise PathOutside(path, why)
    return parts


def read_file(fd: int, path: str, limit: int) -> bytes:
    """Read an open file of at most `limit` bytes; a larger one is refused unread.

    Half of an old text and half of a new one is no text: what is written meanwhile is read again.
    """
    for left in reversed(range(_MOST_READS)):
        found = stat_of(fd, path)
        try:
            content = b"" if found.st_size > limit else _read(fd, limit + 1)
        except OSError as error:
            raise fault(path, error) from error
        if max(found.st_size, len(content)) > limit:
            raise TooLarge(max(found.st_size, len(content)), limit).located(path)
        now = stat_of(fd, path)
        if not left or (found.st_size, found.st_mtime_ns) == (now.st_size, now.st_mtime_ns):
            return content
    raise AssertionError("unreachable")


def stat_of(fd: int, path: str) -> os.stat_result:
    """What an open file is."""
    try:
        return os.fstat(fd)
    except OSError as error:
        raise fault(path, error) from error


def let_go(fd: int) -> None:
    """Close a file that was not written, where an error has nothing to tell."""
    try:
        os.close(fd)
    except OSError:
        pass


def is_ordinary(name: str) -> bool:
    """Whether a name found on disk may be used as a path component."""
    return not _objection(name)


def leaf(path: str) -> str:
    """The last component of a path."""
    return path.rpartition("/")[2]


def kind_of(found: os.stat_result) -> str:
    """What a file is, in words."""
    return _KINDS.get(stat.S_IFMT(found.st_mode), "a special file")


def fault(path: object, error: OSError) -> StorageError:
    """An error of the system in our words, for when nothing was changed."""
    why = reason(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(path, why)
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return ReadOnly(path, why)
    return DiskFault(path, why)


def reason(error: OSError) -> str:
    """What the system says about an error."""
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


def _require_file(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise NotAFile(path, kind_of(found))


def _read(fd: int, most: int) -> bytes:
    content = bytearray()
    while piece := os.pread(fd, min(most - len(content), _PIECE), len(content)):
        content += piece
    return bytes(content)
