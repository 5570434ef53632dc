"""kill -9 before every system call from the lock on."""

import pytest

from tests.conftest import Sample
from tests.crash.conftest import MakeRig
from tests.support.figures import record_quick
from tests.support.sweep import kill_points, try_point
from tests.support.trials import findings_of


@pytest.mark.parametrize("command", ["add-decision", "config-set"])
def test_a_kill_before_any_call_leaves_old_or_new_and_the_next_command_works(
    rig_of: MakeRig, command: str, sample: Sample
) -> None:
    rig = rig_of(command)
    points = kill_points(rig.calls_from_the_lock)
    assert len(points) > 20
    tried, found = findings_of(sample(points, 3), lambda point: try_point(rig, point))
    assert tried >= 3
    assert found == []
    record_quick(
        f"kill-{command}",
        "kill -9 before any call from taking the lock on leaves old or new",
        {"kill points": tried, "of": len(points), "found": len(found)},
    )


def test_case_17_a_kill_while_a_plan_is_saved_leaves_old_or_new(
    rig_of: MakeRig, sample: Sample
) -> None:
    rig = rig_of("planning-add")
    points = sample(kill_points(rig.calls_from_the_lock), 3)
    tried, found = findings_of(points, lambda point: try_point(rig, point))

    assert tried >= 3
    assert found == []


def test_success_is_reported_only_when_it_would_outlive_a_power_loss(
    rig_of: MakeRig, sample: Sample
) -> None:
    commands = ("add-decision", "config-set", "config-set-user", "init", "planning-start")
    for command in sample(commands, 2):
        assert (command, rig_of(command).unsafe) == (command, ())
