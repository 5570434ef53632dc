"""Errors of council jobs."""

from __future__ import annotations

from fairlead.core.errors import BlockedError, ConflictError, UsageError


class PlanWaits(BlockedError, code="plan-waits"):
    """The plan of a council is approved by its seats and waits for a person."""

    job: str
    message = "the plan of {job} waits for a person: its commands need an approval"
    hint = "look at it: fairlead job show {job}, then: fairlead run --job {job} --approve"


class NotRetried(UsageError, code="not-retried"):
    """Only council jobs can be retried as a new job."""

    job: str
    status: str
    command: str
    message = "{job} is not a council job and is {status}: its own command resumes or restarts it"
    hint = "next: {command}"


class JobNotOver(UsageError, code="job-not-over"):
    """The job's status does not allow this."""

    job: str
    status: str
    message = "{job} is {status}, which does not allow this"
    hint = "see what it allows now: fairlead job show {job}"


class NothingToRule(UsageError, code="nothing-to-rule"):
    """The item to be ruled on is not open."""

    job: str
    item: str
    known: tuple[str, ...]
    message = "{job} has no open item {item!r}"

    def _hint(self) -> str:
        if self.known:
            return f"open items: {', '.join(self.known)}"
        return f"look at it: fairlead job show {self.job}"


class JobTransition(ConflictError, code="job-transition"):
    """A council job cannot change to this status, or not for this reason."""

    source: str
    target: str
    allowed: tuple[str, ...]
    guard: str

    def _message(self) -> str:
        because = f" because of {self.guard!r}" if self.target in self.allowed else ""
        return f"a job that is {self.source} cannot become {self.target}{because}"

    def _hint(self) -> str:
        if not self.allowed:
            return f"{self.source} is final"
        return f"{self.source} leads to: {', '.join(self.allowed)}"


class PlanTampered(ConflictError, code="plan-tampered"):
    """The master plan of a job differs from the one that was approved."""

    job: str
    message = "the master plan of {job} is not the plan that was approved"
    hint = "restore the approved text (master_plan.vN.md), or: fairlead job retry {job}"
