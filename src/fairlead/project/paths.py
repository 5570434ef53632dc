"""File names of project memory: phases, milestones, todos, the archive, handovers, questions."""

from fairlead.store.layout import PLANNING, planning_of

PHASES_NAME = "phases"
PLANS_NAME = "plans"  # a folder in the folder of a phase
MILESTONES_NAME = "milestones"
ARCHIVED_PHASES = "-phases"  # milestones/v1.0-phases
ARCHIVED_ROADMAP = "-ROADMAP.md"  # milestones/v1.0-ROADMAP.md
ARCHIVES = (MILESTONES_NAME, "archive", "archives", "phases-archive")
PENDING_TODOS = "todos/pending"
COMPLETED_TODOS = "todos/completed"
SHIPPED_NAME = "MILESTONES.md"
AUDIT = "MILESTONE-AUDIT"
CONTINUE_NAME = ".continue-here"
WAITING_NAME = "WAITING.json"
ULTRAPLAN = ".ultraplan/state"  # where the Ultraplan dialect keeps its handovers
ULTRAPLAN_CONTINUE = "continue"
PHASES = f"{PLANNING}/{PHASES_NAME}"
WAITING = f"{PLANNING}/{WAITING_NAME}"
CONTINUE = f"{PLANNING}/{CONTINUE_NAME}.md"
ATTRIBUTES = f"{PLANNING}/.gitattributes"  # the documents that git merges with our driver


def archived_document(workstream: str, version: str, kind: str) -> str:
    """A document of a finished milestone: its ROADMAP, its REQUIREMENTS or its audit."""
    return f"{planning_of(workstream)}/{MILESTONES_NAME}/{version}-{kind}.md"


def archived_phases(workstream: str, version: str) -> str:
    """The folder that the phases of a finished milestone are moved to."""
    return f"{planning_of(workstream)}/{MILESTONES_NAME}/{version}{ARCHIVED_PHASES}"


def archive_of(workstream: str) -> str:
    """The archive of text that was replaced in STATE.md or became too old for it."""
    return f"{planning_of(workstream)}/STATE-ARCHIVE.md"


def handover_path(session: str, *, in_ultraplan: bool, workstream: str = "") -> str:
    """The handover of a session; without a session, the one that is read first."""
    suffix = f"-{session}" if session else ""
    if in_ultraplan and not workstream:
        return f"{ULTRAPLAN}/{ULTRAPLAN_CONTINUE}{suffix}.md"
    return f"{planning_of(workstream)}/{CONTINUE_NAME}{suffix}.md"


def is_handover_name(path: str) -> bool:
    """Whether a path is a handover by its name. One that was declined is not."""
    name = path.rpartition("/")[2]
    start = ULTRAPLAN_CONTINUE if path.startswith(ULTRAPLAN) else CONTINUE_NAME
    return name.startswith(start) and name.endswith(".md")


def aside_path(path: str, stamp: str) -> str:
    """The new name of a handover that the user declined to resume."""
    return f"{path}.{stamp}"
