"""`fairlead state`: blockers, the roadmap's history, single fields, and the size of STATE.md."""

import json

import click

from fairlead.interfaces.cli.options import dry_run_option, json_option, stream_option, with_app
from fairlead.interfaces.cli.show import report, report_change
from fairlead.records.evolution import Evolution
from fairlead.records.prune import KEPT_DECISIONS, TARGET_LINES
from fairlead.wiring import App


@click.command(
    "add-blocker", epilog='Example: fairlead state add-blocker --text "The API has no sandbox"'
)
@click.option("--text", required=True, metavar="TEXT", help="What stands in the way, in one line.")
@click.option("--phase", default="", metavar="N", help="The phase it comes from.")
@dry_run_option
@stream_option
@json_option
@with_app
def add_blocker(app: App, *, text: str, phase: str, dry_run: bool, as_json: bool) -> None:
    """Add a blocker to STATE.md. One that stands there already is not added again."""
    report_change(
        app.events.blocker_added(text, phase=phase, dry_run=dry_run),
        done=f"Recorded: {text}",
        unchanged=f"Recorded already: {text}",
        as_json=as_json,
        dry_run=dry_run,
    )


@click.command(
    "resolve-blocker", epilog='Example: fairlead state resolve-blocker --text "no sandbox"'
)
@click.option("--text", required=True, metavar="TEXT", help="Enough of its text to name one.")
@dry_run_option
@stream_option
@json_option
@with_app
def resolve_blocker(app: App, *, text: str, dry_run: bool, as_json: bool) -> None:
    """Remove one blocker from STATE.md. Refused when several hold the text."""
    report_change(
        app.events.blocker_resolved(text, dry_run=dry_run),
        done=f"Resolved: {text}",
        unchanged=f"Resolved already: {text}",
        as_json=as_json,
        dry_run=dry_run,
    )


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
@dry_run_option
@stream_option
@json_option
@with_app
def add_roadmap_evolution(
    app: App,
    *,
    note: str,
    phase: str,
    action: str,
    after: str,
    urgent: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Note a change of the roadmap in STATE.md."""
    change = Evolution(note, phase, action, after, urgent)
    report_change(
        app.events.roadmap_evolved(change, dry_run=dry_run),
        done=f"Recorded: {change.entry}",
        unchanged=f"Recorded already: {change.entry}",
        as_json=as_json,
        dry_run=dry_run,
    )


@click.command(epilog="Example: fairlead state get progress.percent")
@click.argument("name", required=False, default="")
@stream_option
@json_option
@with_app
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
@dry_run_option
@stream_option
@json_option
@with_app
def set_field(app: App, *, name: str, value: str, dry_run: bool, as_json: bool) -> None:
    """Set a field of STATE.md. What follows from the files is refused."""
    report_change(
        app.events.set_value(name, value, dry_run=dry_run),
        done=f"{name}: {value}",
        unchanged=f"{name} is {value} already",
        as_json=as_json,
        dry_run=dry_run,
    )


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
@dry_run_option
@stream_option
@json_option
@with_app
def prune(app: App, *, lines: int, keep: int, dry_run: bool, as_json: bool) -> None:
    """Move the oldest entries of STATE.md to STATE-ARCHIVE.md until it is short enough."""
    report_change(
        app.events.prune(target=lines, keep=keep, dry_run=dry_run),
        done="The oldest entries are in STATE-ARCHIVE.md now",
        unchanged=f"STATE.md holds nothing old, or no more than {lines} lines",
        as_json=as_json,
        dry_run=dry_run,
    )
