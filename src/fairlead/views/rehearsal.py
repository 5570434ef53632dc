"""The rehearsal of a project: where it stands, and what its end took back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairlead.core.values import dataclass
from fairlead.execution.errors import NoRehearsal
from fairlead.store.errors import NoProject
from fairlead.views.document import fields

if TYPE_CHECKING:
    from fairlead.app import App
    from fairlead.execution.rehearsal import DiscardedRehearsal
    from fairlead.project.overview import StatusReport

_NO_PROJECT_YET = 'fairlead new "IDEA" --rehearse'


@dataclass(frozen=True, slots=True)
class RehearsalView:
    """Where the rehearsal of a project stands."""

    folder: str  # the copy; empty: there is only a rehearsal in the project itself
    project: str
    started_at: str
    is_outdated: bool
    here_since: str  # when a rehearsal in the project itself began; empty: there is none
    next: str  # the command to type
    status: StatusReport | None  # None: the rehearsal has no project yet


def rehearsal_view(app: App) -> RehearsalView:
    """The rehearsal of this project; refused if there is none."""
    project = app.rehearsed_project
    found = app.rehearsals.find(project)
    here_since = app.rehearsals.began_here(project)
    copy = app.found_rehearsal()
    if found is None and not here_since:
        raise NoRehearsal(project)
    try:
        status = copy.overview.status() if copy else None
    except NoProject:
        status = None
    following = status.next.command if status else _NO_PROJECT_YET if copy else "fairlead next"
    return RehearsalView(
        folder=copy.folder if copy else "",
        project=project,
        started_at=found.started_at if found else "",
        is_outdated=bool(found and found.is_outdated),
        here_since=here_since,
        next=following,
        status=status,
    )


def rehearsed_app(app: App) -> App:
    """The application of the copy in which this project is rehearsed; refused if there is none."""
    found = app.found_rehearsal()
    if found is None:
        raise NoRehearsal(app.rehearsed_project)
    return found


def discarded_view(done: DiscardedRehearsal, *, dry_run: bool) -> dict[str, Any]:
    """What the end of a rehearsal deleted and took back."""
    return {**fields(done, "folder", "is_taken_back", "kept", "commits"), "dry_run": dry_run}
