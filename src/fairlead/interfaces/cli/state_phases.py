"""`fairlead state`: phases, plans and tasks as they begin and end."""

import click

from fairlead.interfaces.cli.options import dry_run_option, json_option, stream_option, with_app
from fairlead.interfaces.cli.show import report_change
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
@dry_run_option
@stream_option
@json_option
@with_app
def begin_phase(app: App, *, phase: str, step: str, dry_run: bool, as_json: bool) -> None:
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
    report_change(
        record(phase, dry_run=dry_run),
        done=f"Phase {phase} is being {word}",
        unchanged=f"Phase {phase} is being {word} already",
        as_json=as_json,
        dry_run=dry_run,
    )


@click.command("planned-phase", epilog="Example: fairlead state planned-phase --phase 3")
@phase_option
@click.option("--started", is_flag=True, help="Planning begins; without it the plans are ready.")
@dry_run_option
@stream_option
@json_option
@with_app
def planned_phase(app: App, *, phase: str, started: bool, dry_run: bool, as_json: bool) -> None:
    """Record that the plans of a phase are ready, or with --started that planning begins."""
    record = app.events.planning_started if started else app.events.plans_ready
    told = "is being planned" if started else "is planned"
    report_change(
        record(phase, dry_run=dry_run),
        done=f"Phase {phase} {told}",
        unchanged=f"Phase {phase} {told} already",
        as_json=as_json,
        dry_run=dry_run,
    )


@click.command("advance-plan", epilog="Example: fairlead state advance-plan")
@maybe_phase_option
@click.option("--plan", default="", metavar="N", help="The plan; without it the one at hand.")
@dry_run_option
@stream_option
@json_option
@with_app
def advance_plan(app: App, *, phase: str, plan: str, dry_run: bool, as_json: bool) -> None:
    """Record that a plan is complete. The position follows the files.

    Refused with the names of the open plans while the plan has no SUMMARY.
    """
    report_change(
        app.events.plan_completed(phase, plan=plan, dry_run=dry_run),
        done="The position follows the files",
        unchanged="The position is right already",
        as_json=as_json,
        dry_run=dry_run,
    )


@click.command("complete-phase", epilog="Example: fairlead state complete-phase --phase 3")
@phase_option
@dry_run_option
@stream_option
@json_option
@with_app
def complete_phase(app: App, *, phase: str, dry_run: bool, as_json: bool) -> None:
    """Record that a phase is complete. Refused while plans are open."""
    report_change(
        app.events.phase_completed(phase, dry_run=dry_run),
        done=f"Phase {phase} is complete",
        unchanged=f"Phase {phase} is complete already",
        as_json=as_json,
        dry_run=dry_run,
    )


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
@dry_run_option
@stream_option
@json_option
@with_app
def task_result(
    app: App,
    *,
    outcome: str,
    task: str,
    reason: str,
    phase: str,
    plan: str,
    duration: str,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Record what an executor returned: success, failure or blocked."""
    result = TaskResult(task, Outcome(outcome), phase, reason, duration, plan)
    report_change(
        app.events.task_result(result, dry_run=dry_run),
        done=f"Recorded: {result.told}",
        unchanged=f"Recorded already: {result.told}",
        as_json=as_json,
        dry_run=dry_run,
    )


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
@dry_run_option
@stream_option
@json_option
@with_app
def record_metric(
    app: App,
    *,
    phase: str,
    plan: str,
    duration: str,
    tasks: int | None,
    files: int | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Record what a plan took, with velocity, the phase's row and the trend."""
    metric = Metric(phase, plan, duration, tasks, files)
    report_change(
        app.events.metric(metric, dry_run=dry_run),
        done=f"Recorded: {metric.name} took {duration}",
        unchanged=f"Recorded already: {metric.name} took {duration}",
        as_json=as_json,
        dry_run=dry_run,
    )


@click.command(epilog="Example: fairlead state sync --dry-run")
@dry_run_option
@stream_option
@json_option
@with_app
def sync(app: App, *, dry_run: bool, as_json: bool) -> None:
    """Write everything in STATE.md that follows from the files anew."""
    report_change(
        app.events.sync(dry_run=dry_run),
        done="STATE.md says what the files say",
        unchanged="STATE.md says what the files say already",
        as_json=as_json,
        dry_run=dry_run,
    )
