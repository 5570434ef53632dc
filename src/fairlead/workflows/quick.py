"""Quick tasks: one plan with one task, executed through the same gate as any other work.

The planner is asked once and its plan is committed. It is executed after a person has agreed to
its verify command. The row in STATE.md is written last: it proves that nothing is left to do.

The id of a task is the day and the two-second block of the day, in the form that other tools use.
"""

from __future__ import annotations

from datetime import datetime

from fairlead.agents.budget import Cost, estimate
from fairlead.agents.model import AgentRole
from fairlead.core.values import dataclass, replace
from fairlead.execution.decide import ABORT, ACCEPT
from fairlead.execution.errors import NothingToExecute
from fairlead.execution.model import ExecutionPreview
from fairlead.execution.service import Execution
from fairlead.jobs.context import JobSetup
from fairlead.jobs.errors import UnknownJob
from fairlead.jobs.folder import JobFolder, job_ids
from fairlead.jobs.model import Job, JobStatus
from fairlead.jobs.paths import ledger_path
from fairlead.plans.check import cannot_fail, validate
from fairlead.plans.documents import read_plan
from fairlead.plans.model import PlanDocument, Severity
from fairlead.project.derive.inventory import PhaseFolder
from fairlead.project.derive.scan import scan_folder
from fairlead.project.naming import summary_path
from fairlead.project.service import ProjectService, ProjectSnapshot
from fairlead.project.state.activity import with_activity
from fairlead.project.state.documents import stamped
from fairlead.project.state.entries import CONTEXT, at_end, below, last_filled_line
from fairlead.store import layout
from fairlead.store.errors import NoDocument
from fairlead.store.files import Files
from fairlead.text.document import Document
from fairlead.text.inline import one_line, table_cell
from fairlead.text.tables import append_row, tables_of
from fairlead.text.yaml_emit import Value, block_lines
from fairlead.workflows import paths
from fairlead.workflows.errors import NotQuick
from fairlead.workflows.questions import PendingQuestion, WorkflowContext, answer_to
from fairlead.workflows.role_calls import RoleAnswer, RoleCalls, RoleRequest
from fairlead.workflows.roles import role
from fairlead.workflows.service import JobPurpose, WorkflowEnd, WorkflowReport, Workflows

QUICK_TITLES = ("Quick Tasks Completed", "Quick Tasks")
_COLUMNS = ("#", "Description", "Date", "Commit", "Directory")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_PROMPT_CHARACTERS = {"planner": 6000, "executor": 4000, "architect": 4000}  # for the estimate
_MAX_PROJECT = 4000  # characters of PROJECT.md in the prompt


@dataclass(frozen=True, slots=True)
class QuickTask:
    """A quick task: its id, its folder, and the user's text."""

    id: str
    folder: str
    text: str

    @property
    def plan(self) -> str:
        """The path of its plan."""
        return paths.quick_plan(self.folder, self.id)

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.rpartition("/")[2]

    @property
    def command(self) -> str:
        """The command that resumes it."""
        return f"fairlead quick resume {self.id}"


@dataclass(frozen=True, slots=True)
class QuickState:
    """A quick task according to its files."""

    id: str
    folder: str
    title: str
    is_done: bool


@dataclass(frozen=True, slots=True)
class PlannedFix:
    """A change that needs no planner: the content of a plan with one task."""

    title: str
    action: str
    files: tuple[str, ...]
    verify: str
    done: str


class QuickExecution(Execution):
    """Executes the plan of one quick task, as a part of the job that asked for it."""

    def for_task(self, task: QuickTask, job: str) -> QuickExecution:
        """Set the task and its job."""
        self._task = task
        self._id = job
        return self

    def _folder(self, number: str) -> tuple[PhaseFolder, str]:
        folder = scan_folder(self._files.folder, self._task.folder)
        if folder is None or not folder.live_plans:
            raise NothingToExecute(self._task.id, "it has no plan")
        return folder, self._task.text

    def _unfinished(self, phase: str, *, is_rehearsed: bool) -> str:
        job = self._environment.folder(self._id).load(Job)
        return self._id if job.target or job.plans else ""

    def _job(self, preview: ExecutionPreview, setup: JobSetup) -> Job:
        """Add the fields of an execution to the job of the workflow."""
        folder = self._environment.folder(self._id)
        job = folder.load(Job)
        branch = self._workspace.branch()
        if not job.plans:
            self._require_clean(branch)
            base = self._workspace.commit_of("HEAD")
            job = replace(job, target=branch, base=base, plans=preview.left)
        return replace(
            job,
            status=JobStatus.EXECUTING,
            agent=setup.roster.agent(AgentRole.EXECUTOR).name,
            model=setup.options.model,
            slots=1,
            is_git=self._workspace.is_git,
            approvals=preview.approvals,
        )


