"""Who meets whom in everyday work: captures, pauses, quick tasks, debugging."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairlead.store import layout
from fairlead.wiring import App, workspace_of

if TYPE_CHECKING:
    from fairlead.engine.captures import Captures
    from fairlead.engine.pausing import Pausing


def captures(app: App) -> Captures:
    """Keeps the ideas of the project that this folder belongs to."""
    from fairlead.engine.captures import Captures

    return Captures(*app.step, lines=app.preferences.state_lines)


def pausing(app: App) -> Pausing:
    """Pauses and resumes the project that this folder belongs to."""
    from fairlead.engine.pausing import Pausing

    return Pausing(*app.step)


def uncommitted(app: App) -> tuple[str, ...]:
    """What git has not got yet, beside the project's memory; nothing where there is no git."""
    from fairlead.errors import AgentError

    try:
        return workspace_of(app.place).dirty_paths(layout.PLANNING)
    except AgentError:
        return ()
