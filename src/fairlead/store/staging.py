"""The staging folder: where a writer keeps its lock and its unfinished work.

It is a hidden folder beside the documents, so that a killed command leaves nothing among the
user's files and `git add .planning` never picks up half a document. This module has the names in
it, and the rule which documents may be written from it.
"""

from __future__ import annotations

import os

from fairlead.store.confined import ConfinedFolder, Root, components, storage_error
from fairlead.store.layout import PLANNING, file_label, has_project

STAGING_NAME = ".fairlead"
STAGING = f"{PLANNING}/{STAGING_NAME}"
PLAN_STAGING = f".claude/{STAGING_NAME}"  # for a plan in a folder that has no `.planning` yet
USER_STAGING = STAGING_NAME  # in the user's configuration and state folders

LOCK = "lock"
SESSION = "session-"  # prefix of the locks of running sessions
IGNORE = ".gitignore"
IGNORE_ALL = b"*\n"
INTENT = "intent.json"
LAST = "last.json"  # what the last command replaced, for undo
PAST = "past-"  # prefix of the records before it
KEEPING = "keeping.json"  # the same for a command that is not complete yet
RESCUED = "rescued"
REMOVED = "removed"  # phases taken out of the roadmap, and handovers that were resumed
WRITING = "w-"  # prefix of a file that is still being written
STAGED = "x-"  # prefix of a complete version, and of the old version after the exchange

_PRIVATE = 0o600

# Documents that may be written although they are not beside the staging folder. A `*` stands for
# any characters except a slash.
_PLAN_DOCUMENTS = (".claude/orchestrator-*.local.md", "USER_REQUIREMENTS.md", ".gitignore")
_OUTSIDE_DOCUMENTS = {
    STAGING: (*_PLAN_DOCUMENTS, ".ultraplan/state/continue*"),
    PLAN_STAGING: _PLAN_DOCUMENTS,
}


def require_document(path: str, staging: str) -> None:
    """Refuse a path that may not be written from this staging folder.

    This matters most for records of interrupted steps: a record that came with a clone must not
    reach any file that the clone itself could not have contained.
    """
    home = components(staging)[:-1]
    parts = components(path)
    if any(_matches(path, pattern) for pattern in _OUTSIDE_DOCUMENTS.get(staging, ())):
        return
    if staging == PLAN_STAGING:
        from fairlead.store.errors import PathOutside

        raise PathOutside(path, "is not a document of the Plan Phase")
    inside = parts[len(home) :]
    if parts[: len(home)] != home or not inside or inside[0].startswith(STAGING_NAME):
        from fairlead.store.errors import PathOutside

        raise PathOutside(path, f"is not a document in {'/'.join(home) or 'this folder'}")


def _matches(path: str, pattern: str) -> bool:
    start, star, end = pattern.partition("*")
    if not star:
        return path == pattern
    return path.startswith(start) and path.endswith(end) and "/" not in path[len(start) :]


def user_step(folder: str) -> str:
    """The record of an unfinished step in one of the user's own folders.

    Only steps of several documents have a record, and no command makes such a step there.
    """
    return os.path.join(folder, USER_STAGING, INTENT)


def staging_of(folder: str) -> str:
    """The staging folder that all writers of this folder use, so that one lock covers them.

    A step that was interrupted before `.planning` was created is completed where it began.
    """
    is_begun = os.path.lexists(os.path.join(folder, PLAN_STAGING, INTENT))
    return STAGING if has_project(folder) and not is_begun else PLAN_STAGING


def open_staging(root: Root, path: str) -> ConfinedFolder:
    """Open the staging folder. If it has to be created, hide it from git at once."""
    staging = root.kept_folder(path)
    if staging.stat(IGNORE) is None:
        replace_small_file(staging, IGNORE, IGNORE_ALL)
    return staging


def replace_small_file(staging: ConfinedFolder, name: str, content: bytes) -> None:
    """Replace a file in the staging folder atomically, without waiting for the disk."""
    writing = writing_name()
    try:
        with open(staging.create(writing, _PRIVATE), "wb") as file:
            file.write(content)
        staging.move(writing, staging, name)
    except OSError as error:
        raise storage_error(staging.path_of(name), error) from error


def writing_name() -> str:
    """An unpredictable name for a file that is being written."""
    return WRITING + _random()


def staged_name(label: str, old: str, new: str) -> str:
    """The name of a complete version. The fingerprints tell it from the version it replaces."""
    return f"{STAGED}{_random()}.{old}.{new}.{file_label(label)}"


def staged_parts(name: str) -> tuple[str, str, str]:
    """Label, old and new fingerprint of a staged name; for other names only a label."""
    parts = name.removeprefix(STAGED).split(".", 3)
    return (parts[3], parts[1], parts[2]) if len(parts) == 4 else (name, "", "")


def rescued_name(label: str) -> str:
    """A readable name for a version that lost its place to a concurrent change."""
    stem, dot, suffix = file_label(label).rpartition(".")
    return f"{stem}-{_random()}.{suffix}" if dot and stem else f"{suffix}-{_random()}"


def removed_path(path: str, stamp: str, staging: str = STAGING) -> str:
    """Where a file goes that Fairlead no longer needs."""
    return f"{staging}/{REMOVED}/{stamp}-{file_label(path.rpartition('/')[2].lstrip('.'))}"


def undone_name(path: str, staging: str) -> str:
    """Where a file or folder goes when the command that created it is undone."""
    return f"{staging}/{REMOVED}/{_random()}-{file_label(path.rpartition('/')[2])}"


def _random() -> str:
    return os.urandom(8).hex()


def is_there(path: str) -> bool:
    """Whether a path exists. Unlike `os.path.lexists`, a disk error is not a missing file."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise storage_error(path, error) from error
    return True


def remove_staging(folder: str, staging: str) -> None:
    """Remove a staging folder that is needed only during one command.

    It stays if it contains a version that was rescued for the user.
    """
    import shutil

    place = os.path.join(folder, staging)
    if not is_there(os.path.join(place, RESCUED)):
        shutil.rmtree(place, ignore_errors=True)  # does not follow links
