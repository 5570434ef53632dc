"""`fairlead run`: a council turns a goal into an approved plan, and agents execute it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from fairlead.app import App
from fairlead.core.values import replace
from fairlead.interfaces.cli.agent_command import (
    cluster_option,
    cluster_preview,
    confirm_commands,
    events_option,
    exit_code,
    here_option,
    interruptible,
    job_command,
    noting_stop,
    on_cluster,
    project_app,
    rehearse_option,
    require_rehearsal,
    status_mark,
)
from fairlead.interfaces.cli.detached import announcing, detach_option, run_detached
from fairlead.interfaces.cli.options import dry_run_option, json_option, with_app
from fairlead.interfaces.cli.output import REHEARSAL, Line, Styled, report, table_lines
from fairlead.views.runs import council_command, council_preview_view
from fairlead.views.runs import council_view as done_view

if TYPE_CHECKING:
    from fairlead.council.context import CouncilRun
    from fairlead.council.model import CouncilJob
    from fairlead.council.service import CouncilPreview
    from fairlead.jobs.context import EventSink, JobEvent

# The prompts that the preview prints in full: one of the PM and one of a seat.
_PRINTED_PROMPTS = ("pm/refined", "raw/r0/architect")


@click.command("run", epilog='Example: fairlead run "Let people sign in with a link" --dry-run')
@click.argument("goal", default="")
@click.option("--job", "job_id", default="", metavar="JOB", help="Resume this job.")
@click.option("--agent", default="", metavar="NAME", help="Agent that executes the plan.")
@click.option("--reviewer", default="", metavar="NAME", help="Agent that reviews its tasks.")
@click.option("--approve", is_flag=True, help="Allow the commands of the plan to run.")
@rehearse_option
@here_option
@detach_option
@cluster_option
@events_option
@dry_run_option
@json_option
@with_app
def run(app: App, *, goal: str, dry_run: bool, as_json: bool, **options: Any) -> int:
    """Take a goal from request to verified, committed work.

    A project manager (PM) asks questions and researches. The six seats of a council plan
    independently, their plans are combined into one, and the seats vote on it until all approve.
    Then the plan is executed. Run the command with --job to resume an interrupted job.
    """
    goal, job_id = goal.strip(), options["job_id"]
    if not goal and not job_id:
        raise click.UsageError('give a goal, fairlead run "GOAL", or a job with --job')
    if goal and job_id:
        retry = f'fairlead job retry {job_id} --request "GOAL"'
        raise click.UsageError(f"the goal of a job is fixed: omit GOAL, or create a job: {retry}")
    app, is_rehearsed = _project(app, options, dry_run=dry_run)
    options["is_rehearsed"] = is_rehearsed
    is_wanted = options["cluster"] and (dry_run or not options["detach"])
    with on_cluster(app, is_wanted=is_wanted, is_preview=dry_run):
        return _run(app, goal, job_id, options, dry_run=dry_run, as_json=as_json)


def _run(
    app: App, goal: str, job_id: str, options: dict[str, Any], *, dry_run: bool, as_json: bool
) -> int:
    council, is_rehearsed = app.council, options["is_rehearsed"]
    council_run = app.council_run(is_rehearsed=is_rehearsed, is_preview=dry_run)
    if dry_run:
        preview = council.preview(goal, job_id, council_run)
        on_workers, lines = cluster_preview(app)
        content = council_preview_view(preview) | on_workers
        report(content, lines + _preview_lines(preview), as_json=as_json)
        return 0
    execution = app.plan_execution(options["agent"], options["reviewer"], is_rehearsed=is_rehearsed)
    council_run = replace(council_run, execution=execution)
    if options["detach"]:
        return _detach(app, job_id, options, as_json=as_json, is_rehearsed=is_rehearsed)
    job_id = job_id or council.begin(goal, council_run)
    output = {"as_events": options["as_events"], "as_json": as_json}
    may_execute = options["approve"] or is_rehearsed
    done = continue_job(app, job_id, council_run, output, may_execute=may_execute)
    if done.status == "APPROVED" and not may_execute:
        commands = council.commands(job_id)
        if confirm_commands(_command_lines(commands), "Execute the plan?", as_json=as_json):
            done = continue_job(app, job_id, council_run, output, may_execute=True)
    waiting = [question for question in app.jobs.questions(done) if not question.answer]
    if not options["as_events"]:
        status = app.jobs.present(done).status
        content = done_view(done, status, app.place, waiting)
        report(content, _ending_lines(app, done, status), as_json=as_json)
    return exit_code(done, waiting, as_json=as_json, waits="EXECUTING")


def continue_job(
    app: App,
    job_id: str,
    council_run: CouncilRun,
    output: dict[str, bool],
    *,
    may_execute: bool,
    also: Callable[[JobEvent], None] = lambda _: None,
) -> CouncilJob:
    """Carry a council job on in the view that fits the output; `also` gets every event, too."""
    from fairlead.interfaces.cli.live_view import council_view, execution_view
    from fairlead.jobs.context import Cancellation, EventSink

    views = [council_view(**output)]

    def report_event(event: JobEvent) -> None:
        also(event)
        views[-1].report(event)

    def execution_sink() -> EventSink:
        views[-1].ended("APPROVED")
        views[-1].close()  # one live table at a time; the next one follows the status
        views.append(execution_view(**output))
        return EventSink(report_event, views[-1].watch, views[-1].looked)

    with interruptible() as (stop, over):
        view = views[0]
        setup = replace(
            council_run.setup,
            events=EventSink(
                report_event, view.watch, noting_stop(view.looked, over), announcing(app.place)
            ),
            cancellation=Cancellation(stop, over),
            may_run_commands=may_execute,
        )
        assert council_run.execution is not None
        execution = replace(council_run.execution, events=execution_sink)
        try:
            return app.council.carry_on(
                job_id, replace(council_run, setup=setup, execution=execution)
            )
        finally:
            views[-1].close()


def _detach(
    app: App, job_id: str, options: dict[str, Any], *, as_json: bool, is_rehearsed: bool
) -> int:
    """Begin in the background. Without --approve the council's plan waits for a person."""
    is_waiting = not options["approve"] and not is_rehearsed
    note = "it stops before the plan is executed; then run it with --approve" if is_waiting else ""
    from fairlead.council.errors import PlanWaits

    if is_waiting and job_id and app.council.record(job_id).status == "APPROVED":
        raise PlanWaits(job_id)
    return run_detached(as_json=as_json, rehearsed=is_rehearsed, note=note)


