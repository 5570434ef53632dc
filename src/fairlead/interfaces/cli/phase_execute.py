"""`fairlead phase execute`: agents execute the plans of a phase, each task through its gate."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from fairlead.agents.budget import Comparison
from fairlead.agents.errors import NoAgent
from fairlead.app import App
from fairlead.core.errors import FairleadError
from fairlead.core.values import replace
from fairlead.execution.errors import NothingToExecute
from fairlead.interfaces.cli.agent_command import (
    approve_option,
    auto_option,
    cluster_option,
    cluster_preview,
    confirm_commands,
    estimate_text,
    events_option,
    exit_code,
    here_option,
    interruptible,
    job_command,
    model_option,
    noting_stop,
    on_cluster,
    project_app,
    rehearse_option,
    status_mark,
)
from fairlead.interfaces.cli.detached import announcing, detach_option, run_detached
from fairlead.interfaces.cli.options import (
    app_workstream_option,
    dry_run_option,
    json_option,
    with_app,
)
from fairlead.interfaces.cli.output import (
    Line,
    Styled,
    counted,
    first_line,
    quoted_lines,
    report,
    shown_command,
    table_lines,
    warn,
    with_workstream,
)
from fairlead.interfaces.cli.terminal_pictures import wave_lines
from fairlead.jobs.model import Job
from fairlead.jobs.roster import ARCHITECT, EXECUTOR
from fairlead.project.open_jobs import JobState
from fairlead.views.runs import exceeded_limit, execution_preview_view
from fairlead.views.runs import execution_view as done_view

if TYPE_CHECKING:
    from fairlead.execution.model import ExecutionPreview, ExecutionReport
    from fairlead.execution.service import Execution
    from fairlead.jobs.context import RunOptions
    from fairlead.project.open_jobs import OpenJob

_LISTED_FILES = 4
_MOST_SLOTS_HERE = 64
_MINUTE = timedelta(minutes=1)


@click.command("execute", epilog="Example: fairlead phase execute 4 --dry-run")
@click.argument("number", metavar="N")
@click.option("--agent", default="", metavar="NAME", help="Executing agent: claude, codex, …")
@click.option("--reviewer", default="", metavar="NAME", help="Reviewer [default: the same agent].")
@model_option
@click.option(
    "--slots",
    type=click.IntRange(1, 1000),
    default=None,
    help="Agents that run at once; more than 64 need --cluster.",
)
@approve_option
@auto_option
@rehearse_option
@here_option
@detach_option
@cluster_option
@events_option
@app_workstream_option
@dry_run_option
@json_option
@with_app
def execute_phase(app: App, *, number: str, dry_run: bool, as_json: bool, **options: Any) -> int:
    """Execute the plans of a phase in waves, each task through its gate.

    Every attempt works in its own git worktree. A task passes when its agent is done, the verify
    command of the plan succeeds and a reviewer agrees; then the work is merged. Run the same
    command again to resume an interrupted run.
    """
    is_rehearsed, slots = options["rehearse"], options["slots"]
    if slots and slots > _MOST_SLOTS_HERE and not options["cluster"]:
        raise click.UsageError(f"more than {_MOST_SLOTS_HERE} slots need --cluster")
    app = project_app(app, rehearse=is_rehearsed, here=options["here"], dry_run=dry_run)
    execution = app.execution.within(app.step[2])
    try:
        preview = execution.preview(number, is_rehearsed=is_rehearsed)
    except NothingToExecute:
        if options["cluster"] and not dry_run:
            _clean_up_cluster(app)
        raise
    options |= _resumed_options(app, preview.resumes, options)
    run_options = app.execution_options(
        model=options["model"], slots=options["slots"], is_rehearsed=is_rehearsed
    )
    if not is_rehearsed:
        caps = run_options.caps
        notes = app.agents().rough_caps_note(options["agent"], options["reviewer"], caps)
        run_options = replace(run_options, notes=notes)
    if dry_run:
        with on_cluster(app, is_wanted=options["cluster"], is_preview=True):
            _show_preview(app, preview, run_options, options, as_json=as_json)
        return 0
    may_ask = not (as_json or options["auto"])
    if options["approve"] or (may_ask and _is_confirmed(app, preview, run_options)):
        execution.approve(preview)
        # Read again, because the approval is part of the preview.
        preview = execution.preview(number, is_rehearsed=is_rehearsed)
    execution.require_ready(preview)
    if options["detach"]:
        return run_detached(as_json=as_json, rehearsed=is_rehearsed)
    with on_cluster(app, is_wanted=options["cluster"]):
        options["slots"] = slots
        return _carry_out(app, execution, preview, run_options, options, as_json=as_json)


def _clean_up_cluster(app: App) -> None:
    """Delete what a run left that was killed after its last step, if the server answers."""
    from fairlead.cluster.service import ClusterProject, end_calls

    with suppress(FairleadError):
        end_calls(ClusterProject.of(app), ())


def _carry_out(
    app: App,
    execution: Execution,
    preview: ExecutionPreview,
    run_options: RunOptions,
    options: dict[str, Any],
    *,
    as_json: bool,
) -> int:
    from fairlead.interfaces.cli.live_view import execution_view
    from fairlead.jobs.context import Cancellation, EventSink, JobSetup

    roster = app.execution_roster(
        options["agent"],
        options["reviewer"],
        model=options["model"],
        is_rehearsed=preview.is_rehearsed,
    )
    if app.cluster is not None and not options["slots"]:
        slots = app.cluster.slots(roster.agent(EXECUTOR).name)
        run_options = replace(run_options, slots=slots)
    if not preview.branch:
        warn(f"{_missing_branch(app)}: plans run one at a time, in place, and cannot be undone")
    view = execution_view(as_events=options["as_events"], as_json=as_json)
    with interruptible() as (stop, over):
        looked, begun = noting_stop(view.looked, over), announcing(app.place)
        sink = EventSink(view.report, view.watch, looked, begun)
        try:
            setup = JobSetup(roster, run_options, sink, Cancellation(stop, over))
            done = execution.carry_out(preview, setup)
        finally:
            view.close()
    if not options["as_events"]:
        present = app.jobs.present(done.job)
        content = done_view(done, present.status, app.place)
        following = _next_command(app, done.job, done.job.workstream)
        lines = _ending_lines(done, present, app.place, following)
        report(content, lines, as_json=as_json)
    return exit_code(done.job, done.questions, as_json=as_json, waits="BLOCKED")


def _show_preview(
    app: App,
    preview: ExecutionPreview,
    run_options: RunOptions,
    options: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    note = "" if preview.is_rehearsed else app.agents().commands_note(options["agent"])
    agents, missing = _agents(app, preview, options)
    run_options = replace(run_options, notes=(*run_options.notes, *missing))
    on_workers, cluster_lines = cluster_preview(app, *(each["agent"] for each in agents.values()))
    content = execution_preview_view(preview, run_options, note, agents) | on_workers
    shown = [f"{role} {each['agent']} {each['model']}".strip() for role, each in agents.items()]
    lines = _preview_lines(app, preview, run_options)
    lines += [(f"agents: {', '.join(shown)}",)] if shown else []
    lines += cluster_lines
    lines += _warnings((note,) if note else ())
    report(content, lines, as_json=as_json)


def _agents(
    app: App, preview: ExecutionPreview, options: dict[str, Any]
) -> tuple[dict[str, dict[str, str]], tuple[str, ...]]:
    """The agent and model of each role, and what is missing: a preview works without any."""
    words = options["agent"], options["reviewer"]
    try:
        roster = app.execution_roster(
            *words, model=options["model"], is_rehearsed=preview.is_rehearsed
        )
    except NoAgent as error:
        return {}, (f"{error}; {error.hint}",)
    roles = (("executor", roster.of(EXECUTOR)[0]), ("reviewer", roster.of(ARCHITECT)[0]))
    return {role: {"agent": each.agent.name, "model": each.model} for role, each in roles}, ()


def _resumed_options(app: App, job_id: str, options: dict[str, Any]) -> dict[str, Any]:
    """The given options, completed from the job that is resumed."""
    if not job_id:
        return {}
    job = app.jobs.folder(job_id).load(Job)
    agent = options["agent"] or job.agent
    reviewer = job.reviewer if job.reviewer != job.agent else ""
    return {
        "agent": agent,
        "reviewer": options["reviewer"] or reviewer,
        # A model belongs to its agent, so another agent starts without it.
        "model": options["model"] or (job.model if agent == job.agent else ""),
        "slots": options["slots"] or job.slots,
    }


def _ending_lines(
    done: ExecutionReport, present: OpenJob, folder: str, next_command: str
) -> list[Line]:
    job = done.job
    count = sum(is_done for _, is_done in done.plans)
    spent = Comparison(job.estimate, done.spent)
    lines: list[Line] = [
        (status_mark(present.status), f"  {count} of {len(done.plans)} plans, {spent}"),
        (f"  job      {job.id}",),
    ]
    if job.target and not job.is_rehearsed:
        lines.append((f"  branch   {job.target}  (see: git log --oneline {job.base[:10]}..)",))
    if job.target and count and not job.is_rehearsed:
        lines.append((f"  undo     git revert or git reset --keep {job.base[:10]}",))
    if job.is_rehearsed:
        lines.append((f"  folder   {folder}  (rehearsal: nothing counts)",))
    if done.kept_branches and not job.is_rehearsed:
        count = len(done.kept_branches)
        kept = f"{count} branch{'' if count == 1 else 'es'} with work that was not merged"
        lines.append((f"  kept     {kept}: git branch --list 'fairlead/*'",))
    if job.note:
        lines.append((f"  note     {first_line(job.note)}",))
    for question in done.questions:
        if not question.answer:
            lines += quoted_lines(Styled("  ? ", "yellow"), question.text)
            lines += [(f"    {line}",) for line in question.below]
    if present.state is JobState.INTERRUPTED:
        command = job_command(job.command, job)
        lines.append((f"  continue {command}",))
    lines.append((f"  record   {job_command(f'fairlead job show {job.id}', job)}",))
    if next_command:
        lines.append((f"  next     {next_command}",))
    return lines


def _next_command(app: App, job: Job, workstream: str) -> str:
    """The command after a finished run; empty if the run is not over or failed."""
    if job.status != "DONE":
        return ""
    if job.is_rehearsed:  # nothing of it counts, so the status would name the same phase again
        return with_workstream(f"fairlead phase verify {job.phase.lstrip('0')} --approve")
    return app.overview.status(workstream).next.command


def _missing_branch(app: App) -> str:
    """Why there is no branch to merge the work into."""
    if app.is_in_repository:
        return "git has no commit here yet (make one: git add -A && git commit -m start)"
    return "this folder is not in a git repository"


def _minutes(limit: timedelta) -> str:
    return f"{limit // _MINUTE} min"


def _preview_lines(app: App, preview: ExecutionPreview, run_options: RunOptions) -> list[Line]:
    lines: list[Line] = [(Styled(f"Phase {preview.phase}: {preview.name}", "bold"),)]
    if preview.resumes:
        lines.append((f"resumes {preview.resumes}",))
    plans, left = {plan.id: plan for plan in preview.documents}, frozenset(preview.left)
    done = frozenset(plans) - left
    if len(preview.order.waves) > 1:
        lines += [*wave_lines(preview.order.waves, done), ()]
    lines += table_lines(
        [
            (
                f"wave {number}",
                name,
                counted(len(plans[name].tasks), "task"),
                ", ".join(plans[name].files[:_LISTED_FILES]),
                f"after {', '.join(plans[name].depends_on)}" if plans[name].depends_on else "",
                "" if name in left else "done",
            )
            for number, wave in enumerate(preview.order.waves, 1)
            for name in wave
        ]
    )
    lines += _warnings((*preview.order.warnings, *preview.warnings))
    lines.append((Styled("These commands would verify the work:", "bold"),))
    lines += table_lines([(f"  {task}", shown_command(line)) for task, line in preview.commands])
    lines += [(Styled("  ✗ ", "red"), problem) for problem in preview.problems]
    if preview.branch:
        lines.append((f"work is merged into branch {preview.branch}",))
    else:
        lines.append((f"{_missing_branch(app)}: plans run one at a time, in place",))
    lines.append((f"executors may run: {run_options.commands.text}",))
    limits = run_options.limits
    times = (
        f"executor {_minutes(limits.executor)}",
        f"verify {_minutes(limits.verify)}",
        f"review {_minutes(limits.architect)}",
        f"silence of an agent that reports events {_minutes(limits.idle)}",
    )
    lines.append((f"time limits: {', '.join(times)}",))
    lines.append((f"estimate: {estimate_text(preview.estimate)}, before any retry",))
    lines.append((f"limits: {run_options.caps}; ${preview.spent[1].usd:.2f} spent today",))
    lines += _warnings(run_options.notes)
    if limit := exceeded_limit(preview, run_options):
        lines += _warnings((f"{limit}: you are asked when it is reached",))
    approval = "approved" if preview.is_approved else "not approved; allow them with --approve"
    lines.append((f"commands: {approval}",))
    return lines


def _warnings(texts: tuple[str, ...]) -> list[Line]:
    return [(Styled("  ⚠ ", "yellow"), text) for text in texts]


def _is_confirmed(app: App, preview: ExecutionPreview, run_options: RunOptions) -> bool:
    if preview.is_approved or preview.problems:
        return False
    lines = _preview_lines(app, preview, run_options)
    return confirm_commands(lines, "Run these commands?", as_json=False)
