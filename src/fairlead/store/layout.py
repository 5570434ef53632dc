"""Layout: the only module that knows what a file is called, and where a project is.

A project is the nearest folder, here or above, that holds `.planning`. A linked git worktree
without one of its own belongs to the project of its main tree; that is found by reading
git's own small files, because no program is started to answer a question this common.
"""

from __future__ import annotations

import os

from fairlead.faults import FairleadError, NoProject, NotAFolder, PathOutside
from fairlead.store.confine import Root, components, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PLANNING = ".planning"
STATE_NAME = "STATE.md"
ROADMAP_NAME = "ROADMAP.md"
REQUIREMENTS_NAME = "REQUIREMENTS.md"
CONFIG_NAME = "config.json"
PHASES_NAME = "phases"
PLANS_NAME = "plans"  # a folder in that of a phase
LEDGER_SUFFIX = ".jsonl"
MILESTONES_NAME = "milestones"
ARCHIVED_PHASES = "-phases"  # milestones/v1.0-phases
WORKSTREAMS_NAME = "workstreams"
PENDING_TODOS = "todos/pending"
COMPLETED_TODOS = "todos/completed"
SHIPPED_NAME = "MILESTONES.md"
AUDIT = "MILESTONE-AUDIT"
CONTINUE_NAME = ".continue-here"
WAITING_NAME = "WAITING.json"
STATE = f"{PLANNING}/{STATE_NAME}"
PROJECT = f"{PLANNING}/PROJECT.md"
REQUIREMENTS = f"{PLANNING}/{REQUIREMENTS_NAME}"
ROADMAP = f"{PLANNING}/{ROADMAP_NAME}"
CONFIG = f"{PLANNING}/{CONFIG_NAME}"
PHASES = f"{PLANNING}/{PHASES_NAME}"
LEDGER = f"{PLANNING}/ledger"  # evidence: one file a plan
USER_CONFIG = "config.json"  # in the person's own configuration folder
CLAUDE_SETTINGS = "settings.json"
CLAUDE_LOCAL_SETTINGS = "settings.local.json"
CODEX_HOOKS = "hooks.json"
CODEX_CONFIG = "config.toml"
RECEIPT = ".fairlead"  # after the name of a host's settings file
ACTIVE_WORKSTREAM = f"{PLANNING}/active-workstream"
WAITING = f"{PLANNING}/{WAITING_NAME}"
CONTINUE = f"{PLANNING}/{CONTINUE_NAME}.md"
ULTRAPLAN = ".ultraplan/state"  # where the other dialect keeps its hand-over
ULTRAPLAN_CONTINUE = "continue"
ATTRIBUTES = f"{PLANNING}/.gitattributes"  # which documents git merges with our driver
JOBS = f"{PLANNING}/jobs"
HOST_SETTINGS = (".claude/settings.json", ".claude/settings.local.json", ".codex/hooks.json")
REHEARSALS = "rehearsals"  # copies of projects, in the person's own folder
JOB_RECORD = "job.json"
GATES = "gates"
QUESTIONS = "questions"
EVENTS = "events.jsonl"

# The Plan Phase stands beside the host agent's own files, also where there is no project yet.
PLAN_FILE = ".claude/orchestrator-plan-phase.local.md"
EXEC_FILE = ".claude/orchestrator-exec-phase.local.md"
PLAN_IGNORED = ".claude/orchestrator-*.local.md"  # both of them, and their backups
PLAN_REQUIREMENTS = "USER_REQUIREMENTS.md"  # unless the plan file names another
GIT_IGNORE = ".gitignore"
APPROVED = "approved"  # plans whose commands a person approved, in the person's own state folder
CHECKS = "checks"  # what a person allowed and what came of it, in the person's own state folder

