"""What commands that run agents share: options, interrupts, questions to the user, and the ending.

The user is asked only in a terminal. Otherwise --auto answers a question by its policy, or the job
waits for `fairlead job answer`, and the exit code says so.
"""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from fairlead.agents.budget import Comparison
from fairlead.app import App
from fairlead.core.values import dataclass, names_of
from fairlead.interfaces.cli.detached import announcing
from fairlead.interfaces.cli.options import dry_run_option, json_option, with_app
from fairlead.interfaces.cli.output import (
    REHEARSAL,
    Line,
    Styled,
    is_interactive,
    quoted_lines,
    report,
    table_lines,
    terminal_width,
    warn,
    with_workstream,
    wrapped_lines,
)
from fairlead.jobs.errors import JobWaiting
from fairlead.jobs.model import IN_WORDS
from fairlead.jobs.service import rehearsal_command
from fairlead.views.runs import workflow_preview_view, workflow_view

if TYPE_CHECKING:
    from fairlead.agents.budget import Cost
    from fairlead.core.concurrency import OneTimeEvent
    from fairlead.interfaces.cli.live_view import ProgressLines
    from fairlead.jobs.context import AgentChoice, Cancellation, JobSetup
    from fairlead.jobs.model import JobRecord, Question
    from fairlead.workflows.role_calls import CallPreview, WorkflowPreview
    from fairlead.workflows.service import WorkflowReport

_EXIT_CODES = {"DONE": 0, "FAILED": 5}
_DEFAULT_GC_THRESHOLD = 700  # Python's own


def _remember_rehearsal(context: click.Context, parameter: click.Parameter, value: bool) -> bool:
    if value:
        given = {*context.meta.get(REHEARSAL, "").split(), parameter.opts[0]}
        context.meta[REHEARSAL] = " ".join(sorted(given, reverse=True))  # --rehearse --here
    return value


rehearse_option = click.option(
    "--rehearse",
    is_flag=True,
    callback=_remember_rehearsal,
    help="Use scripted agents in a private copy; the next rehearsal continues there.",
)
here_option = click.option(
    "--here",
    is_flag=True,
    callback=_remember_rehearsal,
    help="Rehearse in the project itself; undo it with `rehearsal discard`.",
)
approve_option = click.option(
    "--approve", is_flag=True, help="Allow the verify commands of the plans to run."
)
# The commands of the whole way take the same options, also where they have nothing to allow.
idle_approve_option = click.option(
    "--approve", is_flag=True, expose_value=False, help="No effect: this step runs no commands."
)
auto_option = click.option(
    "--auto", is_flag=True, help="Do not ask: answer questions by policy, or let them wait."
)
events_option = click.option(
    "--events", "as_events", is_flag=True, help="Print one JSON line per event."
)
cluster_option = click.option(
    "--cluster", is_flag=True, help="Run agents and verify commands on workers, through Temporal."
)
model_option = click.option("--model", default="", metavar="NAME", help="Model for the agent.")
_WORKFLOW_OPTIONS = (
    click.option("--agent", default="", metavar="NAME", help="Agent: claude, codex, …"),
    model_option,
    auto_option,
    rehearse_option,
    events_option,
)


@contextmanager
def on_cluster(app: App, *, is_wanted: bool, is_preview: bool = False) -> Iterator[None]:
    """Let the agents of an application run on workers."""
    if not is_wanted:
        yield
        return
    from fairlead.cluster.service import ClusterProject, opened, previewed

    session = previewed if is_preview else opened
    with session(ClusterProject.of(app), note=warn) as app.cluster:
        yield


