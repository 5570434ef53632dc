"""`fairlead install` and `fairlead uninstall`: Fairlead inside a host agent."""

import os
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from importlib import import_module

import click

from fairlead.app import App
from fairlead.core.host_commands import is_fairlead_command
from fairlead.core.host_names import installed_name
from fairlead.interfaces.cli.options import change_command
from fairlead.interfaces.cli.output import (
    Line,
    OutputOptions,
    Styled,
    counted,
    diff_lines,
    is_interactive,
    report,
    warn,
)
from fairlead.interfaces.hooks.start import start_command
from fairlead.interfaces.install.errors import NotConfirmedHere
from fairlead.interfaces.install.host_settings import status_line_of
from fairlead.interfaces.install.hosts import (
    CLAUDE,
    CODEX,
    EVENTS,
    HOSTS,
    LOCAL,
    PROJECT,
    SCOPES,
    USER,
    HostPlan,
    StartCommands,
    has_scope,
    host_plan,
    to_type,
)
from fairlead.interfaces.install.parts import MARK
from fairlead.interfaces.install.service import HostInstaller, Installation, InstallationPlan
from fairlead.interfaces.install.trust import untrusted_hooks
from fairlead.interfaces.install.workflows import WORKFLOWS
from fairlead.interfaces.statusline import entry as statusline

_PROGRAM = "fairlead"
_TAB = "    "
_USER_LINE = "your own status line is kept; to show both, run: fairlead install claude"

_host = click.argument("host", type=click.Choice(HOSTS))
_scope = click.option(
    "--scope",
    type=click.Choice(SCOPES),
    default=USER,
    show_default=True,
    help="Settings to edit: yours, the project's shared ones, or yours for this project.",
)
_yes = click.option("--yes", is_flag=True, help="Do not ask for confirmation.")


@click.command(epilog="Example: fairlead install claude --dry-run")
@_host
@_scope
@click.option("--no-statusline", is_flag=True, help="Leave the status line out.")
@click.option("--no-mcp", is_flag=True, help="Leave the MCP server out.")
@_yes
@change_command
def install(
    app: App,
    output: OutputOptions,
    *,
    host: str,
    scope: str,
    no_statusline: bool,
    no_mcp: bool,
    yes: bool,
) -> None:
    """Install Fairlead in a host agent, such as Claude Code.

    Adds commands, subagents, hooks, the status line and the MCP server. Your own settings stay, and
    your own status line is shown before Fairlead's. In a terminal, you see the change and confirm
    it; without a terminal, --dry-run shows the change and --yes is needed to make it. `fairlead
    uninstall` restores every file byte for byte.
    """
    commands = _start_commands(host, scope, has_statusline=not no_statusline, has_server=not no_mcp)
    notes: tuple[str, ...] = ()
    if commands.status_line and _has_other_line(app, host, scope):
        commands = StartCommands(
            commands.program, commands.hooks, (), commands.shell, commands.has_server
        )
        notes = (_USER_LINE,)
    planned = _plan(app, host, scope, commands)
    installer = HostInstaller(planned.plan, app.clock, is_read_only=app.is_read_only)
    preview = installer.install(dry_run=True)
    _confirm(preview, output, yes=yes, needs_yes=True)
    done = preview if output.dry_run else installer.install()
    notes = (*notes, *planned.notes, *done.notes, *untrusted_hooks(host, done.file))
    for note in notes:
        warn(note)
    _report(done, output, notes, state="is installed", unchanged="is already installed")


@click.command(epilog="Example: fairlead uninstall claude")
@_host
@_scope
@_yes
@change_command
def uninstall(app: App, output: OutputOptions, *, host: str, scope: str, yes: bool) -> None:
    """Remove Fairlead from a host agent.

    Restores every file byte for byte. In files that were changed since the installation, only
    Fairlead's entries are removed.
    """
    plan = plan_of(app, host, scope)
    installer = HostInstaller(plan, app.clock, is_read_only=app.is_read_only)
    preview = installer.uninstall(dry_run=True)
    _confirm(preview, output, yes=yes, needs_yes=False)
    done = preview if output.dry_run else installer.uninstall()
    for note in done.notes:
        warn(note)
    _report(done, output, done.notes, state="is removed", unchanged="is not installed")


def plan_of(app: App, host: str, scope: str) -> InstallationPlan:
    """The plan of an installation with all of its parts."""
    return _plan(app, host, scope, _start_commands(host, scope)).plan


def _plan(app: App, host: str, scope: str, commands: StartCommands) -> HostPlan:
    if not has_scope(host, scope):
        raise click.UsageError(f"{host} has no {scope} settings")
    return host_plan(host, scope, app.plan_home, commands)


def _has_other_line(app: App, host: str, scope: str) -> bool:
    """Whether settings that also apply have a status line, which ours would replace."""
    others = {PROJECT: [USER], LOCAL: [USER, PROJECT]}.get(scope, []) if host == CLAUDE else []
    for other in others:
        path = plan_of(app, host, other).settings
        try:
            with open(path, encoding="utf-8") as file:
                command = status_line_of(file.read())
        except FileNotFoundError:
            continue
        if command and not is_fairlead_command(command):
            return True
    return False


