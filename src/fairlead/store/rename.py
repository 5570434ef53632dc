"""Two kinds of rename that the standard library does not offer.

`swap` exchanges two files atomically, so that the replaced version still exists and can be
compared with the one that was read. `place` renames only to an unused name. Both call the kernel
through ctypes. `prepare` imports it, because imports must happen before a lock is taken.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import partial

from fairlead.store.confined import ConfinedFolder

# The function, and its flags for "do not replace" and "exchange".
_LINUX = ("renameat2", 1, 2)
_DARWIN = ("renameatx_np", 4, 2)
# System call numbers, for C libraries without the function.
_LINUX_NUMBERS = {"x86_64": 316, "aarch64": 276, "riscv64": 276}
_NOT_HERE = frozenset([errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP])

_Rename = Callable[[int, bytes, int, bytes, int], int]


class Renamer:
    """Renames with flags, if the system and the file system support them."""

    __slots__ = ("_call", "_errno", "_place", "_swap")

    def __init__(
        self, call: _Rename | None, last_errno: Callable[[], int], place: int, swap: int
    ) -> None:
        self._call = call
        self._errno = last_errno
        self._place = place
        self._swap = swap

    def swap(
        self, source: ConfinedFolder, name: str, target: ConfinedFolder, target_name: str
    ) -> bool:
        """Exchange two files. Returns False and does nothing if that is not supported."""
        return self._rename(source, name, target, target_name, self._swap)

    def place(
        self, source: ConfinedFolder, name: str, target: ConfinedFolder, target_name: str
    ) -> None:
        """Move a file to a name that must be unused."""
        if self._rename(source, name, target, target_name, self._place):
            return
        source.link(name, target, target_name)
        try:
            source.remove(name)
        except OSError:
            pass  # it is in place; the next writer removes the other name

    def carry(
        self, source: ConfinedFolder, name: str, target: ConfinedFolder, target_name: str
    ) -> None:
        """Move a file or a folder to a name that must be unused."""
        if self._rename(source, name, target, target_name, self._place):
            return
        # Folders cannot have hard links, so check and rename. In the moment between the two,
        # at worst an empty folder that another program just created is replaced.
        if target.stat(target_name) is not None:
            number = errno.EEXIST
            raise FileExistsError(number, os.strerror(number), target.path_of(target_name))
        source.move(name, target, target_name)

    def _rename(
        self, source: ConfinedFolder, name: str, target: ConfinedFolder, target_name: str, flag: int
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
    """Load the function from the C library."""
    # Importing the names makes a broken ctypes fail here, and not in the middle of a write.
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
