"""Ports: what the engine needs from outside, as protocols that adapters fulfil."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The present moment in UTC."""
        ...
