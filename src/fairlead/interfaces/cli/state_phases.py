"""`fairlead state`: the commands that record the progress of phases, plans and tasks."""

import click

from fairlead.app import App
from fairlead.interfaces.cli.options import workstream_change_command
from fairlead.interfaces.cli.output import OutputOptions, report_change, warn
from fairlead.project.state.edits import TaskOutcome, TaskResult
from fairlead.project.state.metrics import Metric

_phase_option = click.option("--phase", required=True, metavar="N", help="Phase, such as 3 or 4.5.")
_current_phase_option = click.option(
    "--phase", default="", metavar="N", help="Phase number (default: the current phase)."
)
_current_plan_option = click.option(
    "--plan", default="", metavar="N", help="Plan number (default: the current plan)."
)


@click.command("begin-phase", epilog="Example: fairlead state begin-phase --phase 3")
@_phase_option
@click.option(
    "--step",
    type=click.Choice(["discuss", "plan", "execute", "verify"]),
    default="execute",
    show_default=True,
    help="Step that begins.",
)
@workstream_change_command
def begin_phase(app: App, output: OutputOptions, *, phase: str, step: str) -> None:
    """Record that work on a phase begins. `fairlead phase execute` does the work and records it.

    If the phase is already being executed, its execution is resumed.
    """
    steps = {
        "discuss": (app.events.discussion_started, "discussed"),
        "plan": (app.events.planning_started, "planned"),
        "execute": (app.events.execution_started, "executed"),
        "verify": (app.events.verification_started, "verified"),
    }
    record, participle = steps[step]
    outcome = record(phase, dry_run=output.dry_run)
    done = f"Phase {phase} is being {participle}"
    report_change(outcome, output, done, f"Phase {phase} is already being {participle}")


@click.command("planned-phase", epilog="Example: fairlead state planned-phase --phase 3")
@_phase_option
@click.option("--started", is_flag=True, help="Record that planning begins, not that it is done.")
@workstream_change_command
def planned_phase(app: App, output: OutputOptions, *, phase: str, started: bool) -> None:
    """Record that the plans of a phase are ready. `fairlead phase plan` writes and records them.

    With --started, record that planning begins.
    """
    record = app.events.planning_started if started else app.events.plans_ready
    outcome = record(phase, dry_run=output.dry_run)
    participle = "being planned" if started else "planned"
    done = f"Phase {phase} is {participle}"
    report_change(outcome, output, done, f"Phase {phase} is already {participle}")


@click.command("advance-plan", epilog="Example: fairlead state advance-plan")
@_current_phase_option
@_current_plan_option
@workstream_change_command
def advance_plan(app: App, output: OutputOptions, *, phase: str, plan: str) -> None:
    """Record that a plan is complete, and move to the next one.

    Fails with the names of the open plans if the plan has no SUMMARY.
    """
    outcome = app.events.plan_completed(phase, plan=plan, dry_run=output.dry_run)
    done = "Updated the position from the files"
    report_change(outcome, output, done, "The position is already up to date")


@click.command("complete-phase", epilog="Example: fairlead state complete-phase --phase 3")
@_phase_option
@workstream_change_command
def complete_phase(app: App, output: OutputOptions, *, phase: str) -> None:
    """The same as `fairlead phase complete`, for scripts. Fails while plans are open."""
    change = app.phases.complete(phase, dry_run=output.dry_run)
    for note in change.notes:
        warn(note)
    done = f"Phase {phase} is complete"
    report_change(change.outcome, output, done, f"Phase {phase} is already complete")


@click.command(
    "task-result",
    epilog='Example: fairlead state task-result failure --task "Task 3" --reason "tests fail"',
)
@click.argument("outcome", type=click.Choice([str(outcome) for outcome in TaskOutcome]))
@click.option("--task", required=True, metavar="NAME", help="Task name.")
@click.option("--reason", default="", metavar="TEXT", help="The error, or what is missing.")
@_current_phase_option
@_current_plan_option
@click.option("--duration", default="", metavar="TIME", help="Time to add: 45s, 12m or 900ms.")
@workstream_change_command
def task_result(
    app: App,
    output: OutputOptions,
    *,
    outcome: str,
    task: str,
    reason: str,
    phase: str,
    plan: str,
    duration: str,
) -> None:
    """Record the result of a task: success, failure or blocked."""
    result = TaskResult(task, TaskOutcome(outcome), phase, reason, duration, plan)
    change = app.events.task_result(result, dry_run=output.dry_run)
    report_change(
        change, output, f"Recorded: {result.activity}", f"Already recorded: {result.activity}"
    )


@click.command(
    "record-metric",
    epilog="Example: fairlead state record-metric --phase 3 --plan 1 --duration 12m --tasks 4",
)
@_phase_option
@click.option("--plan", required=True, metavar="N", help="Plan of the phase, such as 1 or 03-01.")
@click.option("--duration", required=True, metavar="TIME", help="Time it took: 45s, 12m or 1h5m.")
@click.option("--tasks", type=click.IntRange(min=0), help="Number of tasks.")
@click.option("--files", type=click.IntRange(min=0), help="Number of changed files.")
@workstream_change_command
def record_metric(
    app: App,
    output: OutputOptions,
    *,
    phase: str,
    plan: str,
    duration: str,
    tasks: int | None,
    files: int | None,
) -> None:
    """Record how long a plan took, and update velocity, phase totals and trend."""
    metric = Metric(phase, plan, duration, tasks, files)
    outcome = app.events.metric(metric, dry_run=output.dry_run)
    done = f"Recorded: {metric.name} took {duration}"
    report_change(outcome, output, done, f"Already recorded: {metric.name} took {duration}")


@click.command(epilog="Example: fairlead state sync --dry-run")
@workstream_change_command
def sync(app: App, output: OutputOptions) -> None:
    """Update every value in STATE.md that is derived from the files."""
    outcome = app.events.sync(dry_run=output.dry_run)
    done = "STATE.md now matches the files"
    report_change(outcome, output, done, "STATE.md already matches the files")
