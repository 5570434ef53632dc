"""Declared files: those that could never become part of the project are told before anything begins.

An agent works in a worktree, and only what git takes from there lands. A plan whose file is left
behind would be done, and its work gone.
"""

from __future__ import annotations

from collections.abc import Iterable

from fairlead.engine.ports import Workspace
from fairlead.model.plan import PlanSheet
from fairlead.model.waves import normal_path
from fairlead.store import layout

_OUTSIDE = "it is no path inside the project; name it from the project's folder"
_MEMORY = f"what lies below {layout.PLANNING} is never taken over; declare another place"


def stray_files(sheets: Iterable[PlanSheet], workspace: Workspace) -> tuple[str, ...]:
    """The declared files that could not land, each with its plan, the reason and what to do."""
    places = [(sheet, *each) for sheet in sheets for each in declared_files(sheet).items()]
    asked = {path for _, path, _ in places if not _misplaced(path)}
    ignored = workspace.ignored(sorted(asked)) if asked else {}
    found = []
    for sheet, path, line in places:
        why = _misplaced(path)
        if path in ignored:
            why = f"{ignored[path]}; declare another place, or let git take it"
        found += [f"{sheet.path}:{line}: {path} could not land: {why}"] if why else []
    return tuple(found)


def declared_files(sheet: PlanSheet) -> dict[str, int]:
    """The files of a plan, each with the line of the task that names it."""
    found = dict.fromkeys(map(normal_path, sheet.files), 1)
    for task in reversed(sheet.tasks):
        found.update(dict.fromkeys(map(normal_path, task.files), task.line))
    return {path: line for path, line in found.items() if path not in ("", "/")}


def _misplaced(path: str) -> str:
    """Why a path is no place for work, by its name alone."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and not parts:
            return _OUTSIDE
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if path.startswith(("/", "~")):
        return _OUTSIDE
    return _MEMORY if parts[:1] == [layout.PLANNING] else ""