def cluster_preview(app: App, *agents: str) -> tuple[dict[str, object], list[Line]]:
    """Where the calls of a run would go, as JSON and for people; empty without --cluster."""
    if app.cluster is None:
        return {}, []
    from fairlead.views.cluster import cluster_preview_view

    found = app.cluster.preview(agents)
    slots = ", ".join(f"{name} {count}" for name, count in found.slots.items()) or "none"
    place = "on workers" if found.trusts_workers else "on this machine"
    lines: list[Line] = [
        (f"runs on workers of Temporal at {found.address}, namespace {found.namespace}",),
        (f"  shared repository: {found.remote}",),
        (f"  slots of the workers: {slots}",),
        (f"  verify commands run on merged code {place}",),
    ]
    for name in found.missing:
        command = f"fairlead worker --address {found.address} --queue {name}"
        lines.append(
            (Styled("  ⚠ ", "yellow"), f"no worker serves queue {name}; start one: {command}")
        )
    return {"cluster": cluster_preview_view(found)}, lines


@dataclass(frozen=True, slots=True)
class WorkflowOptions:
    """The options that every workflow has."""

    agent: str
    model: str
    auto: bool
    rehearse: bool
    as_events: bool
    dry_run: bool
    as_json: bool


@dataclass(frozen=True, slots=True)
class WorkflowRun:
    """A workflow that is about to run: project, agents, view and interrupts."""

    app: App
    setup: JobSetup
    cancellation: Cancellation  # of an execution inside the workflow


