"""`fairlead board`: the board in a terminal."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from fairlead.app import App
from fairlead.interfaces.cli.options import in_rehearsal_option, with_app, workstream_option
from fairlead.interfaces.cli.output import is_interactive

if TYPE_CHECKING:
    from fairlead.interfaces.board.app import TerminalBoard

_PACKAGES = ("textual", "watchfiles")


@click.command(epilog="Example: fairlead board")
@in_rehearsal_option
@workstream_option
@with_app
def board(app: App, *, workstream: str) -> None:
    """Show the project as a board in the terminal.

    Tabs: 1 Now, 2 Plans, 3 Jobs. The board updates itself when files change. The keys at the
    bottom answer questions, start, continue, end and retry jobs, veto councils and rule on their
    open items, repair drift and record ideas. Needs the extra: pip install 'fairlead[board]'.
    """
    from fairlead.interfaces.board.errors import NoBoardPackages, NoTerminal

    if not all(find_spec(name) for name in _PACKAGES):
        raise NoBoardPackages
    # It is drawn on standard error, so that one may be the terminal as well.
    if not (is_interactive() and sys.stderr.isatty()) or os.environ.get("TERM") == "dumb":
        raise NoTerminal
    new_board(app.folder, workstream).run()


def new_board(folder: str, workstream: str = "", *, follows: bool = True) -> TerminalBoard:
    """The board of a project, with the pages of the command line."""
    from fairlead.interfaces.board.app import BoardPages, TerminalBoard
    from fairlead.interfaces.cli.job_page import job_page
    from fairlead.interfaces.cli.status_page import status_page

    pages = BoardPages(
        status=lambda report, width: status_page(report, show_all=False, width=width),
        job=job_page,
    )
    return TerminalBoard(lambda: App(folder, workstream), workstream, pages, follows=follows)
