"""Where a project is, what its main documents are called, and how large a document may be.

A project is the nearest folder, here or above, that contains `.planning`. A linked git worktree
without a `.planning` of its own belongs to the project of its main worktree. Git's small files
tell which one that is: starting git for such a common question would cost too much time.

File names that only one capability uses are in that capability's own `paths` module.
"""

from __future__ import annotations

import os

from fairlead.core.errors import FairleadError
from fairlead.store.confined import Root, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PLANNING = ".planning"
STATE_NAME = "STATE.md"
ROADMAP_NAME = "ROADMAP.md"
REQUIREMENTS_NAME = "REQUIREMENTS.md"
CONFIG_NAME = "config.json"
WORKSTREAMS_NAME = "workstreams"
STATE = f"{PLANNING}/{STATE_NAME}"
PROJECT = f"{PLANNING}/PROJECT.md"
REQUIREMENTS = f"{PLANNING}/{REQUIREMENTS_NAME}"
ROADMAP = f"{PLANNING}/{ROADMAP_NAME}"
CONFIG = f"{PLANNING}/{CONFIG_NAME}"
ACTIVE_WORKSTREAM = f"{PLANNING}/active-workstream"
JOURNAL_SUFFIX = ".jsonl"
USER_CONFIG = "config.json"  # in the user's configuration folder

ATTEMPT = "fairlead-attempt"  # marks an attempt's worktree, in git's folder for that worktree
JOB_MARK = "FAIRLEAD_JOB"  # environment variable of every process of a job
REHEARSALS = "rehearsals"  # in the user's state folder: copies of projects
RUNS = "runs"  # in the user's state folder: the private folders of jobs
DEPTH = "FAIRLEAD_DEPTH"  # environment variable of every process that an agent starts

STATE_LIMIT = 256 * 1024
DOCUMENT_LIMIT = 1024 * 1024
CONFIG_LIMIT = 64 * 1024
LEDGER_LIMIT = 16 * 1024 * 1024
_GIT_FILE_LIMIT = 4096
_LONGEST_LABEL = 80
_MOST_ANCESTORS = 64


def limit_of(path: str) -> int:
    """The largest size of a document in bytes, for reading and for writing."""
    name = path.rpartition("/")[2]
    if name == STATE_NAME:
        return STATE_LIMIT
    if name == CONFIG_NAME:
        return CONFIG_LIMIT
    return LEDGER_LIMIT if name.endswith(JOURNAL_SUFFIX) else DOCUMENT_LIMIT


def project_key(folder: str) -> str:
    """A file name for a project: the name of its folder and a hash of its full path."""
    hashed = 0xCBF29CE484222325  # FNV-1a: short commands should not pay for importing hashlib
    for byte in os.fsencode(folder):
        hashed = ((hashed ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{file_label(os.path.basename(folder)) or 'root'}-{hashed:016x}"


def planning_of(workstream: str) -> str:
    """The planning folder of a workstream, or of the project if there is no workstream."""
    return f"{PLANNING}/{WORKSTREAMS_NAME}/{workstream}" if workstream else PLANNING


def documents_of(workstream: str) -> tuple[str, ...]:
    """STATE, ROADMAP, PROJECT and REQUIREMENTS of a workstream. All workstreams share PROJECT."""
    home = planning_of(workstream)
    return f"{home}/{STATE_NAME}", f"{home}/{ROADMAP_NAME}", PROJECT, f"{home}/{REQUIREMENTS_NAME}"


def hint_for(path: str) -> str:
    """The next command to run when a document is missing."""
    if path.endswith((f"/{STATE_NAME}", f"/{ROADMAP_NAME}")):
        return "rebuild it from the other files: fairlead doctor --fix --create"
    if path.startswith(f"{PLANNING}/"):
        return "see what else is missing: fairlead check"
    return "nothing was changed"


def file_label(label: str) -> str:
    """A label that is safe as part of a file name: printable, without slashes, and short.

    Labels come from file names, so anyone may have chosen them.
    """
    plain = "".join(char if char.isprintable() and char not in "/\\" else "_" for char in label)
    return plain.encode()[-_LONGEST_LABEL:].decode(errors="ignore")


def find_project(start: str) -> str:
    """The folder of the project that `start` belongs to."""
    folder = nearest_folder(start, has_project)
    if not folder:
        from fairlead.store.errors import NoProject

        raise NoProject(start)
    return folder


def has_project(folder: str) -> bool:
    """Whether this folder itself contains `.planning`."""
    path = os.path.join(folder, PLANNING)
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return False
    kind = kind_of(status)
    if kind != "a folder":
        from fairlead.store.errors import NotAFolder

        raise NotAFolder(path, kind)
    return True


def nearest_folder(start: str, is_match: Callable[[str], bool]) -> str:
    """The first match among `start`, the folders above it and their main worktrees, or ""."""
    folder = os.path.realpath(start)
    while True:
        if is_match(folder):
            return folder
        main = _main_worktree(folder)
        if main and is_match(main):
            return main
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above


def repository_of(start: str) -> str:
    """The root of the git repository, found without git; "" if there is none."""
    return nearest_folder(start, lambda folder: os.path.lexists(os.path.join(folder, ".git")))


def main_tree_of(start: str) -> str:
    """The main worktree if `start` is in a linked one, else ""."""
    root = repository_of(start)
    return _main_worktree(root) if root else ""


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


def is_started_by_run(folder: str) -> bool:
    """Whether a run of the project that a folder belongs to started the present process.

    Its environment alone proves nothing, because an agent can clear it. The supervisor of the run adopts
    everything that the agent starts, so it is among the ancestors, and it names its job.
    """
    if DEPTH in os.environ:  # of a run of any project
        return True
    project = nearest_folder(folder, has_project)
    if not project:
        return False
    # An agent can remove the mark of its worktree, which then looks like a project of its own.
    main, root = main_tree_of(project), repository_of(project)
    places = (project, os.path.join(main, os.path.relpath(project, root)) if main else project)
    marks = tuple(
        os.fsencode(f"{JOB_MARK}={RUNS}/{project_key(os.path.normpath(each))}/") for each in places
    )
    process = str(os.getppid())
    for _ in range(_MOST_ANCESTORS):
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                variables = file.read().split(b"\0")
            with open(f"/proc/{process}/stat", "rb") as file:
                parent = file.read().rpartition(b")")[2].split()[1].decode()
        except (OSError, IndexError):
            return False
        if any(variable.startswith(marks) for variable in variables):
            return True
        if parent in ("0", "1"):
            return False
        process = parent
    return False


def _main_worktree(folder: str) -> str:
    """The main worktree of a linked one, else "". A submodule has no `commondir` file."""
    pointer = _git_line(folder, ".git")
    if not pointer.startswith("gitdir: "):
        return ""
    git = os.path.realpath(os.path.join(folder, pointer.removeprefix("gitdir: ")))
    common = _git_line(git, "commondir")
    if not common:
        return ""
    common = os.path.realpath(os.path.join(git, common))
    # Only git's own arrangement counts: a planted `.git` file must not lead anywhere else.
    if os.path.dirname(git) != os.path.join(common, "worktrees"):
        return ""
    return os.path.dirname(common) if os.path.basename(common) == ".git" else ""


def _git_line(folder: str, name: str) -> str:
    """The content of one of git's one-line files; "" if it cannot be read as one."""
    try:
        with Root(folder) as root:
            content = root.read(name, _GIT_FILE_LIMIT) or b""
    except (FileNotFoundError, FairleadError):
        return ""
    line = os.fsdecode(content).rstrip("\r\n")
    return "" if "\0" in line else line
