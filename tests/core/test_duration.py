"""Durations: read as people write them, and the trend over the last five."""

from datetime import timedelta

import pytest

from fairlead.core.duration import duration_in, in_hours, in_minutes, parse_duration, trend_of
from fairlead.core.errors import MalformedDuration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("45s", 45),
        ("12m", 720),
        ("12 min", 720),
        ("1h5m", 3900),
        ("1h 5m", 3900),
        ("0.7 hours", 2520),
        ("~0.5 hours", 1800),
        ("4.6 minutes", 276),
        ("1500ms", 1.5),
        ("25", 1500),
    ],
)
def test_a_duration_is_read_as_people_write_it(text: str, seconds: float) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "soon", "12 parsecs", "-5m", "m", "5m and more", "1 2"])
def test_a_text_that_is_no_duration_is_refused(text: str) -> None:
    assert duration_in(text) is None
    with pytest.raises(MalformedDuration):
        parse_duration(text)


@pytest.mark.parametrize(
    ("minutes", "trend"),
    [
        ((10, 10, 10, 5, 5), "Improving"),
        ((10, 10, 10, 10, 10), "Stable"),
        ((10, 10, 10, 12, 12), "Stable"),
        ((10, 10, 10, 13, 12), "Degrading"),
        ((99, 10, 10, 10, 13, 12), "Degrading"),
        ((10, 1), "Stable"),
        ((), "Stable"),
    ],
)
def test_the_trend_compares_the_last_two_with_the_three_before(
    minutes: tuple[int, ...], trend: str
) -> None:
    assert trend_of(tuple(timedelta(minutes=each) for each in minutes)) == trend


def test_durations_are_shown_in_minutes_and_hours() -> None:
    assert in_minutes(timedelta(minutes=12, seconds=20)) == "12 min"
    assert in_minutes(timedelta(minutes=4, seconds=30)) == "4.5 min"
    assert in_hours(timedelta(minutes=74)) == "1.2 hours"
    assert in_hours(timedelta(minutes=3)) == "0.05 hours"
