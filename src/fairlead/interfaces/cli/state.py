"""`fairlead state`: record events in STATE.md, and read or change single fields.

Commands about phases and sessions are in their own modules, so that recording a decision does not
import them.
"""

import json

import click

from fairlead.app import App
from fairlead.interfaces.cli.lazy_group import LazyGroup
from fairlead.interfaces.cli.options import (
    app_workstream_option,
    query_command,
    workstream_change_command,
)
from fairlead.interfaces.cli.output import OutputOptions, report, report_change
from fairlead.project.state.archive import KEPT_DECISIONS, TARGET_LINES
from fairlead.project.state.documents import Decision, RoadmapChange
from fairlead.views.memory import state_value_view

_COMMANDS = {
    "begin-phase": ("state_phases:begin_phase", "Record that work on a phase begins."),
    "planned-phase": ("state_phases:planned_phase", "Record that the plans of a phase are ready."),
    "advance-plan": (
        "state_phases:advance_plan",
        "Record that a plan is complete, and move to the next one.",
    ),
    "complete-phase": (
        "state_phases:complete_phase",
        "The same as `fairlead phase complete`, for scripts.",
    ),
    "task-result": (
        "state_phases:task_result",
        "Record the result of a task: success, failure or blocked.",
    ),
    "record-metric": (
        "state_phases:record_metric",
        "Record how long a plan took, and update velocity, phase totals and trend.",
    ),
    "sync": ("state_phases:sync", "Update every value in STATE.md that is derived from the files."),
    "record-session": ("state_sessions:record_session", "Record the end of a session in STATE.md."),
    "gate": ("state_sessions:gate", "Record a step of a task's gate: execute, verify, review."),
    "pause": ("state_sessions:pause", "Record only that the project is paused."),
    "resume": ("state_sessions:resume", "End a pause, and take over one handover."),
    "wait": (
        "state_sessions:wait",
        "Record that the project waits for a person, or with --clear that it no longer does.",
    ),
}

_SECTIONS = {
    "Record": ("add-decision", "add-blocker", "resolve-blocker", "add-roadmap-evolution", "wait"),
    "Look": ("get",),
    "Repair": ("sync", "prune", "set"),
    "For scripts, which run the steps themselves": (
        "begin-phase",
        "planned-phase",
        "advance-plan",
        "complete-phase",
        "task-result",
        "gate",
        "record-metric",
        "record-session",
        "pause",
        "resume",
    ),
}


@click.group(cls=LazyGroup, lazy=_COMMANDS, sections=_SECTIONS)
def state() -> None:
    """Record decisions, blockers and other events in STATE.md."""


@state.command(
    "add-decision",
    epilog='Example: fairlead state add-decision --phase 2 --summary "Store times in UTC"',
)
@click.option("--phase", required=True, metavar="N", help="Phase in which it was decided.")
@click.option("--summary", required=True, metavar="TEXT", help="The decision, in one line.")
@click.option("--rationale", default="", metavar="TEXT", help="The reason, in one line.")
@workstream_change_command
def add_decision(
    app: App, output: OutputOptions, *, phase: str, summary: str, rationale: str
) -> None:
    """Add a decision to STATE.md, unless it is already recorded."""
    outcome = app.memory.add_decision(Decision(phase, summary, rationale), dry_run=output.dry_run)
    done = f"Recorded for phase {phase}: {summary}"
    report_change(outcome, output, done, f"Already recorded for phase {phase}: {summary}")


@state.command(
    "add-blocker", epilog='Example: fairlead state add-blocker --text "The API has no sandbox"'
)
@click.option("--text", required=True, metavar="TEXT", help="What blocks the work, in one line.")
@click.option("--phase", default="", metavar="N", help="Phase that is blocked.")
@workstream_change_command
def add_blocker(app: App, output: OutputOptions, *, text: str, phase: str) -> None:
    """Add a blocker to STATE.md, unless it is already recorded."""
    outcome = app.events.blocker_added(text, phase=phase, dry_run=output.dry_run)
    report_change(outcome, output, f"Recorded: {text}", f"Already recorded: {text}")


@state.command(
    "resolve-blocker", epilog='Example: fairlead state resolve-blocker --text "no sandbox"'
)
@click.option(
    "--text", required=True, metavar="TEXT", help="Part of the text that matches one blocker."
)
@workstream_change_command
def resolve_blocker(app: App, output: OutputOptions, *, text: str) -> None:
    """Remove one blocker from STATE.md. Fails if several blockers match."""
    outcome = app.events.blocker_resolved(text, dry_run=output.dry_run)
    report_change(outcome, output, f"Resolved: {text}", f"Already resolved: {text}")


@state.command(
    "add-roadmap-evolution",
    epilog='Example: fairlead state add-roadmap-evolution --phase 4.5 --action inserted --note "Hotfix"',
)
@click.option("--note", required=True, metavar="TEXT", help="What changed and why, in one line.")
@click.option("--phase", default="", metavar="N", help="Phase that changed.")
@click.option(
    "--action", default="changed", metavar="WORD", help="Kind of change: inserted, removed, …"
)
@click.option("--after", default="", metavar="N", help="Phase before it.")
@click.option("--urgent", is_flag=True, help="Mark the change as urgent.")
@workstream_change_command
def add_roadmap_evolution(
    app: App, output: OutputOptions, *, note: str, phase: str, action: str, after: str, urgent: bool
) -> None:
    """Record a change of the roadmap in STATE.md."""
    change = RoadmapChange(note, phase, action, after, urgent)
    outcome = app.events.roadmap_changed(change, dry_run=output.dry_run)
    report_change(outcome, output, f"Recorded: {change.entry}", f"Already recorded: {change.entry}")


@state.command(epilog="Example: fairlead state get progress.percent")
@click.argument("name", required=False, default="")
@app_workstream_option
@query_command
def get(app: App, *, name: str, as_json: bool) -> None:
    """Print a field of STATE.md, or without NAME the whole document.

    NAME is a frontmatter key (progress.percent), a field label (Stopped at) or a section title.
    """
    content = state_value_view(app, name)
    value = content["value"]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    lines = [(line,) for line in text.splitlines()]
    report(content, lines, as_json=as_json)


@state.command("set", epilog='Example: fairlead state set Status "Waiting for the review"')
@click.argument("name")
@click.argument("value")
@workstream_change_command
def set_field(app: App, output: OutputOptions, *, name: str, value: str) -> None:
    """Set a field of STATE.md. Fields that are derived from the files are refused."""
    outcome = app.events.set_value(name, value, dry_run=output.dry_run)
    report_change(outcome, output, f"{name}: {value}", f"{name} is already {value}")


@state.command(epilog="Example: fairlead state prune --dry-run")
@click.option(
    "--lines",
    type=click.IntRange(min=1),
    default=TARGET_LINES,
    show_default=True,
    help="Target length of STATE.md.",
)
@click.option(
    "--keep",
    type=click.IntRange(min=0),
    default=KEPT_DECISIONS,
    show_default=True,
    help="Number of decisions to keep in any case.",
)
@workstream_change_command
def prune(app: App, output: OutputOptions, *, lines: int, keep: int) -> None:
    """Move the oldest entries of STATE.md to STATE-ARCHIVE.md until it is short enough."""
    outcome = app.events.prune(target=lines, keep=keep, dry_run=output.dry_run)
    report_change(
        outcome,
        output,
        "Moved the oldest entries to STATE-ARCHIVE.md",
        f"Nothing to move: STATE.md has no old entries, or at most {lines} lines",
    )
