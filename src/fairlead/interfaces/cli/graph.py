"""`fairlead graph`: the roadmap, the waves of a phase or a job as a picture."""

from __future__ import annotations

import os
import sys

import click

from fairlead.app import App
from fairlead.interfaces.cli.options import app_workstream_option, query_command
from fairlead.interfaces.cli.output import OutputStream, report
from fairlead.interfaces.cli.output_file import output_options, write_output


@click.command(epilog="Example: fairlead graph --phase 3 --output waves.svg")
@click.option("--phase", default="", metavar="N", help="Show the plans of a phase in their waves.")
@click.option("--job", default="", metavar="JOB", help="Show the stages of a job.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["svg", "mermaid", "dot"]),
    default=None,
    help="Format [default: by the name of the output file, else svg].",
)
@output_options
@app_workstream_option
@query_command
def graph(
    app: App, *, phase: str, job: str, form: str | None, output: str, force: bool, as_json: bool
) -> None:
    """Draw the roadmap, the waves of a phase or a job as a graph.

    Dependencies flow from left to right. A graph with more than 300 nodes shows one node per
    phase. Graphviz is not needed.
    """
    from fairlead.report.formats import FORMATS
    from fairlead.report.service import Graphs

    if phase and job:
        raise click.UsageError("use --phase or --job, not both")
    graphs = Graphs(app)
    chosen = graphs.phase(phase) if phase else graphs.job(job) if job else graphs.roadmap()
    shown = chosen.readable()
    text = FORMATS[form or _form_of(output)](chosen)
    if output:
        write_output(app.folder, output, text, force=force)
    content = {
        "title": shown.title,
        "nodes": shown.nodes,
        "edges": [{"from": source, "to": target} for source, target in shown.edges],
        "left_out": shown.left_out,
        "output": output,
    }
    if as_json:
        report(content, (), as_json=True)
    elif output:
        line = f"{shown.title}: {len(shown.nodes)} nodes, written to {output}"
        report(content, [(line,)], as_json=False)
    else:
        OutputStream(sys.stdout).raw(text)


def _form_of(output: str) -> str:
    endings = {".svg": "svg", ".mmd": "mermaid", ".mermaid": "mermaid", ".dot": "dot", ".gv": "dot"}
    return endings.get(os.path.splitext(output)[1].lower(), "svg")
