"""The sweeps find planted faults: writers with one fault each, and one without."""

from collections.abc import Sequence

import pytest

from tests.conftest import Sample
from tests.crash.conftest import MakeRig
from tests.support import branching
from tests.support.branches import Branches
from tests.support.crashstates import crash_states
from tests.support.gaps import gaps, try_gap
from tests.support.mounts import FILE_SYSTEMS, Loss
from tests.support.power import after_success
from tests.support.strace import Call, Injection, NothingInjected, trace
from tests.support.sweep import (
    Finding,
    Point,
    Rig,
    error_points,
    kill_points,
    sampled,
    try_point,
    write_points,
)
from tests.support.trials import findings_of

needs_copies = pytest.mark.skipif(
    branching.why_not() != "", reason=branching.why_not() or "processes can be copied"
)

WRITING = frozenset({"write", "fsync", "rename", "renameat2", "openat", "unlink", "ftruncate"})


def test_a_careful_writer_passes_every_sweep(rig_of: MakeRig, sample: Sample) -> None:
    rig = rig_of("planted-none")
    calls = _writing(rig)
    points = kill_points(calls) + sampled(error_points(calls)) + write_points(calls)
    assert rig.unsafe == ()
    assert _found(rig, sample(points, 12)) == []
    assert crash_states(rig).findings == ()
    assert findings_of(sample(gaps(calls), 6), lambda gap: try_gap(rig, gap))[1] == []


def test_a_writer_in_place_is_found_by_kills(rig_of: MakeRig) -> None:
    rig = rig_of("planted-in-place")
    found = _found(rig, kill_points(_writing(rig)))
    assert any("torn" in finding.what for finding in found)


def test_a_fall_back_to_writing_in_place_is_found_by_errors(rig_of: MakeRig) -> None:
    rig = rig_of("planted-fallback")
    found = _found(rig, error_points(_writing(rig), ["ENOSPC"]))
    assert any("torn" in finding.what for finding in found)


def test_a_swallowed_error_is_found_as_a_false_success(rig_of: MakeRig) -> None:
    rig = rig_of("planted-swallow")
    found = _found(rig, error_points(_writing(rig), ["EIO"]))
    assert any("false success" in finding.what for finding in found)


def test_a_writer_without_fsync_is_found_by_its_calls(rig_of: MakeRig) -> None:
    assert len(rig_of("planted-no-fsync").unsafe) == 3


@pytest.mark.parametrize("fault", ["no-fsync", "in-place"])
def test_a_torn_crash_state_is_worked_out(rig_of: MakeRig, fault: str) -> None:
    found = crash_states(rig_of(f"planted-{fault}")).findings
    assert any("torn" in finding.what for finding in found)


@pytest.mark.parametrize("kind", FILE_SYSTEMS)
def test_a_writer_without_fsync_is_found_by_a_power_loss(rig_of: MakeRig, kind: str) -> None:
    if FILE_SYSTEMS[kind].why_not():
        pytest.skip(FILE_SYSTEMS[kind].why_not())
    rig = rig_of("planted-no-fsync")
    assert [after_success(rig, FILE_SYSTEMS[kind], loss) for loss in Loss] != [[], []]


def test_a_writer_that_does_not_compare_loses_a_foreign_edit_and_is_found(
    rig_of: MakeRig,
) -> None:
    rig = rig_of("planted-no-compare")
    found = findings_of(gaps(_writing(rig), ["by rename"]), lambda gap: try_gap(rig, gap))[1]
    assert any("the other edit is lost" in finding.what for finding in found)


@needs_copies
def test_the_same_is_found_in_copies_of_one_process(rig_of: MakeRig) -> None:
    careful, careless = (Branches(rig_of(f"planted-{fault}")) for fault in ("none", "in-place"))
    try:
        points = [
            *kill_points(careful.undisturbed()[1]),
            *sampled(error_points(careful.undisturbed()[1])),
            *write_points(careful.undisturbed()[1]),
        ]
        assert [found for point in points for found in careful.try_point(point)] == []
        kills = kill_points(careless.undisturbed()[1])
        found = [found.what for point in kills for found in careless.try_point(point)]
        assert any("torn" in what for what in found)
    finally:
        careful.close()
        careless.close()


@needs_copies
def test_gaps_between_calls_about_other_files_can_be_passed_over(rig_of: MakeRig) -> None:
    rig = rig_of("planted-no-compare")
    assert rig.subject.editing is not None
    careless = Branches(rig)
    try:
        calls = careless.undisturbed()[1]
        few = gaps(calls, ["by rename"], careless.project / rig.subject.editing.path)
        found = [found.what for gap in few for found in try_gap(rig, gap, careless)]
    finally:
        careless.close()
    assert len(few) < len(gaps(calls, ["by rename"]))
    assert any("the other edit is lost" in what for what in found)


def test_a_fault_that_does_not_strike_is_an_error_of_the_test(rig_of: MakeRig) -> None:
    rig = rig_of("planted-none")
    with rig.world() as world, pytest.raises(NothingInjected):
        trace(rig.subject.command(world), Injection("fsync", 99, "error=EIO"))


def _writing(rig: Rig) -> list[Call]:
    return [call for call in rig.calls_from_the_lock if call.name in WRITING]


def _found(rig: Rig, points: Sequence[Point]) -> list[Finding]:
    return findings_of(points, lambda point: try_point(rig, point))[1]
