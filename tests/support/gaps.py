"""A concurrent edit in every gap between two system calls of a command.

The command is stopped after its k-th call, another program edits the file, and the command goes on.
The other edit must survive. Our change must be in the file exactly if success was reported, and
both together must equal, byte for byte, the result of one edit after the other.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from fairlead.store.staging import RESCUED, STAGING
from tests.support.branches import Branches
from tests.support.programs import Outcome
from tests.support.strace import Call, Injection, NothingInjected, paused
from tests.support.subjects import PROJECT, Editing
from tests.support.sweep import Finding, Rig, touching_files

CONFLICT = 4
_RESCUED = f"{STAGING}/{RESCUED}"


def save_by_rename(path: Path, content: bytes) -> None:
    """Save as careful editors do."""
    beside = path.with_name(f"{path.name}~")
    beside.write_bytes(content)
    os.replace(beside, path)


def save_in_place(path: Path, content: bytes) -> None:
    """Save as simple editors and `echo >>` do; text added at the end is appended."""
    before = path.read_bytes()
    if content.startswith(before):
        with path.open("ab") as file:
            file.write(content[len(before) :])
    else:
        path.write_bytes(content)


STYLES: dict[str, Callable[[Path, bytes], None]] = {
    "by rename": save_by_rename,
    "in place": save_in_place,
}


@dataclass(frozen=True, slots=True)
class Gap:
    """The point after a call, and the way another program saves the file there."""

    call: Call
    style: str

    def __str__(self) -> str:
        return f"an edit {self.style} after {self.call.place}"


def gaps(
    calls: Iterable[Call], styles: Iterable[str] = tuple(STYLES), edited: Path | None = None
) -> list[Gap]:
    """Every gap after a call that can touch a file: after any other call it is still the same.

    With the path of the edited file, calls that concern only other paths are passed over too: the
    edit has the same effect before and after them.
    """
    met = [call for call in touching_files(calls) if edited is None or _concerns(call, edited)]
    return [Gap(call, style) for call in met for style in styles]


def _concerns(call: Call, edited: Path) -> bool:
    """Whether a call may concern the file, a file beside it with the same start, or a folder above."""
    if call.may_see is None:
        return True
    return any(path.startswith(str(edited)) or edited.is_relative_to(path) for path in call.may_see)


def try_gap(rig: Rig, gap: Gap, branches: Branches | None = None) -> list[Finding]:
    """Edit the file in the gap and return what was lost."""
    editing = rig.subject.editing
    assert editing is not None, f"{rig.subject.name} has no file to edit"
    edited: list[Path] = []

    def meanwhile(world: Path) -> None:
        path = world / PROJECT / editing.path
        if path.exists():  # the command has moved the file away
            edited.append(path)
            STYLES[gap.style](path, editing.edit(path.read_bytes()))

    if branches is not None:
        with branches.after(_stop(gap.call), meanwhile) as (world, traced):
            broken = _broken(rig, editing, world, traced.outcome) if edited else []
    else:
        try:
            broken = _tried(rig, gap.call, meanwhile, edited)
        except NothingInjected:
            broken = _tried(rig, rig.again(gap.call), meanwhile, edited)
    return [Finding(str(gap), what) for what in broken]


def _stop(call: Call) -> Injection:
    return Injection(call.name, call.number, "signal=STOP")


def _tried(
    rig: Rig, call: Call, meanwhile: Callable[[Path], None], edited: list[Path]
) -> list[str]:
    assert rig.subject.editing is not None
    with rig.world() as world:
        with paused(rig.subject.command(world), _stop(call)) as child:
            meanwhile(world)
        output, errors = child.communicate(timeout=900)
        outcome = Outcome(child.returncode, output, errors, 0.0)
        return _broken(rig, rig.subject.editing, world, outcome) if edited else []


def _broken(rig: Rig, editing: Editing, world: Path, outcome: Outcome) -> list[str]:
    path = world / PROJECT / editing.path
    if path.exists():
        lost = _lost(rig, editing, path.read_bytes(), outcome)
    else:
        lost = _put_away(rig, editing, world, outcome)
    left = rig.left_behind(world)
    # A committed step keeps our version beside the other one.
    is_told = outcome.code == CONFLICT and _RESCUED in outcome.text
    return lost + ([] if is_told and _are_kept(left) else left)


def _put_away(rig: Rig, editing: Editing, world: Path, outcome: Outcome) -> list[str]:
    """The faults of a document that the command moved: the other edit must move with it."""
    theirs = editing.edit(rig.old[f"{PROJECT}/{editing.path}"])
    files = [path for path in (world / PROJECT).rglob("*") if path.is_file()]
    if any(path.read_bytes() == theirs for path in files):
        return []
    return [f"the other edit is lost with its document ({outcome.describe()})"]


def _are_kept(left: list[str]) -> bool:
    return all(f"/{_RESCUED}" in name for each in left for name in each.split(", "))


def _lost(rig: Rig, editing: Editing, now: bytes, outcome: Outcome) -> list[str]:
    name = f"{PROJECT}/{editing.path}"
    with_both, with_theirs = editing.edit(rig.new[name]), editing.edit(rig.old[name])
    if outcome.code == 0 and now == with_both:
        return []
    if outcome.code == CONFLICT and now == with_theirs:
        return []
    if now == rig.new[name]:
        return [f"the other edit is lost ({outcome.describe()})"]
    if outcome.code == 0 and now == with_theirs:
        return ["our update is lost, yet success was reported"]
    if outcome.code == CONFLICT and now == with_both:
        return ["a conflict was reported, yet our update is in place"]
    return [f"neither of the two allowed results ({outcome.describe()})"]
