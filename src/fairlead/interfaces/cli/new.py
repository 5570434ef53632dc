"""`fairlead new`: create a project from an idea, with everything that planning needs."""

from __future__ import annotations

import click

from fairlead.app import App
from fairlead.interfaces.cli.agent_command import (
    WorkflowOptions,
    finish_workflow,
    here_option,
    idle_approve_option,
    project_app,
    report_preview,
    role_choice,
    workflow_command,
    workflow_run,
)
from fairlead.interfaces.cli.detached import detach_option, run_detached


@click.command(epilog='Example: fairlead new "A tracker for tickets" --rehearse --auto')
@click.argument("idea", default="")
@click.option(
    "--granularity",
    type=click.Choice(["coarse", "standard", "fine"]),
    help="Number of phases in the roadmap [default: the setting granularity].",
)
@idle_approve_option
@here_option
@detach_option
@workflow_command
def new(
    app: App,
    options: WorkflowOptions,
    *,
    idea: str,
    granularity: str | None,
    here: bool,
    detach: bool,
) -> int:
    """Create a project from an idea, with questions and research.

    The result is requirements and a roadmap. Four researchers work at the same time. You answer a
    few questions, and accept or change requirements and roadmap. With --auto the first answer of
    each question is taken and everything is accepted. All documents are written in one step.
    Without IDEA, a run that waits or was interrupted is resumed.
    """
    from fairlead.workflows.roles import role_models

    app = project_app(
        app, rehearse=options.rehearse, here=here, dry_run=options.dry_run, folder=app.here
    )
    projects = app.new_projects(granularity or "")
    models = role_models(app.values, role_choice(app, options))
    preview = projects.preview(idea, models, is_rehearsed=options.rehearse)
    if options.dry_run:
        return report_preview(preview, options, ())
    if detach:
        return run_detached(as_json=options.as_json, rehearsed=options.rehearse)
    folder = app.here
    with workflow_run(app, options, preview.estimate, folder) as run:
        done = projects.carry_out(idea, run.setup)
    return finish_workflow(done, options, folder, next="fairlead phase discuss 1")
