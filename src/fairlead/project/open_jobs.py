"""Jobs that are not over, as `status`, `next`, `resume` and `job` show them.

A job is running only while a process holds its lock. A record that says otherwise belongs to a
process that is gone. The next command is never one that a running job would refuse.
"""

from collections.abc import Sequence
from enum import StrEnum

from fairlead.core.values import dataclass
from fairlead.project.derive.position import Next


class JobState(StrEnum):
    """How a job stands at this moment."""

    DAMAGED = "damaged"  # its record cannot be read, and every run is refused until it can
    WAITS = "waits"  # for a person; the command is the answer
    RUNNING = "running"
    INTERRUPTED = "interrupted"  # its process is gone
    OPEN = "open"  # nothing is asked any more, and its command continues it
    ENDED = "ended"


# By urgency: what is said of the job, and what its command does.
_WORDS = {
    JobState.DAMAGED: ("cannot be read", "see how to restore it:"),
    JobState.WAITS: ("waits for a person", "answer it with:"),
    JobState.RUNNING: ("is running", "follow it with:"),
    JobState.INTERRUPTED: ("was interrupted", "its process is gone; continue it with:"),
    JobState.OPEN: ("is not finished", "continue it with:"),
    JobState.ENDED: ("has ended", ""),
}
_ORDER = (*_WORDS,)


@dataclass(frozen=True, slots=True)
class OpenJob:
    """A job with its present state, and the command that a person needs for it."""

    id: str
    kind: str
    phase: str
    status: str  # as recorded; INTERRUPTED or WAITING if that needs a process and there is none
    state: JobState
    is_running: bool  # a running job may also wait for an answer
    note: str  # the first line of its question, or the reason for its status
    command: str  # empty: the job has ended
    is_rehearsed: bool = False
    workstream: str = ""

    @property
    def words(self) -> str:
        """The state in words, after the name of the job."""
        return _WORDS[self.state][0]

    @property
    def hint(self) -> str:
        """The words before its command; empty: the job has ended."""
        return _WORDS[self.state][1]

    @property
    def reason(self) -> str:
        """Why its command is the next one."""
        reason = f"job {self.id} {self.words}"
        if self.state in (JobState.INTERRUPTED, JobState.OPEN):
            reason += f"; to give it up: fairlead job cancel {self.id}"
        return reason


def concerning(jobs: Sequence[OpenJob], workstream: str) -> tuple[OpenJob, ...]:
    """The jobs that concern a workstream, the most urgent first.

    A running job concerns all of them, since executions share one lock, and so does a damaged one.
    """
    return in_order([job for job in jobs if _is_common(job) or job.workstream == workstream])


def _is_common(job: OpenJob) -> bool:
    return job.is_running or job.state is JobState.DAMAGED


def in_order(jobs: Sequence[OpenJob]) -> tuple[OpenJob, ...]:
    """The jobs, the most urgent first."""
    return tuple(sorted(jobs, key=lambda job: _ORDER.index(job.state)))


def next_with_jobs(jobs: Sequence[OpenJob], derived: Next) -> Next:
    """The next command: that of the most urgent job, otherwise the one that the files suggest."""
    for job in jobs:
        action = "" if job.state is JobState.RUNNING else "resume"
        return Next(action, "", job.command, job.reason)
    return derived
