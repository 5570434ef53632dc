"""`fairlead statusline`: one line about the project for a host agent."""

import json
import os
import sys
from importlib import import_module

import click

from fairlead.interfaces.cli.show import Screen
from fairlead.interfaces.statusline import door


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog="Example: fairlead statusline --print-command",
)
@click.option(
    "--print-command", is_flag=True, help="Print the fastest command that does the same, as JSON."
)
@click.option("--before", "place", flag_value=door.BEFORE, help="Show COMMAND's line before ours.")
@click.option("--after", "place", flag_value=door.AFTER, help="Show COMMAND's line after ours.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def statusline(
    context: click.Context, *, print_command: bool, place: str | None, command: tuple[str, ...]
) -> None:
    """Print one line about the project, from the JSON that a host agent gives on stdin.

    Reads STATE.md and config.json of the folder that the host names, and writes nothing. It
    always ends with exit code 0; when it cannot read its input, it prints nothing.

    A line that you already have is kept with --before or --after: COMMAND is started with the
    same input, without a shell, and has two seconds.
    """
    if bool(place) != bool(command):
        raise click.UsageError("COMMAND and --before or --after belong together", context)
    arguments = [place, *command] if place else []
    if print_command:
        _import_all()
        argv = door.start_command(sys.executable, arguments)
        Screen(sys.stdout).raw(json.dumps({"argv": argv}) + "\n")
        return
    door.show(arguments, os.path.abspath(context.find_root().obj))


def _import_all() -> None:
    """Import what the fast door may need, so that bytecode is there for it.

    Some installers compile nothing and leave that to the first import, and the fast door
    itself writes nothing.
    """
    for name in ("fairlead.interfaces.statusline.git", "fairlead.store.workstream"):
        import_module(name)
