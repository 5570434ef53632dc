"""`fairlead init`: create a new project, with all of its documents at once."""

import click

from fairlead.app import App
from fairlead.interfaces.cli.options import change_command
from fairlead.interfaces.cli.output import (
    OutputOptions,
    driver_lines,
    is_interactive,
    report,
    report_change,
)
from fairlead.project.first_documents import ATTRIBUTES_LINE, GIT_COMMANDS, NewProject
from fairlead.project.paths import ATTRIBUTES

_FIRST_PHASE = "Foundation"


@click.command(epilog='Example: fairlead init "Ticket tracker" --yes')
@click.argument("title")
@click.option("--yes", is_flag=True, help="Ask nothing, and create Phase 1.")
@click.option(
    "--phase", "phase", metavar="NAME", help=f"Name of Phase 1 [default: {_FIRST_PHASE}]."
)
@click.option("--core-value", metavar="TEXT", default="", help="The one thing that must work.")
@click.option(
    "--dialect",
    type=click.Choice(["gsd", "ultraplan"]),
    help="Format of STATE.md [default: the setting fairlead.dialect].",
)
@click.option(
    "--merge-driver/--no-merge-driver",
    "has_driver",
    default=None,
    help="Let git merge the documents with `fairlead merge-driver`.",
)
@change_command
def init(
    app: App,
    output: OutputOptions,
    *,
    title: str,
    yes: bool,
    phase: str | None,
    core_value: str,
    dialect: str | None,
    has_driver: bool | None,
) -> None:
    """Create a project in this folder, without a model.

    Writes STATE.md, PROJECT.md, REQUIREMENTS.md, ROADMAP.md and config.json to .planning. In a
    terminal, without --yes, you are asked two questions, and in a git repository a third: whether
    git should merge the documents entry by entry.
    """
    asks = not yes and not output.as_json and is_interactive()
    if asks:
        core_value = core_value or click.prompt("The one thing that must work", default="")
        phase = phase or click.prompt("Name of the first phase", default=_FIRST_PHASE)
    if has_driver is None:
        has_driver = asks and app.is_in_repository and _confirm_driver()
    project = NewProject(
        title=title,
        dialect=dialect or app.preferences.dialect,
        first_phase=phase or (_FIRST_PHASE if yes else ""),
        core_value=core_value,
        is_merged=has_driver,
    )
    commands = () if output.as_json else app.found_commands()  # first: a fault now changes nothing
    outcome = app.new_memory().init(project, dry_run=output.dry_run)
    report_change(
        outcome,
        output,
        done=f"{title} is ready. Next: fairlead status",
        unchanged="The project is already complete.",
        diff=False,
        commands=list(GIT_COMMANDS) if has_driver else [],
    )
    if has_driver and not output.as_json:
        report({}, driver_lines(), as_json=False)
    if commands:
        setting = "to change that, set fairlead.execution.commands"
        report({}, [(f"Executors may run {', '.join(commands)}; {setting}.",)], as_json=False)


def _confirm_driver() -> bool:
    question = f"Fairlead can merge the planning documents. git needs this line in {ATTRIBUTES}:"
    report({}, [(question,), (f"  {ATTRIBUTES_LINE}",)], as_json=False)
    return click.confirm("Add it?", default=True)
