"""From nothing to an archived milestone: each step is named by the one before, and seen by all."""

from pathlib import Path

from tests.support.journey import Journey, a_journey


def stands(journey: Journey) -> tuple[object, ...]:
    """What the lifecycle fields say between two steps."""
    held = journey.front
    return held["active_phase"], held["next_action"], tuple(held["next_phases"])  # type: ignore[arg-type]


def test_every_step_of_a_phase_is_in_the_state_the_line_and_next(tmp_path: Path) -> None:
    journey = a_journey(tmp_path)
    journey.do("init", "Tiny", "--yes")
    for verb, word, following in (
        ("discuss", "discussing", "plan"),
        ("plan", "planning", "execute"),
        ("execute", "executing", "verify"),
    ):
        assert journey.next == f"fairlead phase {verb} 1"
        assert stands(journey) == ("null", f"{verb}-phase", ("1",))
        assert f"next {verb}-phase 1" in journey.line
        agreed = "--approve" if verb == "execute" else "--auto"
        journey.do("phase", verb, "1", agreed, asks=True)
        assert journey.seen() == [(word, "1")]
        assert journey.next == f"fairlead phase {following} 1"
    assert journey.run("check").returncode == 0
