"""`fairlead milestone`: milestones opened, closed and listed."""

from collections.abc import Sequence

import click

from fairlead.engine.roadmaps import MilestoneReport
from fairlead.interfaces.cli.options import shows, stream_changes, stream_option
from fairlead.interfaces.cli.show import (
    Cells,
    Manner,
    Part,
    Styled,
    report,
    report_change,
    rows,
    warn,
)
from fairlead.wiring import App


@click.group()
def milestone() -> None:
    """Open, close and list milestones."""


@milestone.command("list", epilog="Example: fairlead milestone list")
@stream_option
@shows
def list_milestones(app: App, *, as_json: bool) -> None:
    """Show every milestone that the roadmap names or the archive holds."""
    found = app.roadmaps.milestones()
    report({"milestones": list(found)}, _table(found), as_json=as_json)


@milestone.command("new", epilog='Example: fairlead milestone new "Search"')
@click.argument("version")
@click.argument("name", default="")
@stream_changes
def new_milestone(app: App, manner: Manner, *, version: str, name: str) -> None:
    """Open a milestone: NAME alone, or VERSION and NAME.

    The one before is archived first if all its phases are complete, and has to be closed
    otherwise. Phases go on counting; STATE.md gets version and name and keeps every key of yours.
    """
    version, name = (version, name) if name else ("", version)
    app.milestones.require_name(name)
    *closed, change = app.milestones.follow(name, version, dry_run=manner.dry_run)
    for each in closed:
        warn(f"{each.version} is shipped: its phases and requirements are in the archive")
    report_change(
        change.outcome,
        manner,
        done=f"{change.version} {name} is open. Next: fairlead phase add NAME",
        unchanged=f"{change.version} is open already",
        milestone=change.version,
        name=name,
        archived=[each.version for each in closed],
    )


@milestone.command("complete", epilog="Example: fairlead milestone complete v1.0 --dry-run")
@click.argument("version")
@click.option("--force", is_flag=True, help="Also with open phases; needs --reason.")
@click.option("--reason", default="", metavar="TEXT", help="Why it is closed with open phases.")
@stream_changes
def complete_milestone(app: App, manner: Manner, *, version: str, force: bool, reason: str) -> None:
    """Close the milestone and archive it: phases, requirements and the roadmap as it stood."""
    change = app.milestones.complete(version, force=force, reason=reason, dry_run=manner.dry_run)
    report_change(
        change.outcome,
        manner,
        done=f"{change.version} is shipped. Next: fairlead milestone new VERSION NAME",
        unchanged=f"{change.version} is shipped already",
        milestone=change.version,
        phases=change.phases,
        plans=change.plans,
    )


def _table(found: tuple[MilestoneReport, ...]) -> list[Sequence[Part]]:
    if not found:
        return [("no milestones",)]
    titles = ("milestone", "", "phases", "plans", "name")
    table: list[Cells] = [tuple(Styled(title, "dim") for title in titles)]
    for each in found:
        word = "shipped" if each.is_closed else "current" if each.is_current else "open"
        style = {"shipped": "green", "current": "cyan"}.get(word, "dim")
        counts = f"{each.completed_plans}/{each.plans}"
        table.append(
            (Styled(each.version, "bold"), Styled(word, style), str(each.phases), counts, each.name)
        )
    return rows(table)
