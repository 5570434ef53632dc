"""The operations on council jobs: begin, run, preview, rule, stop, retry.

The process that runs a job holds its lock; a second one is refused. A veto or cancel of a job that
runs elsewhere is left as a request file, which the running process obeys.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from fairlead.agents.budget import Caps, Cost
from fairlead.agents.secrets import without_secrets
from fairlead.core.clock import sleep_briefly
from fairlead.core.values import dataclass, replace
from fairlead.council import paths as names
from fairlead.council.answers import CouncilAnswers
from fairlead.council.bridge import ExecutionBridge, execution_of
from fairlead.council.brief import open_checks
from fairlead.council.context import CouncilContext, CouncilRun
from fairlead.council.decide import CouncilAct, CouncilAction, decide_council
from fairlead.council.errors import (
    JobNotOver,
    JobTransition,
    NothingToRule,
    NotRetried,
)
from fairlead.council.folder import (
    council_ids,
    leave_stop_request,
    new_job_id,
    rulings_of,
    save_ruling,
    stop_request,
)
from fairlead.council.master_plan import read_master_plan
from fairlead.council.model import TERMINAL, CouncilJob, Ruling, next_statuses
from fairlead.council.perform import CouncilPerformer
from fairlead.council.prompts import council_prompt
from fairlead.council.report import report_of
from fairlead.council.seats import BALLOT, FAMILY_FIX, PM, SEAT, SEAT_NAMES, SYNTHESIS
from fairlead.council.snapshot import STAGE_CALLS, council_snapshot, estimates
from fairlead.council.tally import open_items
from fairlead.execution.service import Execution
from fairlead.jobs.context import JobEnvironment, JobSetup
from fairlead.jobs.errors import RecordEdited, RunBusy, UnknownJob
from fairlead.jobs.folder import JobFolder, job_ids, proven_records, records_of
from fairlead.jobs.kinds import JobAccess, JobKind
from fairlead.jobs.loop import end_elsewhere, is_running, run_job, the_only_run
from fairlead.jobs.model import Job, JobStatus
from fairlead.jobs.paths import JOB_RECORD, job_path, run_lock
from fairlead.jobs.roster import MissingAgent, Roster
from fairlead.project.state.documents import moment
from fairlead.store.lock import SessionLock
from fairlead.text import frontmatter

if TYPE_CHECKING:
    from fairlead.agents.ask import Respondent

_START_SECONDS = 30.0
_LAST_COMMIT = "a clean copy of the last commit, without jobs and without uncommitted changes"
_FILES = "a private copy of the files, without .planning: the project has no git"
_EACH_ROUND = ("synthesis", "review")
_STAGES = {"pm": PM, "planning": SEAT, "synthesis": SYNTHESIS, "review": BALLOT}


@dataclass(frozen=True, slots=True)
class RolePreview:
    """A role and the models that answer for it."""

    role: str
    model: str
    family: str
    fallback: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PromptPreview:
    """A prompt exactly as it would be sent; only the nonce will differ."""

    key: str
    who: str
    text: str
    left_out: tuple[str, ...]  # secrets, by kind and line


@dataclass(frozen=True, slots=True)
class CouncilPreview:
    """What a run would ask and cost."""

    roster: tuple[RolePreview, ...]
    degraded: tuple[str, ...]
    caps: Caps
    stages: tuple[tuple[str, int, Cost], ...]  # of one round, without repairs
    receives: tuple[PromptPreview, ...]
    reads: str  # what the roles can read besides their prompts
    rounds: int = 3  # of review at most

    @property
    def total(self) -> Cost:
        """The estimate for a council that agrees in the first round."""
        return sum((cost for _, _, cost in self.stages), Cost())

    @property
    def most(self) -> Cost:
        """The estimate for a council that needs every round; repairs come on top."""
        again = [cost for stage, _, cost in self.stages if stage in _EACH_ROUND]
        return self.total + sum((cost for _ in range(self.rounds - 1) for cost in again), Cost())


class Council:
    """The council jobs of one project."""

    def __init__(self, environment: JobEnvironment, execution: Execution) -> None:
        self._environment = environment
        self._files = environment.files
        self._execution = execution

    # -- begin and retry -------------------------------------------------------------------

    def begin(self, request: str, run: CouncilRun) -> str:
        """Return the unfinished job for this request, or create one."""
        request, _ = without_secrets(request)  # the record is committed
        is_rehearsed = run.setup.options.is_rehearsed
        with self._start_lock():
            for record in records_of(self._files, CouncilJob, reversed(council_ids(self._files))):
                is_same = (record.request, record.is_rehearsed) == (request, is_rehearsed)
                if is_same and record.status not in TERMINAL:
                    return record.job_id
            roster = run.setup.roster.respondents
            record = CouncilJob(
                "",
                "",
                request,
                max_review_rounds=run.options.rounds,
                allow_absent=run.options.allow_absent,
                is_rehearsed=is_rehearsed,
                voices={role: _model_names(models) for role, models in roster.items()},
            )
            return self._create(record)

    def retry(self, job: str, request: str = "") -> str:
        """Create a child of a job that is over; it reuses answers and follows the rulings."""
        self._require_council(job)
        folder = self.folder(job)
        parent = folder.load(CouncilJob)
        if parent.status not in TERMINAL or parent.status is JobStatus.DONE:
            raise JobNotOver(job, str(parent.status))
        with self._start_lock():
            settled = parent.rulings if folder.is_proven else ()
            rulings = {ruling.id: ruling for ruling in (*settled, *rulings_of(folder))}
            child = CouncilJob(
                "",
                "",
                without_secrets(request or parent.request)[0],
                parent_job_id=job,
                max_review_rounds=parent.max_review_rounds,
                allow_absent=parent.allow_absent,
                is_rehearsed=parent.is_rehearsed,
                voices=parent.voices,
                rulings=tuple(rulings.values()),
            )
            return self._create(child)

    def _start_lock(self) -> SessionLock:
        return SessionLock(self._files.folder, names.STARTING, wait_seconds=_START_SECONDS)

    def _require_council(self, job: str) -> None:
        """Refuse a job of another kind, with the command that it needs instead."""
        if job not in job_ids(self._files):
            return
        files = JobFolder(self._files.folder, job, is_read_only=True)
        record = files.find(Job)
        if record is not None:
            unanswered = [question for question in files.load_questions() if not question.answer]
            command = "fairlead next" if record.status is JobStatus.DONE else record.command
            if unanswered and record.is_open:
                command = unanswered[0].command(job, unanswered)
            raise NotRetried(job, str(record.status), command)

    def _create(self, record: CouncilJob) -> str:
        """Write a new record under the next free id, and return the id."""
        now = self._environment.clock.now()
        at, job = moment(now), new_job_id(self._files, f"{now:%Y%m%d}")
        record = replace(record, job_id=job, created_at=at, updated_at=at, status_since=at)
        self._environment.proven_folder(job).create(record, "run")
        return job

    # -- run -------------------------------------------------------------------------------

    def carry_on(self, job: str, run: CouncilRun) -> CouncilJob:
        """Run a job until it is over, or waits for a person."""
        frontmatter.prepare()
        folder, scratch = self.folder(job), self._environment.scratch
        with the_only_run(self._files.folder, f"run {job}", run_lock(job)):
            self._settle(folder, run)
            self._note_place(folder, run)
            run.setup.events.started(job)
            context = self._context(folder.load(CouncilJob), run)
            folder = context.folder
            folder.own_record()
            was_over = context.job.status in TERMINAL
            if moved := folder.show_answers() if folder.is_proven and not was_over else ():
                text = f"not received from a call of this job, and moved away: {', '.join(moved)}"
                context.tell("refused", job, text)
            context.roster.reap(context.process_mark)
            if not was_over:
                context.roster.require_logins(context.job.command)
            with suppress(FileNotFoundError):  # a killed run may have left copies
                for name in os.listdir(context.scratch_folders):
                    scratch.remove(f"{context.scratch_folders}/{name}")
            self._loop(context)
            is_executing = folder.load(CouncilJob).status is JobStatus.EXECUTING
            if is_executing and not context.stop.is_set:
                ExecutionBridge(context).execute(self._execution)
                self._loop(context)
            if not was_over:
                ExecutionBridge(context).commit_record()
            return folder.load(CouncilJob)

    @staticmethod
    def _note_place(folder: JobFolder, run: CouncilRun) -> None:
        """Record that calls run on workers, where they go on when this process is killed."""
        record = folder.load(CouncilJob)
        is_new = run.setup.roster.calls is not None and not record.is_on_cluster
        if is_new and record.status not in TERMINAL:
            folder.save_record(replace(record, is_on_cluster=True))

    def _settle(self, folder: JobFolder, run: CouncilRun) -> None:
        """Let a job go on only from a record that a process of this job wrote.

        A job without proofs was begun by an older version, or came with the repository. Its
        request is kept; what it claims to be answered is asked for again. One that a person stops
        ends as it is: nothing runs.
        """
        if not folder.is_proven:
            record = folder.load(CouncilJob)
            if record.status not in TERMINAL and not stop_request(folder)[0]:
                folder.begin_again(_begun_again(record, run))
        elif edited := folder.restore_record():
            if not stop_request(folder)[0]:
                path = job_path(folder.job, JOB_RECORD)
                raise RecordEdited(path, str(folder.load(CouncilJob).status), edited)

    def _loop(self, context: CouncilContext) -> None:
        if context.folder.load(CouncilJob).status not in TERMINAL:
            run_job(_CouncilSteps(context), context.stop, context.over)

    def _context(self, record: CouncilJob, run: CouncilRun) -> CouncilContext:
        """Build the context of a job with the options it began with, not the present settings."""
        options = replace(
            run.options, rounds=record.max_review_rounds, allow_absent=record.allow_absent
        )
        common = replace(run.setup.options, is_rehearsed=record.is_rehearsed)
        run = replace(run, setup=replace(run.setup, options=common), options=options)
        return CouncilContext(self._environment, record, run, tuple(self._parents(record)))

    def _parents(self, record: CouncilJob) -> Iterator[JobFolder]:
        """Yield the jobs that this one retries, the nearest first; a deleted one ends the chain."""
        remaining = set(council_ids(self._files))
        while (parent := record.parent_job_id or "") in remaining:
            remaining.remove(parent)
            folder = self._environment.proven_folder(parent)
            yield folder
            record = folder.load(CouncilJob)

    # -- read ------------------------------------------------------------------------------

    def preview(self, request: str, job: str, run: CouncilRun) -> CouncilPreview:
        """Return the models, the cost and the exact prompts of a run."""
        roster = run.setup.roster.respondents
        record = self.record(job) if job else CouncilJob("preview", "", request)
        context = self._context(record, run)
        answers = CouncilAnswers(context, record)
        costs = estimates(context, answers)
        keys = (
            *(names.pm_key(name, 1) for name in names.PASSES),
            *(names.seat_key(0, seat) for seat in SEAT_NAMES),
            names.synthesis_key(record.review_round + 1),
            *(names.seat_key(max(record.review_round, 1), seat) for seat in SEAT_NAMES),
        )
        return CouncilPreview(
            roster=tuple(_role_preview(role, models) for role, models in roster.items()),
            degraded=_degradations(roster),
            rounds=context.council.rounds,
            caps=context.options.caps,
            stages=tuple(
                (stage, calls, Cost(costs[role].tokens * calls, costs[role].usd * calls))
                for stage, role in _STAGES.items()
                if (calls := STAGE_CALLS[role])
            ),
            receives=tuple(
                _prompt_preview(answers, key) for key in keys if key not in answers.calls
            ),
            reads=_LAST_COMMIT if context.workspace.is_git else _FILES,
        )

    def commands(self, job: str) -> tuple[tuple[str, str], ...]:
        """Return the commands that an approved plan would run, by step."""
        plan = read_master_plan(self.folder(job).document(names.MASTER_PLAN))
        return tuple((f"step {step.id}", step.verify) for step in plan.steps)

    def folder(self, job: str) -> JobFolder:
        """Return the folder of a job; an unknown id is refused before it becomes a path."""
        known = council_ids(self._files)
        if job not in known:
            raise UnknownJob(job, known)
        return self._environment.proven_folder(job)

    def record(self, job: str) -> CouncilJob:
        """Return the record of a job."""
        return self.folder(job).load(CouncilJob)

    # -- decisions of a person -------------------------------------------------------------

    def rule(self, job: str, item: str, text: str) -> Ruling:
        """Decide an open item of a blocked job; a retry must follow the decision."""
        folder = self.folder(job)
        record = folder.load(CouncilJob)
        if record.status is not JobStatus.BLOCKED:
            raise JobNotOver(job, str(record.status))
        subjects = {
            entry.item.id: f"{entry.item.where}: {entry.item.why}".removeprefix(": ")
            for entry in open_items(record.cumulative_votes, record.voted_round)
        }
        subjects |= open_checks(record.pm.verify)
        if item not in subjects:
            raise NothingToRule(job, item, tuple(subjects))
        now = self._environment.now()
        ruling = Ruling(item, without_secrets(text)[0], now, subjects[item])
        save_ruling(folder, ruling)
        return ruling

    def stop(self, job: str, request: str, why: str) -> CouncilJob:
        """Veto or cancel a job, here or through the process that runs it."""
        self._files.require_writable(f"job {request}")  # before its process gets the request to end
        folder = self.folder(job)
        status = folder.load(CouncilJob).status
        is_busy = is_running(self._files.folder, run_lock(job))
        is_executing = status is JobStatus.EXECUTING
        if status in TERMINAL or (is_executing and request == "veto"):
            raise JobTransition(status, JobStatus.BLOCKED, next_statuses(status), request)
        if is_executing and is_busy:
            self._end_execution(folder.load(CouncilJob))
            is_busy = is_running(self._files.folder, run_lock(job))
        if is_executing and is_busy:
            raise RunBusy("by another process, which does not end; press ^C there first")
        leave_stop_request(folder, request, without_secrets(why)[0])  # it is committed
        if not is_busy:
            self.carry_on(job, CouncilRun(JobSetup(Roster())))
        return folder.load(CouncilJob)

    def _end_execution(self, record: CouncilJob) -> None:
        """End the execution of a plan in another process, and with it the run of the council."""
        executions = proven_records(self._files, Job, self._environment.folder)
        execution = execution_of(record, executions)
        if execution:
            private, lock = self._environment.private(execution.id), run_lock(record.id)
            end_elsewhere(private, lambda: is_running(self._files.folder, lock), sleep_briefly)


def council_kind(council: Callable[[], Council]) -> JobKind[CouncilJob]:
    """Describe council jobs to the job mechanism."""

    def asking_job(jobs: JobAccess, job: CouncilJob) -> str:
        execution = execution_of(job, proven_records(jobs.files, Job, jobs.folder))
        return execution.id if execution else ""

    return JobKind(
        record=CouncilJob,
        lock=lambda job: run_lock(job.id),
        report=report_of,
        cancel=lambda _, job: council().stop(job.id, "cancel", ""),
        asking_job=asking_job,
    )


class _CouncilSteps:
    """A council job as the loop sees it."""

    def __init__(self, context: CouncilContext) -> None:
        self._context = context
        self._performer = CouncilPerformer(context)

    def look(self, running: tuple[str, ...], *, is_stopping: bool) -> tuple[CouncilAction, ...]:
        folder = self._context.folder
        # This thread alone writes the record, so that a difference is somebody else's.
        if edited := folder.restore_record():
            self._performer.stop_tampered("the job ran", [f"{JOB_RECORD} (now {edited})"])
        snapshot = council_snapshot(self._context, running, is_stopping=is_stopping)
        if snapshot.job != folder.load(CouncilJob):
            folder.save_record(snapshot.job)  # after every ballot, so that a crash loses none
        self._context.events.looked(snapshot)
        return decide_council(snapshot)

    def perform(self, action: CouncilAction) -> None:
        self._performer.perform(action)

    def is_long(self, action: CouncilAction) -> bool:
        return action.act is CouncilAct.ASK


def _begun_again(record: CouncilJob, run: CouncilRun) -> CouncilJob:
    """The first record of a job of which nothing but the request is known for certain."""
    return CouncilJob(
        record.job_id,
        record.created_at,
        record.request,
        parent_job_id=record.parent_job_id,
        updated_at=record.updated_at,
        status_since=record.created_at,
        max_review_rounds=run.options.rounds,
        allow_absent=run.options.allow_absent,
        is_rehearsed=record.is_rehearsed,
        voices={role: _model_names(each) for role, each in run.setup.roster.respondents.items()},
    )


def _model_names(respondents: Sequence[Respondent]) -> tuple[str, ...]:
    return tuple(f"{each.agent.name}:{each.model}".rstrip(":") for each in respondents)


def _degradations(roster: Mapping[str, tuple[Respondent, ...]]) -> tuple[str, ...]:
    """What a council with this roster would lack."""
    seats = [roster[role][0] for role in SEAT_NAMES if role in roster]
    missing = [each.agent.error for each in seats if isinstance(each.agent, MissingAgent)]
    if missing:
        return tuple(dict.fromkeys(f"{error}; {error.hint}" for error in missing))
    families = {each.family for each in seats}
    if len(families) == 1:
        return (f"all seats are of one model family: {families.pop()}{FAMILY_FIX}",)
    return ()


def _role_preview(role: str, respondents: Sequence[Respondent]) -> RolePreview:
    main, *others = _model_names(respondents)
    return RolePreview(role, main, respondents[0].family, tuple(others))


def _prompt_preview(answers: CouncilAnswers, key: str) -> PromptPreview:
    question = council_prompt(answers, key)
    left_out = tuple(f"{secret.kind}, line {secret.line}" for secret in question.left_out)
    return PromptPreview(key, question.who, question.text("(nonce)"), left_out)
