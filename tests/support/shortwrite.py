"""Starts a command and makes its k-th write a short one: the kernel writes one byte and reports it.

Used as a prefix: `python shortwrite.py LOG K COMMAND…`. strace cannot do this: `retval=1` claims
a byte that was never written. Here the length is changed on the way into the kernel, so the result
is true, and a program that loops must succeed.
"""

import ctypes
import os
import platform
import signal
import sys

_TRACEME, _PEEKUSER, _POKEUSER, _SYSCALL, _SETOPTIONS = 0, 3, 6, 24, 0x4200
_TRACESYSGOOD = 1
_SYSCALL_STOP = signal.SIGTRAP | 0x80
_LENGTH, _NUMBER = 12 * 8, 15 * 8  # rdx and orig_rax in the registers of x86-64
_WRITE = 1

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long


def why_not() -> str:
    """Why this machine cannot do it; empty if it can."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return "short writes are made for x86-64 Linux only"
    return ""


def main(log: str, number: str, *command: str) -> int:
    """Run the command with one short write; the log records whether it happened."""
    child = os.fork()
    if child == 0:
        _libc.ptrace(_TRACEME, 0, None, None)
        os.execvp(command[0], command)
    os.waitpid(child, 0)  # stopped at its start
    _libc.ptrace(_SETOPTIONS, child, None, _TRACESYSGOOD)
    status = _follow(child, int(number), log)
    return os.waitstatus_to_exitcode(status)


def _follow(child: int, number: int, log: str) -> int:
    """Let the child run from one stop to the next, and shorten one write."""
    writes, length, entering, passed_on = 0, 0, True, 0
    while True:
        _libc.ptrace(_SYSCALL, child, None, passed_on)
        _, status = os.waitpid(child, 0)
        if not os.WIFSTOPPED(status):
            return status
        passed_on = 0
        if os.WSTOPSIG(status) != _SYSCALL_STOP:
            passed_on = os.WSTOPSIG(status)
        elif entering:
            entering = False
            if _libc.ptrace(_PEEKUSER, child, _NUMBER, None) == _WRITE:
                writes += 1
                length = _shorten(child, log) if writes == number else 0
        else:
            entering = True
            if length:  # restore the program's register
                _libc.ptrace(_POKEUSER, child, _LENGTH, length)
                length = 0


def _shorten(child: int, log: str) -> int:
    length: int = _libc.ptrace(_PEEKUSER, child, _LENGTH, None)
    if length < 2:
        return 0
    _libc.ptrace(_POKEUSER, child, _LENGTH, 1)
    with open(log, "w", encoding="ascii") as file:
        file.write(f"{length}\n")
    return length


if __name__ == "__main__":
    code = main(*sys.argv[1:])
    if code < 0:
        os.kill(os.getpid(), -code)
    sys.exit(code)
