"""Execution: a phase's plans from the first look to the last commit.

A preview says what would be done, by whom, and which commands would run; carrying out begins a
job or goes on with the one that was left. There is no other way to resume: a job is its files.
"""

from __future__ import annotations

from collections.abc import Callable

from fairlead.engine.declared import stray_files
from fairlead.engine.fanout import Signal
from fairlead.engine.look import Look
from fairlead.engine.ports import Clock, Workspace
from fairlead.engine.purse import Purse
from fairlead.engine.resuming import new_id, unfinished
from fairlead.engine.run import run
from fairlead.engine.site import Site
from fairlead.engine.survey import estimate_of_all
from fairlead.engine.undertaking import Crew, Preview, Report, Terms, Watcher
from fairlead.errors import (
    BranchGone,
    HeadDetached,
    NothingToExecute,
    PlansNotApproved,
    PlansUnfit,
    TreeDirty,
)
from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Folder, Proof
from fairlead.model.job import Job, JobStatus
from fairlead.model.plan import Severity
from fairlead.model.waves import lack_of, schedule, standing_on
from fairlead.model.workspace import branch_named
from fairlead.records.plan_check import faults_told, name_faults, told
from fairlead.records.plan_sheet import nodes_of, read_plan
from fairlead.records.state import moment
from fairlead.records.summary import fault_of
from fairlead.store import layout
from fairlead.store.approvals import Answers, approve_plans, approved_plans
from fairlead.store.files import Draft, Files
from fairlead.store.intent import Places
from fairlead.store.jobs import JobFiles
from fairlead.store.layout_roles import SEEN
from fairlead.store.moves import Move
from fairlead.store.running import the_only_run
from fairlead.store.scan import scan
from fairlead.store.witness import Witness
from fairlead.text import front
from fairlead.values import replace


