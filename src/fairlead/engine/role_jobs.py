"""Workflows as jobs: begun or gone on with, one at a time for each subject, and ended with a word.

A workflow is a function over a site. It is run from its beginning every time; the calls and
answers in the job's folder make sure that nothing is asked twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from fairlead.engine.purse import Purse
from fairlead.engine.role_site import Company, Ended, RoleSite, Scratch, Stopped, Waits
from fairlead.model.budget import Spent
from fairlead.model.job import Job, JobStatus, Question
from fairlead.model.roles import Call
from fairlead.records.state import moment
from fairlead.store import layout
from fairlead.store.approvals import Answers
from fairlead.store.files import Files
from fairlead.store.jobs import JobFiles, job_ids
from fairlead.store.layout_roles import SEEN, lock_of
from fairlead.store.running import the_only_run
from fairlead.store.witness import Witness
from fairlead.values import dataclass, replace

if TYPE_CHECKING:
    from fairlead.engine.ports import Clock, Workspace


@dataclass(frozen=True, slots=True)
class Errand:
    """What a workflow is for."""

    kind: str  # plan, discuss, new, quick, debug
    phase: str  # or another subject; empty: the project
    command: str  # that begins it, and goes on with it
    subject: str = ""  # the words it came in, where they are needed again
    workstream: str = ""  # whose phase it is


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a workflow ended, in its own words."""

    status: JobStatus = JobStatus.DONE
    note: str = ""
    written: tuple[str, ...] = ()  # documents of the project
    message: str = ""  # of the commit that keeps them; empty: none is made
    is_over: bool = True  # False: the same command goes on with it


@dataclass(frozen=True, slots=True)
class RoleReport:
    """What became of a workflow."""

    job: Job
    calls: tuple[Call, ...]
    questions: tuple[Question, ...]
    spent: Spent
    written: tuple[str, ...]


class RoleJobs:
    """The workflows of one project."""

    def __init__(
        self,
        files: Files,
        state: Files,
        clock: Clock,
        workspace: Workspace,
        scratch: Scratch,
        fresh: Callable[[], str],
    ) -> None:
        self.files = files
        self.clock = clock
        self.workspace = workspace
        self.state = state
        self._scratch = scratch
        self._fresh = fresh

    def run(
        self, errand: Errand, company: Company, work: Callable[[RoleSite], Outcome]
    ) -> RoleReport:
        """Begin a workflow, or go on with the one that was left, until it ends or waits."""
        lock = lock_of(errand.kind, errand.phase, errand.workstream)
        with the_only_run(self.files.folder, errand.command, lock):
            site = self._site(errand, company)
            company.reap(layout.runs_path(self.files.folder, site.job.id))
            site.tell("started", site.job.id, errand.command, phase=errand.phase)
            try:
                outcome = work(site)
            except Waits as waiting:
                outcome = Outcome(JobStatus.BLOCKED, str(waiting), is_over=False)
            except Ended as ended:
                outcome = Outcome(JobStatus.FAILED, f"ended by a person: {ended}")
            except Stopped:
                outcome = Outcome(JobStatus.BLOCKED, "stopped by a person", is_over=False)
            return self._ended(site, outcome)

    def unfinished(self, errand: Errand, *, is_rehearsed: bool) -> str:
        """The job of the same errand that was left; empty if there is none."""
        wanted = errand.kind, errand.phase, errand.workstream, is_rehearsed
        for name in reversed(job_ids(self.files)):
            held = self._job_files(name).load_record()
            if isinstance(held, Job) and held.is_open and held.errand == wanted:
                return name
        return ""

    def keep_documents(self, site: RoleSite, paths: Iterable[str], message: str) -> str:
        """Commit documents of the project, where git keeps them."""
        if not site.job.is_git or not message:
            return ""
        present = [path for path in dict.fromkeys(paths) if self.files.exists(path)]
        with site.turn:
            return self.workspace.commit_paths(present, f"{message}\n\nJob: {site.job.id}\n")

    def _site(self, errand: Errand, company: Company) -> RoleSite:
        job = self._job(errand, company)
        return RoleSite(
            company=company,
            job=job,
            files=self.files,
            jobs=self._job_files(job.id),
            scratch=self._scratch,
            clock=self.clock,
            purse=Purse(self.files),
            answers=Answers(self.state, self.files.folder),
            private=self._private(job.id),
            new_nonce=self._fresh,
        )

    def _job(self, errand: Errand, company: Company) -> Job:
        now = self.clock.now()
        held = self.unfinished(errand, is_rehearsed=company.is_rehearsed)
        if held:
            files = self._job_files(held)
            job = replace(files.load_job(), status=JobStatus.EXECUTING, ended_at="", note="")
        else:
            subject = f"-{errand.phase.lower()}" if errand.phase else ""
            job = Job(
                id=f"{errand.kind}{subject}-{now:%Y%m%d-%H%M%S}",
                phase=errand.phase,
                status=JobStatus.EXECUTING,
                started_at=moment(now),
                agent="",
                is_rehearsed=company.is_rehearsed,
                is_git=self.workspace.is_git and company.keeps_documents,
                estimate=company.estimate,
                kind=errand.kind,
                begun_by=errand.command,
                subject=errand.subject,
                workstream=errand.workstream,
            )
            files = self._job_files(job.id)
        files.save_job(job)
        return job

    def _ended(self, site: RoleSite, outcome: Outcome) -> RoleReport:
        now = moment(self.clock.now())
        ended = now if outcome.is_over else ""
        held = site.jobs.load_job()
        job = replace(held, status=outcome.status, ended_at=ended, note=outcome.note)
        calls = site.jobs.load_calls()
        job = replace(job, agent=", ".join(sorted({each.agent for each in calls})))
        site.jobs.save_job(job)
        site.tell("finished", job.id, outcome.note, status=str(job.status))
        spent, _ = Purse(self.files).spent(job, now[:10])
        record = (*site.jobs.paths(), layout.ledger_path(job.id))
        self.keep_documents(site, (*outcome.written, *record), outcome.message)
        return RoleReport(job, calls, site.questions(), spent, outcome.written)

    def _job_files(self, job: str) -> JobFiles:
        witness = Witness(f"{self._private(job)}/{SEEN}")  # a job may carry out its own plan
        is_read_only = self.files.is_read_only
        return JobFiles(self.files.folder, job, is_read_only=is_read_only, witness=witness)

    def _private(self, job: str) -> str:
        return layout.private_folder(self.state.folder, self.files.folder, job)
