"""`fairlead capture`: record an idea as a todo, a note or a backlog entry."""

import click

from fairlead.app import App
from fairlead.interfaces.cli.options import workstream_change_command
from fairlead.interfaces.cli.output import (
    Cells,
    OutputOptions,
    Styled,
    report,
    report_change,
    table_lines,
)
from fairlead.project.todos import new_todo
from fairlead.views.memory import capture_members, todos_view

_MODES = ("--note", "--backlog", "--list", "--done")


@click.command(epilog='Example: fairlead capture "The login page forgets the language" --area ui')
@click.argument("text", default="")
@click.option("--note", is_flag=True, help="Record a note, which is not counted as a todo.")
@click.option("--backlog", is_flag=True, help="Add an idea for a later milestone to the roadmap.")
@click.option("--list", "lists", is_flag=True, help="Show the pending todos.")
@click.option("--done", default="", metavar="NAME", help="Complete this todo.")
@click.option("--area", default="", metavar="WORD", help="Area [default: derived from the text].")
@click.option("--file", "files", multiple=True, metavar="PATH", help="Related file; repeatable.")
@click.option("--phase", default="", metavar="N", help="Phase that resolves it.")
@click.option("--again", is_flag=True, help="Add it even if a pending todo says the same.")
@workstream_change_command
def capture(
    app: App,
    output: OutputOptions,
    *,
    text: str,
    note: bool,
    backlog: bool,
    lists: bool,
    done: str,
    area: str,
    files: tuple[str, ...],
    phase: str,
    again: bool,
) -> None:
    """Record an idea as a todo, a note or a backlog entry.

    Pending todos are listed in STATE.md until they or their phase are complete.
    """
    given = zip(_MODES, (note, backlog, lists, done), strict=True)
    modes = [option for option, is_given in given if is_given]
    if len(modes) > 1 or bool(text.strip()) == bool(lists or done):
        raise click.UsageError("give a text, --list or --done")
    inbox = app.captures
    if lists:
        todos = inbox.pending()
        table: list[Cells] = [
            (Styled(todo.path.rpartition("/")[2], "bold"), todo.area, todo.title) for todo in todos
        ]
        lines = table_lines(table) if table else [("no pending todos",)]
        report(todos_view(todos), lines, as_json=output.as_json)
        return
    if done:
        entry = inbox.done(done, dry_run=output.dry_run)
        message = f"Done: {entry.title}"
    elif note:
        entry = inbox.note(text, dry_run=output.dry_run)
        message = f"Noted: {entry.path}"
    elif backlog:
        entry = inbox.backlog(text, dry_run=output.dry_run)
        message = f"Added to the backlog: {entry.path}"
    else:
        todo = new_todo(text, area=area, files=files, phase=phase)
        entry = inbox.todo(todo, again=again, dry_run=output.dry_run)
        message = f"Captured [{entry.area}] {entry.title}. All todos: fairlead capture --list"
    report_change(
        entry.outcome,
        output,
        message,
        "Nothing changed",
        **capture_members(entry),
    )
