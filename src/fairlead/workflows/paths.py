"""Paths of todos, notes, the backlog, quick tasks, debug sessions and pauses.

They are kept apart from `store.layout`, which every short command loads.
"""

from __future__ import annotations

from fairlead.core.ids import slug
from fairlead.project.paths import COMPLETED_TODOS, CONTINUE_NAME, PENDING_TODOS, PHASES_NAME
from fairlead.store.layout import PLANNING, WORKSTREAMS_NAME, planning_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

TODOS = f"{PLANNING}/{PENDING_TODOS}"
DONE_TODOS = f"{PLANNING}/{COMPLETED_TODOS}"
NOTES = f"{PLANNING}/notes"
HANDOFF = f"{PLANNING}/HANDOFF.json"
QUICK = f"{PLANNING}/quick"
DEBUG = f"{PLANNING}/debug"
DEBUG_RESOLVED = f"{DEBUG}/resolved"
KNOWLEDGE = f"{DEBUG}/knowledge-base.md"
CODEBASE = f"{PLANNING}/codebase"
# Other tools leave their pause pages in these folders, and in the root of the project.
FOREIGN_PAGE_FOLDERS = ("spikes", "sketches", "deliberations", "research")
ROOT_PAGE = f"{CONTINUE_NAME}.md"
KEEP = ".gitkeep"  # git does not store empty folders
_HANDOFF = "HANDOFF"
_MAX_SLUG = 40


def in_planning(workstream: str, path: str) -> str:
    """The path of the same document in the planning folder of a workstream."""
    return planning_of(workstream) + path.removeprefix(PLANNING)


def workstream_of(path: str) -> str:
    """The workstream that a path belongs to; empty for the project itself."""
    before, _, inside = path.partition(f"{PLANNING}/{WORKSTREAMS_NAME}/")
    name, slash, _ = inside.partition("/")
    return name if slash and not before else ""


def short_slug(text: str, default: str, longest: int = _MAX_SLUG) -> str:
    """The first words of a text as a file name, cut between words."""
    name = slug(text)
    if len(name) > longest:
        name = name[: longest + 1].rpartition("-")[0] or name[:longest]
    return name.strip("-") or default


def handoff_path(workstream: str, stamp: str = "") -> str:
    """The path of HANDOFF.json; a stamp gives a second name, beside the file of another tool."""
    name = f"{PLANNING}/{_HANDOFF}-{stamp}.json" if stamp else HANDOFF
    return in_planning(workstream, name)


def handoff_paths(workstream: str, names: Callable[[str], Iterable[str]]) -> tuple[str, ...]:
    """Every hand-off of a workstream and of the project, where other tools write theirs."""
    folders = dict.fromkeys((PLANNING, planning_of(workstream)))
    return tuple(
        f"{folder}/{name}" for folder in folders for name in names(folder) if is_handoff_name(name)
    )


def is_handoff_name(name: str) -> bool:
    """Whether a file name is that of a hand-off."""
    return name.startswith(_HANDOFF) and name.endswith(".json")


def pause_path(folder: str, stamp: str = "") -> str:
    """The readable page of a pause in a folder; a stamp gives a second name."""
    suffix = f"-{stamp}" if stamp else ""
    return f"{folder}/{CONTINUE_NAME}{suffix}.md"


def backlog_folder(workstream: str, number: str, title: str) -> str:
    """The folder of a backlog entry."""
    return f"{planning_of(workstream)}/{PHASES_NAME}/{number}-{short_slug(title, 'idea')}"


def quick_folder(name: str, text: str) -> str:
    """The folder of a quick task."""
    return f"{QUICK}/{name}-{short_slug(text, 'task')}"


def quick_plan(folder: str, name: str) -> str:
    """The plan of a quick task."""
    return f"{folder}/{name}-PLAN.md"


def debug_path(name: str, *, resolved: bool = False) -> str:
    """The file of a debug session."""
    return f"{DEBUG_RESOLVED if resolved else DEBUG}/{name}.md"
