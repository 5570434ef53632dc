"""Resets: how long a service wants to be left alone, where only its sentence says so.

Two things are certain enough: a length of time, and a time of day as Codex writes it, which leaves the
date out only on that very day. Everything else is nothing, and the waiting is left to the policy.
"""

import re
from datetime import datetime, timedelta

_UNITS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PIECE = r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?(ms|d(?:ays?)?|h(?:ours?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)"
_LENGTH = re.compile(
    rf"\b(?:try again|retry|reset) (?:in|after) ((?:{_PIECE}(?![a-z]),? ?)+)", re.IGNORECASE
)
_ONE = re.compile(_PIECE, re.IGNORECASE)
_CLOCK = re.compile(
    r"\btry again at (?:([A-Z][a-z]{2} [0-9]{1,2})(?:st|nd|rd|th), ([0-9]{4}) )?"
    r"([0-9]{1,2}:[0-9]{2} [AP]M)\b"
)
_MINUTE = timedelta(minutes=1)  # a time of day is told without its seconds


def wait_told(message: str, now: datetime | None) -> float | None:
    """The seconds that a message asks for; `now` is what the clock on the wall shows, if known."""
    length = _LENGTH.search(message)
    if length:
        return sum(float(each) * _UNITS[_short(unit)] for each, unit in _ONE.findall(length[1]))
    clock = _CLOCK.search(message)
    return _until(clock, now) if clock and now else None


def _until(clock: re.Match[str], now: datetime) -> float | None:
    day = f"{clock[1]} {clock[2]}" if clock[1] else f"{now:%b %d %Y}"
    try:
        until = datetime.strptime(f"{day} {clock[3]}", "%b %d %Y %I:%M %p")  # noqa: DTZ007 - of the wall
    except ValueError:
        return None
    left = (until + _MINUTE - now).total_seconds()
    return left if left >= 0 else None


def _short(unit: str) -> str:
    return "ms" if unit.lower() == "ms" else unit[0].lower()
