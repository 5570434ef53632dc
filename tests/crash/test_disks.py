"""Real disks that are full, read-only, or lose power. Root on Linux only."""

import pytest

from tests.conftest import Sample
from tests.crash.conftest import MakeRig
from tests.support.crashstates import crash_states
from tests.support.figures import record_quick
from tests.support.mounts import FILE_SYSTEMS, PAGE, Loss, immutable, read_only, why_not_mount
from tests.support.power import after_success, on_a_full_disk, with_a_size_limit
from tests.support.programs import run
from tests.support.subjects import PROJECT, STATE
from tests.support.trees import documents, read_tree

needs_mounts = pytest.mark.skipif(why_not_mount() != "", reason=why_not_mount() or "mounts work")


@needs_mounts
def test_a_really_full_disk_leaves_the_document_whole(rig_of: MakeRig, sample: Sample) -> None:
    rig = rig_of("add-decision")
    every = [(PAGE * 2 - 6, free) for free in range(5)] + [(PAGE * 2 + 1, 2), (PAGE * 2, 3)]
    sizes = sample(every, 3)
    found = [
        finding
        for size, free in sizes
        for finding in on_a_full_disk(rig, size=size, free_pages=free)
    ]
    assert found == []
    record_quick(
        "full-disk",
        "a really full disk, near a page boundary, leaves the document whole",
        {"runs": len(sizes), "found": 0},
    )


@pytest.mark.parametrize("kind", FILE_SYSTEMS)
def test_an_acknowledged_update_outlives_a_power_loss(rig_of: MakeRig, kind: str) -> None:
    file_system = FILE_SYSTEMS[kind]
    if file_system.why_not():
        pytest.skip(file_system.why_not())
    found = [
        finding
        for command in ("add-decision", "init")
        for rig in [rig_of(command)]
        for loss in Loss
        for finding in after_success(rig, file_system, loss)
    ]
    assert found == []
    record_quick(
        f"power-{kind}",
        "an acknowledged update is there after a power loss",
        {"power losses": 2 * len(Loss), "found": 0},
    )


@pytest.mark.parametrize("command", ["add-decision", "config-set", "init"])
def test_every_state_a_power_loss_may_legally_leave_is_old_or_new(
    rig_of: MakeRig, command: str
) -> None:
    found = crash_states(rig_of(command))
    assert found.findings == ()
    record_quick(
        f"crash-states-{command}",
        "every state that a power loss may legally leave holds old or new",
        {"states": len(found.states), "found": 0},
    )


@needs_mounts
def test_a_read_only_disk_is_an_error_with_a_path_and_reading_still_works(rig_of: MakeRig) -> None:
    rig = rig_of("add-decision")
    with rig.world() as world:
        before = documents(read_tree(world))
        with read_only(world):
            done = run(rig.subject.command(world))
            reading = run(rig.subject.read_command(world))
        assert (done.code, ".planning" in done.text) == (7, True), done.describe()
        assert reading.code == 0, reading.describe()
        assert documents(read_tree(world)) == before


@needs_mounts
def test_an_immutable_document_stays_as_it_is(rig_of: MakeRig) -> None:
    rig = rig_of("add-decision")
    with rig.world() as world:
        before = documents(read_tree(world))
        with immutable(world / PROJECT / STATE):
            done = run(rig.subject.command(world))
        assert (done.code, "STATE.md" in done.text) == (7, True), done.describe()
        assert documents(read_tree(world)) == before
        assert run(rig.subject.next_command(world)).code == 0


@pytest.mark.parametrize("limit", [1, 100, 1000])
def test_a_limit_on_file_sizes_tears_nothing(rig_of: MakeRig, limit: int) -> None:
    assert with_a_size_limit(rig_of("add-decision"), limit) == []


def test_output_that_cannot_be_written_is_not_success(rig_of: MakeRig) -> None:
    rig = rig_of("add-decision")
    with rig.world() as world:
        command = rig.subject.read_command(world)
        full = run(command.behind("sh", "-c", 'exec "$0" "$@" > /dev/full'))
    assert full.code not in (0, 1, 120), full.describe()
    assert "Traceback" not in full.text
