"""Options that mean the same in every command, and the decorators that add them.

A command is decorated with `query_command` (it only shows something), `change_command` or
`workstream_change_command`; each passes the application for the folder the command was run in.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

import click

from fairlead.app import App
from fairlead.core.errors import FairleadError
from fairlead.interfaces.cli.lazy_group import ANNOUNCER
from fairlead.interfaces.cli.output import COLOR, WORKSTREAM, OutputOptions, warn, with_workstream
from fairlead.store import layout

_ABOUT_AGENTS = ("--agent=", "--reviewer=", "--model=")  # a rehearsal needs none of these
_WORKSTREAM = "--ws="  # added to every hint

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Show what would change, and change nothing."
)


def _remember_workstream(context: click.Context, _: click.Parameter, value: str) -> str:
    context.meta[WORKSTREAM] = value
    return value


# For commands that read one workstream: the name is passed to the command.
workstream_option = click.option(
    "--ws",
    "workstream",
    default="",
    metavar="NAME",
    callback=_remember_workstream,
    help="Workstream to show.",
)

# For commands on one workstream: the application is created for it.
app_workstream_option = click.option(
    "--ws",
    default="",
    metavar="NAME",
    expose_value=False,
    callback=_remember_workstream,
    help="Workstream [default: the active one].",
)


def _remember_copy(context: click.Context, _: click.Parameter, value: bool) -> None:
    context.meta[_IN_COPY] = value


_IN_COPY = "fairlead.in-copy"  # key of the click context
# For commands that show something: the application is created for the copy of the rehearsal.
in_rehearsal_option = click.option(
    "--rehearsal",
    is_flag=True,
    expose_value=False,
    callback=_remember_copy,
    help="Use the private copy of the rehearsal, not the project.",
)


def with_app(command: Callable[..., Any]) -> Callable[..., Any]:
    """Pass the application for the folder in which the command was run."""

    @click.pass_context
    @wraps(command)
    def wrapper(context: click.Context, /, *args: Any, **options: Any) -> Any:
        app = App(context.find_root().obj, context.meta.get(WORKSTREAM, ""))
        if context.meta.get(_IN_COPY):
            app = _rehearsed_app(app)
        # Set before the command runs, because errors are printed in the same colours.
        context.meta[COLOR] = app.preferences.color
        if app.preferences.problem:
            warn(f"cannot read the settings, using defaults: {app.preferences.problem}")
        try:
            return context.invoke(command, app, *args, **options)
        except FairleadError as error:  # hints are commands, so they repeat --ws as well
            with suppress(OSError, ImportError):  # a better hint must not replace the error
                error.hint = with_workstream(_with_own_command(error, context, app))
            if announcer := context.meta.get(ANNOUNCER):
                announcer.failed(error)
            raise

    return wrapper


def _with_own_command(error: FairleadError, context: click.Context, app: App) -> str:
    """The hint; where agents are missing, it names the present command.

    Where none was found, the command is rehearsed. A job that has a record goes on by its name.
    """
    rehearsal, command = (str(getattr(error, name, "")) for name in ("rehearsal", "command"))
    named = rehearsal or (command if error.code == "agent-refused" else "")
    if not named or " --job " in named:
        return error.hint
    if any(each.name == "rehearse" for each in context.command.params):
        own = _own_command(context, is_rehearsed=bool(rehearsal))
    else:
        home = layout.nearest_folder(app.folder, layout.has_project)
        own = named if home else 'fairlead new "IDEA" --rehearse'
    return error.hint.replace(named, own)


def _own_command(context: click.Context, *, is_rehearsed: bool) -> str:
    import shlex

    from fairlead.interfaces.cli.detached import command_words

    words = command_words(context)
    names, at = context.command_path.split()[1:], words.index("--")
    dropped = (*_ABOUT_AGENTS, _WORKSTREAM) if is_rehearsed else (_WORKSTREAM,)
    options = [word for word in words[len(names) : at] if not word.startswith(dropped)]
    options += ["--rehearse"] if is_rehearsed else []
    return shlex.join(["fairlead", *names, *words[at + 1 :], *options])


def _rehearsed_app(app: App) -> App:
    from fairlead.views.rehearsal import rehearsed_app

    return rehearsed_app(app)


def query_command(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --json, and pass the application."""
    return json_option(with_app(command))


def change_command(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --dry-run and --json, and pass the application and both as `OutputOptions`."""
    return dry_run_option(json_option(_with_output_options(command)))


def workstream_change_command(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same with --ws, for commands that change one workstream."""
    return dry_run_option(app_workstream_option(json_option(_with_output_options(command))))


def _with_output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    @with_app
    @wraps(command)
    def wrapper(app: App, *, dry_run: bool, as_json: bool, **options: Any) -> Any:
        return command(app, OutputOptions(dry_run, as_json), **options)

    return wrapper
