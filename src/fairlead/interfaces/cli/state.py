"""`fairlead state`: what is recorded in STATE.md, one event at a time."""

import click

from fairlead.interfaces.cli.options import dry_run_option, json_option, with_app
from fairlead.interfaces.cli.show import report_change
from fairlead.records.state import Decision
from fairlead.wiring import App


@click.group()
def state() -> None:
    """Record what happens in the project."""


@state.command(
    "add-decision",
    epilog='Example: fairlead state add-decision --phase 2 --summary "Store times in UTC"',
)
@click.option("--phase", required=True, metavar="N", help="The phase that decided it.")
@click.option("--summary", required=True, metavar="TEXT", help="The decision, in one line.")
@click.option("--rationale", default="", metavar="TEXT", help="Why, in one line.")
@dry_run_option
@json_option
@with_app
def add_decision(
    app: App, *, phase: str, summary: str, rationale: str, dry_run: bool, as_json: bool
) -> None:
    """Add a decision to STATE.md. One that stands there already is not added again."""
    outcome = app.memory.add_decision(Decision(phase, summary, rationale), dry_run=dry_run)
    report_change(
        outcome,
        done=f"Recorded for phase {phase}: {summary}",
        unchanged=f"Recorded already for phase {phase}: {summary}",
        as_json=as_json,
        dry_run=dry_run,
    )
