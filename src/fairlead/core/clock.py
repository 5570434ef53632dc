"""Time and random names. `FAIRLEAD_NOW` stops the clock, so that a run can be repeated exactly."""

import os
import time
from datetime import UTC, datetime
from typing import Protocol

from fairlead.core.errors import SettingValue


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The current time in UTC."""
        ...


class SystemClock:
    """The machine's clock, or the fixed time in `FAIRLEAD_NOW`."""

    def now(self) -> datetime:
        """The current time in UTC."""
        fixed = os.environ.get("FAIRLEAD_NOW")
        if not fixed:
            return datetime.now(UTC)
        try:
            moment = datetime.fromisoformat(fixed)
        except ValueError:
            allowed = "a time such as 2026-06-01T12:00:00Z"
            raise SettingValue("FAIRLEAD_NOW", fixed, allowed) from None
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def sleep_briefly() -> None:
    """Wait half a second before the next look."""
    time.sleep(0.5)


def sleep(seconds: float) -> None:
    """Wait."""
    time.sleep(seconds)


def random_token() -> str:
    """A random UUID, for nonces and for the sessions of agents."""
    import uuid  # takes milliseconds to load, and most commands need none

    return str(uuid.uuid4())
