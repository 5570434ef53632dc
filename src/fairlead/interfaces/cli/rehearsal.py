"""`fairlead rehearsal`: where a rehearsal stands, and its end."""

from __future__ import annotations

import click

from fairlead.app import App
from fairlead.execution.errors import NoRehearsal
from fairlead.interfaces.cli.lazy_group import LazyGroup
from fairlead.interfaces.cli.options import dry_run_option, json_option, with_app
from fairlead.interfaces.cli.output import Line, Styled, counted, report, terminal_width
from fairlead.interfaces.cli.status_page import status_page
from fairlead.views.rehearsal import discarded_view, rehearsal_view


@click.group(cls=LazyGroup)
def rehearsal() -> None:
    """Show or discard the rehearsal of a project."""


@rehearsal.command("show", epilog="Example: fairlead rehearsal show")
@json_option
@with_app
def show_rehearsal(app: App, *, as_json: bool) -> None:
    """Show where the rehearsal stands, and the next command to type.

    A rehearsal works in a private copy of the project. Every command with --rehearse continues
    there, with the documents that the last one wrote; the project itself stays as it is.
    """
    shown = rehearsal_view(app)
    lines: list[Line] = []
    if shown.status is not None:
        lines += status_page(shown.status, show_all=False, width=terminal_width())
    elif shown.folder:
        lines += [("The rehearsal has no project yet.",), ("next  ", Styled(shown.next, "bold"))]
    if shown.folder:
        lines.append((Styled(f"rehearsal since {shown.started_at}: {shown.folder}", "dim"),))
    if shown.is_outdated:
        note = "the documents of the project have changed: the next rehearsal begins again"
        lines.append((Styled("note  ", "yellow"), note))
    if shown.here_since:
        note = f"rehearsed in the project itself since {shown.here_since}"
        lines.append((Styled("here  ", "yellow"), f"{note}; undo it: {_DISCARD}"))
    elif shown.folder:
        lines.append((Styled(f"nothing of it counts; end it: {_DISCARD}", "dim"),))
    report(shown, lines, as_json=as_json)


_DISCARD = "fairlead rehearsal discard"


@rehearsal.command("discard", epilog="Example: fairlead rehearsal discard --dry-run")
@dry_run_option
@json_option
@with_app
def discard_rehearsal(app: App, *, dry_run: bool, as_json: bool) -> None:
    """Delete the private copy, and undo what --here did in the project.

    In the project, the branch goes back to where it was, and the documents are restored. This is
    refused if other commits came on top. The documents of the rehearsal are kept outside the
    project until the next one.
    """
    done = app.rehearsals.end(app.rehearsed_project, dry_run=dry_run)
    if not done.folder and not done.is_taken_back:
        raise NoRehearsal(app.here)
    lines: list[Line] = [("Nothing was changed. This would happen:",)] if dry_run else []
    mark = "  " if dry_run else Styled("✓ ", "green")
    if done.folder:
        lines.append((mark, f"deleted the copy {done.folder}"))
    if done.is_taken_back:
        commits = f", {counted(len(done.commits), 'commit')} taken off the branch"
        lines.append((mark, f"restored the documents of the project{commits}"))
        lines.append((Styled(f"  what was there: {done.kept}", "dim"),))
    report(discarded_view(done, dry_run=dry_run), lines, as_json=as_json)
