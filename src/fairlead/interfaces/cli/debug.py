"""`fairlead debug`: search for the cause of a fault in rounds, and fix it."""

from __future__ import annotations

import click

from fairlead.app import App
from fairlead.interfaces.cli.agent_command import (
    WorkflowOptions,
    finish_workflow,
    plan_executors,
    project_app,
    workflow_command,
    workflow_run,
)
from fairlead.interfaces.cli.output import Cells, Styled, is_interactive, report, table_lines
from fairlead.views.runs import debug_preview_view, debug_sessions_view

_ROUNDS = 4
_ACTIONS = ("list", "status", "continue")
_SYMPTOM_QUESTIONS = {
    "expected": "What should happen",
    "errors": "Which error messages appear",
    "reproduction": "How to reproduce it",
    "started": "When it started",
}


@click.command(epilog='Example: fairlead debug "The second login fails" --diagnose')
@click.argument("text")
@click.argument("name", default="")
@click.option("--diagnose", is_flag=True, help="Find the cause, and fix nothing.")
@click.option("--approve", is_flag=True, help="Allow the command that proves the fix to run.")
@workflow_command
def debug(
    app: App, options: WorkflowOptions, *, text: str, name: str, diagnose: bool, approve: bool
) -> int:
    """Find the cause of a fault: hypothesis, test, fix.

    The session is stored in .planning/debug. It stops after at most four rounds; `debug continue
    NAME` adds more. `debug list` shows all sessions, `debug status NAME` shows one. The fix is
    reviewed and merged like any other work.
    """
    from fairlead.workflows.debug import DebugSearch

    if name and text not in _ACTIONS:
        raise click.UsageError("put the text in quotes, or use: list, status NAME, continue NAME")
    is_shown = options.dry_run or text in ("list", "status")
    app = project_app(app, rehearse=options.rehearse, here=False, dry_run=is_shown)
    sessions = app.debugging
    if text in ("list", "status"):
        shown = [sessions.one(name)] if name else list(sessions.all())
        table: list[Cells] = [
            (
                Styled(session.slug, "bold"),
                session.status,
                session.root_cause or session.next_action,
            )
            for session in shown
        ]
        lines = table_lines(table) if table else [("no debug sessions",)]
        report(debug_sessions_view(shown), lines, as_json=options.as_json)
        return 0
    if text == "continue":
        session = sessions.one(name)
        search = DebugSearch(session.slug, session.trigger, None, diagnose, goes_on=True)
    else:
        search = sessions.new(text, _symptoms(options), is_diagnosis=diagnose)
    if options.dry_run:
        content = debug_preview_view(search, _ROUNDS)
        others = "" if diagnose else ", an executor, a reviewer"
        calls = f"at most {_ROUNDS} rounds of a debugger{others}"
        report(content, [(Styled(search.path, "bold"),), (calls,)], as_json=options.as_json)
        return 0
    with workflow_run(app, options, sessions.estimate(search)) as run:
        executors = plan_executors(run, options, is_approved=approve)
        done = sessions.carry_out(search, run.setup, executors)
    return finish_workflow(done, options, app.place, session=search.name)


def _symptoms(options: WorkflowOptions) -> dict[str, str]:
    """Ask for the symptoms in a terminal; empty answers are left out."""
    if options.auto or options.as_json or options.dry_run or not is_interactive():
        return {}
    answers = {
        key: str(click.prompt(question, default="", show_default=False)).strip()
        for key, question in _SYMPTOM_QUESTIONS.items()
    }
    return {key: answer for key, answer in answers.items() if answer}
