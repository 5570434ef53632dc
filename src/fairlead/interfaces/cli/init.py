"""`fairlead init`: a new project, all of its documents at once."""

import sys

import click

from fairlead.engine.templates import NewProject
from fairlead.interfaces.cli.options import changes
from fairlead.interfaces.cli.show import Manner, driver_lines, report, report_change
from fairlead.records.attributes import GIT_COMMANDS, LINE
from fairlead.store.layout import ATTRIBUTES
from fairlead.wiring import App

_FIRST_PHASE = "Foundation"


@click.command(epilog='Example: fairlead init "Ticket desk" --yes')
@click.argument("title")
@click.option("--yes", is_flag=True, help="Ask nothing and begin with Phase 1.")
@click.option(
    "--phase", "phase", metavar="NAME", help=f"Name of Phase 1 [default: {_FIRST_PHASE}]."
)
@click.option("--core-value", metavar="TEXT", default="", help="The one thing that must work.")
@click.option(
    "--dialect",
    type=click.Choice(["gsd", "ultraplan"]),
    help="Form of STATE.md [default: the setting fairlead.dialect].",
)
@click.option(
    "--merge-driver/--no-merge-driver",
    "merges",
    default=None,
    help="Name the documents to git, so that `fairlead merge-driver` merges them.",
)
@changes
def init(
    app: App,
    manner: Manner,
    *,
    title: str,
    yes: bool,
    phase: str | None,
    core_value: str,
    dialect: str | None,
    merges: bool | None,
) -> None:
    """Make a new project here: .planning with STATE, PROJECT, REQUIREMENTS and ROADMAP.

    No model is asked. In a terminal two questions are asked unless --yes is given, and in a git
    repository a third: whether git shall merge the documents entry by entry.
    """
    asks = not yes and not manner.as_json and sys.stdin.isatty() and sys.stdout.isatty()
    if asks:
        core_value = core_value or click.prompt("The one thing that must work", default="")
        phase = phase or click.prompt("Name of the first phase", default=_FIRST_PHASE)
    if merges is None:
        merges = asks and app.is_in_repository and _wants_driver()
    project = NewProject(
        title=title,
        dialect=dialect or app.preferences.dialect,
        first_phase=phase or (_FIRST_PHASE if yes else ""),
        core_value=core_value,
        is_merged=merges,
    )
    outcome = app.new_memory().init(project, dry_run=manner.dry_run)
    report_change(
        outcome,
        manner,
        done=f"{title} is ready. Next: fairlead status",
        unchanged="The project was complete already.",
        diff=False,
        commands=list(GIT_COMMANDS) if merges else [],
    )
    if merges and not manner.as_json:
        report({}, driver_lines(), as_json=False)


def _wants_driver() -> bool:
    told = [(f"In git, {ATTRIBUTES} can hold this line, so that our driver merges the documents:",)]
    report({}, [*told, (f"  {LINE}",)], as_json=False)
    return click.confirm("Write it?", default=True)
