"""What other packages need from agents, as protocols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # callers that use a port load its values themselves
    from collections.abc import Callable

    from fairlead.agents.model import AgentCall, AgentEvent, CallResult


class Agent(Protocol):
    """A program that works on a prompt and may change files."""

    @property
    def name(self) -> str:
        """Its name in settings."""
        ...

    def start(
        self,
        call: AgentCall,
        watch: Callable[[AgentEvent], None],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> CallResult:
        """Run one call and pass every event to `watch`; end it early once it is not wanted."""
        ...


class Recall(Protocol):
    """Reads the results of earlier calls from their files."""

    def __call__(self, name: str, role: str, raw: str, /) -> CallResult | None:
        """The result of a call whose end was not seen; None if it never began."""
        ...


class CallFinder(Protocol):
    """Finds calls that outlive the run that started them, by their ids."""

    def has(self, call: str, mark: str = "", /) -> bool:
        """Whether a call of the job with this mark, or the running one, exists or existed."""
        ...

    def matches(self, agent: str, call: AgentCall, /) -> bool:
        """Whether the call of this id was started for this agent with exactly this input."""
        ...
