"""`fairlead doctor hosts`: where Fairlead is installed, and which hooks a host does not run yet."""

import os

import click

from fairlead.app import App
from fairlead.core.values import dataclass
from fairlead.interfaces.cli.install import plan_of
from fairlead.interfaces.cli.options import query_command
from fairlead.interfaces.cli.output import Line, Styled, report
from fairlead.interfaces.install.hosts import CLAUDE, HOSTS, SCOPES, has_scope
from fairlead.interfaces.install.trust import is_folder_trusted, untrusted_hooks

_FOLDER = "Claude Code runs no hooks in this folder before you trust it: start claude here"


@dataclass(frozen=True, slots=True)
class HostStatus:
    """One place where Fairlead can be installed."""

    host: str
    scope: str
    file: str
    is_installed: bool
    untrusted: tuple[str, ...]  # what the person has to do before the hooks run


@click.command(epilog="Example: fairlead doctor hosts")
@query_command
def hosts(app: App, *, as_json: bool) -> None:
    """Show the hosts that have Fairlead, and hooks that they do not trust yet.

    Codex runs a hook only after you have reviewed it, and Claude Code runs none in a folder that
    you have not trusted. Only you can review and trust them, inside the host.
    """
    found = host_statuses(app)
    installed = [each for each in found if each.is_installed]
    lines: list[Line] = []
    for each in installed:
        mark = Styled("! ", "yellow") if each.untrusted else Styled("✓ ", "green")
        lines.append((mark, f"{each.host:<10}{each.scope:<10}{each.file}"))
        lines += [(Styled(f"    {note}", "yellow"),) for note in each.untrusted]
    if not installed:
        lines.append(("Fairlead is not installed in a host. Next: fairlead install claude",))
    report({"hosts": found}, lines, as_json=as_json)


def host_statuses(app: App) -> tuple[HostStatus, ...]:
    """Every host and kind of settings."""
    return tuple(
        _status(app, host, scope) for host in HOSTS for scope in SCOPES if has_scope(host, scope)
    )


def _status(app: App, host: str, scope: str) -> HostStatus:
    plan = plan_of(app, host, scope)
    is_installed = os.path.lexists(plan.receipt)
    notes = untrusted_hooks(host, plan.settings) if is_installed else ()
    if is_installed and host == CLAUDE and is_folder_trusted(app.plan_home) is False:
        notes = (*notes, _FOLDER)
    return HostStatus(host, scope, plan.settings, is_installed, notes)
