"""Who meets whom in everyday work: captures, pauses, quick tasks, debugging."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairlead.store import layout
from fairlead.wiring import App, workspace_of

if TYPE_CHECKING:
    from fairlead.engine.captures import Captures
    from fairlead.engine.debugging import Debugging
    from fairlead.engine.pausing import Pausing
    from fairlead.engine.quick import Quick
    from fairlead.engine.undertaking import Crew, Terms


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


def quick_tasks(app: App) -> Quick:
    """The quick tasks of the project that this folder belongs to."""
    from fairlead.adapters.chance import fresh
    from fairlead.adapters.commands import command_fault
    from fairlead.engine.quick import Quick, QuickExecution
    from fairlead.wiring_roles import role_jobs

    files = app.files_of(app.place)
    workspace = workspace_of(app.place)
    execution = QuickExecution(files, app.state, app.clock, workspace, fresh, command_fault)
    return Quick(files, role_jobs(app), execution)


def hands(app: App, agent: str, model: str, *, is_rehearsed: bool) -> tuple[Crew, Terms]:
    """Who carries out what a workflow planned, and under which terms."""
    crew = app.crew(agent, "", is_rehearsed=is_rehearsed)
    return crew, app.terms(model=model, slots=1, is_rehearsed=is_rehearsed)


def debugging(app: App) -> Debugging:
    """The debug sessions of the project that this folder belongs to."""
    from fairlead.engine.debugging import Debugging
    from fairlead.wiring_roles import role_jobs

    return Debugging(app.files_of(app.place), role_jobs(app), quick_tasks(app))
