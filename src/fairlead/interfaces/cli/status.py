"""`fairlead status` and `fairlead next`: where the project stands, and the next step."""

import click

from fairlead.app import App
from fairlead.interfaces.cli.options import (
    in_rehearsal_option,
    json_option,
    with_app,
    workstream_option,
)
from fairlead.interfaces.cli.output import Line, Styled, report, terminal_width
from fairlead.interfaces.cli.status_page import (
    LISTED_ENTRIES,
    job_lines,
    next_line,
    paused_lines,
    status_page,
)
from fairlead.views.document import members
from fairlead.views.status import next_view, status_view


@click.command(epilog="Example: fairlead status --json")
@click.option("--all", "show_all", is_flag=True, help="Show every phase of the milestone.")
@click.option("--wide", is_flag=True, help="Add sparklines of plan durations and daily cost.")
@in_rehearsal_option
@workstream_option
@json_option
@with_app
def status(app: App, *, show_all: bool, wide: bool, workstream: str, as_json: bool) -> None:
    """Show where the project stands, derived from its files."""
    status_report = status_view(app, workstream)
    lines = status_page(status_report, show_all=show_all, width=terminal_width())
    if not wide:
        report(status_report, lines, as_json=as_json)
        return
    # Late imports: `status` alone must not load them.
    from fairlead.interfaces.cli.terminal_pictures import trend_lines
    from fairlead.views.trends import trends_view

    trends = trends_view(app, workstream)
    content = {**members(status_report), "trends": trends}
    report(content, [*lines, (), *trend_lines(trends)], as_json=as_json)


@click.command("next", epilog="Example: fairlead next")
@in_rehearsal_option
@workstream_option
@json_option
@with_app
def next_step(app: App, *, workstream: str, as_json: bool) -> None:
    """Show the position, the next command and open questions."""
    status_report = status_view(app, workstream)
    following = next_view(app, status_report, workstream)
    lines: list[Line] = [
        (following.where,),
        next_line(status_report),
        *job_lines(status_report),
        *paused_lines(status_report),
    ]
    for question in following.waiting[:LISTED_ENTRIES]:
        lines.append((Styled("waits  ", "yellow"), question.question))
        lines += [(f"       {line}",) for line in (question.command, *question.below)]
    report(following, lines, as_json=as_json)
