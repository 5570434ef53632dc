"""A full, broken or read-only disk at every call that touches a file."""

from tests.conftest import Sample
from tests.crash.conftest import MakeRig
from tests.support.figures import record_quick
from tests.support.sweep import error_points, sampled, try_point, write_points
from tests.support.trials import findings_of


def test_an_error_at_any_call_tears_nothing_and_is_never_called_success(
    rig_of: MakeRig, sample: Sample
) -> None:
    rig = rig_of("add-decision")
    points = sample(sampled(error_points(rig.calls_from_the_lock)), 5)
    tried, found = findings_of(points, lambda point: try_point(rig, point))
    assert tried >= 5
    assert found == []
    record_quick(
        "errors",
        "ENOSPC, EIO, EDQUOT or EROFS at every call, once or from then on",
        {"faults": tried, "found": len(found)},
    )


def test_a_short_write_is_completed_and_a_lying_one_is_noticed(rig_of: MakeRig) -> None:
    rig = rig_of("add-decision")
    points = write_points(rig.calls_from_the_lock)
    tried, found = findings_of(points, lambda point: try_point(rig, point))
    assert tried > 0
    assert found == []
