"""`fairlead quick`: a small task with one plan, one executor and one review."""

from __future__ import annotations

import click

from fairlead.app import App
from fairlead.interfaces.cli.agent_command import (
    WorkflowOptions,
    estimate_text,
    finish_workflow,
    plan_executors,
    project_app,
    workflow_command,
    workflow_run,
)
from fairlead.interfaces.cli.detached import detach_option, run_detached
from fairlead.interfaces.cli.output import Cells, Styled, report, table_lines
from fairlead.jobs.errors import UnknownJob
from fairlead.views.runs import quick_preview_view, quick_tasks_view

_ACTIONS = ("list", "status", "resume")


@click.command(epilog='Example: fairlead quick "Greet people by their name" --dry-run')
@click.argument("text")
@click.argument("name", default="")
@click.option("--approve", is_flag=True, help="Allow the verify command of the plan to run.")
@detach_option
@workflow_command
def quick(
    app: App, options: WorkflowOptions, *, text: str, name: str, approve: bool, detach: bool
) -> int:
    """Plan, execute and verify one small task outside the roadmap.

    Three calls: a planner, an executor in its own worktree, and a reviewer. The verify command
    of the plan runs before the review. `quick list` shows all tasks, `quick status NAME` shows
    one, and `quick resume NAME` resumes one that waits or was interrupted.
    """
    if name and text not in _ACTIONS:
        raise click.UsageError("put the text in quotes, or use: list, status NAME, resume NAME")
    is_shown = options.dry_run or text in ("list", "status")
    app = project_app(app, rehearse=options.rehearse, here=False, dry_run=is_shown)
    tasks = app.quick_tasks
    if text in ("list", "status"):
        all_tasks = tasks.all()
        shown = [
            task for task in all_tasks if name in ("", task.id, task.folder.rpartition("/")[2])
        ]
        if name and not shown:
            raise UnknownJob(name, tuple(task.id for task in all_tasks))
        table: list[Cells] = [
            (Styled(task.id, "bold"), "done" if task.is_done else "open", task.title)
            for task in shown
        ]
        lines = table_lines(table) if table else [("no quick tasks",)]
        report(quick_tasks_view(shown), lines, as_json=options.as_json)
        return 0
    task = tasks.find(name) if text == "resume" else tasks.new(text)
    if options.dry_run:
        estimate = tasks.estimate(task)
        content = quick_preview_view(task, estimate)
        calls = f"{estimate_text(estimate)}: a planner, an executor, a verifier"
        report(content, [(Styled(task.folder, "bold"),), (calls,)], as_json=options.as_json)
        return 0
    if detach:
        return run_detached(as_json=options.as_json, rehearsed=options.rehearse)
    with workflow_run(app, options, tasks.estimate(task)) as run:
        executors = plan_executors(run, options, is_approved=approve)
        done = tasks.carry_out(task, run.setup, executors)
    return finish_workflow(done, options, app.place, quick=task.id)
