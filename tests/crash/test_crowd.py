"""Concurrent writers, in one or several PID namespaces, and a stopped one."""

from pathlib import Path

import pytest

from tests.crash.conftest import MakeRig
from tests.support.crowd import (
    Updating,
    beside_a_stopped_holder,
    in_own_namespaces,
    one_process_an_update,
    tags_in,
    why_no_namespaces,
)
from tests.support.figures import record_quick
from tests.support.programs import fairlead, run
from tests.support.subjects import PROJECT, STATE, planted_subject, product_subjects

needs_namespaces = pytest.mark.skipif(
    why_no_namespaces() != "", reason=why_no_namespaces() or "namespaces work"
)


@pytest.fixture
def updating(installed_command: Path) -> Updating:
    """The command that every writer runs."""
    return Updating(fairlead(), ("state", "add-decision", "--phase", "1", "--summary"), STATE)


@pytest.fixture
def project(installed_command: Path, tmp_path: Path) -> Path:
    """An empty project."""
    product_subjects()["add-decision"].prepare(tmp_path / "world")
    return tmp_path / "world" / PROJECT


def test_every_update_of_eight_writers_is_there_once(updating: Updating, project: Path) -> None:
    count = one_process_an_update(updating, project, writers=8, updates=1)
    assert count.is_complete, count
    record_quick(
        "crowd",
        "8 writers at once, one process an update, lose nothing",
        {"updates": count.asked, "present": count.present},
    )


@needs_namespaces
def test_writers_in_different_pid_namespaces_lose_nothing(
    updating: Updating, project: Path
) -> None:
    count = in_own_namespaces(updating, project, namespaces=4, writers=1, updates=1)
    assert count.is_complete, count
    record_quick(
        "namespaces",
        "writers in 4 PID namespaces lose nothing",
        {"updates": count.asked, "present": count.present},
    )


def test_a_stopped_holder_is_not_robbed(updating: Updating, project: Path, rig_of: MakeRig) -> None:
    settle = updating.program.command(project, "config", "set", "fairlead.lock_wait_seconds", "1")
    assert run(settle).code == 0
    calls = rig_of("add-decision").calls_from_the_lock
    reads = next(call for call in calls if "STATE.md" in call.arguments)
    first, second, pid = beside_a_stopped_holder(updating, project, reads)
    assert (first.code, second.code) == (0, 4), (first.describe(), second.describe())
    assert str(pid) in second.text
    assert run(updating.command(project, "second")).code == 0
    assert tags_in(project / STATE, ["first", "second"]) == {"first": 1, "second": 1}


@needs_namespaces
def test_a_lock_that_is_a_pid_in_a_file_loses_updates_and_is_found(tmp_path: Path) -> None:
    subject = planted_subject("pid-lock")
    subject.prepare(tmp_path)
    planted = Updating(subject.program, ("add",), STATE)
    count = in_own_namespaces(planted, tmp_path / PROJECT, namespaces=6, writers=1, updates=3)
    assert count.lost


def test_a_lock_with_a_lease_robs_a_stopped_holder_and_is_found(
    tmp_path: Path, rig_of: MakeRig
) -> None:
    subject = planted_subject("pid-lock")
    subject.prepare(tmp_path)
    planted = Updating(subject.program, ("add",), STATE)
    staged = next(call for call in rig_of("planted-pid-lock").calls if call.path.endswith(".new"))
    first, second, _ = beside_a_stopped_holder(planted, tmp_path / PROJECT, staged)
    assert (first.code, second.code) == (0, 0)
    assert "second" not in tags_in(tmp_path / PROJECT / STATE, ["second"])
