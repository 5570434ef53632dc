"""`fairlead install` and `fairlead uninstall`: our hooks and status line in a host agent."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from fairlead.engine.hosts import (
    CLAUDE,
    CODEX,
    EVENTS,
    LOCAL,
    PLACES,
    PROJECT,
    USER,
    Installation,
    Ways,
)
from fairlead.interfaces.cli.options import changes
from fairlead.interfaces.cli.show import Manner, Part, diff_lines, report, report_change, warn
from fairlead.interfaces.hooks.start import start_command
from fairlead.interfaces.statusline import door as line
from fairlead.wiring import App

_NAME = "fairlead"

_host = click.argument("host", type=click.Choice([CLAUDE, CODEX]))
_scope = click.option(
    "--scope",
    type=click.Choice([USER, PROJECT, LOCAL]),
    default=USER,
    show_default=True,
    help="Your own settings, the project's for everybody, or yours for this project.",
)
_yes = click.option("--yes", is_flag=True, help="Ask nothing.")


@click.command(epilog="Example: fairlead install claude --dry-run")
@_host
@_scope
@click.option("--no-statusline", is_flag=True, help="Hooks only.")
@_yes
@changes
def install(
    app: App, manner: Manner, *, host: str, scope: str, no_statusline: bool, yes: bool
) -> None:
    """Put our hooks and status line into the settings of a host agent.

    Your own hooks stay, and your own status line is shown before ours. The difference is shown
    first; in a terminal you are asked. Every other byte of the file stays as it is.
    """
    _require_place(host, scope)
    ways = _ways(host, scope, with_line=not no_statusline)
    place = app.host(host, scope)
    others = (
        [] if scope == USER or host == CODEX else [USER, *([PROJECT] if scope == LOCAL else [])]
    )
    elsewhere = tuple(app.host(host, other) for other in others)
    if not _agreed(place.install(ways, others=elsewhere, dry_run=True), manner, yes):
        return
    done = place.install(ways, others=elsewhere, dry_run=manner.dry_run)
    for note in done.notes:
        warn(note)
    _show(done, manner, "is installed", "is installed already")


@click.command(epilog="Example: fairlead uninstall claude")
@_host
@_scope
@_yes
@changes
def uninstall(app: App, manner: Manner, *, host: str, scope: str, yes: bool) -> None:
    """Take our hooks and status line out again.

    The settings become what they were, byte for byte. Where somebody has changed them since,
    only what is ours is taken out.
    """
    _require_place(host, scope)
    place = app.host(host, scope)
    if not _agreed(place.uninstall(dry_run=True), manner, yes):
        return
    done = place.uninstall(dry_run=manner.dry_run)
    _show(done, manner, "is taken out", "is not installed there")


def _require_place(host: str, scope: str) -> None:
    if (host, scope) not in PLACES:
        raise click.UsageError(f"{host} has no {scope} settings")


def _ways(host: str, scope: str, *, with_line: bool) -> Ways:
    """How ours is started: in your own settings the fastest way, in shared ones by its name.

    Codex trusts a hook by its exact text, so there it is a text that no update changes.
    """
    program = (_NAME,) if scope == PROJECT else _program()
    ways = {name: (*program, "hook", name) for _, name, _ in EVENTS}
    status_line = (*program, "statusline")
    if host == CLAUDE and scope != PROJECT:
        import_module("fairlead.interfaces.hooks.stop")  # so that its bytecode is there
        ways["stop"] = tuple(start_command(sys.executable))
        status_line = tuple(line.start_command(sys.executable, []))
    return Ways(ways, status_line if with_line else ())


def _program() -> tuple[str, ...]:
    started = os.path.abspath(sys.argv[0])
    if os.path.basename(started) == _NAME and os.access(started, os.X_OK):
        return (started,)
    return (sys.executable, "-m", _NAME)


def _agreed(planned: Installation, manner: Manner, yes: bool) -> bool:
    """Show what would change, and ask where somebody is there to answer."""
    changes = planned.outcome.changes
    if manner.as_json or manner.dry_run or not changes:
        return True
    shown: list[Sequence[Part]] = []
    for change in changes:
        if planned.file.endswith(f"/{change.path}"):
            shown += diff_lines(planned.file, change.old, change.new)
    report({}, shown, as_json=False)
    asks = not yes and sys.stdin.isatty() and sys.stdout.isatty()
    return not asks or click.confirm("Write this?", default=True)


def _show(done: Installation, manner: Manner, told: str, already: str) -> None:
    report_change(
        done.outcome,
        manner,
        done=f"Fairlead {told}: {done.file}",
        unchanged=f"Fairlead {already}: {done.file}",
        host=done.host,
        file=done.file,
        notes=list(done.notes),
    )
