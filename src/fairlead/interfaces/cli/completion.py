"""`fairlead completion`: the completion script for a shell."""

import sys

import click
from click.shell_completion import get_completion_class

from fairlead.interfaces.cli.output import OutputStream


@click.command(
    epilog="Example: fairlead completion bash > ~/.local/share/bash-completion/completions/fairlead"
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, *, shell: str) -> None:
    """Print the completion script for a shell."""
    root = context.find_root().command
    script_class = get_completion_class(shell)
    assert script_class is not None
    script = script_class(root, {}, "fairlead", "_FAIRLEAD_COMPLETE")
    OutputStream(sys.stdout).raw(script.source() + "\n")
