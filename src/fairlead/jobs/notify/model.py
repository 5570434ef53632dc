"""Which events are reported, and when: pure decisions over the events of a job."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from fairlead.core.values import dataclass
from fairlead.jobs.model import JobStatus

TEST_JOB = "test"


class NotifyKind(StrEnum):
    """Why a person is notified."""

    WAITS = "waits"
    FAILED = "failed"
    ENDED = "ended"
    TEST = "test"


_WORDS = {
    NotifyKind.WAITS: "waits for you",
    NotifyKind.FAILED: "failed",
    NotifyKind.ENDED: "is done",
    NotifyKind.TEST: "This is a test",
}
_BY_STATUS = {
    JobStatus.DONE: NotifyKind.ENDED,
    JobStatus.FAILED: NotifyKind.FAILED,
    JobStatus.BLOCKED: NotifyKind.WAITS,
    JobStatus.APPROVED: NotifyKind.WAITS,
}
_ENDINGS = ("finished", "moved")  # the event of a council is `moved`


@dataclass(frozen=True, slots=True)
class Notification:
    """One message. Every field is made by Fairlead: none comes from an agent."""

    event: NotifyKind
    job: str
    kind: str
    phase: str
    status: str
    project: str  # the name of its folder
    at: str
    command: str

    @property
    def title(self) -> str:
        """The first line."""
        return f"Fairlead: {self.project}"

    @property
    def text(self) -> str:
        """One sentence and the command that shows more."""
        subject = "" if self.event is NotifyKind.TEST else f"{self.job} "
        return f"{subject}{_WORDS[self.event]}. {self.command}".rstrip(". ")


def notify_kind(
    event: str, facts: Mapping[str, object], *, may_run_commands: bool
) -> NotifyKind | None:
    """Why a person should be notified of an event; None: they need not know."""
    if event == "question":
        return NotifyKind.WAITS
    status = str(facts.get("status", ""))
    if event not in _ENDINGS or status not in tuple(JobStatus):
        return None
    if status == JobStatus.APPROVED and may_run_commands:
        return None  # its execution begins at once
    return _BY_STATUS.get(JobStatus(status))