class Execution:
    """Carries out the phases of one project."""

    def __init__(
        self,
        files: Files,
        state: Files,
        clock: Clock,
        workspace: Workspace,
        fresh: Callable[[], str],
        command_fault: Callable[[str], str],
        branching: str = "",  # how the branch of a run is named; empty: the one that is there
    ) -> None:
        self._files = files
        self._state = state
        self._answers = Answers(state, files.folder)
        self._clock = clock
        self._workspace = workspace
        self._fresh = fresh
        self._command_fault = command_fault
        self._branching = branching
        self._workstream = ""

    def within(self, workstream: str) -> Execution:
        """The same for the phases of a workstream."""
        self._workstream = workstream
        return self

    # -- before ----------------------------------------------------------------------------

    def preview(self, number: str, *, is_rehearsed: bool = False) -> Preview:
        """Look at a phase: its plans in waves, their commands, and what stands in the way."""
        front.prepare()
        folder, name = self._folder(number)
        if badly := name_faults(folder, self._folders):
            raise PlansUnfit(badly)
        sheets = tuple(
            read_plan(plan.path, self._files.load(plan.path).text) for plan in folder.live_plans
        )
        done = [plan.id for plan in folder.live_plans if plan.is_complete]
        proven = _proven(folder, is_rehearsed=is_rehearsed)
        left = tuple(sheet.id for sheet in sheets if sheet.path not in proven)
        resumes = self._unfinished(str(folder.id), is_rehearsed=is_rehearsed)
        if not left and not resumes:
            raise NothingToExecute(number, "every plan is done")
        open_sheets = [sheet for sheet in sheets if sheet.id in left]
        digests = {sheet.digest for sheet in open_sheets}
        unfit = faults_told(open_sheets, self._command_fault, is_rehearsed=is_rehearsed)
        unsound = [
            each for each in folder.live_plans if each.proof in (Proof.FAILED, Proof.BLOCKED)
        ]
        order = schedule(nodes_of(sheets, done=done))
        lacks = standing_on(order, [each.id for each in unsound])
        # What is not done is begun again, and before what needs it; not so in a job that goes on.
        shaky = [lack_of(*each) for each in lacks.items() if resumes or each[0] in done]
        purse, today = Purse(self._files), moment(self._clock.now())[:10]
        return Preview(
            phase=str(folder.id),
            name=name,
            sheets=sheets,
            order=order,
            left=left,
            unsound=tuple(each.summary for each in unsound),
            problems=(*unfit, *stray_files(open_sheets, self._workspace)),
            warnings=(*told(open_sheets, Severity.WARNING), *self._notes(folder), *shaky),
            commands=tuple(
                (f"{sheet.id} task {task.number}", task.verify)
                for sheet in open_sheets
                for task in sheet.tasks
                if task.verify
            ),
            is_approved=digests <= approved_plans(self._state, self._files.folder),
            resumes=resumes,
            estimate=estimate_of_all(open_sheets, purse.actuals(is_rehearsed=is_rehearsed)),
            spent=purse.by(resumes, today, is_rehearsed=is_rehearsed),
            branch=self._branch(folder, name, resumes),
            is_rehearsed=is_rehearsed,
        )

    def approve(self, preview: Preview) -> None:
        """Remember that a person agreed to run the commands of these plans, as they stand."""
        digests = tuple(each.sha256 for each in preview.approvals)
        approve_plans(self._state, self._files.folder, digests)

    def require_ready(self, preview: Preview) -> None:
        """Refuse, with every reason, what could not go well."""
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

    def carry_out(
        self,
        preview: Preview,
        crew: Crew,
        terms: Terms,
        watcher: Watcher,
        stop: Signal,
        over: Signal,
    ) -> Report:
        """Begin the job of a phase, or go on with it, until it ends or waits."""
        self.require_ready(preview)
        with the_only_run(self._files.folder, f"phase execute {preview.phase}"):
            # Looked at anew: another run may have ended between that look and the lock.
            preview = self._on_its_branch(self._looked_again(preview))
            self._put_aside(preview)
            job = self._job(preview, crew, terms)
            name = layout.runs_path(self._files.folder, job.id)
            crew.reap(name)
            site = self._site(job, preview, crew, terms, watcher, over)
            site.tell("started", job.id, preview.name, phase=job.phase, plans=list(preview.left))
            for note in (*preview.order.warnings, *preview.warnings, *job.crowding, *terms.notes):
                site.tell("note", job.id, note)
            with crew.ready(name):
                run(site, terms.caps, stop, watcher.looked)
        return self.report(job.id)

    def report(self, job: str) -> Report:
        """What became of a job."""
        files = self._job_files(job)
        held = files.load_job()
        try:
            folder, _ = self._folder(held.phase)
            proven = {*_proven(folder, is_rehearsed=held.is_rehearsed).values()}
        except NothingToExecute:  # whoever took its plans away meanwhile
            proven = set()
        plans = [(each, each in proven) for each in held.plans]
        kept = tuple(sorted(self._workspace.unmerged(f"fairlead/{job}/", held.target)))
        spent, _ = Purse(self._files).spent(held, moment(self._clock.now())[:10])
        questions = self._answers.believed(held, files.load_questions())
        return Report(held, questions, spent, tuple(plans), kept)

    def _on_its_branch(self, preview: Preview) -> Preview:
        """Go to the branch that the work lands on; what is found there is looked at anew."""
        if preview.resumes or preview.branch == self._workspace.branch():
            return preview
        self._require_clean(preview.branch)
        self._workspace.switch(preview.branch)
        return self._looked_again(preview)

    def _looked_again(self, preview: Preview) -> Preview:
        found = self.preview(preview.phase, is_rehearsed=preview.is_rehearsed)
        self.require_ready(found)
        return found

    def _job(self, preview: Preview, crew: Crew, terms: Terms) -> Job:
        if preview.resumes:
            held = self._job_files(preview.resumes).load_job()
        else:
            now = self._clock.now()
            branch = self._workspace.branch()
            self._require_clean(branch)
            held = Job(
                id=new_id(self._files, preview.phase, now),
                phase=preview.phase,
                status=JobStatus.EXECUTING,
                started_at=moment(now),
                agent=crew.executor.name,
                target=branch,
                base=self._workspace.commit_of("HEAD"),
                is_rehearsed=terms.is_rehearsed,
                is_git=self._workspace.is_git,
                plans=preview.left,
                estimate=preview.estimate,
                workstream=self._workstream,
            )
        job = replace(
            held,
            status=JobStatus.EXECUTING,
            ended_at="",
            note="",
            approvals=preview.approvals,
            agent=crew.executor.name,
            reviewer=crew.architect.name,
            shares=terms.shares,
            model=terms.model,
            slots=terms.slots if held.target else 1,
            commits_end=False,
        )
        self._job_files(job.id).save_job(job)
        return job

    def _put_aside(self, preview: Preview) -> None:
        """A summary that says its plan is not done makes room for the one of a new run."""
        stamp = Look(self._files, self._clock.now()).stamp
        moves = tuple(Move(path, layout.removed_path(path, stamp)) for path in preview.unsound)
        if moves and not preview.resumes:
            draft = Draft({}, Places(moves=moves))
            self._files.carry_out(lambda: draft, command=f"phase execute {preview.phase}")

    def _require_clean(self, branch: str) -> None:
        dirty = self._workspace.dirty_paths(layout.PLANNING) if branch else ()
        if dirty:
            raise TreeDirty(dirty, layout.PLANNING)

    def _site(
        self, job: Job, preview: Preview, crew: Crew, terms: Terms, watcher: Watcher, over: Signal
    ) -> Site:
        return Site(
            job=job,
            files=self._files,
            jobs=self._job_files(job.id),
            workspace=self._workspace,
            executor=crew.executor,
            architect=crew.architect,
            commands=crew.commands,
            clock=self._clock,
            sheets={sheet.id: sheet for sheet in preview.sheets},
            private=self._private(job.id),
            new_nonce=self._fresh,
            report=watcher.report,
            watch=watcher.watch,
            recall=crew.recall,
            limits=terms.limits,
            is_over=over,
            guarded=(*terms.guarded, f"{self._files.folder}/{layout.CONFIG}"),
            proven=frozenset(sheet.id for sheet in preview.sheets if sheet.id not in preview.left),
            approved=approved_plans(self._state, self._files.folder),
            keeps_documents=terms.keeps_documents,
            needs_tests=terms.needs_tests,
            title=preview.name,
            purse=Purse(self._files),
            answers=self._answers,
        )

    # -- looking ---------------------------------------------------------------------------

    def _folders(self) -> tuple[Folder, ...]:
        return scan(self._files.folder, workstream=self._workstream).folders

    def _folder(self, number: str) -> tuple[Folder, str]:
        wanted = PhaseId.parse(number)
        inventory = scan(self._files.folder, workstream=self._workstream)
        listed = {each.id: each.name for each in inventory.roadmap.phases}
        for folder in inventory.folders:
            if folder.id == wanted:
                if not folder.live_plans:
                    raise NothingToExecute(number, "it has no plans")
                return folder, listed.get(wanted) or folder.slug
        raise NothingToExecute(number, "it has no folder with plans")

    def _notes(self, folder: Folder) -> list[str]:
        """What a person should know before anything begins."""
        notes = []
        if self._workspace.uses_own_identity:
            notes.append("git knows no user.name and user.email here: commits carry our name")
        if empty := self._workspace.submodules():
            notes.append(f"attempts do not have the submodules checked out: {', '.join(empty)}")
        for plan in folder.live_plans:
            loaded = self._files.load_for_display(plan.summary) if plan.summary else None
            fault = fault_of(loaded.text, plan.id) if loaded else ""
            notes += [f"{plan.summary} {fault}"] if fault else []
        return notes

    def _job_files(self, job: str) -> JobFiles:
        witness = Witness(f"{self._private(job)}/{SEEN}")
        is_read_only = self._files.is_read_only
        return JobFiles(self._files.folder, job, is_read_only=is_read_only, witness=witness)

    def _private(self, job: str) -> str:
        return layout.private_folder(self._state.folder, self._files.folder, job)

    def _branch(self, folder: Folder, name: str, resumes: str) -> str:
        if resumes:
            return self._job_files(resumes).load_job().target
        if not self._branching or not self._workspace.is_git:
            return self._workspace.branch()
        inventory = scan(self._files.folder, workstream=self._workstream)
        return branch_named(self._branching, inventory, str(folder.id), name)

    def _unfinished(self, phase: str, *, is_rehearsed: bool) -> str:
        wanted = "execute", phase, self._workstream, is_rehearsed
        return unfinished(self._files, self._workspace, wanted)


def _proven(folder: Folder, *, is_rehearsed: bool) -> dict[str, str]:
    """The plans whose summary says that they are done: their ids by their paths."""
    proofs = (Proof.COMPLETE, Proof.REHEARSED) if is_rehearsed else (Proof.COMPLETE,)
    return {plan.path: plan.id for plan in folder.plans if plan.proof in proofs}
