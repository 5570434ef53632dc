"""`fairlead report`: a job or a phase as one page for a colleague or a pull request."""

from __future__ import annotations

import os
import sys

import click

from fairlead.app import App
from fairlead.interfaces.cli.options import app_workstream_option, query_command
from fairlead.interfaces.cli.output import OutputStream
from fairlead.interfaces.cli.output import report as show
from fairlead.interfaces.cli.output_file import output_options, write_output


@click.command(epilog="Example: fairlead report --phase 3 --output phase-3.html")
@click.option("--job", default="", metavar="JOB", help="Job to report on [default: the newest].")
@click.option("--phase", default="", metavar="N", help="Phase to report on.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "md"]),
    default=None,
    help="Format [default: by the name of the output file, else html].",
)
@output_options
@app_workstream_option
@query_command
def report(
    app: App, *, job: str, phase: str, form: str | None, output: str, force: bool, as_json: bool
) -> None:
    """Write one self-contained page about a job or a phase.

    It has the request, plan, votes, gates, evidence and cost. The HTML page loads nothing and opens
    without a network. `--format md` writes the body of a pull request.
    """
    from fairlead.report.html import html
    from fairlead.report.markdown import markdown
    from fairlead.report.service import Reports

    if phase and job:
        raise click.UsageError("use --phase or --job, not both")
    reports = Reports(app)
    page = reports.phase(phase) if phase else reports.job(job)
    is_markdown = form == "md" or (not form and os.path.splitext(output)[1].lower() == ".md")
    made_at = app.clock.now().strftime("%Y-%m-%d %H:%M UTC")
    text = markdown(page) if is_markdown else html(page, made_at)
    if output:
        write_output(app.folder, output, text, force=force)
    if as_json:
        show({"page": page, "output": output}, (), as_json=True)
    elif output:
        size = f"{len(text.encode()) / 1000:,.0f} kB"
        show(page, [(f"{page.title}: {size}, written to {output}",)], as_json=False)
    else:
        OutputStream(sys.stdout).raw(text)
