"""`fairlead capture`: an idea becomes a todo, a note or a backlog entry."""

import click

from fairlead.interfaces.cli.options import stream_changes
from fairlead.interfaces.cli.show import Cells, Manner, Styled, report, report_change, rows
from fairlead.records.todo import new_todo
from fairlead.wiring import App
from fairlead.wiring_daily import captures

_KINDS = ("--note", "--backlog", "--list", "--done")


@click.command(epilog='Example: fairlead capture "The login page forgets the language" --area ui')
@click.argument("text", default="")
@click.option("--note", is_flag=True, help="Only a note: nobody counts it.")
@click.option("--backlog", is_flag=True, help="An idea for a later milestone, in the roadmap.")
@click.option("--list", "lists", is_flag=True, help="Show the pending todos.")
@click.option("--done", default="", metavar="NAME", help="This todo is done.")
@click.option("--area", default="", metavar="WORD", help="The area [default: from the words].")
@click.option("--file", "files", multiple=True, metavar="PATH", help="A file; may be repeated.")
@click.option("--phase", default="", metavar="N", help="The phase that resolves it.")
@click.option("--again", is_flag=True, help="Also when a pending todo says the same.")
@stream_changes
def capture(
    app: App,
    manner: Manner,
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
    """Keep an idea: as a todo, with --note as a note, with --backlog for a later milestone.

    The todos that wait are listed in STATE.md and go when they are done or their phase is.
    """
    chosen = [
        name for name, is_on in zip(_KINDS, (note, backlog, lists, done), strict=True) if is_on
    ]
    if len(chosen) > 1 or bool(text.strip()) == bool(lists or done):
        raise click.UsageError(f"give a text, or one of {', '.join(_KINDS[2:])}")
    here = captures(app)
    if lists:
        found = here.pending()
        table: list[Cells] = [
            (Styled(each.path.rpartition("/")[2], "bold"), each.area, each.title) for each in found
        ]
        shown = rows(table) if table else [("no pending todos",)]
        report({"todos": list(found)}, shown, as_json=manner.as_json)
        return
    if done:
        kept = here.done(done, dry_run=manner.dry_run)
        told = f"Done: {kept.title}"
    elif note:
        kept = here.note(text, dry_run=manner.dry_run)
        told = f"Noted: {kept.path}"
    elif backlog:
        kept = here.backlog(text, dry_run=manner.dry_run)
        told = f"In the backlog: {kept.path}"
    else:
        todo = new_todo(text, area=area, files=files, phase=phase)
        kept = here.todo(todo, again=again, dry_run=manner.dry_run)
        told = f"Captured [{kept.area}] {kept.title}. All of them: fairlead capture --list"
    report_change(
        kept.outcome,
        manner,
        told,
        "Nothing changed",
        path=kept.path,
        title=kept.title,
        area=kept.area,
    )
