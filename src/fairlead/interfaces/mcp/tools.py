"""The tools: what each takes, what it does, and what it says about itself.

Every tool makes one call to the application and returns an object from `views`. The order is
fixed, because clients cache the list. Descriptions are short: every session of a host pays for
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from fairlead.core.errors import UsageError
from fairlead.core.values import dataclass, names_of
from fairlead.interfaces.mcp.arguments import input_schema
from fairlead.interfaces.mcp.errors import OnlyByPerson
from fairlead.jobs.detached import DetachedJob, JobRequest
from fairlead.jobs.model import AGENT
from fairlead.planphase import plan_edits
from fairlead.planphase.paths import PLAN_REQUIREMENTS
from fairlead.planphase.plan_edits import PartEdit
from fairlead.planphase.service import PlanStart
from fairlead.project.health.explain import Explanation
from fairlead.project.overview import StatusReport
from fairlead.project.state.documents import Decision
from fairlead.project.state.edits import TaskOutcome, TaskResult
from fairlead.project.state.session import Stop
from fairlead.project.todos import new_todo
from fairlead.views.changes import change_view
from fairlead.views.check import CheckView, check_view
from fairlead.views.explain import EXPLAINED, explain_view
from fairlead.views.jobs import answer_view, detached_view, job_list_view, job_view
from fairlead.views.memory import capture_members
from fairlead.views.planning import added_part_members, plan_phase_view
from fairlead.views.status import NextView, next_view, status_view

if TYPE_CHECKING:
    from fairlead.app import App
    from fairlead.store.files import WriteOutcome
    from fairlead.text.document import Document

ExplainedValue = StrEnum("ExplainedValue", [(name.upper(), name) for name in EXPLAINED])  # type: ignore[misc]


class EventKind(StrEnum):
    """The events that an agent records."""

    DECISION = "decision"
    BLOCKER = "blocker"
    BLOCKER_RESOLVED = "blocker-resolved"
    TASK_RESULT = "task-result"
    PLAN_COMPLETE = "plan-complete"
    SESSION = "session"


class CaptureKind(StrEnum):
    """What an idea becomes."""

    TODO = "todo"
    NOTE = "note"
    BACKLOG = "backlog"


class PlanningStep(StrEnum):
    """The steps of a Plan Phase; the last two belong to a person."""

    STATUS = "status"
    START = "start"
    ADD = "add"
    MODIFY = "modify"
    REMOVE = "remove"
    REVIEW = "review"
    CONFIRM = "confirm"
    APPROVE = "approve"


class PlanPart(StrEnum):
    """What a plan consists of."""

    MODULE = "module"
    REQUIREMENT = "requirement"


class StartedKind(StrEnum):
    """The jobs that can be started."""

    RUN = "run"
    QUICK = "quick"
    DISCUSS = "discuss"
    PLAN = "plan"
    EXECUTE = "execute"


@dataclass(frozen=True, slots=True)
class WorkstreamArguments:
    """A workstream, where a project has several."""

    workstream: str = ""


@dataclass(frozen=True, slots=True)
class CheckArguments:
    """What to check."""

    ledger: bool = False
    workstream: str = ""


@dataclass(frozen=True, slots=True)
class ExplainArguments:
    """The value to explain."""

    what: ExplainedValue
    name: str = ""
    workstream: str = ""


@dataclass(frozen=True, slots=True)
class RecordArguments:
    """An event."""

    event: EventKind
    text: str = ""
    phase: str = ""
    plan: str = ""
    outcome: str = ""
    reason: str = ""
    workstream: str = ""
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class CaptureArguments:
    """An idea."""

    text: str
    kind: CaptureKind = CaptureKind.TODO
    area: str = ""
    phase: str = ""
    workstream: str = ""
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class PlanningArguments:
    """One step of a Plan Phase."""

    step: PlanningStep
    part: PlanPart = PlanPart.MODULE
    name: str = ""
    criteria: str = ""
    priority: str = ""
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class StartArguments:
    """A job to start."""

    kind: StartedKind
    subject: str
    agent: str = ""
    rehearse: bool = False
    workstream: str = ""


@dataclass(frozen=True, slots=True)
class JobArguments:
    """A job."""

    job: str = ""


@dataclass(frozen=True, slots=True)
class AnswerArguments:
    """The answer to a question."""

    job: str
    answer: str
    question: str = ""


class ToolContext(NamedTuple):
    """What a tool works with."""

    app: App
    start: Callable[[str, Sequence[str]], DetachedJob]  # starts a command in the background


class Tool(NamedTuple):
    """One tool: its name and text, its arguments, its operation, and truthful hints."""

    name: str
    description: str
    arguments: type
    call: Callable[[ToolContext, Any], Any]  # the result is an object of `views`
    result: type | None = None  # the class of that object, if it has one
    is_write: bool = False
    is_destructive: bool = False
    is_idempotent: bool = True
    is_open_world: bool = False

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        return input_schema(self.arguments)

    @property
    def output_schema(self) -> dict[str, Any]:
        """The JSON schema of the result: every document has `version` and `ok`."""
        own: dict[str, Any] = {name: {} for name in names_of(self.result)} if self.result else {}
        properties = {"version": {"type": "integer"}, "ok": {"type": "boolean"}, **own}
        return {"type": "object", "properties": properties, "required": ["version", "ok"]}


def _status(context: ToolContext, given: WorkstreamArguments) -> object:
    return status_view(context.app, given.workstream)


def _next(context: ToolContext, given: WorkstreamArguments) -> object:
    app = context.app
    return next_view(app, status_view(app, given.workstream), given.workstream)


def _check(context: ToolContext, given: CheckArguments) -> object:
    if given.ledger:
        return context.app.ledgers(given.workstream)
    return check_view(context.app.overview.comparisons(given.workstream))


def _explain(context: ToolContext, given: ExplainArguments) -> object:
    return explain_view(context.app, given.what, given.name, given.workstream)


def _record(context: ToolContext, given: RecordArguments) -> object:
    return change_view(_recorded(context.app, given), dry_run=given.dry_run)


def _recorded(app: App, given: RecordArguments) -> WriteOutcome:
    dry_run, phase, text = given.dry_run, given.phase, given.text
    match given.event:
        case EventKind.DECISION:
            return app.memory.add_decision(Decision(phase, text, given.reason), dry_run=dry_run)
        case EventKind.BLOCKER:
            return app.events.blocker_added(text, phase=phase, dry_run=dry_run)
        case EventKind.BLOCKER_RESOLVED:
            return app.events.blocker_resolved(text, dry_run=dry_run)
        case EventKind.TASK_RESULT:
            return app.events.task_result(_task_result(given), dry_run=dry_run)
        case EventKind.PLAN_COMPLETE:
            return app.events.plan_completed(phase, plan=given.plan, dry_run=dry_run)
        case EventKind.SESSION:
            return app.sessions.ended(Stop(text), dry_run=dry_run)


def _task_result(given: RecordArguments) -> TaskResult:
    outcomes = tuple(TaskOutcome)
    if given.outcome not in outcomes:
        message = f"{given.outcome!r} is not an outcome of a task"
        raise UsageError.saying(message, f"outcome is one of: {', '.join(outcomes)}")
    outcome = TaskOutcome(given.outcome)
    return TaskResult(given.text, outcome, given.phase, given.reason, "", given.plan)


def _capture(context: ToolContext, given: CaptureArguments) -> object:
    app, dry_run = context.app, given.dry_run
    if given.kind is CaptureKind.NOTE:
        entry = app.captures.note(given.text, dry_run=dry_run)
    elif given.kind is CaptureKind.BACKLOG:
        entry = app.captures.backlog(given.text, dry_run=dry_run)
    else:
        todo = new_todo(given.text, area=given.area, phase=given.phase)
        entry = app.captures.todo(todo, dry_run=dry_run)
    return change_view(entry.outcome, dry_run=dry_run, **capture_members(entry))


def _planning(context: ToolContext, given: PlanningArguments) -> object:
    app, dry_run = context.app, given.dry_run
    match given.step:
        case PlanningStep.APPROVE:
            raise OnlyByPerson("approve a plan", "fairlead planning approve")
        case PlanningStep.CONFIRM:
            raise OnlyByPerson("confirm an exit criterion", "fairlead planning confirm N --yes")
        case PlanningStep.STATUS:
            return plan_phase_view(app)
        case PlanningStep.START:
            start = PlanStart(given.name, PLAN_REQUIREMENTS, "", has_ignore=True)
            plan_id, outcome = app.planning.start(start, dry_run=dry_run)
            return change_view(outcome, dry_run=dry_run, plan_id=plan_id)
        case PlanningStep.REVIEW:
            return change_view(app.planning.review(dry_run=dry_run), dry_run=dry_run)
        case _:
            command = f"{given.step} {given.part}"
            outcome = app.planning.change(command, _plan_edit(given), dry_run=dry_run)
            if given.step is not PlanningStep.ADD:
                return change_view(outcome, dry_run=dry_run)
            is_module = given.part is PlanPart.MODULE
            added = added_part_members(outcome, given.name, is_module=is_module)
            return change_view(outcome, dry_run=dry_run, **added)


def _plan_edit(given: PlanningArguments) -> Callable[[Document], Document]:
    """The edit of a module or of a section of the requirements."""
    name, is_module = given.name, given.part is PlanPart.MODULE
    if given.step is PlanningStep.REMOVE:
        remove = plan_edits.remove_module if is_module else plan_edits.remove_section
        return partial(remove, name=name, force=False)
    edit = PartEdit(criteria=given.criteria or None, priority=given.priority or None)
    if given.step is PlanningStep.ADD:
        add = plan_edits.add_module if is_module else plan_edits.add_section
        return partial(add, name=name, edit=edit)
    if edit == PartEdit():
        raise UsageError.saying("nothing to change was named", "give criteria or priority")
    modify = plan_edits.modify_module if is_module else plan_edits.modify_section
    return partial(modify, name=name, edit=edit)


def _start_job(context: ToolContext, given: StartArguments) -> object:
    # Neither approved nor answered by policy: both belong to a person.
    request = JobRequest(
        given.kind,
        given.subject,
        given.agent,
        is_rehearsed=given.rehearse,
        workstream=given.workstream,
    )
    begun = context.start(context.app.place, request.words())
    return detached_view(begun, rehearsed=given.rehearse)


def _show_job(context: ToolContext, given: JobArguments) -> object:
    app = context.app
    if not given.job:
        jobs = [(record, app.jobs.present(record)) for record in app.jobs.all()]
        return job_list_view(jobs, app.jobs.damaged())
    record = app.jobs.record(given.job)
    return job_view(app.jobs.report(record.id), app.jobs.present(record))


def _answer_job(context: ToolContext, given: AnswerArguments) -> object:
    app = context.app
    answered = app.jobs.answer(given.job, given.answer, given.question, by=AGENT)
    return answer_view(answered, app.jobs.present(app.jobs.record(given.job)))


TOOLS = (
    Tool(
        "status",
        "Where the project stands: milestone, phases, progress, blockers, open jobs. Derived from "
        "its files. Read this first.",
        WorkstreamArguments,
        _status,
        StatusReport,
    ),
    Tool(
        "next",
        "The next command with its reason, and questions that wait for a person.",
        WorkstreamArguments,
        _next,
        NextView,
    ),
    Tool(
        "check",
        "Compare the planning documents with the files; with ledger, the recorded evidence.",
        CheckArguments,
        _check,
        CheckView,
    ),
    Tool(
        "explain",
        "The files behind a value. phase and plan need a name: 4, 04-02.",
        ExplainArguments,
        _explain,
        Explanation,
    ),
    Tool(
        "record",
        "Record an event in STATE.md. decision: text, phase, reason. blocker: text. "
        "blocker-resolved: text, part of it. task-result: text (the task), outcome "
        "(success|failure|blocked), reason. plan-complete needs the plan's SUMMARY. session: text, "
        "where you stopped.",
        RecordArguments,
        _record,
        is_write=True,
        is_destructive=True,
    ),
    Tool(
        "capture",
        "Keep an idea: a todo, a note, or a backlog entry of the roadmap.",
        CaptureArguments,
        _capture,
        is_write=True,
        is_idempotent=False,
    ),
    Tool(
        "planning",
        "One step of planning a goal: start (name: the goal), then add, modify or remove modules "
        "and requirements, then review. priority: low|medium|high|critical. confirm and approve "
        "belong to a person: you get the command.",
        PlanningArguments,
        _planning,
        is_write=True,
        is_destructive=True,
        is_idempotent=False,
    ),
    Tool(
        "start_job",
        "Start agents in the background. run and quick: subject is the goal; discuss, plan, "
        "execute: the phase number. Follow with show_job. Commands must have been approved by a "
        "person. This costs money.",
        StartArguments,
        _start_job,
        is_write=True,
        is_destructive=True,
        is_idempotent=False,
        is_open_world=True,
    ),
    Tool(
        "show_job",
        "A job with its tasks, calls, cost and questions; without a name, all jobs.",
        JobArguments,
        _show_job,
    ),
    Tool(
        "answer_job",
        "Answer a factual question that an executor asked. Decisions belong to a person: you get "
        "the command.",
        AnswerArguments,
        _answer_job,
        is_write=True,
        is_idempotent=False,
    ),
)
