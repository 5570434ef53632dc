"""`fairlead milestone`: list, open and close milestones."""

import click

from fairlead.app import App
from fairlead.interfaces.cli.lazy_group import LazyGroup
from fairlead.interfaces.cli.options import (
    app_workstream_option,
    query_command,
    workstream_change_command,
)
from fairlead.interfaces.cli.output import (
    Cells,
    Line,
    OutputOptions,
    Styled,
    report,
    report_change,
    table_lines,
    warn,
)
from fairlead.plans.roadmap_report import MilestoneReport
from fairlead.views.roadmap import (
    closed_milestone_members,
    milestones_view,
    opened_milestone_members,
)


@click.group(cls=LazyGroup)
def milestone() -> None:
    """List, open and close milestones."""


@milestone.command("list", epilog="Example: fairlead milestone list")
@app_workstream_option
@query_command
def list_milestones(app: App, *, as_json: bool) -> None:
    """Show every milestone in the roadmap and in the archive."""
    milestones = app.roadmaps.milestones()
    report(milestones_view(milestones), _table(milestones), as_json=as_json)


@milestone.command("new", epilog='Example: fairlead milestone new "Search"')
@click.argument("version")
@click.argument("name", default="")
@workstream_change_command
def new_milestone(app: App, output: OutputOptions, *, version: str, name: str) -> None:
    """Open a milestone with a name, or with a version and a name.

    A previous milestone with only complete phases is archived first; otherwise close it
    yourself. Phase numbers continue. STATE.md gets the version and the name, and keeps your own
    keys.
    """
    version, name = (version, name) if name else ("", version)
    app.milestones.require_name(name)
    *closed, change = app.milestones.follow(name, version, dry_run=output.dry_run)
    for previous in closed:
        warn(f"{previous.version} is shipped: its phases and requirements are archived")
    report_change(
        change.outcome,
        output,
        done=f"{change.version} {name} is open. Next: fairlead phase add NAME",
        unchanged=f"{change.version} is already open",
        **opened_milestone_members(change, name, closed),
    )


@milestone.command("complete", epilog="Example: fairlead milestone complete v1.0 --dry-run")
@click.argument("version")
@click.option("--force", is_flag=True, help="Close it despite open phases; needs --reason.")
@click.option(
    "--reason", default="", metavar="TEXT", help="Reason for closing it with open phases."
)
@workstream_change_command
def complete_milestone(
    app: App, output: OutputOptions, *, version: str, force: bool, reason: str
) -> None:
    """Close a milestone and archive its phases, requirements and roadmap."""
    change = app.milestones.complete(version, force=force, reason=reason, dry_run=output.dry_run)
    report_change(
        change.outcome,
        output,
        done=f"{change.version} is shipped. Next: fairlead milestone new VERSION NAME",
        unchanged=f"{change.version} is already shipped",
        **closed_milestone_members(change),
    )


def _table(milestones: tuple[MilestoneReport, ...]) -> list[Line]:
    if not milestones:
        return [("no milestones",)]
    titles = ("milestone", "", "phases", "plans", "name")
    table: list[Cells] = [tuple(Styled(title, "dim") for title in titles)]
    for milestone in milestones:
        state = "shipped" if milestone.is_closed else "current" if milestone.is_current else "open"
        style = {"shipped": "green", "current": "cyan"}.get(state, "dim")
        counts = f"{milestone.completed_plans}/{milestone.plans}"
        table.append(
            (
                Styled(milestone.version, "bold"),
                Styled(state, style),
                str(milestone.phases),
                counts,
                milestone.name,
            )
        )
    return table_lines(table)
