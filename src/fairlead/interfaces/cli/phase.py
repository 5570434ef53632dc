"""`fairlead phase`: the phases of the project, and changes of their list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fairlead.interfaces.cli.options import Verbs, shows, stream_changes, stream_option
from fairlead.interfaces.cli.roadmap import details_lines, phase_table, plan_lines
from fairlead.interfaces.cli.show import Manner, in_stream, report, report_change, warn
from fairlead.wiring import App

if TYPE_CHECKING:
    from fairlead.engine.phases import PhaseChange

goal_option = click.option("--goal", default="", metavar="TEXT", help="Its goal, in one line.")


@click.group(
    cls=Verbs,
    rooms={
        "execute": "fairlead.interfaces.cli.execute:execute_phase",
        "discuss": "fairlead.interfaces.cli.phase_discuss:discuss_phase",
        "plan": "fairlead.interfaces.cli.phase_plan:plan_phase",
        "verify": "fairlead.interfaces.cli.verify:verify_phase",
    },
)
def phase() -> None:
    """Show the phases; add, insert, remove, carry out, verify and complete them."""


@phase.command("list", epilog="Example: fairlead phase list --archived")
@click.option("--archived", is_flag=True, help="The phases of milestones that are closed.")
@stream_option
@shows
def list_phases(app: App, *, archived: bool, as_json: bool) -> None:
    """Show the phases of the milestone, each with its stage and plans."""
    found = app.roadmaps.phases(archived=archived)
    report({"phases": list(found), "archived": archived}, phase_table(found), as_json=as_json)


@phase.command("show", epilog="Example: fairlead phase show 3")
@click.argument("number", metavar="N")
@stream_option
@shows
def show_phase(app: App, *, number: str, as_json: bool) -> None:
    """Show one phase: its plans with their proofs, its verification and its files."""
    found = app.roadmaps.details(number)
    report(found, details_lines(found), as_json=as_json)


@phase.command("plans", epilog="Example: fairlead phase plans 3")
@click.argument("number", metavar="N")
@stream_option
@shows
def show_plans(app: App, *, number: str, as_json: bool) -> None:
    """Show the plans of a phase in waves, what can run now, and what is wrong with them."""
    found = app.roadmaps.plans(number)
    report(found, plan_lines(found), as_json=as_json)


@phase.command("add", epilog='Example: fairlead phase add "Search" --goal "People find tickets"')
@click.argument("name")
@goal_option
@stream_changes
def add_phase(app: App, manner: Manner, *, name: str, goal: str) -> None:
    """Add a phase after the last one of the milestone."""
    change = app.phases.add(name, goal=goal, dry_run=manner.dry_run)
    done = f"Phase {change.phase}: {name}. Next: fairlead phase discuss {change.phase}"
    _shown(change, manner, done)


@phase.command("insert", epilog='Example: fairlead phase insert 4 "Hotfix"')
@click.argument("after", metavar="AFTER")
@click.argument("name")
@goal_option
@stream_changes
def insert_phase(app: App, manner: Manner, *, after: str, name: str, goal: str) -> None:
    """Insert a phase after another, with the next free decimal: after 4 comes 4.1."""
    change = app.phases.insert(after, name, goal=goal, dry_run=manner.dry_run)
    done = f"Phase {change.phase}: {name}. Next: fairlead phase discuss {change.phase}"
    _shown(change, manner, done)


@phase.command("remove", epilog="Example: fairlead phase remove 7 --dry-run")
@click.argument("number", metavar="N")
@click.option("--force", is_flag=True, help="Also when it has plans or summaries.")
@click.option("--renumber", is_flag=True, help="Give later phases the number before theirs.")
@stream_changes
def remove_phase(app: App, manner: Manner, *, number: str, force: bool, renumber: bool) -> None:
    """Take a phase out of the roadmap.

    Its folder is moved to .planning/.fairlead/removed: nothing in it is deleted.
    """
    change = app.phases.remove(number, force=force, renumber=renumber, dry_run=manner.dry_run)
    done = f"Phase {change.phase} is out of the roadmap"
    _shown(change, manner, done)


@phase.command("complete", epilog="Example: fairlead phase complete 3")
@click.argument("number", metavar="N")
@stream_changes
def complete_phase(app: App, manner: Manner, *, number: str) -> None:
    """Record that a phase is done: roadmap, requirements, STATE.md and todos in one step.

    Every plan needs its summary; where the project counts verified phases, a passed
    verification too.
    """
    change = app.phases.complete(number, dry_run=manner.dry_run)
    done = f"Phase {change.phase} is complete. Next: fairlead next"
    _shown(change, manner, done, f"Phase {change.phase} is complete already")


def _shown(change: PhaseChange, manner: Manner, done: str, unchanged: str = "") -> None:
    for note in change.notes:
        warn(in_stream(note))
    report_change(
        change.outcome,
        manner,
        done,
        unchanged,
        phase=change.phase,
        name=change.name,
        folder=change.folder,
        notes=list(change.notes),
    )
