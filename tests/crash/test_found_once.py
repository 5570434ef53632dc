"""Faults that `make prove` has found, each repeated at its own call."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.crash.conftest import MakeRig
from tests.support import branching
from tests.support.branches import Branches
from tests.support.branching import PausedCommand
from tests.support.strace import Call
from tests.support.subjects import product_subjects
from tests.support.sweep import KILL, Point, Rig

pytestmark = pytest.mark.skipif(bool(branching.why_not()), reason=branching.why_not())

RENAMING = {"rename", "renameat", "renameat2"}


@contextmanager
def branches_of(rig: Rig) -> Iterator[tuple[Branches, tuple[Call, ...]]]:
    """A command before its first change, and its calls from there on."""
    branches = Branches(rig)
    try:
        yield branches, branches.undisturbed()[1]
    finally:
        branches.close()


def after_the_last_rename(calls: Sequence[Call]) -> Sequence[Call]:
    last = max(index for index, call in enumerate(calls) if call.name in RENAMING)
    return calls[last + 1 :]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["task-result", "milestone-new", "planning-approve"])
def test_nothing_is_imported_after_the_first_call_that_could_change_the_disk(
    installed_command: Path, tmp_path: Path, name: str
) -> None:
    subject = product_subjects()[name]
    subject.prepare(tmp_path / "world")
    paused = PausedCommand(subject.command(tmp_path / "world"))
    calls = paused.branch().calls
    paused.close()

    opened = [call.arguments.split('"')[1] for call in calls if call.name == "openat"]
    assert [path for path in opened if path.endswith((".py", ".pyc", ".so"))] == []


def places_of(rig: Rig) -> list[str]:
    with branches_of(rig) as (_, calls):
        return [call.place for call in calls]


def test_a_call_has_the_same_number_in_a_worker_process(rig_of: MakeRig) -> None:
    rig = rig_of("add-decision")
    reader, writer = os.pipe()
    if not (child := os.fork()):
        os.write(writer, "\n".join(places_of(rig)).encode())
        os._exit(0)
    os.close(writer)
    with open(reader) as there:
        assert there.read().splitlines() == places_of(rig)
    os.waitpid(child, 0)


def test_a_second_start_completes_a_first_one_that_was_killed_while_publishing(
    rig_of: MakeRig,
) -> None:
    with branches_of(rig_of("planning-start")) as (branches, calls):
        publishing = [call for call in calls if call.name in RENAMING]

        assert [branches.try_point(Point(call, KILL)) for call in publishing[-2:]] == [[], []]


def test_a_search_for_a_folder_ends_on_a_disk_that_answers_nothing(rig_of: MakeRig) -> None:
    with branches_of(rig_of("planning-confirm-command")) as (branches, calls):
        first_mkdir = next(index for index, call in enumerate(calls) if call.name == "mkdir")
        searches = [call for call in calls[:first_mkdir] if call.name == "newfstatat"]

        assert branches.try_point(Point(searches[-1], "error=EIO", onward=True)) == []


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["doctor-fix", "gate-start"])
def test_what_is_written_is_not_reported_as_undone_when_the_look_at_it_fails(
    rig_of: MakeRig, name: str
) -> None:
    with branches_of(rig_of(name)) as (branches, calls):
        opening = [call for call in after_the_last_rename(calls) if call.name == "openat"]
        # One fault for each file that is looked at.
        looking = {call.arguments.split('"')[1]: call for call in opening}.values()
        outputs = []
        for call in looking:
            with branches.after(Point(call, "error=EIO").injection) as (_, traced):
                outputs.append(traced.outcome.text)
        # Some files may be missing; the required ones are reported.
        assert any("not-confirmed" in output for output in outputs)
        assert not any("nothing was changed" in output.lower() for output in outputs)
