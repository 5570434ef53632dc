"""`fairlead job veto|rule|retry` and the end of council jobs: what a person may decide."""

from __future__ import annotations

import click

from fairlead.interfaces.cli.options import json_option, with_app
from fairlead.interfaces.cli.show import Styled, report
from fairlead.text.inline import one_line
from fairlead.wiring import App


@click.command("veto", epilog='Example: fairlead job veto j_20260412_0007 --why "Not this quarter"')
@click.argument("job_id", metavar="JOB")
@click.option("--why", required=True, metavar="TEXT", help="What speaks against it.")
@json_option
@with_app
def veto_job(app: App, *, job_id: str, why: str, as_json: bool) -> None:
    """Stop a council job for good, at any time before its plan is carried out."""
    wished(app, job_id, "veto", one_line(why, "the reason"), as_json=as_json)


def wished(app: App, job_id: str, wish: str, why: str, *, as_json: bool) -> None:
    """Veto or cancel; a job that runs elsewhere is ended by whoever runs it."""
    from fairlead.wiring_council import council_of

    held = council_of(app).wish(job_id, wish, why)
    said = f"{held.id} is {held.status}"
    if not held.ended_at:
        said = f"{held.id} is running: the {wish} is heard as soon as a seat has answered"
    content = {"job": held.id, "status": str(held.status), "blocker_reason": held.blocker_reason}
    report(content, [(said,)], as_json=as_json)


@click.command(
    "rule", epilog='Example: fairlead job rule j_20260412_0007 security-1 "Mask it in the log"'
)
@click.argument("job_id", metavar="JOB")
@click.argument("item", metavar="ITEM")
@click.argument("text")
@json_option
@with_app
def rule_item(app: App, *, job_id: str, item: str, text: str, as_json: bool) -> None:
    """Decide an open item of a blocked job; the retry takes it as given."""
    from fairlead.wiring_council import council_of

    held = council_of(app).rule(job_id, item, one_line(text, "the ruling"))
    again = f"fairlead job retry {job_id}"
    content = {"job": job_id, "item": held.id, "ruling": held.text, "next": again}
    report(
        content, [(Styled("✓ ", "green"), f"{held.id} is ruled. Next: {again}")], as_json=as_json
    )


@click.command("retry", epilog="Example: fairlead job retry j_20260412_0007")
@click.argument("job_id", metavar="JOB")
@click.option("--request", default="", metavar="TEXT", help="Ask for something else this time.")
@json_option
@with_app
def retry_job(app: App, *, job_id: str, request: str, as_json: bool) -> None:
    """Make a new job of a council's that failed or is blocked.

    What was asked before in exactly the same words keeps its answer, and rulings hold from the
    first synthesis on. A job that carries out a phase needs no new one: answer what it asks, or run
    its own command again.
    """
    from fairlead.wiring_council import council_of

    child = council_of(app).retry(job_id, request.strip())
    again = f"fairlead run --job {child}"
    content = {"job": child, "parent": job_id, "next": again}
    report(content, [(Styled("✓ ", "green"), f"{child} is made. Next: {again}")], as_json=as_json)
