"""Who meets whom for verifying a phase; apart because `wiring` is a full page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairlead.store import layout
from fairlead.wiring import App, workspace_of
from fairlead.wiring_roles import Beside, Wanted, company, role_jobs

if TYPE_CHECKING:
    from fairlead.engine.verifying import Ask, Verifying


def verifying(app: App) -> Verifying:
    """Verifies the phases of the project that this folder belongs to."""
    from fairlead.adapters.commands import Shell, command_fault
    from fairlead.engine.verifying import Verifying

    files, clock, workstream = app.step
    workspace = workspace_of(app.place)
    return Verifying(files, app.state, clock, workspace, Shell(), command_fault, workstream)


def keeps_documents(app: App) -> bool:
    """Whether the documents of this project are committed as they are written."""
    is_wanted = app.value("commit_docs") is True
    return is_wanted and not workspace_of(app.place).is_ignored(layout.PLANNING)


def second_look(app: App, wanted: Wanted, beside: Beside) -> Ask:
    """An agent that looks at a phase beside the rules; it can only add to what they found."""
    from fairlead.engine.second_look import SecondLook

    return SecondLook(role_jobs(app), company(app, wanted, beside), app.step[2]).ask
