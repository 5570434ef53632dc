"""`fairlead phase`: show the phases, and add, insert, remove or complete one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fairlead.app import App
from fairlead.interfaces.cli.lazy_group import LazyGroup
from fairlead.interfaces.cli.options import (
    app_workstream_option,
    query_command,
    workstream_change_command,
)
from fairlead.interfaces.cli.output import (
    OutputOptions,
    report,
    report_change,
    warn,
    with_workstream,
)
from fairlead.interfaces.cli.roadmap import details_lines, phase_table, plan_lines
from fairlead.views.roadmap import phase_change_members, phase_view, phases_view, plans_view

if TYPE_CHECKING:
    from fairlead.project.phases import PhaseChange

_goal_option = click.option("--goal", default="", metavar="TEXT", help="Goal, in one line.")


@click.group(
    cls=LazyGroup,
    lazy={
        "execute": (
            "phase_execute:execute_phase",
            "Execute the plans of a phase in waves, each task through its gate.",
        ),
        "discuss": (
            "phase_plan:discuss_phase",
            "Discuss a phase: assumptions, scored options, and decisions in CONTEXT.md.",
        ),
        "plan": (
            "phase_plan:plan_phase",
            "Plan a phase: research, patterns, plans, and a checker with at most three revisions.",
        ),
        "verify": (
            "phase_verify:verify_phase",
            "Check that a phase does what its plans promise, and record the result with evidence.",
        ),
    },
    sections={
        "Look": ("list", "show", "plans"),
        "Change the roadmap": ("add", "insert", "remove"),
        "Work on a phase, in this order": ("discuss", "plan", "execute", "verify", "complete"),
    },
)
def phase() -> None:
    """Show, change, plan, execute, verify and complete phases."""


@phase.command("list", epilog="Example: fairlead phase list --archived")
@click.option("--archived", is_flag=True, help="Show the phases of closed milestones.")
@app_workstream_option
@query_command
def list_phases(app: App, *, archived: bool, as_json: bool) -> None:
    """Show the phases of the milestone, with stage and plans."""
    phases = app.roadmaps.phases(archived=archived)
    report(phases_view(phases, archived=archived), phase_table(phases), as_json=as_json)


@phase.command("show", epilog="Example: fairlead phase show 3")
@click.argument("number", metavar="N")
@app_workstream_option
@query_command
def show_phase(app: App, *, number: str, as_json: bool) -> None:
    """Show one phase: plans and summaries, verification, files."""
    details = phase_view(app, number)
    report(details, details_lines(details), as_json=as_json)


@phase.command("plans", epilog="Example: fairlead phase plans 3")
@click.argument("number", metavar="N")
@app_workstream_option
@query_command
def show_plans(app: App, *, number: str, as_json: bool) -> None:
    """Show the plans of a phase in waves, with state and faults."""
    index = plans_view(app, number)
    report(index, plan_lines(index), as_json=as_json)


@phase.command("add", epilog='Example: fairlead phase add "Search" --goal "People find tickets"')
@click.argument("name")
@_goal_option
@workstream_change_command
def add_phase(app: App, output: OutputOptions, *, name: str, goal: str) -> None:
    """Add a phase after the last one of the milestone."""
    change = app.phases.add(name, goal=goal, dry_run=output.dry_run)
    done = f"Phase {change.phase}: {name}. Next: fairlead phase discuss {change.phase}"
    _report(change, output, done)


@phase.command("insert", epilog='Example: fairlead phase insert 4 "Hotfix"')
@click.argument("after", metavar="AFTER")
@click.argument("name")
@_goal_option
@workstream_change_command
def insert_phase(app: App, output: OutputOptions, *, after: str, name: str, goal: str) -> None:
    """Insert a phase after another one, with a decimal number: 4.1 after 4."""
    change = app.phases.insert(after, name, goal=goal, dry_run=output.dry_run)
    done = f"Phase {change.phase}: {name}. Next: fairlead phase discuss {change.phase}"
    _report(change, output, done)


@phase.command("remove", epilog="Example: fairlead phase remove 7 --dry-run")
@click.argument("number", metavar="N")
@click.option("--force", is_flag=True, help="Remove it even if it has plans or summaries.")
@click.option("--renumber", is_flag=True, help="Renumber the later phases.")
@workstream_change_command
def remove_phase(
    app: App, output: OutputOptions, *, number: str, force: bool, renumber: bool
) -> None:
    """Remove a phase from the roadmap.

    Its folder is moved to .planning/.fairlead/removed; no file is deleted.
    """
    change = app.phases.remove(number, force=force, renumber=renumber, dry_run=output.dry_run)
    done = f"Phase {change.phase} is removed from the roadmap"
    _report(change, output, done)


@phase.command("complete", epilog="Example: fairlead phase complete 3")
@click.argument("number", metavar="N")
@workstream_change_command
def complete_phase(app: App, output: OutputOptions, *, number: str) -> None:
    """Record that a phase is complete, in roadmap, requirements, STATE.md and todos.

    Every plan needs a summary. If the project counts only verified phases, the phase also needs
    a passed verification.
    """
    change = app.phases.complete(number, dry_run=output.dry_run)
    done = f"Phase {change.phase} is complete. Next: fairlead next"
    _report(change, output, done, f"Phase {change.phase} is already complete")


def _report(change: PhaseChange, output: OutputOptions, done: str, unchanged: str = "") -> None:
    for note in change.notes:
        warn(with_workstream(note))
    report_change(
        change.outcome,
        output,
        done,
        unchanged,
        **phase_change_members(change),
    )
