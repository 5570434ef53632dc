"""`fairlead explain`: the files that led to a value."""

import click

from fairlead.app import App
from fairlead.interfaces.cli.options import json_option, with_app, workstream_option
from fairlead.interfaces.cli.output import Line, Styled, report, table_lines
from fairlead.views.explain import EXPLAINED, explain_view


@click.command(epilog="Example: fairlead explain phase 4")
@click.argument("what", type=click.Choice(EXPLAINED))
@click.argument("name", default="")
@workstream_option
@json_option
@with_app
def explain(app: App, *, what: str, name: str, workstream: str, as_json: bool) -> None:
    """Show the files that a value is derived from.

    The value is progress, scope, status, next, phase N or plan ID. Each file has its time.
    """
    explained = explain_view(app, what, name, workstream)
    lines: list[Line] = [
        (Styled(f"{explained.what}  ", "bold"), explained.value),
        (Styled("because  ", "dim"), explained.rule),
        *table_lines(
            [
                (f"  {file.path}", Styled(file.changed or "-", "dim"), file.means)
                for file in explained.evidence
            ]
        ),
    ]
    report(explained, lines, as_json=as_json)