def _project(app: App, options: dict[str, Any], *, dry_run: bool) -> tuple[App, bool]:
    """The project to work in, and whether it is a rehearsal. A resumed job stays what it was."""
    is_rehearsed, job_id = bool(options["rehearse"]), options["job_id"]
    require_rehearsal(here=options["here"], rehearse=is_rehearsed)
    if job_id and is_rehearsed and not options["here"]:
        app = app.found_rehearsal() or app
    if job_id:
        was_rehearsed = app.council.record(job_id).is_rehearsed
        if is_rehearsed and not was_rehearsed:
            raise click.UsageError(f"{job_id} is not a rehearsal: omit --rehearse")
        if was_rehearsed and not app.is_copy:
            # Commands that are named at the end are for this folder, too.
            click.get_current_context().meta[REHEARSAL] = "--rehearse --here"
        return app, was_rehearsed
    here = options["here"]
    app = project_app(app, rehearse=is_rehearsed, here=here, dry_run=dry_run)
    return app, is_rehearsed


def _ending_lines(app: App, job: CouncilJob, status: str) -> list[Line]:
    votes = [str(vote.vote) for vote in job.council_votes]
    counts = ", ".join(f"{votes.count(vote)} {vote.lower()}" for vote in dict.fromkeys(votes))
    lines: list[Line] = [(Styled("DEGRADED  ", "yellow"), reason) for reason in job.degraded]
    result = f"  round {job.review_round} of {job.max_review_rounds}: {counts}" if votes else ""
    lines.append((status_mark(status), result))
    if job.note:
        lines.append((f"  why      {job.note}",))
    spent = f"{job.usage.total_tokens:,} tokens, ${job.usage.total_cost_usd:.2f}"
    lines += [(f"  job      {job.id}",), (f"  council  {spent}",)]
    if job.phase:
        base = job.exec.base[:10]
        log = f"  (see: git log --oneline {base}..)" if base else ""
        plans = f"{job.exec.summaries} of {job.exec.plans} plans"
        lines.append((f"  phase    {job.phase}: {plans}{log}",))
    if job.is_rehearsed:
        lines.append((f"  folder   {app.place}  (rehearsal: nothing counts)",))
    lines.append((f"  record   {job_command(f'fairlead job show {job.id}', job)}",))
    verify = f"fairlead phase verify {job.phase} --approve"
    verify += " --rehearse --here" if job.is_rehearsed else ""
    command = verify if job.status == "DONE" else council_command(job)
    lines.append((f"  next     {job_command(command, job)}",))
    return lines


def _command_lines(commands: Sequence[tuple[str, str]]) -> list[Line]:
    head = Styled("The plan is approved. It would run these commands:", "bold")
    return [(head,), *table_lines([(f"  {step}", line) for step, line in commands])]


def _preview_lines(preview: CouncilPreview) -> list[Line]:
    lines: list[Line] = [(Styled("Who would be asked", "bold"),)]
    lines += table_lines(
        [
            (f"  {seat.role}", seat.model, seat.family, ", then ".join(("", *seat.fallback)))
            for seat in preview.roster
        ]
    )
    lines += [(Styled("  DEGRADED  ", "yellow"), reason) for reason in preview.degraded]
    lines.append((f"  each may read {preview.reads}",))
    lines.append((Styled("Estimate for one round", "bold"),))
    lines += table_lines(
        [
            (f"  {name}", f"{calls} calls", f"{cost.tokens:,} tokens", f"${cost.usd:.2f}")
            for name, calls, cost in preview.stages
        ]
    )
    for title, cost in (("total", preview.total), (f"{preview.rounds} rounds", preview.most)):
        text = f"{cost.tokens:,} tokens, ${cost.usd:.2f}"
        lines.append((f"  {title}: {text}, and the execution of the plan",))
    caps = preview.caps
    lines.append((f"  limits of a run: {caps.run_tokens:,} tokens, ${caps.run_usd:.2f} (0: none)",))
    lines.append((Styled("Prompts", "bold"), "  (in full with --json)"))
    for prompt in preview.receives:
        omitted = f", without {', '.join(prompt.left_out)}" if prompt.left_out else ""
        lines.append((f"  {prompt.who}, {prompt.key}: {len(prompt.text):,} characters{omitted}",))
        if prompt.key in _PRINTED_PROMPTS:
            lines += [(f"    {line}",) for line in prompt.text.splitlines()]
    return lines
