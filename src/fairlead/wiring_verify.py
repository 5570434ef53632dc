"""Who meets whom for verifying a phase; apart because `wiring` is a full page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairlead.wiring import App, workspace_of
from fairlead.wiring_roles import Beside, Wanted, company, role_jobs

if TYPE_CHECKING:
    from fairlead.engine.verifying import Ask, Verifying


def verifying(app: App) -> Verifying:
    """Verifies the phases of the project that this folder belongs to."""
    from fairlead.adapters.commands import Shell, unknown_program
    from fairlead.engine.verifying import Verifying

    files, clock, workstream = app.step
    workspace = workspace_of(app.place)
    return Verifying(files, app.state, clock, workspace, Shell(), unknown_program, workstream)


def second_look(app: App, wanted: Wanted, beside: Beside) -> Ask:
    """An agent that looks at a phase beside the rules; it can only add to what they found."""
    from fairlead.engine.second_look import SecondLook

    return SecondLook(role_jobs(app), company(app, wanted, beside)).ask
