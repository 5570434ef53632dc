"""The time. `FAIRLEAD_NOW` stops it, so that a run can be repeated to the byte."""

import os
import time
from datetime import UTC, datetime

from fairlead.errors import SettingValue


class SystemClock:
    """The machine's clock, or the moment that the environment names."""

    def now(self) -> datetime:
        """The present moment in UTC."""
        stopped = os.environ.get("FAIRLEAD_NOW")
        if not stopped:
            return datetime.now(UTC)
        try:
            moment = datetime.fromisoformat(stopped)
        except ValueError:
            raise SettingValue(
                "FAIRLEAD_NOW", stopped, "a time such as 2026-06-01T12:00:00Z"
            ) from None
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def pause() -> None:
    """A moment, before looking again."""
    time.sleep(0.5)


def rest(seconds: float) -> None:
    """Wait so long."""
    time.sleep(seconds)
