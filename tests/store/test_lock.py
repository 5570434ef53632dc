"""One writer at a time, by the kernel: real processes wait for each other, die and are paused."""

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fairlead.errors import LockBusy, NotAFile
from fairlead.store.confine import Folder, Root
from fairlead.store.lock import Lock, shared_among
from tests.support.programs import ROOT

HOLDER = """
import sys
from fairlead.store.confine import Root
from fairlead.store.lock import Lock
with Root(sys.argv[1]) as root, root.folder("desk") as desk:
    with Lock(desk, wait_seconds=30, command="state add-decision"):
        print("held", flush=True)
        sys.stdin.read()
print("released", flush=True)
"""


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Folder]:
    """The folder in which the lock lives."""
    with Root(str(tmp_path)) as root, root.make_folder("desk") as folder:
        yield folder


@contextmanager
def a_holder(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock until its input ends."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)],
        env={"PYTHONPATH": str(ROOT / "src")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def lock(desk: Folder, wait_seconds: float = 10.0) -> Lock:
    return Lock(desk, wait_seconds=wait_seconds, command="test")


def test_the_lock_file_is_private_and_stays(desk: Folder, tmp_path: Path) -> None:
    with lock(desk):
        pass
    assert stat.S_IMODE((tmp_path / "desk" / "lock").stat().st_mode) == 0o600


def test_the_lock_is_not_inherited_by_programs(desk: Folder) -> None:
    with lock(desk) as held:
        assert not os.get_inheritable(held.fd)


def test_a_free_lock_is_had_without_waiting(desk: Folder) -> None:
    with lock(desk, wait_seconds=0):
        pass


def test_a_second_writer_gives_up_at_its_limit(desk: Folder, tmp_path: Path) -> None:
    with a_holder(tmp_path):
        began = time.monotonic()
        with pytest.raises(LockBusy), lock(desk, wait_seconds=0.2):
            pass
        assert 0.2 <= time.monotonic() - began < 2


def test_the_refusal_names_the_holder(desk: Folder, tmp_path: Path) -> None:
    with a_holder(tmp_path) as holder:
        with pytest.raises(LockBusy) as refused, lock(desk, wait_seconds=0):
            pass
        assert f"process {holder.pid} on {os.uname().nodename}: state add-decision" in str(
            refused.value
        )


def test_what_the_lock_file_says_cannot_reach_the_terminal(desk: Folder, tmp_path: Path) -> None:
    with a_holder(tmp_path):
        (tmp_path / "desk" / "lock").write_bytes(b"\x1b]52;c;eA==\x07evil\xff\nmore")
        with pytest.raises(LockBusy) as refused, lock(desk, wait_seconds=0):
            pass
        assert str(refused.value).isprintable()


def test_a_waiting_writer_gets_the_lock_when_it_is_released(desk: Folder, tmp_path: Path) -> None:
    with a_holder(tmp_path) as holder:
        assert holder.stdin
        threading.Timer(0.1, holder.stdin.close).start()
        with lock(desk):
            assert holder.wait() == 0


def test_a_thread_waits_and_gets_the_lock_as_well(desk: Folder, tmp_path: Path) -> None:
    got = []

    def take() -> None:
        with lock(desk):
            got.append(True)

    with a_holder(tmp_path) as holder:
        waiter = threading.Thread(target=take)
        waiter.start()
        assert holder.stdin
        holder.stdin.close()
        waiter.join(10)
    assert got == [True]


def test_a_thread_gives_up_at_its_limit(desk: Folder, tmp_path: Path) -> None:
    refused = []

    def take() -> None:
        try:
            with lock(desk, wait_seconds=0.1):
                pass
        except LockBusy as error:
            refused.append(error)

    with a_holder(tmp_path):
        waiter = threading.Thread(target=take)
        waiter.start()
        waiter.join(10)
    assert len(refused) == 1


def test_the_lock_ends_with_a_killed_holder(desk: Folder, tmp_path: Path) -> None:
    with a_holder(tmp_path) as holder:
        holder.kill()
        holder.wait()
        with lock(desk, wait_seconds=0):
            pass


def test_a_stopped_holder_is_not_robbed(desk: Folder, tmp_path: Path) -> None:
    with a_holder(tmp_path) as holder:
        holder.send_signal(signal.SIGSTOP)
        with pytest.raises(LockBusy), lock(desk, wait_seconds=0.2):
            pass
        holder.send_signal(signal.SIGCONT)
        assert holder.stdin
        assert holder.stdout
        holder.stdin.close()
        assert holder.stdout.read() == "released\n"


def test_a_lock_file_removed_while_held_is_not_mistaken_for_the_lock(
    desk: Folder, tmp_path: Path
) -> None:
    with a_holder(tmp_path) as holder:
        waiter_done = threading.Event()

        def remove_and_release() -> None:
            (tmp_path / "desk" / "lock").unlink()
            assert holder.stdin
            holder.stdin.close()
            waiter_done.set()

        threading.Timer(0.1, remove_and_release).start()
        with lock(desk) as held:
            waiter_done.wait()
            assert os.fstat(held.fd).st_ino == (tmp_path / "desk" / "lock").stat().st_ino


def test_waiting_gives_back_an_earlier_alarm(desk: Folder, tmp_path: Path) -> None:
    rung = []
    earlier = signal.signal(signal.SIGALRM, lambda *_: rung.append(True))
    signal.setitimer(signal.ITIMER_REAL, 60)
    try:
        with a_holder(tmp_path), pytest.raises(LockBusy), lock(desk, wait_seconds=0.1):
            pass
        remaining, _ = signal.getitimer(signal.ITIMER_REAL)
        signal.raise_signal(signal.SIGALRM)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier)
    assert rung == [True]
    assert 50 < remaining < 60


def test_a_planted_link_is_not_followed(desk: Folder, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("keep")
    (tmp_path / "desk" / "lock").symlink_to(victim)
    with pytest.raises(NotAFile, match="a symbolic link"), lock(desk):
        pass
    assert victim.read_text() == "keep"


def test_a_planted_hard_link_is_not_written(desk: Folder, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("keep")
    (tmp_path / "desk" / "lock").hardlink_to(victim)
    with pytest.raises(NotAFile, match="hard links"), lock(desk):
        pass
    assert victim.read_text() == "keep"


def test_a_planted_pipe_is_refused_without_waiting(desk: Folder, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "desk" / "lock")
    with pytest.raises(NotAFile, match="a pipe"), lock(desk):
        pass


@pytest.mark.parametrize(
    ("kind", "shared"),
    [
        ("nfs4", True),
        ("cifs", True),
        ("9p", True),
        ("fuse.sshfs", True),
        ("ext4", False),
        ("tmpfs", False),
    ],
)
def test_a_shared_file_system_is_known_by_its_kind(kind: str, shared: bool) -> None:
    line = f"36 35 0:52 / /mnt/with\\040space rw,noatime master:1 - {kind} host:/a rw\n"
    assert bool(shared_among([line], os.makedev(0, 52))) == shared


def test_a_share_mounted_elsewhere_does_not_count() -> None:
    assert not shared_among(["36 35 0:52 / /mnt rw - nfs host:/a rw\n"], os.makedev(0, 53))
