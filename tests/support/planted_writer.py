"""A small writer with one planted fault, which shows that the proofs find it.

Run as `python planted_writer.py FAULT add TEXT` or `… FAULT show`. The fault `none` is the control:
the same program without a fault, in which the proofs must find nothing.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import sys
import time
from collections.abc import Callable

STATE = ".planning/STATE.md"
SERVICE = ".planning/.fairlead"
RENAME_EXCHANGE = 2
STALE_SECONDS = 0.5
SLOW_DISK_SECONDS = 0.1  # a second writer comes in the meantime, however fast this disk is
WAIT_SECONDS = float(os.environ.get("PLANTED_WAIT_SECONDS", "20"))


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def edited(text: bytes, line: str) -> bytes:
    """The text with one more decision before the next heading."""
    head, heading, tail = text.partition(b"\n## Notes\n")
    return head + f"- {line}\n".encode() + heading + tail


def write_all(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


def stage(content: bytes, *, sync: bool) -> str:
    name = f"{SERVICE}/{os.urandom(8).hex()}.new"
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        write_all(descriptor, content)
        if os.fstat(descriptor).st_size != len(content):
            raise OSError(errno.EIO, "the file is shorter than what was written")
        if sync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return name


def sync_folder(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def exchange(one: str, other: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(-100, one.encode(), -100, other.encode(), RENAME_EXCHANGE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), other)


def publish_compared(line: str) -> None:
    """Exchange the files, and exchange them back if the old one is not what was read."""
    while True:
        before = read(STATE)
        name = stage(edited(before, line), sync=True)
        exchange(name, STATE)
        try:
            if read(name) == before:
                sync_folder(".planning")
                os.unlink(name)
                return
            exchange(name, STATE)
            os.unlink(name)
        except OSError as error:  # the new version is in place already
            raise SystemExit(f"not-confirmed: {STATE}: {error}") from error


def publish_without_compare(line: str, *, sync: bool) -> None:
    name = stage(edited(read(STATE), line), sync=sync)
    os.rename(name, STATE)
    if sync:
        sync_folder(".planning")


def publish_slowly(line: str) -> None:
    name = stage(edited(read(STATE), line), sync=True)
    time.sleep(SLOW_DISK_SECONDS)
    os.rename(name, STATE)
    sync_folder(".planning")


def publish_in_place(line: str) -> None:
    content = edited(read(STATE), line)
    descriptor = os.open(STATE, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
    write_all(descriptor, content)
    os.fsync(descriptor)
    os.close(descriptor)


def publish_with_fallback(line: str) -> None:
    try:
        publish_without_compare(line, sync=True)
    except OSError:
        publish_in_place(line)


def publish_and_swallow(line: str) -> None:
    try:
        publish_without_compare(line, sync=True)
    except OSError:
        return


def lock_by_kernel() -> Callable[[], None]:
    descriptor = os.open(f"{SERVICE}/lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    limit = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() > limit:
                holder = os.pread(descriptor, 100, 0).decode()
                raise TimeoutError(f"lock held by {holder}") from None
            time.sleep(0.005)
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"pid {os.getpid()}".encode(), 0)
    for name in os.listdir(SERVICE):  # files of a killed writer
        if name.endswith(".new"):
            os.unlink(f"{SERVICE}/{name}")
    return lambda: os.close(descriptor)


def lock_by_pid() -> Callable[[], None]:
    """The classic lock: a file with a pid, stolen when it looks stale."""
    name = f"{SERVICE}/pid"
    while True:
        try:
            descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            if is_stale(name):
                os.unlink(name)
            else:
                time.sleep(0.01)
            continue
        os.write(descriptor, str(os.getpid()).encode())
        os.close(descriptor)
        return lambda: os.unlink(name)


def is_stale(name: str) -> bool:
    try:
        if time.time() - os.stat(name).st_mtime > STALE_SECONDS:
            return True
        pid = int(read(name) or b"0")
        if pid == os.getpid():
            return True  # of an earlier process with the same number, it believes
        os.kill(pid, 0)
    except (FileNotFoundError, ValueError):
        return False
    except ProcessLookupError:
        return True
    return False


PUBLISH: dict[str, Callable[[str], None]] = {
    "none": publish_compared,
    "no-fsync": lambda line: publish_without_compare(line, sync=False),
    "no-compare": lambda line: publish_without_compare(line, sync=True),
    "in-place": publish_in_place,
    "fallback": publish_with_fallback,
    "swallow": publish_and_swallow,
    "pid-lock": publish_slowly,
}


def main(fault: str, verb: str, line: str = "") -> int:
    if verb == "show":
        sys.stdout.buffer.write(read(STATE))
        return 0
    try:
        lock = lock_by_pid if fault == "pid-lock" else lock_by_kernel
        release = lock()
        PUBLISH[fault](line)
        with contextlib.suppress(OSError):
            release()
    except TimeoutError as error:
        sys.stderr.write(f"{error}\n")
        return 4
    except OSError as error:
        sys.stderr.write(f"{STATE}: {error}\n")
        return 7
    except SystemExit as error:
        sys.stderr.write(f"{error}\n")
        return 7
    try:
        sys.stdout.write("added\n")
        sys.stdout.flush()
    except OSError:
        os._exit(7)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
