"""Power losses on real file systems, and full disks: an acknowledged update must survive."""

from functools import cache
from pathlib import Path

from tests.support.mounts import Disk, FileSystem, Loss, disk, fill, small_disk
from tests.support.programs import Outcome, run
from tests.support.strace import Call, Injection, trace
from tests.support.subjects import PROJECT, STATE
from tests.support.sweep import Finding, Rig
from tests.support.trees import DiskVersion, Tree, documents, judge, put_tree, read_tree

STORAGE = 7


def after_success(rig: Rig, kind: FileSystem, loss: Loss) -> list[Finding]:
    """Run the command, cut the power after its success, and check the files."""
    with disk(kind) as broken_disk:
        world = _world_on(rig, broken_disk)
        done = run(rig.subject.command(world))
        broken_disk.lose_power(loss)
        fault = f"power loss on {kind.name} ({loss.name.lower()}) after success"
        return _judged(rig, world, fault, done)


def in_the_middle(rig: Rig, kind: FileSystem, loss: Loss, call: Call) -> list[Finding]:
    """Kill the command before a call and cut the power at the same time."""
    with disk(kind) as broken_disk:
        world = _world_on(rig, broken_disk)
        traced = trace(rig.subject.command(world), Injection(call.name, call.number, "signal=KILL"))
        broken_disk.lose_power(loss)
        fault = f"power loss on {kind.name} ({loss.name.lower()}) before {call.place}"
        return _judged(rig, world, fault, traced.outcome)


def on_a_full_disk(rig: Rig, *, size: int, free_pages: int) -> list[Finding]:
    """Run with a STATE.md of a given size and this many free pages."""
    fault = f"a full disk: {free_pages} pages free, STATE.md of {size} bytes"
    with small_disk(kilobytes=256) as folder:
        world = put_tree(rig.source, folder / "w")
        _pad(world / PROJECT / STATE, size)
        old, new = read_tree(world), _expected(rig, size)
        fill(folder, leave_pages=free_pages)
        done = run(rig.subject.command(world))
        now = read_tree(world)
        reading = run(rig.subject.read_command(world))
        (folder / "fill").unlink()
        again = run(rig.subject.next_command(world))
    is_unchanged = documents(now) == documents(old)
    broken = []
    if done.code == 0 and is_unchanged:
        broken.append("false success: nothing was changed")
    if done.code not in (0, STORAGE):
        broken.append(f"wrong kind of error ({done.describe()})")
    if done.code == STORAGE and ".planning" not in done.text:
        broken.append(f"the error names no file ({done.describe()})")
    if judge(now, old, new).torn:
        broken.append(f"torn ({done.describe()})")
    if reading.code not in rig.subject.reader_codes:
        broken.append(f"reading does not work on a full disk ({reading.describe()})")
    if again.code not in rig.subject.follow_up_codes:
        broken.append(f"after space was made the command does not work ({again.describe()})")
    return [Finding(fault, what) for what in broken]


def with_a_size_limit(rig: Rig, limit: int) -> list[Finding]:
    """Run with a limit on file size, which cuts a write short."""
    with rig.world() as world:
        done = run(rig.subject.command(world).behind("prlimit", f"--fsize={limit}"))
        return _judged(rig, world, f"no file may be larger than {limit} bytes", done)


def _world_on(rig: Rig, broken_disk: Disk) -> Path:
    # As deep as the folder whose calls were counted: the search for a project goes up to the root.
    depth = len(rig.scratch.parts) + 1 - len(broken_disk.folder.parts)
    home = broken_disk.folder.joinpath(*["d"] * depth)
    home.mkdir(parents=True, exist_ok=True)
    world = put_tree(rig.source, home / "w")
    broken_disk.settle()
    return world


def _judged(rig: Rig, world: Path, fault: str, done: Outcome) -> list[Finding]:
    verdict = judge(read_tree(world), rig.old, rig.new)
    broken = []
    if verdict.torn:
        broken.append(f"torn: {', '.join(verdict.torn)}")
    if done.code == 0 and verdict.version is not DiskVersion.NEW:
        broken.append(f"acknowledged, and the files are {verdict.version}")
    if done.code > 0 and done.code != STORAGE:
        broken.append(f"wrong kind of error ({done.describe()})")
    following = run(rig.subject.next_command(world))
    if following.code not in rig.subject.follow_up_codes:
        broken.append(f"the next command does not work ({following.describe()})")
    else:
        now = documents(read_tree(world))
        if now not in [documents(rig.after_old), documents(rig.after_new)]:
            broken.append("after the next command the files are neither old nor new")
    return [Finding(fault, what) for what in broken]


def _pad(path: Path, size: int) -> None:
    """Grow a Markdown file to an exact size with one more line."""
    content = path.read_bytes()
    missing = size - len(content)
    assert missing > 1, f"{path.name} is larger than {size} already"
    path.write_bytes(content + b"x" * (missing - 1) + b"\n")


@cache
def _expected(rig: Rig, size: int) -> Tree:
    """The files after the command, for a STATE.md of this size on a disk with free space."""
    with rig.world() as world:
        _pad(world / PROJECT / STATE, size)
        done = run(rig.subject.command(world))
        assert done.code == 0, done.describe()
        return read_tree(world)
