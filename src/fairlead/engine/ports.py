"""Ports: what the engine needs from outside, as protocols that adapters fulfil."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from fairlead.model.issue import Issue, MadeIssue


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The present moment in UTC."""
        ...


class Tracker(Protocol):
    """Keeps issues, outside of this machine."""

    def marked(self, since: datetime) -> Mapping[str, int]:
        """The issues that carry a marker of ours and were made since then, by marker."""
        ...

    def make(self, issue: Issue, *, held: int) -> MadeIssue:
        """Make an issue. The open file `held` stays open until that has ended, even without us."""
        ...
