"""Whether the run that STATE.md shows as active is gone, for the status line.

STATE.md keeps `active_phase` when its process is killed. A run is alive only while it has its
lock, so the newest record of the phase that is not over, without a lock, belongs to an interrupted
run. Only the standard library and no `re`: the status line must start fast.
"""

import os

from fairlead.store import layout
from fairlead.store.confined import ConfinedFolder, Root, close_quietly
from fairlead.store.nearest_project import UNREADABLE, as_text

_JOBS, _RECORD, _LOCKS = "jobs", "job.json", ".fairlead"
_RECORD_LIMIT = 64 * 1024
_LOCK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def is_run_gone(project: str, phase: str, workstream: str = "") -> bool:
    """Whether the newest job of this phase is recorded as running, and no process runs it."""
    try:
        with Root(project) as root:
            planning = root.folder(layout.PLANNING)
            if planning is None:
                return False
            with planning:
                return _is_gone(planning, phase, workstream)
    except UNREADABLE:
        return False


def _is_gone(planning: ConfinedFolder, phase: str, workstream: str) -> bool:
    jobs = planning.folder(_JOBS)
    if jobs is None:
        return False
    with jobs:
        job, record = _newest(jobs, phase, workstream)
    if _value(record, "status") != "EXECUTING":
        return False
    purpose = f"run-{_value(record, 'kind')}-{_value(record, 'phase')}"
    purpose += f"@{workstream}" if workstream else ""
    locks = planning.folder(_LOCKS)
    if locks is None:
        return False
    with locks:
        return not any(_is_held(locks, name) for name in (purpose, f"run-{job}"))


def _newest(jobs: ConfinedFolder, phase: str, workstream: str) -> "tuple[str, str]":
    """The newest job of a phase and its record; empty if there is none."""
    with os.scandir(jobs.fd) as entries:
        folders = [each for each in entries if each.is_dir(follow_symlinks=False)]
    times = {each.name: os.stat(each.name, dir_fd=jobs.fd).st_mtime_ns for each in folders}
    for name in sorted(times, key=times.__getitem__, reverse=True):
        folder = jobs.folder(name)
        if folder is None:
            continue
        with folder:
            text = as_text(folder.read_start(_RECORD, _RECORD_LIMIT) or b"")
        number = _value(text, "phase").lstrip("0")
        if number == phase.lstrip("0") and _value(text, "workstream") == workstream:
            return name, text
    return "", ""


def _value(record: str, key: str) -> str:
    """A text of a record as Fairlead writes it, one key a line."""
    return record.partition(f'\n  "{key}": "')[2].partition('"')[0]


def _is_held(locks: ConfinedFolder, name: str) -> bool:
    import fcntl

    try:
        fd = os.open(name, _LOCK, dir_fd=locks.fd)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        close_quietly(fd)
    return False