# The desk is where the writer keeps its lock and its unfinished work: never in the way of
# a person's files or of an agent's `git add`.
DESK_NAME = ".fairlead"
DESK = f"{PLANNING}/{DESK_NAME}"
PLAN_DESK = f".claude/{DESK_NAME}"  # only where there is no `.planning`
USER_DESK = DESK_NAME
HOST_DESK = ".fairlead-install"  # beside a host's settings, apart from a plan's desk there
HOLD = "hold.json"  # which session the plan keeps from stopping
LOCK = "lock"
ATTEMPT = "fairlead-attempt"  # in git's own folder of an attempt's worktree
DEPTH = "FAIRLEAD_DEPTH"  # a variable that every process of an agent carries
RUN_LOCK = "run"  # held by the one run that executes in this project
IGNORE = ".gitignore"
IGNORE_ALL = b"*\n"
INTENT = "intent.json"
LAST = "last.json"  # what the last event replaced, for undo
KEEPING = "keeping.json"  # the same for an event that is not complete yet
RESCUED = "rescued"
REMOVED = "removed"  # phases that were taken out of the roadmap, and hand-overs that are done
SESSION = "session-"  # a lock that a running session holds
WRITING = "w-"  # a file that is still being written
STAGED = "x-"  # a complete version, or what it was exchanged with

STATE_LIMIT = 256 * 1024
DOCUMENT_LIMIT = 1024 * 1024
CONFIG_LIMIT = 64 * 1024
LEDGER_LIMIT = 16 * 1024 * 1024
_GIT_FILE_LIMIT = 4096
_LONGEST_LABEL = 80


def limit_of(path: str) -> int:
    """How many bytes a document may have: read and written alike."""
    match path.rpartition("/")[2]:
        case "STATE.md":
            return STATE_LIMIT
        case "config.json":
            return CONFIG_LIMIT
        case name if name.endswith(LEDGER_SUFFIX):
            return LEDGER_LIMIT
        case _:
            return DOCUMENT_LIMIT


def mode_of(path: str) -> int:
    """Who may read a new document, before the umask: what a person allowed is their own."""
    return 0o600 if path.startswith((f"{CHECKS}/", f"{APPROVED}/")) else 0o666


def require_document(path: str, desk: str) -> None:
    """Refuse what is not a document beside the desk.

    Above all for records of interrupted steps: one that came with a clone must reach nothing
    that the clone itself could not have brought.
    """
    home = components(desk)[:-1]
    parts = components(path)
    if desk == DESK and _is_handover(parts):
        return
    if desk in (DESK, PLAN_DESK) and is_plan_document(path):
        return
    if desk == PLAN_DESK:
        raise PathOutside(path, "is not a document of the Plan Phase")
    inside = parts[len(home) :]
    if parts[: len(home)] != home or not inside or inside[0] in (DESK_NAME, HOST_DESK):
        raise PathOutside(path, f"is not a document in {'/'.join(home) or 'this folder'}")


def is_plan_document(path: str) -> bool:
    """Whether it is one of the few files that the Plan Phase writes."""
    lead, _, tail = PLAN_IGNORED.partition("*")
    is_local = path.startswith(lead) and path.endswith(tail) and "/" not in path[len(lead) :]
    return is_local or path in (PLAN_REQUIREMENTS, GIT_IGNORE)


def plan_backup(path: str, stamp: str) -> str:
    """Where a plan or exec file goes that is put aside; the git-ignore entry covers it."""
    return f"{path.removesuffix('.local.md')}.{stamp}.local.md"


def checks_name(folder: str) -> str:
    """The record of a project's checks."""
    return f"{CHECKS}/{project_key(folder)}.json"


def approvals_path(folder: str) -> str:
    """The plans of a project that a person approved."""
    return f"{APPROVED}/{project_key(folder)}.txt"


def runs_path(folder: str, job: str) -> str:
    """The private folder of a job; among those of all projects, its processes are known by it."""
    return f"runs/{project_key(folder)}/{job}"


def private_folder(state: str, folder: str, job: str) -> str:
    """The same on the disk, in the person's own folder for what programs remember."""
    return f"{state}/{runs_path(folder, job)}"


