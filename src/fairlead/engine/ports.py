"""Ports: what the engine needs from outside, as protocols that adapters fulfil."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the values of a port are loaded by who uses them
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from fairlead.model.agent_events import AgentEvent, Ending
    from fairlead.model.agent_orders import Order
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


class Agent(Protocol):
    """A program that changes files."""

    @property
    def name(self) -> str:
        """The name it goes by in settings."""
        ...

    def start(
        self,
        order: Order,
        watch: Callable[[AgentEvent], None],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Ending:
        """Carry out an order; every event is shown to `watch`. Ends early once it is not wanted."""
        ...


class Checker(Protocol):
    """Runs the commands that a person allowed, each with a limit."""

    def run(self, command: tuple[str, ...], folder: str) -> tuple[int, str]:
        """Run one to its end: its exit code, and the last line it said. Raises if it has no end."""
        ...
