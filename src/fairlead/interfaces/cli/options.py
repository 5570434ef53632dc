"""What the commands share: the application, and the options that mean the same everywhere."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from fairlead.interfaces.cli.show import COLOR, warn
from fairlead.wiring import App

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Show what would change, and change nothing."
)

workstream_option = click.option(
    "--ws", "workstream", default="", metavar="NAME", help="Look at this workstream."
)


def with_app(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give the command its application, made for the folder it was called in."""

    @click.pass_context
    @wraps(command)
    def called(context: click.Context, /, *args: Any, **options: Any) -> Any:
        app = App(context.find_root().obj)
        context.meta[COLOR] = app.preferences.color
        if app.preferences.problem:
            warn(f"the settings cannot be read, so defaults hold: {app.preferences.problem}")
        return context.invoke(command, app, *args, **options)

    return called
