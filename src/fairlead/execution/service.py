"""Executing a phase: the operations that interfaces and other packages call.

`preview` shows the plans in waves, their commands and everything that prevents a run. `carry_out`
begins a job or continues the unfinished one. There is no separate way to resume: a job is its
files, so running it again continues it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from functools import reduce
from itertools import count

from fairlead.agents.budget import Caps
from fairlead.agents.model import AgentRole
from fairlead.core.errors import DocumentError
from fairlead.core.ids import PhaseId, slug
from fairlead.core.values import replace
from fairlead.execution.clean_trees import proposed_setup, setup_digest
from fairlead.execution.context import ExecutionContext
from fairlead.execution.errors import (
    BranchGone,
    HeadDetached,
    NothingToExecute,
    PlansNotApproved,
    PlansUnfit,
)
from fairlead.execution.landing import cancel_job
from fairlead.execution.leftovers import PartialWork, partial_work
from fairlead.execution.loop import run_execution
from fairlead.execution.model import ExecutionPreview, ExecutionReport, PlanFacts, Snapshot
from fairlead.execution.permissions import permission_notes
from fairlead.execution.snapshot import estimate_of_all, plan_facts
from fairlead.execution.tamper_check import (
    JobPlace,
    check_killed_runs,
    settle_answer,
)
from fairlead.jobs.approvals import approve_plans, approved_plans
from fairlead.jobs.context import JobEnvironment, JobSetup
from fairlead.jobs.errors import EditedRecordNotice
from fairlead.jobs.folder import JobFolder, job_ids
from fairlead.jobs.guarded_proofs import unchecked_proofs
from fairlead.jobs.kinds import JobKind
from fairlead.jobs.ledger import Spending
from fairlead.jobs.loop import the_only_run
from fairlead.jobs.model import EXECUTE, Job, JobStatus
from fairlead.jobs.paths import JOB_RECORD, job_path, private_folder, run_lock
from fairlead.jobs.service import job_lock, job_report
from fairlead.plans.check import execution_faults, name_faults, unlandable_files
from fairlead.plans.documents import nodes_of, read_plan
from fairlead.plans.waves import schedule, transitive_needs, unfinished_needs_note
from fairlead.project.derive.inventory import Inventory, PhaseFolder, Plan, Proof
from fairlead.project.derive.scan import scan
from fairlead.project.errors import UnknownPhase
from fairlead.project.service import ProjectSnapshot
from fairlead.project.state.documents import moment
from fairlead.project.summary import fault_of
from fairlead.store import layout
from fairlead.store.files import ChangeSet, Files
from fairlead.store.intent import TreeChanges
from fairlead.store.moves import Move
from fairlead.store.staging import removed_path
from fairlead.text import frontmatter
from fairlead.vcs.errors import TreeDirty
from fairlead.vcs.ports import Workspace

_JOB_PREFIX = "execute-"
_CANCELLED = "ended by a person: fairlead job cancel"


class Execution:
    """Executes the phases of one project."""

    def __init__(
        self,
        environment: JobEnvironment,
        command_fault: Callable[[str], str],
        branching: str = "",  # the template for the branch of a run; empty: the current branch
        setup: str = "",  # the command that installs dependencies in the worktree of an attempt
    ) -> None:
        self._environment = environment
        self._files = environment.files
        self._state = environment.state
        self._clock = environment.clock
        self._workspace = environment.workspace
        self._command_fault = command_fault
        self._branching = branching
        self._setup = setup.strip()
        self._workstream = ""

    def within(self, workstream: str) -> Execution:
        """Work on the phases of a workstream."""
        self._workstream = workstream
        return self

    # -- before ----------------------------------------------------------------------------

    def preview(self, number: str, *, is_rehearsed: bool = False) -> ExecutionPreview:
        """A phase before it runs: its plans in waves, their commands, and what prevents a run."""
        frontmatter.prepare()
        folder, name = self._folder(number)
        if faults := name_faults(folder, self._folders):
            raise PlansUnfit(faults)
        documents = tuple(
            read_plan(plan.path, self._files.load(plan.path).text) for plan in folder.live_plans
        )
        unchecked = unchecked_proofs(self._files.folder, self._state.folder)
        believed = [plan for plan in folder.live_plans if plan.summary not in unchecked]
        done = [plan.id for plan in believed if plan.is_complete]
        proven = _proven(believed, is_rehearsed=is_rehearsed)
        left = tuple(document.id for document in documents if document.path not in proven)
        resumes = self._unfinished(str(folder.id), is_rehearsed=is_rehearsed)
        if not left and not resumes:
            raise NothingToExecute(number, "every plan is done")
        open_plans = frozenset(left)
        to_do = [document for document in documents if document.id in open_plans]
        digests = {document.digest for document in to_do}
        digests |= {setup_digest(self._setup)} if self._setup else set()
        unfit, cautions = execution_faults(to_do, self._command_fault, is_rehearsed=is_rehearsed)
        unsound = [
            plan for plan in folder.live_plans if plan.proof in (Proof.FAILED, Proof.BLOCKED)
        ]
        order = schedule(nodes_of(documents, done=done))
        needs = transitive_needs(order, [plan.id for plan in unsound])
        # A new job executes unsound plans again, before the plans that need them: no warning then.
        notes = [
            unfinished_needs_note(plan, undone)
            for plan, undone in needs.items()
            if resumes or plan in done
        ]
        spending, today = Spending(self._files), moment(self._clock.now())[:10]
        return ExecutionPreview(
            phase=str(folder.id),
            name=name,
            documents=documents,
            order=order,
            left=left,
            unsound=tuple(plan.summary for plan in unsound),
            problems=(*unfit, *unlandable_files(to_do, self._workspace)),
            warnings=(*cautions, *self._notes(folder), *notes, *self._edited(resumes)),
            commands=(
                *((("setup", self._setup),) if self._setup else ()),
                *(
                    (f"{document.id} task {task.number}", task.verify)
                    for document in to_do
                    for task in document.tasks
                    if task.verify
                ),
            ),
            is_approved=digests <= approved_plans(self._state, self._files.folder),
            resumes=resumes,
            estimate=estimate_of_all(to_do, spending.actuals(is_rehearsed=is_rehearsed)),
            spent=spending.by(resumes, today, is_rehearsed=is_rehearsed),
            branch=self._branch(folder, name, resumes),
            is_rehearsed=is_rehearsed,
        )

    def approve(self, preview: ExecutionPreview) -> None:
        """Record that a person allowed the commands of these plans, with their current text."""
        digests = tuple(approval.sha256 for approval in preview.approvals)
        digests += tuple(setup_digest(line) for task, line in preview.commands if task == "setup")
        approve_plans(self._state, self._files.folder, digests)

    def require_ready(self, preview: ExecutionPreview) -> None:
        """Raise if the phase cannot be executed, with every reason."""
        if preview.problems:
            raise PlansUnfit(preview.problems)
        if self._workspace.is_git and not self._workspace.branch():
            raise HeadDetached
        at = f"refs/heads/{preview.branch}"
        if preview.resumes and preview.branch and not self._workspace.commit_of(at):
            raise BranchGone(preview.branch, preview.resumes)
        if not preview.is_approved:
            raise PlansNotApproved(preview.phase, tuple(line for _, line in preview.commands))

    # -- carrying out ----------------------------------------------------------------------

    def carry_out(self, preview: ExecutionPreview, setup: JobSetup) -> ExecutionReport:
        """Begin the job of a phase, or continue it, until it ends or waits."""
        self.require_ready(preview)
        setup.roster.require_logins(f"fairlead phase execute {preview.phase}")
        with the_only_run(self._files.folder, f"phase execute {preview.phase}"):
            # What a killed run of any job left must not count; this may ask in that job.
            self._check_killed_runs(preview)
            # Preview again: another run may have ended between the preview and the lock.
            preview = self._on_target_branch(self._fresh(preview))
            self._move_unsound_summaries(preview)
            job = self._job(preview, setup)
            with the_only_run(self._files.folder, job.command, run_lock(job.id)):
                is_cancelled = self._run(job, preview, setup)
        report = self.report(job.id)
        if is_cancelled and report.job.is_open:  # the process that cancels it is about to end it
            ended = replace(report.job, status=JobStatus.FAILED, note=_CANCELLED)
            return replace(report, job=ended)
        return report

    def _run(self, job: Job, preview: ExecutionPreview, setup: JobSetup) -> bool:
        """Run the job; True if a person cancelled it in another process.

        Its record says EXECUTING only while its lock is held.
        """
        self._environment.folder(job.id).save_record(job)
        setup.events.started(job.id)
        mark = self._environment.process_mark(job.id)
        setup.roster.reap(mark)
        approved = approved_plans(self._state, self._files.folder)
        line = setup.options.setup
        if line and setup_digest(line) not in approved:
            raise PlansNotApproved(preview.phase, (line,))
        context = ExecutionContext(self._environment, job, setup, preview, approved)
        context.folder.own_record()
        context.tell("started", job.id, preview.name, phase=job.phase, plans=list(preview.left))
        notes = (*preview.order.warnings, *preview.warnings, *job.share_notes)
        for note in (*notes, *setup.options.notes, *permission_notes(setup)):
            context.tell("note", job.id, note)
        with setup.roster.ready(mark):
            run_execution(context)
        return context.is_cancelled()

    def _check_killed_runs(self, preview: ExecutionPreview) -> None:
        """Put aside what the agents of other jobs' killed runs changed."""
        state, now = self._state.folder, moment(self._clock.now())
        jobs = [each for each in job_ids(self._files) if not self._checks_itself(each, preview)]
        check_killed_runs(self._files, state, self._workspace, jobs, now)

    def _edited(self, job: str) -> tuple[str, ...]:
        """A warning if the record of the job that goes on was changed outside Fairlead."""
        if not job or not self._environment.folder(job).is_edited:
            return ()
        return (str(EditedRecordNotice(path=job_path(job, JOB_RECORD))),)

    def _checks_itself(self, job: str, preview: ExecutionPreview) -> bool:
        """Whether the run that begins will find what a killed run of this job left.

        It begins by saving the record, so an edited one has to be found before.
        """
        return job == preview.resumes and not self._environment.folder(job).is_edited

    def report(self, job: str) -> ExecutionReport:
        """The result of a job."""
        job_folder = self._environment.folder(job)
        record = job_folder.load(Job)
        try:
            folder, _ = self._folder(record.phase)
            proven = {*_proven(folder.plans, is_rehearsed=record.is_rehearsed).values()}
        except (NothingToExecute, UnknownPhase):  # the plans or the roadmap were removed since
            proven = set()
        plans = tuple((plan, plan in proven) for plan in record.plans)
        kept = tuple(sorted(self._workspace.unmerged(f"fairlead/{job}/", record.target)))
        spent, _ = Spending(self._files).spent(record, moment(self._clock.now())[:10])
        questions = self._environment.answers.believed(record, job_folder.load_questions())
        return ExecutionReport(record, questions, spent, plans, kept)

    def observed(self, job: str) -> Snapshot:
        """A job as the disk shows it to a process that does not run it."""
        folder = self._environment.folder(job)
        record = folder.load(Job)
        now = moment(self._clock.now())
        spent, today = Spending(self._files).spent(record, now[:10])
        plans: tuple[PlanFacts, ...] = ()
        with suppress(NothingToExecute, UnknownPhase, DocumentError):  # the plans were changed
            phase, _ = self._folder(record.phase)
            documents = [
                read_plan(plan.path, self._files.load(plan.path).text)
                for plan in phase.live_plans
                if plan.id in record.plans
            ]
            proven = {*_proven(phase.plans, is_rehearsed=record.is_rehearsed).values()}
            facts = plan_facts(documents, ())
            plans = tuple(replace(plan, is_summarised=plan.id in proven) for plan in facts)
        gates = folder.load_gates()
        return Snapshot(record, plans, gates, (), (), now, spent, today, Caps())

    def partial_work(self, job: str) -> tuple[PartialWork, ...]:
        """The work of a job that has not landed; nothing for a job of another kind."""
        folder = self._environment.folder(job)
        record = folder.find(Job)
        if record is None:
            return ()
        private = private_folder(self._state.folder, self._files.folder, job)
        return partial_work(self._workspace, record, folder, private)

    def _on_target_branch(self, preview: ExecutionPreview) -> ExecutionPreview:
        """Switch to the branch that the work lands on, and preview its documents."""
        if preview.resumes or preview.branch == self._workspace.branch():
            return preview
        self._require_clean(preview.branch)
        self._workspace.switch(preview.branch)
        return self._fresh(preview)

    def _fresh(self, preview: ExecutionPreview) -> ExecutionPreview:
        preview = self.preview(preview.phase, is_rehearsed=preview.is_rehearsed)
        self.require_ready(preview)
        return preview

    def _job(self, preview: ExecutionPreview, setup: JobSetup) -> Job:
        options, agent = setup.options, setup.roster.agent(AgentRole.EXECUTOR).name
        if preview.resumes:
            folder = self._environment.folder(preview.resumes)
            folder.refuse_edited()
            record = folder.load(Job)
        else:
            now = self._clock.now()
            branch = self._workspace.branch()
            self._require_clean(branch)
            record = Job(
                id=_new_job_id(self._files, preview.phase, now),
                phase=preview.phase,
                status=JobStatus.EXECUTING,
                started_at=moment(now),
                agent=agent,
                target=branch,
                base=self._workspace.commit_of("HEAD"),
                is_rehearsed=options.is_rehearsed,
                is_git=self._workspace.is_git,
                plans=preview.left,
                estimate=preview.estimate,
                workstream=self._workstream,
            )
        return replace(
            record,
            status=JobStatus.EXECUTING,
            ended_at="",
            note="",
            approvals=preview.approvals,
            agent=agent,
            reviewer=setup.roster.agent(AgentRole.ARCHITECT).name,
            shares=options.shares,
            model=options.model,
            slots=options.slots if record.target else 1,
            commits_end=False,
            is_on_cluster=setup.roster.calls is not None,
        )

    def _move_unsound_summaries(self, preview: ExecutionPreview) -> None:
        """Move away summaries that say their plan is not done: the new job writes new ones."""
        stamp = ProjectSnapshot(self._files, self._clock.now()).stamp
        moves = tuple(Move(path, removed_path(path, stamp)) for path in preview.unsound)
        if moves and not preview.resumes:
            draft = ChangeSet({}, TreeChanges(moves=moves))
            self._files.carry_out(lambda: draft, command=f"phase execute {preview.phase}")

    def _require_clean(self, branch: str) -> None:
        dirty = self._workspace.dirty_paths(layout.PLANNING) if branch else ()
        if dirty:
            raise TreeDirty(dirty, layout.PLANNING)

    # -- reading ---------------------------------------------------------------------------

    def _folders(self) -> tuple[PhaseFolder, ...]:
        return scan(self._files.folder, workstream=self._workstream).folders

    def _folder(self, number: str) -> tuple[PhaseFolder, str]:
        """The folder and the name of a phase."""
        phase = PhaseId.parse(number)
        inventory = scan(self._files.folder, workstream=self._workstream)
        names = {listed.id: listed.name for listed in inventory.roadmap.phases}
        for folder in inventory.folders:
            if folder.id == phase:
                if not folder.live_plans:
                    raise NothingToExecute(number, "it has no plans")
                return folder, names.get(phase) or folder.slug
        if phase not in names:
            found = [listed.id for listed in inventory.roadmap.phases]
            found += [folder.id for folder in inventory.folders if folder.id]
            raise UnknownPhase(number, [each.short for each in sorted({*found})])
        raise NothingToExecute(number, "it has no folder with plans")

    def _notes(self, folder: PhaseFolder) -> list[str]:
        """Warnings to show before anything begins."""
        notes = []
        if self._workspace.uses_own_identity:
            notes.append("git has no user.name and user.email here: commits are made as Fairlead")
        if unused := self._workspace.unused_drivers:
            text = "their programs lie in the project, where agents can change them"
            notes.append(f"git does without {', '.join(unused)} in this run: {text}")
        if not self._setup and (proposed := proposed_setup(self._files.folder)):
            command = f"fairlead config set fairlead.execution.setup {shlex.quote(proposed)}"
            notes.append(
                f"nothing installs dependencies in the worktrees of agents; set: {command}"
            )
        if empty := self._workspace.submodules():
            notes.append(f"submodules are not checked out for the agents: {', '.join(empty)}")
        for plan in folder.live_plans:
            loaded = self._files.load_for_display(plan.summary) if plan.summary else None
            fault = fault_of(loaded.text, plan.id) if loaded else ""
            notes += [f"{plan.summary} {fault}"] if fault else []
        return notes

    def _branch(self, folder: PhaseFolder, name: str, resumes: str) -> str:
        if resumes:
            return self._environment.folder(resumes).load(Job).target
        if not self._branching or not self._workspace.is_git:
            return self._workspace.branch()
        inventory = scan(self._files.folder, workstream=self._workstream)
        return _branch_name(self._branching, inventory, str(folder.id), name)

    def _unfinished(self, phase: str, *, is_rehearsed: bool) -> str:
        """The newest job for a phase that is open, or was killed at its very end; empty: none."""
        purpose = EXECUTE, phase, self._workstream, is_rehearsed
        newest = ""
        for job in reversed(
            [each for each in job_ids(self._files) if each.startswith(_JOB_PREFIX)]
        ):
            folder = self._environment.folder(job)
            record = folder.find(Job)
            if record is None or record.purpose != purpose:
                continue
            if record.is_open or (not newest and _is_cut_off(record, folder, self._workspace)):
                return job
            newest = newest or job
        return ""


