"""`fairlead help` and `fairlead version`."""

import platform
from importlib.metadata import version as version_of

import click

from fairlead.interfaces.cli.lazy_group import unknown_command
from fairlead.interfaces.cli.options import json_option
from fairlead.interfaces.cli.output import report


@click.command("help", epilog="Example: fairlead help phase execute")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@json_option
@click.pass_context
def help_command(context: click.Context, *, words: tuple[str, ...], as_json: bool) -> None:
    """Show the help of a command, or of Fairlead itself."""
    inner = context.find_root()
    for index, word in enumerate(words):
        group = inner.command
        if not isinstance(group, click.Group):
            above = " ".join(words[:index])
            raise click.UsageError(f"{above} has no commands of its own", inner)
        command = group.get_command(inner, word)
        if command is None:
            raise unknown_command(inner, words[index:])
        inner = click.Context(command, parent=inner, info_name=word, **command.context_settings)
    command = inner.command
    commands = command.list_commands(inner) if isinstance(command, click.Group) else []
    content = {"command": inner.command_path, "commands": commands, "help": command.get_help(inner)}
    report(content, [(line,) for line in command.get_help(inner).splitlines()], as_json=as_json)


@click.command(epilog="Example: fairlead version --json")
@json_option
def version(*, as_json: bool) -> None:
    """Show the version of Fairlead. With --json, also show that of Python."""
    own, python = version_of("fairlead"), platform.python_version()
    content = {"program": "fairlead", "program_version": own, "python": python}
    report(content, [(f"fairlead {own}",)], as_json=as_json)
