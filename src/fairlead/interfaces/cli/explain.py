"""`fairlead explain`: which files led to a value."""

from collections.abc import Sequence

import click

from fairlead.engine.explain import Explainer, Explanation
from fairlead.interfaces.cli.options import json_option, with_app, workstream_option
from fairlead.interfaces.cli.show import Part, Styled, report, rows
from fairlead.wiring import App


@click.command(epilog="Example: fairlead explain phase 4")
@click.argument("what", type=click.Choice(["progress", "phase", "plan", "status", "next"]))
@click.argument("name", default="")
@workstream_option
@json_option
@with_app
def explain(app: App, *, what: str, name: str, workstream: str, as_json: bool) -> None:
    """Show which files, with times, led to a value: progress, status, next, phase N, plan ID."""
    if (what in ("phase", "plan")) != bool(name):
        wanted = f"name one: fairlead explain {what} 4" if not name else f"{what} takes no name"
        raise click.UsageError(wanted)
    found = _explained(app.overview.explainer(workstream), what, name)
    report(found, _lines(found), as_json=as_json)


def _explained(explainer: Explainer, what: str, name: str) -> Explanation:
    match what:
        case "phase":
            return explainer.phase(name)
        case "plan":
            return explainer.plan(name)
        case "status":
            return explainer.status()
        case "next":
            return explainer.next()
        case _:
            return explainer.progress()


def _lines(found: Explanation) -> list[Sequence[Part]]:
    lines: list[Sequence[Part]] = [
        (Styled(f"{found.what}  ", "bold"), found.value),
        (Styled("because  ", "dim"), found.rule),
    ]
    lines += rows(
        [
            (f"  {each.path}", Styled(each.changed or "-", "dim"), each.means)
            for each in found.evidence
        ]
    )
    return lines