def project_key(folder: str) -> str:
    """A project in the person's own folders, named for its folder and its place."""
    place = 0xCBF29CE484222325  # FNV-1a: no secret, and no import
    for byte in os.fsencode(folder):
        place = ((place ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{_cut(os.path.basename(folder)) or 'root'}-{place:016x}"


def handover_path(session: str, *, in_ultraplan: bool, workstream: str = "") -> str:
    """Where a session keeps its hand-over; without a session, the place that comes first."""
    suffix = f"-{session}" if session else ""
    if in_ultraplan and not workstream:
        return f"{ULTRAPLAN}/{ULTRAPLAN_CONTINUE}{suffix}.md"
    return f"{planning_of(workstream)}/{CONTINUE_NAME}{suffix}.md"


def is_handover_name(path: str) -> bool:
    """Whether a file is a hand-over by its name; one that was put aside is not."""
    name = path.rpartition("/")[2]
    lead = ULTRAPLAN_CONTINUE if path.startswith(ULTRAPLAN) else CONTINUE_NAME
    return name.startswith(lead) and name.endswith(".md")


def aside_path(path: str, stamp: str) -> str:
    """Where a hand-over goes that somebody does not want to resume."""
    return f"{path}.{stamp}"


def removed_path(path: str, stamp: str, desk: str = DESK) -> str:
    """Where a file of ours goes that has done its duty."""
    return f"{desk}/{REMOVED}/{stamp}-{_cut(path.rpartition('/')[2].lstrip('.'))}"


def undone_name(path: str, desk: str) -> str:
    """Where a file or folder goes when the event that made it is taken back."""
    return f"{desk}/{REMOVED}/{_random()}-{_cut(path.rpartition('/')[2])}"


def planning_of(workstream: str) -> str:
    """The folder of a workstream's memory; without one, the project's own."""
    return f"{PLANNING}/{WORKSTREAMS_NAME}/{workstream}" if workstream else PLANNING


def documents_of(workstream: str) -> tuple[str, ...]:
    """STATE, ROADMAP, PROJECT and REQUIREMENTS of a workstream; PROJECT is shared by all."""
    home = planning_of(workstream)
    return f"{home}/{STATE_NAME}", f"{home}/{ROADMAP_NAME}", PROJECT, f"{home}/{REQUIREMENTS_NAME}"


def archived_document(workstream: str, version: str, kind: str) -> str:
    """What a milestone leaves behind: its ROADMAP, its REQUIREMENTS, its audit."""
    return f"{planning_of(workstream)}/{MILESTONES_NAME}/{version}-{kind}.md"


def archived_phases(workstream: str, version: str) -> str:
    """The folder that a milestone's phases are moved to."""
    return f"{planning_of(workstream)}/{MILESTONES_NAME}/{version}{ARCHIVED_PHASES}"


def ledger_path(plan: str, workstream: str = "") -> str:
    """Where the evidence of a plan is kept; workstreams may give plans the same number."""
    lead = f"{workstream}@" if workstream else ""
    return f"{LEDGER}/{lead}{plan.lower()}{LEDGER_SUFFIX}"


def job_path(job: str, name: str = "") -> str:
    """The folder of a job, or a file in it."""
    return f"{JOBS}/{job}/{name}" if name else f"{JOBS}/{job}"


def archive_of(workstream: str) -> str:
    """Where text of STATE.md goes that was replaced or has grown old."""
    return f"{planning_of(workstream)}/STATE-ARCHIVE.md"


def hint_for(path: str) -> str:
    """What to do when a document is not there."""
    if path == PLAN_FILE:
        return 'begin one with: fairlead planning start "GOAL"'
    if path == EXEC_FILE:
        return "approve the plan first: fairlead planning approve"
    if path.endswith((f"/{STATE_NAME}", f"/{ROADMAP_NAME}")):
        return "have it made anew from the files: fairlead doctor --fix"
    if path.startswith(f"{PLANNING}/"):
        return "see what else is missing with: fairlead check"
    return "nothing was changed"


def writing_name() -> str:
    """A name nobody can foresee for a file that is being written."""
    return WRITING + _random()


def staged_name(label: str, old: str, new: str) -> str:
    """The name of a complete version: it tells whose it is from what it was exchanged with."""
    return f"{STAGED}{_random()}.{old}.{new}.{_cut(label)}"


def staged_parts(name: str) -> tuple[str, str, str]:
    """Label, old and new fingerprint of a staged name; of any other, only a label."""
    parts = name.removeprefix(STAGED).split(".", 3)
    return (parts[3], parts[1], parts[2]) if len(parts) == 4 else (name, "", "")


def rescued_name(label: str) -> str:
    """A readable name under which a version is kept that could not stay in its place."""
    stem, dot, suffix = _cut(label).rpartition(".")
    return f"{stem}-{_random()}.{suffix}" if dot and stem else f"{suffix}-{_random()}"


def find_project(start: str) -> str:
    """The folder of the project that `start` belongs to."""
    found = _nearest(start, has_project)
    if not found:
        raise NoProject(start)
    return found


def find_plan_home(start: str) -> str:
    """The nearest folder, here or above, that has a plan or a project; nothing if none has."""
    return _nearest(start, lambda folder: _has_plan(folder) or has_project(folder))


def desk_of(folder: str) -> str:
    """Where the writers of this folder meet: one lock a project, whatever is written.

    A step that was interrupted before the project was made is completed where it was begun.
    """
    is_begun = os.path.lexists(os.path.join(folder, PLAN_DESK, INTENT))
    return DESK if has_project(folder) and not is_begun else PLAN_DESK


def _nearest(start: str, holds: Callable[[str], bool]) -> str:
    folder = os.path.realpath(start)
    while True:
        if holds(folder):
            return folder
        main = _main_tree(folder)
        if main and holds(main):
            return main
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above


def _has_plan(folder: str) -> bool:
    return any(os.path.lexists(os.path.join(folder, path)) for path in (PLAN_FILE, EXEC_FILE))


def repository_of(start: str) -> str:
    """The root of the git repository, by its own small file or folder; nothing without one."""
    return _nearest(start, lambda folder: os.path.lexists(os.path.join(folder, ".git")))


def main_tree_of(start: str) -> str:
    """The main tree, if this is in a linked one; else nothing."""
    root = repository_of(start)
    return _main_tree(root) if root else ""


def _is_handover(parts: list[str]) -> bool:
    """The one kind of document outside the project's memory that is written."""
    *folder, name = parts
    return "/".join(folder) == ULTRAPLAN and name.startswith(ULTRAPLAN_CONTINUE)


def has_project(folder: str) -> bool:
    """Whether a folder holds the memory of a project itself."""
    path = os.path.join(folder, PLANNING)
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return False
    kind = kind_of(found)
    if kind != "a folder":
        raise NotAFolder(path, kind)
    return True


def _main_tree(folder: str) -> str:
    """The main tree of a linked worktree, or nothing. A submodule has no `commondir`."""
    pointer = _git_line(folder, ".git")
    if not pointer.startswith("gitdir: "):
        return ""
    git = os.path.realpath(os.path.join(folder, pointer.removeprefix("gitdir: ")))
    common = _git_line(git, "commondir")
    if not common:
        return ""
    common = os.path.realpath(os.path.join(git, common))
    if os.path.dirname(git) != os.path.join(common, "worktrees"):
        return ""
    return os.path.dirname(common) if os.path.basename(common) == ".git" else ""


def is_attempt(folder: str) -> bool:
    """Whether a folder is in the worktree of an agent's attempt."""
    folder = os.path.realpath(folder)
    while True:
        pointer = _git_line(folder, ".git")
        if pointer.startswith("gitdir: "):
            git = os.path.join(folder, pointer.removeprefix("gitdir: "))
            return os.path.exists(os.path.join(git, ATTEMPT))
        above = os.path.dirname(folder)
        if above == folder or os.path.isdir(os.path.join(folder, ".git")):
            return False
        folder = above


def _git_line(folder: str, name: str) -> str:
    """The one line of a small file of git; nothing, when it is anything else."""
    try:
        with Root(folder) as root:
            content = root.read(name, _GIT_FILE_LIMIT) or b""
    except (FileNotFoundError, FairleadError):
        return ""
    line = os.fsdecode(content).rstrip("\r\n")
    return "" if "\0" in line else line


def _cut(label: str) -> str:
    """A label as a part of a name: printable, and short enough. It may come from anybody."""
    plain = "".join(char if char.isprintable() and char not in "/\\" else "_" for char in label)
    return plain.encode()[-_LONGEST_LABEL:].decode(errors="ignore")


def _random() -> str:
    return os.urandom(8).hex()
