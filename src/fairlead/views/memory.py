"""What the project remembers: fields of STATE.md, todos, handovers and interrupted work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairlead.views.changes import moves_view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairlead.app import App
    from fairlead.execution.leftovers import PartialWork
    from fairlead.project.handoff import HandoverOffer
    from fairlead.project.sessions import ResumeResult
    from fairlead.project.todos import Todo
    from fairlead.store.files import WriteOutcome
    from fairlead.workflows.capture import Captured
    from fairlead.workflows.pause import PausedWork, PauseOutcome, Resumption


def state_value_view(app: App, name: str = "") -> dict[str, Any]:
    """A field of STATE.md, or without a name the whole document."""
    return {"name": name, "value": app.events.value(name) if name else app.events.text()}


def todos_view(todos: Sequence[Todo]) -> dict[str, Any]:
    """The pending todos."""
    return {"todos": list(todos)}


def capture_members(entry: Captured) -> dict[str, Any]:
    """What recording an idea adds to the files it wrote."""
    return {"path": entry.path, "title": entry.title, "area": entry.area}


def pause_members(made: PauseOutcome) -> dict[str, Any]:
    """What a pause adds to the files it wrote."""
    return {"pause": made.pause, "page": made.page}


def answered_view(outcome: WriteOutcome, *, dry_run: bool) -> dict[str, Any]:
    """The question of the project that was removed, because it is answered."""
    return {"changed": [move.source for move in outcome.places.moves], "dry_run": dry_run}


def handovers_view(offers: Sequence[HandoverOffer]) -> dict[str, Any]:
    """The work that an earlier session left."""
    return {
        "handovers": [
            {"is_live": offer.is_live, "is_stale": offer.is_stale, "handover": offer.handover}
            for offer in offers
        ]
    }


def taken_over_view(resumed: ResumeResult, *, dry_run: bool) -> dict[str, Any]:
    """The handover that a session took over."""
    return {
        "changed": list(resumed.outcome.paths),
        "moved": moves_view(resumed.outcome),
        "dry_run": dry_run,
        "handover": resumed.chosen,
    }


def resumed_view(
    resumed: Resumption,
    partial: Sequence[PartialWork],
    given_up: Sequence[str],
    fresh: str,
    *,
    dry_run: bool,
) -> dict[str, Any]:
    """What was left when the project was paused; `fresh` is the command that starts again."""
    left: PausedWork = resumed.left
    return {
        "left": left,
        "partial": list(partial),
        "given_up": list(given_up),
        "next": left.next,
        "fresh": fresh,
        "changed": list(resumed.outcome.paths),
        "moved": moves_view(resumed.outcome),
        "dry_run": dry_run,
    }
