"""`fairlead state`: blockers, the roadmap's history, single fields, and the size of STATE.md."""

import json

import click

from fairlead.interfaces.cli.options import shows, stream_changes, stream_option
from fairlead.interfaces.cli.show import Manner, report, report_change
from fairlead.records.evolution import Evolution
from fairlead.records.prune import KEPT_DECISIONS, TARGET_LINES
from fairlead.wiring import App


@click.command(
    "add-blocker", epilog='Example: fairlead state add-blocker --text "The API has no sandbox"'
)
@click.option("--text", required=True, metavar="TEXT", help="What stands in the way, in one line.")
@click.option("--phase", default="", metavar="N", help="The phase it comes from.")
@stream_changes
def add_blocker(app: App, manner: Manner, *, text: str, phase: str) -> None:
    """Add a blocker to STATE.md. One that stands there already is not added again."""
    outcome = app.events.blocker_added(text, phase=phase, dry_run=manner.dry_run)
    report_change(outcome, manner, f"Recorded: {text}", f"Recorded already: {text}")


@click.command(
    "resolve-blocker", epilog='Example: fairlead state resolve-blocker --text "no sandbox"'
)
@click.option("--text", required=True, metavar="TEXT", help="Enough of its text to name one.")
@stream_changes
def resolve_blocker(app: App, manner: Manner, *, text: str) -> None:
    """Remove one blocker from STATE.md. Refused when several hold the text."""
    outcome = app.events.blocker_resolved(text, dry_run=manner.dry_run)
    report_change(outcome, manner, f"Resolved: {text}", f"Resolved already: {text}")


@click.command(
    "add-roadmap-evolution",
    epilog='Example: fairlead state add-roadmap-evolution --phase 4.5 --action inserted --note "Hotfix"',
)
@click.option("--note", required=True, metavar="TEXT", help="What changed and why, in one line.")
@click.option("--phase", default="", metavar="N", help="The phase that changed.")
@click.option(
    "--action", default="changed", metavar="WORD", help="What was done: inserted, removed."
)
@click.option("--after", default="", metavar="N", help="The phase it comes after.")
@click.option("--urgent", is_flag=True, help="Mark it as urgent.")
@stream_changes
def add_roadmap_evolution(
    app: App, manner: Manner, *, note: str, phase: str, action: str, after: str, urgent: bool
) -> None:
    """Note a change of the roadmap in STATE.md."""
    change = Evolution(note, phase, action, after, urgent)
    outcome = app.events.roadmap_evolved(change, dry_run=manner.dry_run)
    report_change(outcome, manner, f"Recorded: {change.entry}", f"Recorded already: {change.entry}")


@click.command(epilog="Example: fairlead state get progress.percent")
@click.argument("name", required=False, default="")
@stream_option
@shows
def get(app: App, *, name: str, as_json: bool) -> None:
    """Show a field of STATE.md by its name; without a name, the whole document.

    NAME is a key of the frontmatter (progress.percent), the label of a field (Stopped at) or the
    title of a section.
    """
    value = app.events.value(name) if name else app.events.text()
    told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    lines = [(line,) for line in told.splitlines()]
    report({"name": name, "value": value}, lines, as_json=as_json)


@click.command("set", epilog='Example: fairlead state set Status "Waiting for the review"')
@click.argument("name")
@click.argument("value")
@stream_changes
def set_field(app: App, manner: Manner, *, name: str, value: str) -> None:
    """Set a field of STATE.md. What follows from the files is refused."""
    outcome = app.events.set_value(name, value, dry_run=manner.dry_run)
    report_change(outcome, manner, f"{name}: {value}", f"{name} is {value} already")


@click.command(epilog="Example: fairlead state prune --dry-run")
@click.option(
    "--lines",
    type=click.IntRange(min=1),
    default=TARGET_LINES,
    show_default=True,
    help="How long STATE.md may be.",
)
@click.option(
    "--keep",
    type=click.IntRange(min=0),
    default=KEPT_DECISIONS,
    show_default=True,
    help="How many decisions stay in any case.",
)
@stream_changes
def prune(app: App, manner: Manner, *, lines: int, keep: int) -> None:
    """Move the oldest entries of STATE.md to STATE-ARCHIVE.md until it is short enough."""
    outcome = app.events.prune(target=lines, keep=keep, dry_run=manner.dry_run)
    report_change(
        outcome,
        manner,
        "The oldest entries are in STATE-ARCHIVE.md now",
        f"STATE.md holds nothing old, or no more than {lines} lines",
    )
