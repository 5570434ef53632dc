"""One writer at a time, by the kernel: real processes wait for each other, die and are paused."""

import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fairlead.store.confined import ConfinedFolder, Root
from fairlead.store.errors import LockBusy, NotAFile
from fairlead.store.lock import Lock, shared_among
from tests.support.programs import ROOT

HOLDER = """
import sys
from fairlead.store.confined import Root
from fairlead.store.lock import Lock
with Root(sys.argv[1]) as root, root.folder("staging") as staging:
    with Lock(staging, wait_seconds=30, command="state add-decision"):
        print("locked", flush=True)
        sys.stdin.read()
print("released", flush=True)
"""


@pytest.fixture
def staging(tmp_path: Path) -> Iterator[ConfinedFolder]:
    """The folder in which the lock lives."""
    with Root(str(tmp_path)) as root, root.make_folder("staging") as folder:
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
        assert process.stdout.readline() == "locked\n"
        try:
            yield process
        finally:
            process.kill()


def lock(staging: ConfinedFolder, wait_seconds: float = 10.0) -> Lock:
    return Lock(staging, wait_seconds=wait_seconds, command="test")


def test_the_lock_file_is_private_and_stays(staging: ConfinedFolder, tmp_path: Path) -> None:
    with lock(staging):
        pass
    assert stat.S_IMODE((tmp_path / "staging" / "lock").stat().st_mode) == 0o600


def test_the_lock_is_not_inherited_by_programs(staging: ConfinedFolder) -> None:
    with lock(staging) as taken:
        assert not os.get_inheritable(taken.fd)


def test_a_free_lock_is_taken_without_waiting(staging: ConfinedFolder) -> None:
    with lock(staging, wait_seconds=0):
        pass


def test_a_second_writer_gives_up_at_its_limit(staging: ConfinedFolder, tmp_path: Path) -> None:
    with a_holder(tmp_path):
        with pytest.raises(LockBusy) as refused, lock(staging, wait_seconds=0.2):
            pass
    assert refused.value.waited_seconds == 0.2


def test_the_refusal_names_the_holder(staging: ConfinedFolder, tmp_path: Path) -> None:
    with a_holder(tmp_path) as holder:
        with pytest.raises(LockBusy) as refused, lock(staging, wait_seconds=0):
            pass
        assert f"process {holder.pid} on {os.uname().nodename}: state add-decision" in str(
            refused.value
        )


def test_the_text_of_the_lock_file_cannot_control_the_terminal(
    staging: ConfinedFolder, tmp_path: Path
) -> None:
    with a_holder(tmp_path):
        (tmp_path / "staging" / "lock").write_bytes(b"\x1b]52;c;eA==\x07evil\xff\nmore")
        with pytest.raises(LockBusy) as refused, lock(staging, wait_seconds=0):
            pass
        assert str(refused.value).isprintable()


def test_a_waiting_writer_gets_the_lock_when_it_is_released(
    staging: ConfinedFolder, tmp_path: Path
) -> None:
    with a_holder(tmp_path) as holder:
        assert holder.stdin
        threading.Timer(0.1, holder.stdin.close).start()
        with lock(staging):
            assert holder.wait() == 0


def test_the_lock_ends_with_a_killed_holder(staging: ConfinedFolder, tmp_path: Path) -> None:
    with a_holder(tmp_path) as holder:
        holder.kill()
        holder.wait()
        with lock(staging, wait_seconds=0):
            pass


def test_a_stopped_process_keeps_its_lock(staging: ConfinedFolder, tmp_path: Path) -> None:
    with a_holder(tmp_path) as holder:
        holder.send_signal(signal.SIGSTOP)
        with pytest.raises(LockBusy), lock(staging, wait_seconds=0.2):
            pass
        holder.send_signal(signal.SIGCONT)
        assert holder.stdin
        assert holder.stdout
        holder.stdin.close()
        assert holder.stdout.read() == "released\n"


def test_a_removed_lock_file_is_not_mistaken_for_the_lock(
    staging: ConfinedFolder, tmp_path: Path
) -> None:
    with a_holder(tmp_path) as holder:
        waiter_done = threading.Event()

        def remove_and_release() -> None:
            (tmp_path / "staging" / "lock").unlink()
            assert holder.stdin
            holder.stdin.close()
            waiter_done.set()

        threading.Timer(0.1, remove_and_release).start()
        with lock(staging) as taken:
            waiter_done.wait()
            assert os.fstat(taken.fd).st_ino == (tmp_path / "staging" / "lock").stat().st_ino


def test_a_planted_link_is_not_followed(staging: ConfinedFolder, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("keep")
    (tmp_path / "staging" / "lock").symlink_to(victim)
    with pytest.raises(NotAFile, match="a symbolic link"), lock(staging):
        pass
    assert victim.read_text() == "keep"


def test_a_planted_hard_link_is_not_written(staging: ConfinedFolder, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("keep")
    (tmp_path / "staging" / "lock").hardlink_to(victim)
    with pytest.raises(NotAFile, match="hard links"), lock(staging):
        pass
    assert victim.read_text() == "keep"


def test_a_planted_pipe_is_refused_without_waiting(staging: ConfinedFolder, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "staging" / "lock")
    with pytest.raises(NotAFile, match="a pipe"), lock(staging):
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
def test_a_shared_file_system_is_recognized_by_its_type(kind: str, shared: bool) -> None:
    line = f"36 35 0:52 / /mnt/with\\040space rw,noatime master:1 - {kind} host:/a rw\n"
    assert bool(shared_among([line], os.makedev(0, 52))) == shared


def test_a_share_mounted_elsewhere_does_not_count() -> None:
    assert not shared_among(["36 35 0:52 / /mnt rw - nfs host:/a rw\n"], os.makedev(0, 53))
