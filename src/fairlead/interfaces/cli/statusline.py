"""`fairlead statusline`: one line about the project for a host agent."""

import json
import os
import sys
from importlib import import_module

import click

from fairlead.interfaces.cli.output import OutputStream
from fairlead.interfaces.statusline import entry


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog="Example: fairlead statusline --print-command",
)
@click.option(
    "--print-command",
    is_flag=True,
    help="Print the fastest equivalent command as JSON, and run nothing.",
)
@click.option(
    "--before", "place", flag_value=entry.BEFORE, help="Show COMMAND's output before this line."
)
@click.option(
    "--after", "place", flag_value=entry.AFTER, help="Show COMMAND's output after this line."
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def statusline(
    context: click.Context, *, print_command: bool, place: str | None, command: tuple[str, ...]
) -> None:
    """Print one line about the project for a host agent.

    The host writes JSON to stdin. Reads STATE.md and config.json in the folder that the JSON
    names; writes nothing. The exit
    code is always 0, and nothing is printed when the input cannot be read.

    Use --before or --after to keep your own status line: COMMAND gets the same input, runs
    without a shell, and has two seconds to finish.
    """
    if bool(place) != bool(command):
        raise click.UsageError(
            "--before and --after need COMMAND, and COMMAND needs one of them", context
        )
    arguments = [place, *command] if place else []
    if print_command:
        # The fast start writes no bytecode, so compile the modules that it may import.
        for name in ("fairlead.interfaces.statusline.git", "fairlead.store.workstream"):
            import_module(name)
        argv = entry.start_command(sys.executable, arguments)
        OutputStream(sys.stdout).raw(json.dumps({"argv": argv}) + "\n")
        return
    entry.print_line(arguments, os.path.abspath(context.find_root().obj))