def execution_kind(
    workspace: Callable[[], Workspace], keeps_documents: Callable[[], bool]
) -> JobKind[Job]:
    """The job kind of executions, and of workflows that may execute a plan."""
    return JobKind(
        record=Job,
        lock=job_lock,
        report=job_report,
        cancel=lambda jobs, job: cancel_job(
            jobs, job, workspace(), keeps_documents=keeps_documents()
        ),
        answered=lambda jobs, job: settle_answer(
            JobPlace.of(jobs.files, jobs.state.folder, workspace(), job.id), jobs, job
        ),
    )


def _proven(plans: Iterable[Plan], *, is_rehearsed: bool) -> dict[str, str]:
    """The plans whose summary proves that they are done: ids by path."""
    proofs = (Proof.COMPLETE, Proof.REHEARSED) if is_rehearsed else (Proof.COMPLETE,)
    return {plan.path: plan.id for plan in plans if plan.proof in proofs}


def _is_cut_off(job: Job, folder: JobFolder, workspace: Workspace) -> bool:
    """Whether a job was killed between its end and the commit of its record."""
    if workspace.branch() != job.target:
        return False
    if folder.is_behind or not job.commits_end:
        return folder.is_behind
    record = job_path(job.id, JOB_RECORD)
    return any(record.startswith(path) for path in workspace.dirty_paths(""))


def _new_job_id(files: Files, phase: str, now: datetime) -> str:
    """A new job id; jobs that begin in the same second are numbered."""
    name = f"{_JOB_PREFIX}{phase.lower()}-{now:%Y%m%d-%H%M%S}"
    names = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return next(each for each in names if not files.exists(job_path(each)))


def _branch_name(pattern: str, inventory: Inventory, phase: str, name: str) -> str:
    """The branch of a run by a setting such as `gsd/phase-{phase}-{slug}`."""
    version = inventory.milestone or "v1.0"
    milestones = inventory.roadmap.milestones
    title = "".join(each.name for each in milestones if each.version == version)
    is_phase = "{phase}" in pattern
    words = {
        "{phase}": phase,
        "{milestone}": version,
        "{slug}": slug(name) or "phase" if is_phase else slug(title) or "milestone",
    }
    return reduce(lambda text, word: text.replace(*word), words.items(), pattern)
