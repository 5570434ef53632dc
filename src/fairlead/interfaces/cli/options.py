"""What the commands share: the application, and the options that mean the same everywhere."""

from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any

import click

from fairlead.faults import FairleadError
from fairlead.interfaces.cli.show import COLOR, STREAM, Manner, in_stream, warn
from fairlead.wiring import App

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Show what would change, and change nothing."
)


def _remembered(context: click.Context, _: click.Parameter, value: str) -> str:
    context.meta[STREAM] = value
    return value


workstream_option = click.option(
    "--ws",
    "workstream",
    default="",
    metavar="NAME",
    callback=_remembered,
    help="Look at this workstream.",
)

# For commands that change one memory of a project: the application is made for it.
stream_option = click.option(
    "--ws",
    default="",
    metavar="NAME",
    expose_value=False,
    callback=_remembered,
    help="The workstream that is meant [default: the active one].",
)


def with_app(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give the command its application, made for the folder it was called in."""

    @click.pass_context
    @wraps(command)
    def called(context: click.Context, /, *args: Any, **options: Any) -> Any:
        app = App(context.find_root().obj, context.meta.get(STREAM, ""))
        context.meta[COLOR] = app.preferences.color
        if app.preferences.problem:
            warn(f"the settings cannot be read, so defaults hold: {app.preferences.problem}")
        try:
            return context.invoke(command, app, *args, **options)
        except FairleadError as error:
            error.hint = in_stream(error.hint)
            raise

    return called


def shows(command: Callable[..., Any]) -> Callable[..., Any]:
    """What every command has that shows something: --json, and its application."""
    return json_option(with_app(command))


def changes(command: Callable[..., Any]) -> Callable[..., Any]:
    """What every command has that changes something: --dry-run, --json, and its application."""
    return dry_run_option(json_option(_in_manner(command)))


def stream_changes(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same for one that changes one memory of a project."""
    return dry_run_option(stream_option(json_option(_in_manner(command))))


def _in_manner(command: Callable[..., Any]) -> Callable[..., Any]:
    @with_app
    @wraps(command)
    def called(app: App, *, dry_run: bool, as_json: bool, **options: Any) -> Any:
        return command(app, Manner(dry_run, as_json), **options)

    return called


class Verbs(click.Group):
    """A group some of whose verbs stand in rooms of their own, imported when they are needed."""

    def __init__(self, *args: Any, rooms: Mapping[str, str], **options: Any) -> None:
        super().__init__(*args, **options)
        self.rooms = rooms  # a verb's name, and `module:command`

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, without importing anything."""
        return sorted((*self.commands, *self.rooms))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one verb."""
        if cmd_name not in self.rooms:
            return super().get_command(ctx, cmd_name)
        room, _, name = self.rooms[cmd_name].partition(":")
        command = getattr(import_module(room), name)
        assert isinstance(command, click.Command)
        return command
