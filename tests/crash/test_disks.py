"""Real disks that are full, read-only, or lose their power. Root on Linux only."""

import pytest

from tests.crash.conftest import MakeRig
from tests.support.figures import record_quick
from tests.support.mounts import FILE_SYSTEMS, PAGE, Loss, immutable, read_only, why_not_mount
from tests.support.power import after_success, on_a_full_disk, with_a_size_limit
from tests.support.programs import run
from tests.support.subjects import PROJECT, STATE
from tests.support.trees import documents, read_tree

needs_mounts = pytest.mark.skipif(why_not_mount() != "", reason=why_not_mount() or "mounts work")


@needs_mounts
@pytest.mark.parametrize("extra", [-6, 1])
def test_a_really_full_disk_leaves_the_document_whole(rig_of: MakeRig, extra: int) -> None:
    rig = rig_of("add-decision")
    found = [
        finding
        for free in range(5)
        for finding in on_a_full_disk(rig, size=PAGE * 2 + extra, free_pages=free)
    ]
    assert found == []
    record_quick(
        f"full-disk{extra:+}",
        "a really full disk, near a page boundary, leaves the document whole",
        {"runs": 5, "found": 0},
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


@needs_mounts
def test_a_read_only_disk_is_an_error_with_a_path_and_reading_still_works(rig_of: MakeRig) -> None:
    rig = rig_of("add-decision")
    with rig.world() as world:
        before = documents(read_tree(world))
        with read_only(world):
            done = run(rig.subject.command(world))
            reading = run(rig.subject.read_command(world))
        assert (done.code, ".planning" in done.said) == (7, True), done.describe()
        assert reading.code == 0, reading.describe()
        assert documents(read_tree(world)) == before


@needs_mounts
def test_an_immutable_document_stays_as_it_is(rig_of: MakeRig) -> None:
    rig = rig_of("add-decision")
    with rig.world() as world:
        before = documents(read_tree(world))
        with immutable(world / PROJECT / STATE):
            done = run(rig.subject.command(world))
        assert (done.code, "STATE.md" in done.said) == (7, True), done.describe()
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
    assert "Traceback" not in full.said
