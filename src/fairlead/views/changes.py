"""What a command changed, or with `--dry-run` would change."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fairlead.core.values import names_of
from fairlead.views.document import fields

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairlead.execution.take_back import TakenBack
    from fairlead.store.files import WriteOutcome
    from fairlead.store.undo import UndoEntry


def change_view(outcome: WriteOutcome, *, dry_run: bool, **more: object) -> dict[str, Any]:
    """The files that an operation wrote, moved and made, after what the operation adds itself."""
    return {
        **more,
        "changed": list(outcome.paths),
        "moved": moves_view(outcome),
        "made": list(outcome.places.folders),
        "dry_run": dry_run,
        "notices": [str(notice) for notice in outcome.notices],
    }


def undo_view(command: str, outcome: WriteOutcome, *, dry_run: bool) -> dict[str, Any]:
    """What taking back a command changed."""
    return {
        "command": command,
        "changed": list(outcome.paths),
        "moved": moves_view(outcome),
        "dry_run": dry_run,
    }


def undo_history_view(history: Iterable[UndoEntry]) -> dict[str, Any]:
    """The commands that can be undone, the newest last."""
    return {
        "entries": [
            {
                "number": entry.number,
                "command": entry.command,
                "origin": entry.origin,
                "at": datetime.fromtimestamp(entry.at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "paths": list(entry.paths),
            }
            for entry in history
        ]
    }


def taken_back_view(done: TakenBack, *, dry_run: bool) -> dict[str, Any]:
    """What taking back a plan or a phase reverted."""
    return {**fields(done, *names_of(done)), "dry_run": dry_run}


def moves_view(outcome: WriteOutcome) -> list[dict[str, str]]:
    """The files that an operation moved."""
    return [{"from": move.source, "to": move.target} for move in outcome.places.moves]
