"""Runs a workflow as a job: starts or resumes it, one at a time per subject, and records its end.

A workflow is a function of a context. It runs from its beginning every time; the calls and answers
in the job's folder make sure that nothing is asked twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fairlead.agents.budget import Cost
from fairlead.core.values import dataclass, replace
from fairlead.jobs.context import JobContext, JobEnvironment, JobSetup, RunOptions
from fairlead.jobs.folder import job_ids
from fairlead.jobs.loop import run_job, the_only_run
from fairlead.jobs.model import CallRecord, Job, JobStatus, Question
from fairlead.jobs.paths import ledger_path, lock_of
from fairlead.project.state.documents import moment
from fairlead.workflows.questions import EndedByPerson, RunStopped, WaitsForAnswer, WorkflowContext


@dataclass(frozen=True, slots=True)
class JobPurpose:
    """What a job is for; two jobs with the same purpose do not run at the same time."""

    kind: str  # plan, discuss, new, quick, debug
    phase: str  # or another subject; empty for the project
    command: str  # starts it, and resumes it
    subject: str = ""  # the user's text, if it is needed again
    workstream: str = ""  # of the phase


@dataclass(frozen=True, slots=True)
class WorkflowEnd:
    """How a workflow ended."""

    status: JobStatus = JobStatus.DONE
    note: str = ""
    written: tuple[str, ...] = ()  # documents of the project
    message: str = ""  # of the commit; empty for no commit
    is_over: bool = True  # False if the same command resumes it


@dataclass(frozen=True, slots=True)
class WorkflowReport:
    """The result of a workflow."""

    job: Job
    calls: tuple[CallRecord, ...]
    questions: tuple[Question, ...]
    spent: Cost
    written: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Step:
    """The only action of a workflow: run it from its beginning."""

    key: str


class _Script:
    """A workflow as the job loop sees it: one action, performed once."""

    def __init__(
        self, context: WorkflowContext, work: Callable[[WorkflowContext], WorkflowEnd]
    ) -> None:
        self._context = context
        self._work = work
        self.end: WorkflowEnd | None = None

    def look(self, running: tuple[str, ...], *, is_stopping: bool) -> tuple[_Step, ...]:
        return () if self.end else (_Step(self._context.job.id),)

    def perform(self, action: _Step) -> None:
        try:
            self.end = self._work(self._context)
        except WaitsForAnswer as waiting:
            self.end = WorkflowEnd(JobStatus.BLOCKED, str(waiting), is_over=False)
        except EndedByPerson as ended:
            self.end = WorkflowEnd(JobStatus.FAILED, f"ended by a person: {ended}")
        except RunStopped:
            self.end = WorkflowEnd(JobStatus.BLOCKED, "stopped by a person", is_over=False)

    def is_long(self, action: _Step) -> bool:
        return False


class Workflows:
    """The workflows of one project."""

    def __init__(self, environment: JobEnvironment) -> None:
        self.environment = environment
        self.files = environment.files
        self.clock = environment.clock
        self.workspace = environment.workspace

    def run(
        self, purpose: JobPurpose, setup: JobSetup, work: Callable[[WorkflowContext], WorkflowEnd]
    ) -> WorkflowReport:
        """Start a workflow, or resume the unfinished one, until it ends or waits."""
        lock = lock_of(purpose.kind, purpose.phase, purpose.workstream)
        setup.roster.require_logins(purpose.command)
        with the_only_run(self.files.folder, purpose.command, lock):
            job = self._job(purpose, setup.options)
            setup.events.started(job.id)
            context: WorkflowContext = JobContext(self.environment, job, setup)
            setup.roster.reap(context.process_mark)
            context.tell("started", job.id, purpose.command, phase=purpose.phase)
            script = _Script(context, work)
            run_job(script, context.stop, context.over, context.is_cancelled)
            assert script.end is not None
            return self._ended(context, script.end)

    def unfinished(self, purpose: JobPurpose, *, is_rehearsed: bool) -> str:
        """The unfinished job with the same purpose; empty if there is none."""
        key = purpose.kind, purpose.phase, purpose.workstream, is_rehearsed
        for name in reversed(job_ids(self.files)):
            job = self.environment.folder(name).find(Job)
            if job is not None and job.is_open and job.purpose == key:
                return name
        return ""

    def keep_documents(self, context: WorkflowContext, paths: Iterable[str], message: str) -> str:
        """Commit documents of the project, if it is in git and commits are wanted."""
        if not context.job.is_git or not message:
            return ""
        present = [path for path in dict.fromkeys(paths) if self.files.exists(path)]
        with context.turn:
            return self.workspace.commit_paths(present, f"{message}\n\nJob: {context.job.id}\n")

    def _job(self, purpose: JobPurpose, options: RunOptions) -> Job:
        now = self.clock.now()
        name = self.unfinished(purpose, is_rehearsed=options.is_rehearsed)
        if name:
            folder = self.environment.folder(name)
            folder.refuse_edited()
            stored = folder.load(Job)
            job = replace(stored, status=JobStatus.EXECUTING, ended_at="", note="")
        else:
            subject = f"-{purpose.phase.lower()}" if purpose.phase else ""
            job = Job(
                id=f"{purpose.kind}{subject}-{now:%Y%m%d-%H%M%S}",
                phase=purpose.phase,
                status=JobStatus.EXECUTING,
                started_at=moment(now),
                agent="",
                is_rehearsed=options.is_rehearsed,
                is_git=self.workspace.is_git and options.keeps_documents,
                estimate=options.estimate,
                kind=purpose.kind,
                begun_by=purpose.command,
                subject=purpose.subject,
                workstream=purpose.workstream,
            )
        self.environment.folder(job.id).save_record(job)
        return job

    def _ended(self, context: WorkflowContext, end: WorkflowEnd) -> WorkflowReport:
        now = context.now()
        calls = context.folder.load_calls()
        job = replace(
            context.folder.load(Job),
            status=end.status,
            ended_at=now if end.is_over else "",
            note=end.note,
            agent=", ".join(sorted({call.agent for call in calls})),
        )
        context.folder.save_record(job)
        context.tell("finished", job.id, end.note, status=str(job.status))
        spent, _ = context.spending.spent(job, now[:10])
        record = (*context.folder.paths(), ledger_path(job.id))
        self.keep_documents(context, (*end.written, *record), end.message)
        return WorkflowReport(job, calls, context.questions(), spent, end.written)
