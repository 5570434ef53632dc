"""Quick tasks: one plan, one executor, one verify, through the same gate as any other work.

The plan is asked for once, written down, and carried out when a person has agreed to its verify
command. What was begun is gone on with by its name; the row in STATE.md comes last, and is the
proof that nothing is left to do.
"""

from __future__ import annotations

from fairlead.engine.decide import ABORT, ACCEPT
from fairlead.engine.execution import Execution
from fairlead.engine.fanout import Signal
from fairlead.engine.look import Look, Steps
from fairlead.engine.role_calls import Ask, Given, RoleCalls
from fairlead.engine.role_jobs import Errand, Outcome, RoleJobs, RoleReport
from fairlead.engine.role_site import Company, RoleSite, Wish, asked
from fairlead.engine.undertaking import Crew, Preview, Terms, Watcher
from fairlead.errors import NoDocument, NothingToExecute, UnknownJob
from fairlead.model.budget import Spent, estimate
from fairlead.model.inventory import Folder
from fairlead.model.job import Job, JobStatus
from fairlead.model.plan import PlanSheet
from fairlead.model.roles import role
from fairlead.records.naming import summary_path
from fairlead.records.plan_sheet import read_plan
from fairlead.records.quick import quick_id, require_quick, with_quick_row
from fairlead.store import layout, layout_daily
from fairlead.store.files import Files
from fairlead.store.jobs import JobFiles, job_ids
from fairlead.store.scan import scan_folder
from fairlead.text.document import Document
from fairlead.text.inline import one_line
from fairlead.values import dataclass, replace


@dataclass(frozen=True, slots=True)
class QuickTask:
    """A quick task: its name, its folder, and the words it came in."""

    id: str
    folder: str
    text: str

    @property
    def plan(self) -> str:
        """The path of its plan."""
        return layout_daily.quick_plan(self.folder, self.id)

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.rpartition("/")[2]

    @property
    def command(self) -> str:
        """What goes on with it."""
        return f"fairlead quick resume {self.id}"


@dataclass(frozen=True, slots=True)
class QuickState:
    """A quick task as its files tell it."""

    id: str
    folder: str
    title: str
    is_done: bool


@dataclass(frozen=True, slots=True)
class Hands:
    """Who carries a plan out, and who looks on."""

    crew: Crew
    terms: Terms
    watcher: Watcher
    stop: Signal
    over: Signal
    is_approved: bool = False  # a person agreed beforehand to the commands of the plan


class QuickExecution(Execution):
    """Carries out the plan of one quick task, as a part of the job that asked for it."""

    def aimed(self, task: QuickTask, job: str) -> QuickExecution:
        """The same, for one task."""
        self._task = task
        self._id = job
        return self

    def _folder(self, number: str) -> tuple[Folder, str]:
        found = scan_folder(self._files.folder, self._task.folder)
        if found is None or not found.live_plans:
            raise NothingToExecute(self._task.id, "it has no plan")
        return found, self._task.text

    def _unfinished(self, phase: str, *, is_rehearsed: bool) -> str:
        held = self._job_files(self._id).load_job()
        return self._id if held.target or held.plans else ""

    def _job(self, preview: Preview, crew: Crew, terms: Terms) -> Job:
        """The job is there already: it gets what carrying out adds to it."""
        files = self._job_files(self._id)
        held = files.load_job()
        branch = self._workspace.branch()
        if not held.plans:
            self._require_clean(branch)
            base = self._workspace.commit_of("HEAD")
            held = replace(held, target=branch, base=base, plans=preview.left)
        job = replace(
            held,
            status=JobStatus.EXECUTING,
            agent=crew.executor.name,
            model=terms.model,
            slots=1,
            is_git=self._workspace.is_git,
            approvals=preview.approvals,
        )
        files.save_job(job)
        return job


