"""`fairlead phase discuss` and `fairlead phase plan`: from a phase to checked plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from fairlead.interfaces.cli.options import app_workstream_option
from fairlead.interfaces.cli.output import Line, Styled

if TYPE_CHECKING:
    from fairlead.workflows.role_calls import WorkflowPreview


@click.command("discuss", epilog="Example: fairlead phase discuss 2 --auto")
@click.argument("number", metavar="N")
@click.option("--again", is_flag=True, help="Discuss it even if it has a CONTEXT.md.")
@idle_approve_option
@here_option
@detach_option
@app_workstream_option
@workflow_command
def discuss_phase(
    app: App, options: WorkflowOptions, *, number: str, again: bool, here: bool, detach: bool
) -> int:
    """Discuss a phase: assumptions, scored options, and decisions in CONTEXT.md.

    An analyser finds the open areas, an advisor compares the options of each, and you choose.
    With --auto the recommended option of each area is taken.
    """
    from fairlead.workflows.roles import role_models

    app = project_app(app, rehearse=options.rehearse, here=here, dry_run=options.dry_run)
    discussion = app.phase_discussion
    models = role_models(app.values, role_choice(app, options))
    preview = discussion.preview(number, models, again=again, is_rehearsed=options.rehearse)
    if options.dry_run:
        head = [(Styled(f"Phase {preview.phase}: {preview.name}", "bold"),)]
        members = {"phase": preview.phase, "name": preview.name, "goal": preview.goal}
        return report_preview(preview, options, head, **members)
    if detach:
        return run_detached(as_json=options.as_json, rehearsed=options.rehearse)
    with workflow_run(app, options, preview.estimate) as run:
        done = discussion.carry_out(number, run.setup)
    next_command = f"fairlead phase plan {preview.phase}"
    return finish_workflow(done, options, app.place, phase=preview.phase, next=next_command)


@click.command("plan", epilog="Example: fairlead phase plan 2 --dry-run")
@click.argument("number", metavar="N")
@click.option("--replan", is_flag=True, help="Plan again; open plans are moved aside.")
@click.option("--research/--no-research", default=None, help="Research again, or not at all.")
@click.option("--no-check", is_flag=True, help="Skip the plan checker; check only the format.")
@click.option("--critic", is_flag=True, help="Let a critic review plans that passed the checker.")
@click.option("--approve", is_flag=True, help="Allow the verify commands of the new plans to run.")
@here_option
@detach_option
@app_workstream_option
@workflow_command
def plan_phase(
    app: App,
    options: WorkflowOptions,
    *,
    number: str,
    replan: bool,
    research: bool | None,
    no_check: bool,
    critic: bool,
    approve: bool,
    here: bool,
    detach: bool,
) -> int:
    """Plan a phase: research, patterns, plans, and a checker with at most three revisions.

    Plans that fail the check are marked, and `phase execute` refuses them, unless you decide
    otherwise. With --auto a missing discussion or research is skipped, and failed plans are kept
    with the mark. Run the same command again to resume.
    """
    from fairlead.workflows.plan import PlanOptions
    from fairlead.workflows.roles import role_models

    app = project_app(app, rehearse=options.rehearse, here=here, dry_run=options.dry_run)
    plan_options = PlanOptions(
        research=app.value("workflow.research") is True and research is not False,
        is_new_research=research is True,
        patterns=app.value("workflow.pattern_mapper") is True,
        check=app.value("workflow.plan_check") is True and not no_check,
        replan=replan,
        critic=critic,
    )
    planning = app.phase_planning
    models = role_models(app.values, role_choice(app, options))
    preview = planning.preview(number, plan_options, models, is_rehearsed=options.rehearse)
    if options.dry_run:
        return _report_plan_preview(preview, options)
    if detach:
        return run_detached(as_json=options.as_json, rehearsed=options.rehearse)
    with workflow_run(app, options, preview.estimate) as run:
        done = planning.carry_out(number, plan_options, run.setup)
    if approve and done.job.status == "DONE":
        execution = app.execution.within(app.step[2])
        made = execution.preview(number, is_rehearsed=options.rehearse)
        if not made.problems:
            execution.approve(made)
    look = "--approve" if approve or options.rehearse else "--dry-run"
    next_command = f"fairlead phase execute {preview.phase} {look}"
    return finish_workflow(done, options, app.place, phase=preview.phase, next=next_command)


def _report_plan_preview(preview: WorkflowPreview, options: WorkflowOptions) -> int:
    head: list[Line] = [
        (Styled(f"Phase {preview.phase}: {preview.name}", "bold"),),
        (f"  goal          {preview.goal or 'not decided yet'}",),
        (f"  requirements  {', '.join(preview.requirements) or 'none'}",),
        (f"  documents     {', '.join(preview.artefacts) or 'none yet'}",),
    ]
    return report_preview(
        preview,
        options,
        head,
        " for one round; at most three revisions",
        phase=preview.phase,
        name=preview.name,
        goal=preview.goal,
        requirements=list(preview.requirements),
        folder=preview.folder,
        has=list(preview.artefacts),
    )
