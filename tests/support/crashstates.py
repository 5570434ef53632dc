"""Every state that a power loss may legally leave, computed from the system calls of one run.

Names are kept in order up to some point, which a folder fsync moves forward. Content without an
fsync is complete, cut in half or missing. Real file systems keep more; computing the states in
memory covers file systems that this machine does not have.
"""

import ast
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.durability import WATCHED, path_of_descriptor, paths_of
from tests.support.strace import Call, trace
from tests.support.subjects import PROJECT
from tests.support.sweep import Finding, Rig
from tests.support.trees import FOLDER, DiskVersion, Tree, judge, shape_of

KEPT = (0.0, 0.5, 1.0)  # the part of unsynced content that has reached the disk
_DATA = re.compile(r'^[^"]*"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class Step:
    """One effect of a call on the disk."""

    kind: str  # make, folder, write, rename, exchange, remove, sync
    path: str
    other: str = ""
    content: bytes = b""


@dataclass(slots=True)
class _File:
    content: bytes = b""
    safe: bytes = b""

    def after_the_loss(self, kept: float) -> bytes:
        if self.content == self.safe:
            return self.safe
        added = self.content.removeprefix(self.safe)
        return (self.content[: -len(added)] if added else b"") + added[: int(len(added) * kept)]


@dataclass(slots=True)
class _Disk:
    """Files by number, and names in the order in which they were made and removed."""

    files: dict[int, _File] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)  # as the running process sees them
    changes: list[dict[str, int | None]] = field(default_factory=list)
    first: dict[str, int | None] = field(default_factory=dict)
    safe_changes: int = 0  # names that no power loss can remove

    def add(self, name: str, file: _File) -> int:
        number = len(self.files)
        self.files[number] = file
        self.names[name] = number
        return number

    def change(self, change: dict[str, int | None]) -> None:
        self.changes.append(change)
        for name, number in change.items():
            if number is None:
                self.names.pop(name, None)
            else:
                self.names[name] = number

    def sync(self, path: str) -> None:
        if path in self.names and self.files[self.names[path]].content != FOLDER:
            file = self.files[self.names[path]]
            file.safe = file.content
            return
        touching = [
            index + 1
            for index, change in enumerate(self.changes)
            if any(os.path.dirname(name) == path for name in change)
        ]
        self.safe_changes = max([self.safe_changes, *touching])

    def states(self) -> Iterator[dict[str, bytes]]:
        """The states that a power loss may leave at this point."""
        for length in range(self.safe_changes, len(self.changes) + 1):
            names = dict(self.first)
            for change in self.changes[:length]:
                names |= change
            for kept in KEPT:
                yield {
                    name: self.files[number].after_the_loss(kept)
                    for name, number in names.items()
                    if number is not None
                }


@dataclass(frozen=True, slots=True)
class CrashStates:
    """The distinct states, and the faults of the documents in them."""

    states: tuple[Tree, ...]
    findings: tuple[Finding, ...]


def crash_states(rig: Rig) -> CrashStates:
    """Run the command once and compute every state that a power loss could leave."""
    with rig.world() as world:
        traced = trace(rig.subject.command(world), watched=WATCHED, content=True)
        assert traced.outcome.code == 0, traced.outcome.describe()
        steps = list(_steps(traced.calls, world))
    disk = _Disk()
    for name, content in rig.old.items():
        disk.first[name] = disk.add(name, _File(content, content))
    seen: dict[frozenset[tuple[str, bytes]], Tree] = {}
    findings: list[Finding] = []
    for index, step in enumerate((None, *steps)):
        if step is not None:
            _apply(disk, step)
        for state in disk.states():
            shape = shape_of(state)
            if shape in seen:
                continue
            seen[shape] = state
            verdict = judge(state, rig.old, rig.new)
            if verdict.torn:
                findings.append(Finding(f"power loss after step {index}", f"torn: {verdict.torn}"))
    lost = [judge(state, rig.old, rig.new).version for state in disk.states()]
    if any(position not in (DiskVersion.NEW, DiskVersion.SAME) for position in lost):
        findings.append(
            Finding("power loss after success", f"the files may be {sorted(set(lost))}")
        )
    return CrashStates(tuple(seen.values()), tuple(findings))


def put_state(state: Tree, target: Path) -> Path:
    """Write a state to a real disk. Home and project folder always exist."""
    for name in ("home", PROJECT):
        (target / name).mkdir(parents=True, exist_ok=True)
    for name, content in sorted(state.items()):
        path = target / name
        if content == FOLDER:
            path.mkdir(parents=True, exist_ok=True)
        elif path.parent.is_dir():  # a file is lost with its folder
            path.write_bytes(content)
    return target


def _apply(disk: _Disk, step: Step) -> None:
    name = step.path
    match step.kind:
        case "make" if name not in disk.names:
            number = disk.add(name, _File())
            disk.change({name: number})
        case "make":
            if step.content:  # an existing file was emptied on opening
                disk.files[disk.names[name]].content = b""
        case "folder":
            disk.change({name: disk.add(name, _File(FOLDER, FOLDER))})
        case "write" if name in disk.names:
            disk.files[disk.names[name]].content += step.content
        case "rename" if name in disk.names:
            disk.change(_moved(disk.names, name, step.other))
        case "exchange" if name in disk.names and step.other in disk.names:
            disk.change({step.other: disk.names[name], name: disk.names[step.other]})
        case "remove":
            disk.change({name: None})
        case "sync":
            disk.sync(name)


def _moved(names: dict[str, int], old: str, new: str) -> dict[str, int | None]:
    """A rename, which takes along the content of a folder."""
    change: dict[str, int | None] = {}
    for name, number in names.items():
        if name == old or name.startswith(f"{old}/"):
            change[name] = None
            change[new + name.removeprefix(old)] = number
    return change


def _steps(calls: Sequence[Call], world: Path) -> Iterator[Step]:
    for call in calls:
        if call.result is None or call.result < 0:
            continue
        for step in _step(call, world / PROJECT):
            inside = [
                os.path.relpath(path, world) if path else "" for path in (step.path, step.other)
            ]
            if not inside[0].startswith(".."):
                yield Step(step.kind, inside[0], inside[1], step.content)


def _step(call: Call, folder: Path) -> Iterable[Step]:
    name = call.name
    if name in {"open", "openat", "openat2", "creat"}:
        if "O_CREAT" in call.arguments or "O_TRUNC" in call.arguments:
            emptied = b"x" if "O_TRUNC" in call.arguments else b""
            yield Step("make", paths_of(call, folder)[0], content=emptied)
    elif name == "write":
        match = _DATA.match(call.arguments)
        data = ast.literal_eval(f'b"{match[1]}"') if match else b""
        yield Step("write", path_of_descriptor(call.arguments), content=data[: call.result])
    elif name in {"fsync", "fdatasync"}:
        yield Step("sync", path_of_descriptor(call.arguments))
    elif name in {"mkdir", "mkdirat"}:
        yield Step("folder", paths_of(call, folder)[-1])
    elif name in {"unlink", "unlinkat", "rmdir"}:
        yield Step("remove", paths_of(call, folder)[0])
    elif name in {"rename", "renameat", "renameat2"}:
        old, new = paths_of(call, folder)[:2]
        kind = "exchange" if "RENAME_EXCHANGE" in call.arguments else "rename"
        yield Step(kind, old, new)
