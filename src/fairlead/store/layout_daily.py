"""Where everyday work is kept: todos, notes, the backlog, quick tasks, debugging, pauses.

Apart from `layout`, which every short command loads; nobody else knows these names.
"""

from __future__ import annotations

from fairlead.model.ids import slug
from fairlead.store.layout import (
    COMPLETED_TODOS,
    CONTINUE_NAME,
    PENDING_TODOS,
    PHASES_NAME,
    PLANNING,
    ULTRAPLAN,
    WORKSTREAMS_NAME,
    is_handover_name,
    planning_of,
)

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
CORNERS = ("spikes", "sketches", "deliberations", "research")  # where others pause as well
ROOT_PAGE = f"{CONTINUE_NAME}.md"  # somebody may pause outside the memory
KEEP = ".gitkeep"  # so that git keeps an empty folder
_HANDOFF = "HANDOFF"
_LONGEST_SLUG = 40


def in_planning(workstream: str, path: str) -> str:
    """The same place in the memory of a workstream."""
    return planning_of(workstream) + path.removeprefix(PLANNING)


def workstream_of(path: str) -> str:
    """The workstream in whose memory a place lies; empty for the project's own."""
    home, _, inside = path.partition(f"{PLANNING}/{WORKSTREAMS_NAME}/")
    name, slash, _ = inside.partition("/")
    return name if slash and not home else ""


def short_slug(text: str, otherwise: str, longest: int = _LONGEST_SLUG) -> str:
    """A name made of the first words of a text, cut between words."""
    made = slug(text)
    if len(made) > longest:
        made = made[: longest + 1].rpartition("-")[0] or made[:longest]
    return made.strip("-") or otherwise


def handoff_path(workstream: str, stamp: str = "") -> str:
    """Where a pause is written down; with a stamp, beside one that somebody else wrote."""
    name = f"{PLANNING}/{_HANDOFF}-{stamp}.json" if stamp else HANDOFF
    return in_planning(workstream, name)


def handoff_paths(workstream: str, names: Callable[[str], Iterable[str]]) -> tuple[str, ...]:
    """Every pause of a memory and of the project, where other tools write theirs."""
    homes = dict.fromkeys((PLANNING, planning_of(workstream)))
    return tuple(
        f"{home}/{name}" for home in homes for name in names(home) if is_handoff_name(name)
    )


def is_handoff_name(name: str) -> bool:
    """Whether a file tells of a pause, by its name."""
    return name.startswith(_HANDOFF) and name.endswith(".json")


def handover_paths(workstream: str, names: Callable[[str], Iterable[str]]) -> tuple[str, ...]:
    """Every hand-over of a memory, its phases, the project and the other dialect."""
    home = planning_of(workstream)
    phases = f"{home}/{PHASES_NAME}"
    folders = [PLANNING, home, ULTRAPLAN, *(f"{phases}/{name}" for name in sorted(names(phases)))]
    paths = [f"{each}/{name}" for each in dict.fromkeys(folders) for name in sorted(names(each))]
    return tuple(filter(is_handover_name, paths))


def pause_path(folder: str, stamp: str = "") -> str:
    """The page of a pause for people, in the folder of the phase; with a stamp, another one."""
    suffix = f"-{stamp}" if stamp else ""
    return f"{folder}/{CONTINUE_NAME}{suffix}.md"


def backlog_folder(workstream: str, number: str, title: str) -> str:
    """The folder of an idea that has no milestone yet."""
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
