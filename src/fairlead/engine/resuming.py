"""Resuming: which job the execution of a phase goes on with, and what a new one is called."""

from __future__ import annotations

from datetime import datetime
from itertools import count
from typing import TYPE_CHECKING

from fairlead.model.job import Job
from fairlead.store import layout
from fairlead.store.jobs import JobFiles, job_ids

if TYPE_CHECKING:
    from fairlead.engine.ports import Workspace
    from fairlead.store.files import Files

_LEAD = "execute-"


def unfinished(files: Files, workspace: Workspace, errand: tuple[str, str, str, bool]) -> str:
    """The newest job of an errand that is open, or was killed at its very end; empty: none is."""
    newest = ""
    for job in reversed([each for each in job_ids(files) if each.startswith(_LEAD)]):
        held = JobFiles(files.folder, job, is_read_only=True).load_record()
        if not isinstance(held, Job) or held.errand != errand:
            continue
        if held.is_open or (not newest and _is_cut_off(held, workspace)):
            return job
        newest = newest or job
    return ""


def _is_cut_off(job: Job, workspace: Workspace) -> bool:
    """Whether a job was killed between its end and the commit that keeps its record."""
    if not job.commits_end or workspace.branch() != job.target:
        return False
    record = layout.job_path(job.id, layout.JOB_RECORD)
    return any(record.startswith(path) for path in workspace.dirty_paths(""))


def new_id(files: Files, phase: str, now: datetime) -> str:
    """A name for a job; two that begin in one second have two."""
    name = f"{_LEAD}{phase.lower()}-{now:%Y%m%d-%H%M%S}"
    names = (name if at == 1 else f"{name}-{at}" for at in count(1))
    return next(each for each in names if not files.exists(layout.job_path(each)))
