"""`fairlead phase`: the phases of the project, and changes of their list."""

from typing import Any

import click

from fairlead.engine.phases import PhaseChange
from fairlead.interfaces.cli.options import (
    Verbs,
    dry_run_option,
    json_option,
    stream_option,
    with_app,
)
from fairlead.interfaces.cli.roadmap import details_lines, phase_table, plan_lines
from fairlead.interfaces.cli.show import report, report_change, warn
from fairlead.wiring import App

goal_option = click.option("--goal", default="", metavar="TEXT", help="Its goal, in one line.")


@click.group(cls=Verbs, rooms={"execute": "fairlead.interfaces.cli.execute:execute_phase"})
def phase() -> None:
    """Show the phases; add, insert, remove, carry out and complete them."""


@phase.command("list", epilog="Example: fairlead phase list --archived")
@click.option("--archived", is_flag=True, help="The phases of milestones that are closed.")
@stream_option
@json_option
@with_app
def list_phases(app: App, *, archived: bool, as_json: bool) -> None:
    """Show the phases of the milestone, each with its stage and plans."""
    found = app.roadmaps.phases(archived=archived)
    report({"phases": list(found), "archived": archived}, phase_table(found), as_json=as_json)


@phase.command("show", epilog="Example: fairlead phase show 3")
@click.argument("number", metavar="N")
@stream_option
@json_option
@with_app
def show_phase(app: App, *, number: str, as_json: bool) -> None:
    """Show one phase: its plans with their proofs, its verification and its files."""
    found = app.roadmaps.details(number)
    report(found, details_lines(found), as_json=as_json)


@phase.command("plans", epilog="Example: fairlead phase plans 3")
@click.argument("number", metavar="N")
@stream_option
@json_option
@with_app
def show_plans(app: App, *, number: str, as_json: bool) -> None:
    """Show the plans of a phase in waves, what can run now, and what is wrong with them."""
    found = app.roadmaps.plans(number)
    report(found, plan_lines(found), as_json=as_json)


@phase.command("add", epilog='Example: fairlead phase add "Search" --goal "People find tickets"')
@click.argument("name")
@goal_option
@dry_run_option
@stream_option
@json_option
@with_app
def add_phase(app: App, *, name: str, goal: str, dry_run: bool, as_json: bool) -> None:
    """Add a phase after the last one of the milestone."""
    change = app.phases.add(name, goal=goal, dry_run=dry_run)
    done = f"Phase {change.phase}: {name}. Next: fairlead phase discuss {change.phase}"
    _shown(change, done=done, unchanged="", as_json=as_json, dry_run=dry_run)


@phase.command("insert", epilog='Example: fairlead phase insert 4 "Hotfix"')
@click.argument("after", metavar="AFTER")
@click.argument("name")
@goal_option
@dry_run_option
@stream_option
@json_option
@with_app
def insert_phase(
    app: App, *, after: str, name: str, goal: str, dry_run: bool, as_json: bool
) -> None:
    """Insert a phase after another, with the next free decimal: after 4 comes 4.1."""
    change = app.phases.insert(after, name, goal=goal, dry_run=dry_run)
    done = f"Phase {change.phase}: {name}. Next: fairlead phase discuss {change.phase}"
    _shown(change, done=done, unchanged="", as_json=as_json, dry_run=dry_run)


@phase.command("remove", epilog="Example: fairlead phase remove 7 --dry-run")
@click.argument("number", metavar="N")
@click.option("--force", is_flag=True, help="Also when it has plans or summaries.")
@click.option("--renumber", is_flag=True, help="Give later phases the number before theirs.")
@dry_run_option
@stream_option
@json_option
@with_app
def remove_phase(
    app: App, *, number: str, force: bool, renumber: bool, dry_run: bool, as_json: bool
) -> None:
    """Take a phase out of the roadmap.

    Its folder is moved to .planning/.fairlead/removed: nothing in it is deleted.
    """
    change = app.phases.remove(number, force=force, renumber=renumber, dry_run=dry_run)
    done = f"Phase {change.phase} is out of the roadmap"
    _shown(change, done=done, unchanged="", as_json=as_json, dry_run=dry_run)


@phase.command("complete", epilog="Example: fairlead phase complete 3")
@click.argument("number", metavar="N")
@dry_run_option
@stream_option
@json_option
@with_app
def complete_phase(app: App, *, number: str, dry_run: bool, as_json: bool) -> None:
    """Record that a phase is done: roadmap, requirements, STATE.md and todos in one step.

    Every plan needs its summary; where the project counts verified phases, a passed
    verification too.
    """
    change = app.phases.complete(number, dry_run=dry_run)
    _shown(
        change,
        done=f"Phase {change.phase} is complete. Next: fairlead next",
        unchanged=f"Phase {change.phase} is complete already",
        as_json=as_json,
        dry_run=dry_run,
    )


def _shown(change: PhaseChange, *, done: str, unchanged: str, as_json: bool, dry_run: bool) -> None:
    for note in change.notes:
        warn(note)
    more: dict[str, Any] = {
        "phase": change.phase,
        "name": change.name,
        "folder": change.folder,
        "notes": list(change.notes),
    }
    report_change(
        change.outcome, done=done, unchanged=unchanged, as_json=as_json, dry_run=dry_run, more=more
    )
