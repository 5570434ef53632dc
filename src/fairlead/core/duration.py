"""Read and write durations: `45s`, `12m`, `1h5m`, `12 min`, `0.7 hours`, `~3 min`."""

import re
from datetime import timedelta

from fairlead.core.errors import MalformedDuration
from fairlead.core.patterns import lazy_pattern

_PART = lazy_pattern(
    r"(?P<number>[0-9]{1,6}(?:\.[0-9]{1,4})?)\s*"
    r"(?P<unit>ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)?(?![a-z])",
    re.IGNORECASE,
)
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def parse_duration(text: str) -> timedelta:
    """Read a duration; a bare number means minutes, as it always has in these files."""
    duration = duration_in(text)
    if duration is None:
        raise MalformedDuration(text)
    return duration


def duration_in(text: str) -> timedelta | None:
    """The duration that a text consists of; None if it is not a duration."""
    rest = text.strip().lstrip("~≈<").strip()
    seconds, at, is_first = 0.0, 0, True
    while at < len(rest):
        part = _PART.match(rest, at)
        if not part or (part["unit"] is None and not is_first):
            return None
        unit = (part["unit"] or "m").lower()
        number = float(part["number"])
        seconds += number / 1000 if unit == "ms" else number * _SECONDS[unit[0]]
        at = part.end() + len(rest[part.end() :]) - len(rest[part.end() :].lstrip(" ,"))
        is_first = False
    return timedelta(seconds=seconds) if rest else None


def in_minutes(duration: timedelta) -> str:
    """`12 min`; below ten minutes with one decimal if it is not zero."""
    minutes = duration.total_seconds() / 60
    rounded = round(minutes)
    if minutes >= 10 or abs(minutes - rounded) < 0.05:
        return f"{rounded} min"
    return f"{minutes:.1f} min"


def in_hours(duration: timedelta) -> str:
    """`1.2 hours`; below six minutes with a second decimal, so that it is not zero."""
    hours = duration.total_seconds() / 3600
    return f"{hours:.2f} hours" if 0 < hours < 0.1 else f"{hours:.1f} hours"


def trend_of(durations: tuple[timedelta, ...]) -> str:
    """Improving, Stable or Degrading: compares the last two of five with the three before them."""
    last = [duration.total_seconds() for duration in durations[-5:]]
    if len(last) < 5:
        return "Stable"
    before, now = sum(last[:3]) / 3, sum(last[3:]) / 2
    if now < before:
        return "Improving"
    return "Degrading" if now > before * 1.2 else "Stable"