class Quick(Steps):
    """The quick tasks of one project."""

    def __init__(self, files: Files, roles: RoleJobs, execution: QuickExecution) -> None:
        super().__init__(files, roles.clock)
        self._roles = roles
        self._execution = execution

    def new(self, text: str) -> QuickTask:
        """A name and a folder for a task; nothing is written yet."""
        title = one_line(text, "the text")
        if not self._files.exists(layout.ROADMAP):
            raise NoDocument(layout.ROADMAP, layout.hint_for(layout.ROADMAP))
        name = quick_id(self._clock.now())
        return QuickTask(name, layout_daily.quick_folder(name, title), title)

    def all(self) -> tuple[QuickState, ...]:
        """Every quick task, the oldest name first."""
        found = []
        for name in self._files.names(layout_daily.QUICK):
            folder = scan_folder(self._files.folder, f"{layout_daily.QUICK}/{name}")
            if folder is not None and folder.plans:
                id_ = folder.plans[0].path.rpartition("/")[2].removesuffix("-PLAN.md")
                title = self._sheet(folder.plans[0].path).objective
                done = all(each.is_complete for each in folder.plans)
                shown = " ".join(title.split())[:100] or name
                found.append(QuickState(id_, folder.path, shown, done))
        return tuple(found)

    def found(self, name: str) -> QuickTask:
        """A task that was begun, by its name."""
        known = self.all()
        for each in known:
            if name and name in (each.id, each.folder.rpartition("/")[2]):
                return QuickTask(each.id, each.folder, each.title)
        for held in job_ids(self._files):
            job = JobFiles(self._files.folder, held).load_record()
            if isinstance(job, Job) and job.kind == "quick" and name in (job.phase, job.id):
                folder = layout_daily.quick_folder(job.phase, job.subject)
                return QuickTask(job.phase, folder, job.subject)
        raise UnknownJob(name, tuple(each.id for each in known))

    def estimate(self, task: QuickTask) -> Spent:
        """What a task will probably take: a planner, an executor, a verifying reviewer."""
        sizes = {"planner": 6000, "executor": 4000, "architect": 4000}
        parts = (estimate(name, size + len(task.text)) for name, size in sizes.items())
        return sum(parts, Spent())

    def carry_out(self, task: QuickTask, company: Company, hands: Hands) -> RoleReport:
        """Plan, carry out, verify; or go on where it was left."""
        errand = Errand("quick", task.id, task.command, task.text)

        def work(site: RoleSite) -> Outcome:
            sheet = self._planned(site, task)
            return sheet if isinstance(sheet, Outcome) else self.executed(site, task, sheet, hands)

        return self._roles.run(errand, company, work)

    def executed(self, site: RoleSite, task: QuickTask, sheet: PlanSheet, hands: Hands) -> Outcome:
        """A plan that is there is carried out; a person has to agree to its command first."""
        execution = self._execution.aimed(task, site.job.id)
        if not self._is_over(task):
            preview = execution.preview("", is_rehearsed=site.job.is_rehearsed)
            if not (preview.is_approved or hands.is_approved):
                self._require_agreement(site, sheet)
            execution.approve(preview)
            preview = execution.preview("", is_rehearsed=site.job.is_rehearsed)
            done = execution.carry_out(
                preview, hands.crew, hands.terms, hands.watcher, hands.stop, hands.over
            )
            if done.job.status is not JobStatus.DONE:
                is_over = done.job.status is JobStatus.FAILED
                return Outcome(done.job.status, done.job.note, (task.plan,), is_over=is_over)
        return self._recorded(site, task)

    # -- the steps ------------------------------------------------------------------------

    def _planned(self, site: RoleSite, task: QuickTask) -> PlanSheet | Outcome:
        """The plan on disk; the planner is asked only where there is none."""
        loaded = self._files.load_if_present(task.plan)
        if loaded is None:
            name = task.plan.rpartition("/")[2]
            words = {"folder": task.name, "quick": task.id}
            pieces = {"request": task.text, "project": self._project()}
            ask = Ask(role("planner"), "plan", pieces, words, (name,), "quick-planner")

            def read(given: Given) -> str:
                text = next(iter(given.documents.values()), "")
                require_quick(read_plan(task.plan, text))
                return text

            reply = RoleCalls(site).call(ask, read)
            if reply.value is None:
                is_blocked = reply.call.status == "blocked"
                status = JobStatus.BLOCKED if is_blocked else JobStatus.FAILED
                note = f"the planner gave no plan: {reply.note}"
                return Outcome(status, note, is_over=not is_blocked)
            self.write_plan(site, task, reply.value)
        return self._sheet(task.plan)

    def write_plan(self, site: RoleSite, task: QuickTask, text: str) -> None:
        """The plan becomes a document of the project, committed before anybody works on it."""
        self._files.create_all({task.plan: text}, command=f"quick {task.id}")
        self._roles.keep_documents(site, (task.plan,), f"docs(quick-{task.id}): plan")

    def _require_agreement(self, site: RoleSite, sheet: PlanSheet) -> None:
        lines = "; ".join(task.verify for task in sheet.tasks)
        text = f"run this to verify: {lines}"
        asked(site, Wish("commands", text, (ACCEPT, ABORT), about=sheet.digest))

    def _recorded(self, site: RoleSite, task: QuickTask) -> Outcome:
        commit = next((each.commit for each in site.jobs.load_gates() if each.commit), "")

        def row(held: Document, at: Look) -> Document:
            return with_quick_row(held, task.id, task.name, task.text, commit, at.now)

        self._step(f"quick {task.id}", lambda look: look.draft(row), dry_run=False)
        summary = summary_path(task.plan)
        written = (task.plan, summary, layout.STATE, layout.ledger_path(task.id))
        return Outcome(written=written, message=f"docs(quick-{task.id}): {task.text[:60]}")

    def _is_over(self, task: QuickTask) -> bool:
        folder = scan_folder(self._files.folder, task.folder)
        return folder is not None and folder.is_implemented

    def _sheet(self, path: str) -> PlanSheet:
        return read_plan(path, self._files.load(path).text)

    def _project(self) -> str:
        loaded = self._files.load_for_display(layout.PROJECT)
        return loaded.text[:4000] if loaded else ""
