"""Exchange: the two ways to rename that the standard library does not know.

`swap` exchanges two files in one instant, so that whatever was replaced is still in hand and
can be compared with what was read. `place` gives a name only when it is free. Both go to the
kernel through ctypes, which `prepare` loads, and so before any lock is taken.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import partial

from fairlead.store.confine import Folder

# The call, and its flags for "not replace" and "exchange".
_LINUX = ("renameat2", 1, 2)
_DARWIN = ("renameatx_np", 4, 2)
# Its number, for C libraries that do not have the call.
_LINUX_NUMBERS = {"x86_64": 316, "aarch64": 276, "riscv64": 276}
_NOT_HERE = frozenset([errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP])

_Rename = Callable[[int, bytes, int, bytes, int], int]


class Renamer:
    """Renames with flags, where the system and the file system know them."""

    __slots__ = ("_call", "_errno", "_place", "_swap")

    def __init__(
        self, call: _Rename | None, last_errno: Callable[[], int], place: int, swap: int
    ) -> None:
        self._call = call
        self._errno = last_errno
        self._place = place
        self._swap = swap

    def swap(self, source: Folder, name: str, target: Folder, target_name: str) -> bool:
        """Exchange two files. False, and nothing done, where that is not possible."""
        return self._rename(source, name, target, target_name, self._swap)

    def place(self, source: Folder, name: str, target: Folder, target_name: str) -> None:
        """Move a file to a name that must be free."""
        if self._rename(source, name, target, target_name, self._place):
            return
        source.link(name, target, target_name)
        try:
            source.remove(name)
        except OSError:
            pass  # it is in its place; the other name is collected by the next writer

    def carry(self, source: Folder, name: str, target: Folder, target_name: str) -> None:
        """Move a file or a folder to a name that must be free."""
        if self._rename(source, name, target, target_name, self._place):
            return
        # A folder has no second name. Without the kernel's help a small gap remains, in which
        # at worst an empty folder that somebody makes there at that instant is replaced.
        if target.stat(target_name) is not None:
            number = errno.EEXIST
            raise FileExistsError(number, os.strerror(number), target.path_of(target_name))
        source.move(name, target, target_name)

    def _rename(
        self, source: Folder, name: str, target: Folder, target_name: str, flag: int
    ) -> bool:
        if self._call is None:
            return False
        old, new = os.fsencode(name), os.fsencode(target_name)
        if self._call(source.fd, old, target.fd, new, flag) == 0:
            return True
        number = self._errno()
        if number in _NOT_HERE:
            return False
        raise OSError(number, os.strerror(number), target.path_of(target_name))


def prepare() -> Renamer:
    """Load what a writer needs from the C library."""
    # By their names: a library that is only half readable is then one that cannot be loaded.
    from ctypes import CDLL, c_char_p, c_int, c_long, c_uint, get_errno

    number, text = c_int, c_char_p
    library = CDLL(None, use_errno=True)
    for symbol, place, swap in (_LINUX, _DARWIN):
        call = getattr(library, symbol, None)
        if call is not None:
            call.argtypes = [number, text, number, text, c_uint]
            return Renamer(call, get_errno, place, swap)
    system = os.uname()
    if system.sysname != "Linux" or system.machine not in _LINUX_NUMBERS:
        return Renamer(None, get_errno, 0, 0)
    library.syscall.argtypes = [c_long, number, text, number, text, c_uint]
    call = partial(library.syscall, _LINUX_NUMBERS[system.machine])
    return Renamer(call, get_errno, *_LINUX[1:])
