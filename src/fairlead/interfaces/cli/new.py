"""`fairlead new`: an idea becomes a project, with everything that planning needs."""

from __future__ import annotations

import click

from fairlead.interfaces.cli.workflow import (
    Chosen,
    bench,
    finished,
    here_option,
    previewed,
    wanted_of,
    workflow,
)
from fairlead.wiring import App


@click.command(epilog='Example: fairlead new "A desk for tickets" --rehearse --auto')
@click.argument("idea", default="")
@click.option(
    "--granularity",
    type=click.Choice(["coarse", "standard", "fine"]),
    help="How many phases the roadmap has [default: the setting granularity].",
)
@here_option
@workflow
def new(app: App, chosen: Chosen, *, idea: str, granularity: str | None, here: bool) -> int:
    """Make a project from an idea: questions, research, requirements, roadmap.

    Four researchers look in four directions at once. You answer a few questions and agree with
    requirements and roadmap, or say what to change; with --auto the first answer of each
    question is taken and everything is agreed with. All documents are written in one step.
    Without an idea, a `new` that waits or was interrupted goes on.
    """
    from fairlead.wiring_roles import here_of, models, new_projects, rehearsal_here

    if here and not chosen.rehearse:
        raise click.UsageError("--here belongs to --rehearse")
    if chosen.rehearse and not here and not chosen.dry_run:
        app = rehearsal_here(app)
    projects = new_projects(app, granularity or "")
    named = models(app, wanted_of(app, chosen))
    preview = projects.preview(idea, named, is_rehearsed=chosen.rehearse)
    if chosen.dry_run:
        return previewed(preview, chosen, ())
    folder = here_of(app)
    with bench(app, chosen, folder, estimate=preview.estimate) as ready:
        done = projects.carry_out(idea, ready.company)
    return finished(done, chosen, folder, next="fairlead phase discuss 1")
