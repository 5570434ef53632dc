"""Which limits hold by a guess for the agents of a run; apart because `wiring` is a full page."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from fairlead.errors import AgentError, UsageError

if TYPE_CHECKING:
    from fairlead.model.budget import Caps
    from fairlead.wiring import App


def loosely_held(app: App, agent: str, reviewer: str, caps: Caps) -> tuple[str, ...]:
    """A sentence for each agent of a run that does not tell what it takes."""
    from fairlead.adapters import registry
    from fairlead.model.agent_streams import TELLS_NO_PRICE, TELLS_NO_TOKENS
    from fairlead.model.budget import loose_limits

    first = agent or str(app.value("fairlead.agent")).removeprefix("auto")
    second = reviewer or str(app.value("fairlead.reviewer")) or first
    found = {}
    for name in (first, second):
        with suppress(AgentError, UsageError):  # who begins a run is told; a preview needs nobody
            row = registry.agent(name, outside=(app.place,), commands=app.settings.agents()).row
            found[row.name] = row.stream
    told = (
        loose_limits(name, caps, tells_tokens=stream not in TELLS_NO_TOKENS)
        for name, stream in found.items()
        if stream in TELLS_NO_PRICE
    )
    return tuple(filter(None, told))