def _start_commands(
    host: str, scope: str, *, has_statusline: bool = True, has_server: bool = True
) -> StartCommands:
    """The fastest commands for a user's own settings, and commands by name for shared ones.

    Codex trusts a hook by its exact text, so its commands must survive an update of Fairlead.
    """
    program = (_PROGRAM,) if scope == PROJECT else _this_program()
    # Shared hooks give way to the user's own ones, so that each event is answered once.
    source = ("--source", f"{host}-{scope}") if (host, scope) == (CLAUDE, PROJECT) else ()
    hooks = {name: (*program, "hook", name, *source) for _, name, _ in EVENTS}
    status_line = (*program, "statusline") if host == CLAUDE else ()
    if host == CLAUDE and scope != PROJECT:
        import_module("fairlead.interfaces.hooks.stop")  # compiles it: the fast start does not
        hooks["stop"] = tuple(start_command(sys.executable))
        status_line = tuple(statusline.start_command(sys.executable, []))
    found = shutil.which(_PROGRAM)
    is_on_path = found is not None and os.path.realpath(found) == os.path.realpath(program[0])
    shell = _PROGRAM if scope == PROJECT or is_on_path else " ".join(program)
    return StartCommands(program, hooks, status_line if has_statusline else (), shell, has_server)


def _this_program() -> tuple[str, ...]:
    started = os.path.abspath(sys.argv[0])
    if os.path.basename(started) == _PROGRAM and os.access(started, os.X_OK):
        return (started,)
    return (sys.executable, "-m", _PROGRAM)


def _confirm(planned: Installation, output: OutputOptions, *, yes: bool, needs_yes: bool) -> None:
    """Show the change, and ask for confirmation in a terminal."""
    if output.dry_run or not (planned.changes or planned.removed):
        return
    if yes or (not needs_yes and not is_interactive()):
        return
    if output.as_json or not is_interactive():
        raise NotConfirmedHere
    report({}, _change_lines(planned), as_json=False)
    if not click.confirm("Write this change?", default=True):
        raise click.exceptions.Exit(0)


def _change_lines(planned: Installation) -> list[Line]:
    """The differences in settings and memory, and the names of files that are ours as a whole."""
    lines: list[Line] = []
    new = [change for change in planned.changes if change.old is None and MARK in change.new]
    for change in planned.changes:
        if change not in new:
            lines += [_with_tabs(line) for line in diff_lines(change.path, change.old, change.new)]
    lines += [(Styled("new      ", "green"), change.path) for change in new]
    lines += [(Styled("removed  ", "red"), path) for path in planned.removed]
    return lines


def _file_lines(done: Installation) -> list[Line]:
    """The files of an installation; new and removed ones are counted for each folder."""
    edited = [change.path for change in done.changes if change.old is not None]
    new = [change.path for change in done.changes if change.old is None]
    lines: list[Line] = [(Styled("  changed  ", "dim"), path) for path in edited]
    for word, paths in (("new", new), ("removed", done.removed)):
        # Every skill has a folder of its own, so the folder of the host's kind counts.
        folders = Counter(_kind_folder(path) for path in paths)
        for folder, count in folders.items():
            lines.append((Styled(f"  {word:<9}", "dim"), f"{counted(count, 'file')} in {folder}"))
    return lines


def _kind_folder(path: str) -> str:
    folder, name = os.path.split(path)
    return os.path.dirname(folder) if name == "SKILL.md" else folder


def _with_tabs(line: Line) -> Line:
    """The line with tabs as blanks, because a tab itself is shown as an escape."""
    return tuple(
        part.replace("\t", _TAB)
        if isinstance(part, str)
        else Styled(part.text.replace("\t", _TAB), part.style)
        for part in line
    )


def _report(
    done: Installation, output: OutputOptions, notes: Sequence[str], *, state: str, unchanged: str
) -> None:
    is_changed = bool(done.changes or done.removed)
    content = {
        "host": done.host,
        "file": done.file,
        "notes": list(notes),
        "changed": [change.path for change in done.changes],
        "made": [change.path for change in done.changes if change.old is None],
        "removed": list(done.removed),
        "dry_run": output.dry_run,
        "to_type": to_type(done.host) if state == "is installed" else "",
    }
    lines: list[Line] = []
    if not is_changed:
        lines.append((f"Fairlead {unchanged}: {done.file}",))
    elif output.dry_run:
        lines += [("Nothing was written. This would change:",), *_change_lines(done)]
    else:
        lines.append((Styled("✓ ", "green"), f"Fairlead {state}: {done.file}"))
        lines += _file_lines(done)
    if state == "is installed" and not output.dry_run:
        lines += _chat_lines(done.host)
    report(content, lines, as_json=output.as_json)


def _chat_lines(host: str) -> list[Line]:
    """What to type in the chat."""
    mark = "$" if host == CODEX else "/"
    names = [f"{mark}{installed_name(workflow.name)}" for workflow in WORKFLOWS]
    return [
        ("",),
        ("Start a new session, and type in the chat:  ", Styled(to_type(host), "bold")),
        (Styled(f"  also: {', '.join(names[1:])}", "dim"),),
    ]
