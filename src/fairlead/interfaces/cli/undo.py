"""`fairlead undo`: take back what a command wrote."""

import click

from fairlead.app import App
from fairlead.execution.take_back import LandedWork, TakenBack
from fairlead.interfaces.cli.options import change_command
from fairlead.interfaces.cli.output import (
    Line,
    OutputOptions,
    Styled,
    change_lines,
    counted,
    move_lines,
    report,
    table_lines,
    warn,
)
from fairlead.views.changes import taken_back_view, undo_history_view, undo_view


@click.command(epilog="Example: fairlead undo --list")
@click.argument("what", default="", metavar="[WHAT]")
@click.option("--list", "is_list", is_flag=True, help="Show what can be undone, the newest last.")
@click.option("--plan", default="", metavar="PLAN", help="Revert the merged work of a plan: 04-02.")
@click.option("--phase", default="", metavar="N", help="Revert the merged work of a phase.")
@change_command
def undo(
    app: App, output: OutputOptions, *, what: str, is_list: bool, plan: str, phase: str
) -> None:
    """Undo a command in all the documents that it changed.

    WHAT is a number from --list, or the beginning of a command such as `state add-decision`;
    without it the last command is undone. What a hook of a host wrote is undone only by its
    number. A second undo restores the change. With --plan or --phase, one new commit reverts
    what executed plans merged, and their summaries are moved away: the plans are open again.
    Exit code 4: there is nothing to undo, a document has been changed since, or a later command
    or commit changed the same files.
    """
    if is_list:
        _show_history(app, as_json=output.as_json)
        return
    if plan or phase:
        if what or (plan and phase):
            raise click.UsageError("name one thing: WHAT, --plan or --phase")
        files, clock, workstream = app.step
        landed = LandedWork(files, clock, app.workspace, app.events.sync, workstream)
        done = landed.take_back(plan=plan, phase=phase, dry_run=output.dry_run)
        _show_taken_back(done, output)
        return
    command, outcome = app.undo_files.undo(what, dry_run=output.dry_run)
    for notice in outcome.notices:
        warn(str(notice))
    content = undo_view(command, outcome, dry_run=output.dry_run)
    lines: list[Line] = []
    if output.dry_run:
        lines.append((f"Nothing was written. Undoing `{command}` would change:",))
        lines += change_lines(outcome)
    else:
        lines.append((Styled("✓ ", "green"), f"Undone: {command}. To restore it: fairlead undo"))
        lines += [(Styled(f"  {path}", "dim"),) for path in outcome.paths]
    report(content, [*lines, *move_lines(outcome)], as_json=output.as_json)


def _show_history(app: App, *, as_json: bool) -> None:
    shown = undo_history_view(app.undo_files.undo_history())
    table = [
        (
            str(entry["number"]),
            entry["at"],
            Styled(entry["origin"] if entry["origin"] != "command" else "", "dim"),
            entry["command"],
            Styled(counted(len(entry["paths"]), "file"), "dim"),
        )
        for entry in shown["entries"]
    ]
    lines = table_lines(table) if table else [("nothing can be undone",)]
    report(shown, lines, as_json=as_json)


def _show_taken_back(done: TakenBack, output: OutputOptions) -> None:
    merges = counted(len(done.merges), "merge")
    head = (
        f"Nothing was written. Undoing {done.subject} would revert {merges}:"
        if output.dry_run
        else f"Reverted {merges} of {done.subject} in commit {done.commit[:10]}"
    )
    lines: list[Line] = [(head,) if output.dry_run else (Styled("✓ ", "green"), head)]
    lines += [(Styled(f"  {path}", "dim"),) for path in done.files]
    lines += [(Styled(f"  {path} (moved away)", "dim"),) for path in done.summaries]
    report(taken_back_view(done, dry_run=output.dry_run), lines, as_json=output.as_json)