class QuickTasks(ProjectService):
    """The quick tasks of one project."""

    def __init__(self, files: Files, roles: Workflows, execution: QuickExecution) -> None:
        super().__init__(files, roles.clock)
        self._roles = roles
        self._execution = execution

    def new(self, text: str) -> QuickTask:
        """A new task with an id and a folder; nothing is written."""
        title = one_line(text, "the text")
        if not self._files.exists(layout.ROADMAP):
            raise NoDocument(layout.ROADMAP, layout.hint_for(layout.ROADMAP))
        id_ = quick_id(self._clock.now())
        return QuickTask(id_, paths.quick_folder(id_, title), title)

    def all(self) -> tuple[QuickState, ...]:
        """Every quick task, sorted by name."""
        tasks = []
        for name in self._files.names(paths.QUICK):
            folder = scan_folder(self._files.folder, f"{paths.QUICK}/{name}")
            if folder is not None and folder.plans:
                path = folder.plans[0].path
                title = " ".join(self._plan(path).objective.split())[:100] or name
                is_done = all(plan.is_complete for plan in folder.plans)
                id_ = path.rpartition("/")[2].removesuffix("-PLAN.md")
                tasks.append(QuickState(id_, folder.path, title, is_done))
        return tuple(tasks)

    def find(self, name: str) -> QuickTask:
        """An existing task by its id, its folder or its job."""
        tasks = self.all()
        for task in tasks:
            if name and name in (task.id, task.folder.rpartition("/")[2]):
                return QuickTask(task.id, task.folder, task.title)
        for id_ in job_ids(self._files):  # without a plan there is only the job
            job = JobFolder(self._files.folder, id_).find(Job)
            if job is not None and job.kind == "quick" and name in (job.phase, job.id):
                folder = paths.quick_folder(job.phase, job.subject)
                return QuickTask(job.phase, folder, job.subject)
        raise UnknownJob(name, tuple(task.id for task in tasks))

    def estimate(self, task: QuickTask) -> Cost:
        """The estimated cost: a planner, an executor and a reviewer."""
        sizes = _PROMPT_CHARACTERS.items()
        return sum((estimate(name, size + len(task.text)) for name, size in sizes), Cost())

    def carry_out(
        self, task: QuickTask, setup: JobSetup, execution_setup: JobSetup
    ) -> WorkflowReport:
        """Plan, execute and verify a task, or resume it."""

        def work(context: WorkflowContext) -> WorkflowEnd:
            plan = self._make_plan(context, task)
            if isinstance(plan, WorkflowEnd):
                return plan
            return self.execute(context, task, plan, execution_setup)

        purpose = JobPurpose("quick", task.id, task.command, task.text)
        return self._roles.run(purpose, setup, work)

    def execute(
        self,
        context: WorkflowContext,
        task: QuickTask,
        plan: PlanDocument,
        execution_setup: JobSetup,
    ) -> WorkflowEnd:
        """Execute a written plan, after a person has agreed to its verify command."""
        execution = self._execution.for_task(task, context.job.id)
        if not self._is_implemented(task):
            preview = execution.preview("", is_rehearsed=context.job.is_rehearsed)
            if not (preview.is_approved or execution_setup.may_run_commands):
                text = f"run this to verify: {'; '.join(task.verify for task in plan.tasks)}"
                options = (ACCEPT, ABORT)
                answer_to(context, PendingQuestion("commands", text, options, about=plan.digest))
            execution.approve(preview)
            preview = execution.preview("", is_rehearsed=context.job.is_rehearsed)
            job = execution.carry_out(preview, execution_setup).job
            if job.status is not JobStatus.DONE:
                is_over = job.status is JobStatus.FAILED
                return WorkflowEnd(job.status, job.note, (task.plan,), is_over=is_over)
        return self._record(context, task)

    def write_plan(self, context: WorkflowContext, task: QuickTask, text: str) -> None:
        """Write and commit a plan before it is executed."""
        self._files.create_all({task.plan: text}, command=f"quick {task.id}")
        self._roles.keep_documents(context, (task.plan,), f"docs(quick-{task.id}): plan")

    def _make_plan(self, context: WorkflowContext, task: QuickTask) -> PlanDocument | WorkflowEnd:
        """The plan on disk; the planner is asked only if there is none."""
        if not self._files.exists(task.plan):
            project = self._files.load_for_display(layout.PROJECT)
            text = project.text[:_MAX_PROJECT] if project else ""
            request = RoleRequest(
                role("planner"),
                "plan",
                {"request": task.text, "project": text},
                {"folder": task.name, "quick": task.id},
                (task.plan.rpartition("/")[2],),
                "quick-planner",
            )

            def read(answer: RoleAnswer) -> str:
                text = next(iter(answer.documents.values()), "")
                require_quick(read_plan(task.plan, text))
                return text

            reply = RoleCalls(context).call(request, read)
            if reply.value is None:
                is_blocked = reply.call.status == "blocked"
                status = JobStatus.BLOCKED if is_blocked else JobStatus.FAILED
                note = f"the planner gave no plan: {reply.note}"
                return WorkflowEnd(status, note, is_over=not is_blocked)
            self.write_plan(context, task, reply.value)
        return self._plan(task.plan)

    def _record(self, context: WorkflowContext, task: QuickTask) -> WorkflowEnd:
        commit = next((gate.commit for gate in context.folder.load_gates() if gate.commit), "")

        def row(document: Document, at: ProjectSnapshot) -> Document:
            return with_quick_row(document, task.id, task.name, task.text, commit, at.now)

        self._transact(f"quick {task.id}", lambda look: look.state_change(row), dry_run=False)
        written = (task.plan, summary_path(task.plan), layout.STATE, ledger_path(task.id))
        return WorkflowEnd(written=written, message=f"docs(quick-{task.id}): {task.text[:60]}")

    def _is_implemented(self, task: QuickTask) -> bool:
        folder = scan_folder(self._files.folder, task.folder)
        return folder is not None and folder.is_implemented

    def _plan(self, path: str) -> PlanDocument:
        return read_plan(path, self._files.load(path).text)