def workflow_command(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a workflow, and pass the application and a `WorkflowOptions`."""

    @with_app
    def wrapper(app: App, **options: Any) -> Any:
        values = {name: options.pop(name) for name in names_of(WorkflowOptions)}
        return command(app, WorkflowOptions(**values), **options)

    wrapper.__doc__ = command.__doc__
    wrapper.__name__ = command.__name__
    decorated = dry_run_option(json_option(wrapper))
    for option in reversed(_WORKFLOW_OPTIONS):
        decorated = option(decorated)
    return decorated


@contextmanager
def workflow_run(
    app: App, options: WorkflowOptions, estimate: Cost, folder: str = ""
) -> Iterator[WorkflowRun]:
    """Everything a workflow needs while it runs. Its live table is paused for questions."""
    from fairlead.interfaces.cli.live_view import role_view
    from fairlead.jobs.context import Cancellation, EventSink

    view = role_view(as_events=options.as_events, as_json=options.as_json)
    choice = role_choice(app, options)
    with interruptible() as (stop, over):
        # A role has no step to finish first, so the first Ctrl+C ends it; the job can be resumed.
        ends, ask = Cancellation(stop, stop), _ask_user(options, view)
        begun = announcing(folder or app.place)
        sink = EventSink(view.report, view.watch, noting_stop(view.looked, over), begun)
        try:
            setup = app.workflow_setup(choice, sink, ends, ask, folder=folder, estimate=estimate)
            yield WorkflowRun(app, setup, Cancellation(stop, over))
        finally:
            view.close()


def role_choice(app: App, options: WorkflowOptions) -> AgentChoice:
    """The chosen agent and model. `mode: yolo` in config.json is a permanent --auto."""
    from fairlead.jobs.context import AgentChoice

    is_auto = options.auto or app.value("mode") == "yolo"
    # A rehearsal without a terminal has nobody to ask, and nothing depends on the answers.
    is_auto = is_auto or (options.rehearse and not is_interactive())
    return AgentChoice(options.agent, options.model, is_auto, options.rehearse)


def require_rehearsal(*, here: bool, rehearse: bool) -> None:
    """Refuse --here without --rehearse."""
    if here and not rehearse:
        raise click.UsageError("--here needs --rehearse")


def project_app(app: App, *, rehearse: bool, here: bool, dry_run: bool, folder: str = "") -> App:
    """The project to work in: a private copy for a rehearsal without --here.

    `folder` may be rehearsed although it has no project yet. A preview makes no copy, but shows
    the one that is there.
    """
    require_rehearsal(here=here, rehearse=rehearse)
    if not rehearse:
        return app
    if here:
        if not dry_run:
            app.rehearse_here()
        return app
    if dry_run:
        return app.found_rehearsal() or app
    copy, is_anew = app.rehearsal(folder)
    if is_anew:
        warn("the documents of the project have changed: the rehearsal begins again from them")
    return copy


def report_preview(
    preview: WorkflowPreview,
    options: WorkflowOptions,
    head: Sequence[Line],
    note: str = "",
    **more: object,
) -> int:
    """Show which roles would be asked and the estimated cost, for --dry-run."""
    content = workflow_preview_view(preview, **more)
    resumes: list[Line] = [(f"  resumes       {preview.resumes}",)] if preview.resumes else []
    lines = [
        *head,
        *resumes,
        (Styled("These roles would be asked:", "bold"),),
        *_call_lines(preview.calls),
        (f"estimate: {estimate_text(preview.estimate)}{note}",),
    ]
    report(content, lines, as_json=options.as_json)
    return 0


def estimate_text(cost: Cost) -> str:
    """An estimate: `about 12,000 tokens, $0.40`."""
    return f"about {cost.tokens:,} tokens, ${cost.usd:.2f}"


def _call_lines(calls: Sequence[CallPreview]) -> list[Line]:
    """What each role would receive, with the estimated cost."""
    table = []
    for call in calls:
        sizes = ", ".join(f"{name} {size:,}" for name, size in call.pieces if size)
        tokens = f"~{call.estimate.tokens:,} tokens"
        table.append((f"  {call.role}", call.model or "-", tokens, f"characters: {sizes}"))
    return table_lines(table)


def plan_executors(run: WorkflowRun, options: WorkflowOptions, *, is_approved: bool) -> JobSetup:
    """The agents that execute a plan made by a workflow."""
    from fairlead.jobs.context import JobSetup

    app, is_rehearsed = run.app, options.rehearse
    return JobSetup(
        app.execution_roster(options.agent, "", model=options.model, is_rehearsed=is_rehearsed),
        app.execution_options(model=options.model, slots=1, is_rehearsed=is_rehearsed),
        run.setup.events,
        run.cancellation,
        may_run_commands=is_approved,
    )


def confirm_commands(lines: Sequence[Line], question: str, *, as_json: bool) -> bool:
    """Show the commands of a plan and ask whether to run them; False without a terminal."""
    if as_json or not is_interactive():
        return False
    report({}, lines, as_json=False)
    return click.confirm(question, default=False)


def _ask_user(options: WorkflowOptions, view: ProgressLines) -> Callable[[Question], str]:
    def answer(question: Question) -> str:
        if options.as_json or options.as_events or not is_interactive():
            return ""
        with view.paused(), _default_interrupt():
            return _prompt(question)

    return answer


def question_lines(text: str, width: int | None) -> list[Line]:
    """The text of a question, broken at blanks where the width is known."""
    lines = quoted_lines(Styled("? ", "yellow"), text)
    if width is None:
        return lines
    return [row for line in lines for row in wrapped_lines(line, width, 2, breaks_words=True)]


def _prompt(question: Question) -> str:
    report({}, question_lines(question.text, terminal_width()), as_json=False)
    if not question.options:
        return str(click.prompt("answer", default="", show_default=False)).strip()
    for number, option in enumerate(question.options, 1):
        report({}, [(f"  {number}  {option}",)], as_json=False)
    # An empty line must not accept something that can be aborted.
    default = None if "abort" in question.options else 1
    choices = click.IntRange(1, len(question.options))
    choice = question.options[click.prompt("which", type=choices, default=default) - 1]
    begin = next((word for word in IN_WORDS if choice.startswith(word)), "")
    return f"{begin} {click.prompt('what')}" if begin else choice


@contextmanager
def _default_interrupt() -> Iterator[None]:
    """While a prompt is open, Ctrl+C exits at once; the job stays as it is."""
    try:
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
    except ValueError:  # only the main thread may set a handler
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def interruptible() -> Iterator[tuple[OneTimeEvent, OneTimeEvent]]:
    """Events for `stop` and `over`.

    The first Ctrl+C asks the running steps to finish. A second one, or a closed terminal, stops
    everything now.
    """
    from fairlead.core.concurrency import OneTimeEvent

    gc.set_threshold(_DEFAULT_GC_THRESHOLD)  # `main` raises it, which a long run cannot afford
    stop, over = OneTimeEvent(), OneTimeEvent()

    def handle(number: int, _: object) -> None:
        # Only the first Ctrl+C gives the running steps time to finish.
        if stop.is_set or number != signal.SIGINT:
            over.set()
        stop.set()

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield stop, over
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def noting_stop(show: Callable[[Any], None], over: OneTimeEvent) -> Callable[[Any], None]:
    """Say once that a stop was requested. A signal handler must not write, so it happens here."""
    notes: list[str] = []

    def looked(snapshot: Any) -> None:
        if snapshot.is_stopping and not notes and not over.is_set:
            notes.append("finishing the running steps; press Ctrl+C again to stop them now")
            warn(*notes)
        show(snapshot)

    return looked


def job_command(command: str, job: JobRecord) -> str:
    """A command about a job, for the folder in which the present command was run."""
    return rehearsal_command(command) if job.is_rehearsed and not _is_here() else command


def _is_here() -> bool:
    """Whether the present command rehearses in the project itself."""
    context = click.get_current_context(silent=True)
    return context is not None and "--here" in context.meta.get(REHEARSAL, "")


def exit_code(job: JobRecord, questions: Sequence[Question], *, as_json: bool, waits: str) -> int:
    """The exit code of a job. `waits` is the status in which a question is an error."""
    waiting = [question for question in questions if not question.answer]
    if job.status == waits and waiting and not as_json:
        command = job_command(waiting[0].command(job.id, waiting), job)
        raise JobWaiting(job.id, waiting[0].text, command)
    return exit_code_of(job)


def exit_code_of(job: JobRecord) -> int:
    """The exit code of a job as it stands: 0 done, 5 failed, otherwise 6."""
    return _EXIT_CODES.get(job.status, JobWaiting.exit_code)


def status_mark(status: str) -> Styled:
    """The status of a job in its colour."""
    return Styled(status, {"DONE": "green", "FAILED": "red"}.get(status, "yellow"))


def finish_workflow(
    done: WorkflowReport, options: WorkflowOptions, folder: str, **more: object
) -> int:
    """Report how a workflow ended, and return the exit code."""
    job = done.job
    if "next" in more:
        more["next"] = with_workstream(str(more["next"]))
    if not options.as_events:
        content = workflow_view(done, folder, **more)
        lines = _ending_lines(done, folder, str(more.get("next", "")))
        report(content, lines, as_json=options.as_json)
    return exit_code(job, done.questions, as_json=options.as_json, waits="BLOCKED")


def _ending_lines(done: WorkflowReport, folder: str, next_command: str) -> list[Line]:
    job = done.job
    lines: list[Line] = [
        (status_mark(str(job.status)), f"  {Comparison(job.estimate, done.spent)}")
    ]
    lines += [(Styled(f"  {path}", "dim"),) for path in done.written]
    if job.target and job.base and job.status == "DONE" and not job.is_rehearsed:
        lines.append((f"  branch   {job.target}  (undo: git reset --keep {job.base[:10]})",))
    if job.is_rehearsed:
        lines.append((f"  folder   {folder}  (rehearsal: nothing counts)",))
    if job.note and not any(question.text == job.note for question in done.questions):
        lines.append((f"  note     {job.note}",))
    lines.append((f"  record   {job_command(f'fairlead job show {job.id}', job)}",))
    if not job.ended_at:
        lines.append((f"  resume   {job_command(job.command, job)}",))
    if job.status == "DONE" and next_command:
        lines.append((f"  next     {next_command}",))
    return lines
