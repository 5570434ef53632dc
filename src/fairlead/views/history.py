"""The history of STATE.md: which command changed it, and what it changed."""

from __future__ import annotations

from datetime import UTC, datetime
from difflib import unified_diff
from typing import TYPE_CHECKING

from fairlead.core.values import dataclass
from fairlead.store import layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairlead.app import App

_MOST_LINES = 60  # of one change


@dataclass(frozen=True, slots=True)
class StateChange:
    """One command that changed STATE.md."""

    number: int
    at: str
    command: str
    origin: str  # command, job or hook
    lines: tuple[str, ...]  # removed ones start with `-`, added ones with `+`
    more: int  # lines that are left out


@dataclass(frozen=True, slots=True)
class StateHistory:
    """The recorded changes of STATE.md, the newest first."""

    path: str
    changes: tuple[StateChange, ...]


def state_history_view(app: App) -> StateHistory:
    """What the recorded commands changed in STATE.md."""
    files, _, workstream = app.step
    path = layout.documents_of(workstream)[0]
    versions = files.versions(path)
    loaded = files.peek(path)
    texts = [_text(old) for _, old in versions] + [loaded.text if loaded else ""]
    changes = []
    for (entry, _), old, new in zip(versions, texts, texts[1:], strict=False):
        lines = tuple(changed_lines(old, new))
        at = datetime.fromtimestamp(entry.at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        more = max(0, len(lines) - _MOST_LINES)
        changes.append(
            StateChange(entry.number, at, entry.command, entry.origin, lines[:_MOST_LINES], more)
        )
    return StateHistory(path, tuple(reversed(changes)))


def changed_lines(old: str, new: str) -> Iterator[str]:
    """The lines that differ, without what is around them."""
    found = unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0)
    for at, line in enumerate(found):
        if at > 1 and not line.startswith("@@"):
            yield line


def _text(content: bytes | None) -> str:
    return (content or b"").decode("utf-8", "replace")