# -- plans ---------------------------------------------------------------------------------------


def quick_id(now: datetime) -> str:
    """`260516-0k3`: the day, and the two-second block of the day in base 36."""
    block = (now.hour * 3600 + now.minute * 60 + now.second) // 2
    digits = ""
    for _ in range(3):
        block, rest = divmod(block, 36)
        digits = _DIGITS[rest] + digits
    return f"{now:%y%m%d}-{digits}"


def require_quick(plan: PlanDocument) -> PlanDocument:
    """Refuse a plan that is not one task with files and a command that can fail."""
    faults = [
        f"line {finding.line}: {finding.what}"
        for finding in validate(plan)
        if finding.severity is Severity.ERROR
    ]
    if len(plan.tasks) != 1:
        faults.append(f"it has {len(plan.tasks)} tasks instead of one")
    for task in plan.tasks:
        if task.kind.is_checkpoint:
            faults.append("its task needs a decision of a person")
        elif not task.verify:
            faults.append("its task has no verify command")
        elif cannot_fail(task.verify):
            faults.append(f"its verify command cannot fail: {task.verify}")
        if not task.files:
            faults.append("its task names no files")
    if faults:
        raise NotQuick("; ".join(faults))
    return plan


def fix_plan(name: str, fix: PlannedFix) -> str:
    """The text of a plan with one task for a known fix."""
    front: dict[str, Value] = {
        "phase": name,
        "plan": 1,
        "type": "execute",
        "wave": 1,
        "depends_on": [],
        "files_modified": list(fix.files),
        "autonomous": True,
        "requirements": [],
        "must_haves": {"truths": [one_line(fix.done, "what is true then")]},
    }
    title, action, done = (one_line(text) for text in (fix.title, fix.action, fix.done))
    verify = fix.verify.strip()
    if not fix.files:
        raise NotQuick("it names no files")
    if not verify or not verify.isprintable() or "</" in verify:
        raise NotQuick("its verify command is not a single line")
    return "\n".join(
        (
            "---",
            *block_lines(front, 0),
            "---",
            "",
            "<objective>",
            title,
            "</objective>",
            "",
            "<tasks>",
            '<task type="auto">',
            f"  <name>Task 1: {title[:60]}</name>",
            f"  <files>{', '.join(fix.files)}</files>",
            f"  <action>{action}</action>",
            f"  <verify><automated>{verify}</automated></verify>",
            f"  <done>{done}</done>",
            "</task>",
            "</tasks>",
            "",
        )
    )


# -- the table in STATE.md -----------------------------------------------------------------------


def with_quick_row(
    document: Document, name: str, folder: str, text: str, commit: str, now: datetime
) -> Document:
    """STATE.md with the row of a completed quick task; an existing row is not repeated.

    The row follows the columns of the existing table, which another tool may have created.
    """
    document.require_writable()
    title = one_line(text, "the text")
    values = {
        "#": name,
        "description": title,
        "quick task": title,
        "date": f"{now:%Y-%m-%d}",
        "commit": commit[:7] or "-",
        "status": "Verified",
        "directory": f"[{folder}](./quick/{folder}/)",
    }
    section = document.section(*QUICK_TITLES)
    tables = tables_of(document.section_lines(section)) if section else ()
    if tables:
        if any(name in cell.text for row in tables[0].rows for cell in row):
            return document
        titles = [cell.text.strip("*").casefold() for cell in tables[0].header]
        cells = [values.get(title) or "-" for title in titles]
        text = append_row(document.text, tables[0], cells, document.ending)
    else:
        text = _with_table(document, [values[column.casefold()] for column in _COLUMNS])
    activity = f"Completed quick task {name}: {title}"
    return stamped(with_activity(document.replaced(text), activity, now), now)


def _with_table(document: Document, cells: list[str]) -> str:
    rows = (_COLUMNS, tuple("-" * max(3, len(column)) for column in _COLUMNS), cells)
    table = document.ending.join(f"| {' | '.join(map(table_cell, row))} |" for row in rows)
    section, context = document.section(*QUICK_TITLES), document.section(CONTEXT)
    if section:
        return below(document, last_filled_line(document, section), table)
    if context:
        heading = f"{'#' * (context.level + 1)} {QUICK_TITLES[0]}"
        return below(document, last_filled_line(document, context, own=False), heading, table)
    return at_end(document, f"## {QUICK_TITLES[0]}", table)
