"""`fairlead state`: phases, plans and tasks as they begin and end."""

import click

from fairlead.interfaces.cli.options import stream_changes
from fairlead.interfaces.cli.show import Manner, report_change, warn
from fairlead.records.metrics import Metric
from fairlead.records.tasks import Outcome, TaskResult
from fairlead.wiring import App

phase_option = click.option(
    "--phase", required=True, metavar="N", help="The phase, such as 3 or 4.5."
)
maybe_phase_option = click.option(
    "--phase", default="", metavar="N", help="The phase; without it the one that is worked on."
)


@click.command("begin-phase", epilog="Example: fairlead state begin-phase --phase 3")
@phase_option
@click.option(
    "--step",
    type=click.Choice(["discuss", "plan", "execute", "verify"]),
    default="execute",
    show_default=True,
    help="What begins.",
)
@stream_changes
def begin_phase(app: App, manner: Manner, *, phase: str, step: str) -> None:
    """Record that work on a phase starts: its execution, or another step.

    The execution of the same phase again is resumed.
    """
    steps = {
        "discuss": (app.events.discussion_started, "discussed"),
        "plan": (app.events.planning_started, "planned"),
        "execute": (app.events.execution_started, "executed"),
        "verify": (app.events.verification_started, "verified"),
    }
    record, word = steps[step]
    outcome = record(phase, dry_run=manner.dry_run)
    done = f"Phase {phase} is being {word}"
    report_change(outcome, manner, done, f"Phase {phase} is being {word} already")


@click.command("planned-phase", epilog="Example: fairlead state planned-phase --phase 3")
@phase_option
@click.option("--started", is_flag=True, help="Planning begins; without it the plans are ready.")
@stream_changes
def planned_phase(app: App, manner: Manner, *, phase: str, started: bool) -> None:
    """Record that the plans of a phase are ready, or with --started that planning begins."""
    record = app.events.planning_started if started else app.events.plans_ready
    told = "is being planned" if started else "is planned"
    outcome = record(phase, dry_run=manner.dry_run)
    report_change(outcome, manner, f"Phase {phase} {told}", f"Phase {phase} {told} already")


@click.command("advance-plan", epilog="Example: fairlead state advance-plan")
@maybe_phase_option
@click.option("--plan", default="", metavar="N", help="The plan; without it the one at hand.")
@stream_changes
def advance_plan(app: App, manner: Manner, *, phase: str, plan: str) -> None:
    """Record that a plan is complete. The position follows the files.

    Refused with the names of the open plans while the plan has no SUMMARY.
    """
    outcome = app.events.plan_completed(phase, plan=plan, dry_run=manner.dry_run)
    done = "The position follows the files"
    report_change(outcome, manner, done, "The position is right already")


@click.command("complete-phase", epilog="Example: fairlead state complete-phase --phase 3")
@phase_option
@stream_changes
def complete_phase(app: App, manner: Manner, *, phase: str) -> None:
    """Record that a phase is complete, as `phase complete` does. Refused while plans are open."""
    change = app.phases.complete(phase, dry_run=manner.dry_run)
    for note in change.notes:
        warn(note)
    done = f"Phase {phase} is complete"
    report_change(change.outcome, manner, done, f"Phase {phase} is complete already")


@click.command(
    "task-result",
    epilog='Example: fairlead state task-result failure --task "Task 3" --reason "tests fail"',
)
@click.argument("outcome", type=click.Choice([str(each) for each in Outcome]))
@click.option("--task", required=True, metavar="NAME", help="The task.")
@click.option("--reason", default="", metavar="TEXT", help="The error, or what is missing.")
@maybe_phase_option
@click.option("--plan", default="", metavar="N", help="The plan; without it the one at hand.")
@click.option(
    "--duration", default="", metavar="TIME", help="What it took: 45s, 12m or 900ms; adds up."
)
@stream_changes
def task_result(
    app: App,
    manner: Manner,
    *,
    outcome: str,
    task: str,
    reason: str,
    phase: str,
    plan: str,
    duration: str,
) -> None:
    """Record what an executor returned: success, failure or blocked."""
    result = TaskResult(task, Outcome(outcome), phase, reason, duration, plan)
    change = app.events.task_result(result, dry_run=manner.dry_run)
    report_change(change, manner, f"Recorded: {result.told}", f"Recorded already: {result.told}")


@click.command(
    "record-metric",
    epilog="Example: fairlead state record-metric --phase 3 --plan 1 --duration 12m --tasks 4",
)
@phase_option
@click.option(
    "--plan", required=True, metavar="N", help="The plan of the phase, such as 1 or 03-01."
)
@click.option("--duration", required=True, metavar="TIME", help="What it took: 45s, 12m or 1h5m.")
@click.option("--tasks", type=click.IntRange(min=0), help="How many tasks it had.")
@click.option("--files", type=click.IntRange(min=0), help="How many files it changed.")
@stream_changes
def record_metric(
    app: App,
    manner: Manner,
    *,
    phase: str,
    plan: str,
    duration: str,
    tasks: int | None,
    files: int | None,
) -> None:
    """Record what a plan took, with velocity, the phase's row and the trend."""
    metric = Metric(phase, plan, duration, tasks, files)
    outcome = app.events.metric(metric, dry_run=manner.dry_run)
    done = f"Recorded: {metric.name} took {duration}"
    report_change(outcome, manner, done, f"Recorded already: {metric.name} took {duration}")


@click.command(epilog="Example: fairlead state sync --dry-run")
@stream_changes
def sync(app: App, manner: Manner) -> None:
    """Write everything in STATE.md that follows from the files anew."""
    outcome = app.events.sync(dry_run=manner.dry_run)
    done = "STATE.md says what the files say"
    report_change(outcome, manner, done, "STATE.md says what the files say already")
