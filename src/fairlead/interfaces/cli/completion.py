"""`fairlead completion`: the script that teaches a shell our commands."""

import sys

import click
from click.shell_completion import get_completion_class

from fairlead.interfaces.cli.show import Screen


@click.command(
    epilog="Example: fairlead completion bash > ~/.local/share/bash-completion/completions/fairlead"
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, *, shell: str) -> None:
    """Print the completion script for a shell."""
    root = context.find_root().command
    script = get_completion_class(shell)
    assert script is not None
    Screen(sys.stdout).raw(script(root, {}, "fairlead", "_FAIRLEAD_COMPLETE").source() + "\n")
