"""Errors of long-running jobs."""

from __future__ import annotations

from fairlead.core.errors import (
    AgentError,
    BlockedError,
    ConflictError,
    DocumentError,
    UsageError,
)


class UnknownJob(UsageError, code="unknown-job"):
    """The project has no such job."""

    job: object
    known: tuple[str, ...]

    def _message(self) -> str:
        has_any = self.job or self.known
        return f"there is no job {self.job}" if has_any else "there are no jobs yet"

    def _hint(self) -> str:
        if not (self.job or self.known):
            return 'start one: fairlead run "GOAL"'
        return f"known jobs: {', '.join(self.known[-5:]) or 'none'}"


class OtherJob(UsageError, code="other-job"):
    """The command does not apply to jobs of this kind."""

    job: str
    kind: str
    message = "{job} is a {kind} job: this command does not apply to it"
    hint = "look at it: fairlead job show {job}"


class NoQuestion(UsageError, code="no-question"):
    """The job has no such question, or the question has no such option."""

    job: object
    why: object
    message = "{job}: {why}"
    hint = "look at it: fairlead job show {job}"


class PersonDecides(BlockedError, code="person-decides"):
    """The question asks for a decision, which only a person can make."""

    job: object
    command: object
    message = "{job} asks for a decision, which only a person can make"
    hint = "ask them to run: {command}"


class LedgerBroken(DocumentError, code="ledger-broken"):
    """A line of an evidence ledger differs from what was written."""

    what: str
    message = "{what}"
    hint = "nothing was changed; see every fault: fairlead check --ledger"
    column = 1


class RunBusy(ConflictError, code="run-busy"):
    """Another run is executing in this project."""

    holder: object
    message = "another run is active in this project: {holder}"
    hint = "watch it: fairlead job watch"


class JobWaiting(BlockedError, code="job-waiting"):
    """A job waits for a person's answer."""

    job: object
    question: object
    command: object
    hint = "answer with: {command}"

    def _message(self) -> str:
        # The first line: `job show` prints the complete question.
        return f"{self.job} waits for an answer: {str(self.question).partition(chr(10))[0]}"


class NotBegun(AgentError, code="not-begun"):
    """A command that was started in the background ended before its job began."""

    why: str
    message = "the job did not begin: {why}"
    hint = "run the same command without --detach to see more"


class BeginsSlowly(AgentError, code="begins-slowly"):
    """A command that was started in the background has not begun its job in time."""

    minutes: int
    message = "the job has not begun within {minutes} minutes; its process is still running"
    hint = "look for it: fairlead job list"


class RecordEdited(ConflictError, code="record-edited"):
    """A run refuses to continue: the record of its job was changed outside Fairlead."""

    path: str
    status: str
    kept: str
    message = "{path} was changed outside Fairlead: nothing was run. The job is {status}"
    hint = "the recorded file is back, the changed one is {kept}; run the command again to continue"


class EditedRecordNotice(DocumentError, code="edited-record", kw_only=True):
    """The record of a listed job was changed outside Fairlead; it is shown as it was recorded."""

    message = "changed outside Fairlead; the job is shown as it was recorded"
    hint = "the next run of the job writes the recorded file again"
