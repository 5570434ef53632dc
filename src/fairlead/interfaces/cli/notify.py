"""`fairlead notify`: what tells you about jobs, and a test of it."""

from __future__ import annotations

import os
import shlex

import click

from fairlead.app import App
from fairlead.interfaces.cli.lazy_group import LazyGroup
from fairlead.interfaces.cli.options import change_command, query_command
from fairlead.interfaces.cli.output import Line, OutputOptions, Styled, report
from fairlead.views.jobs import notify_preview_view, notify_status_view, notify_test_view


@click.group(cls=LazyGroup)
def notify() -> None:
    """Notify you when a job waits, fails or ends.

    The channels are the desktop, the terminal bell and a webhook. All are off until you switch
    them on in your own file notify.json, which only you may read. `notify status` shows its
    path. A project cannot change these settings.
    """


@notify.command(epilog="Example: fairlead notify status")
@query_command
def status(app: App, *, as_json: bool) -> None:
    """Show which channels are on, without secrets."""
    shown = notify_status_view(app)
    desktop = shown.desktop_program or "no notify-send or osascript found"
    lines: list[Line] = [
        (Styled("file     ", "dim"), shown.file),
        (Styled("desktop  ", "dim"), f"on, {desktop}" if shown.desktop else "off"),
        (Styled("bell     ", "dim"), "on" if shown.bell else "off"),
        (Styled("webhook  ", "dim"), shown.webhook or "off"),
        (Styled("events   ", "dim"), ", ".join(shown.events)),
    ]
    if not shown.is_on:
        folder, file = (shlex.quote(path) for path in (os.path.dirname(shown.file), shown.file))
        switch = f"(umask 077; mkdir -p {folder}; echo '{{\"desktop\": true}}' > {file})"
        lines += [
            ("Notifications are off. Switch on those of the desktop, then try them:",),
            (Styled(f"  {switch}", "cyan"),),
            (Styled("  fairlead notify test", "cyan"),),
        ]
    report(shown, lines, as_json=as_json)


@notify.command(epilog="Example: fairlead notify test --dry-run")
@change_command
def test(app: App, output: OutputOptions) -> None:
    """Send a test through every channel that is on. Exit code 5: a channel failed."""
    if output.dry_run:
        preview = notify_preview_view(app)
        report(preview, [(preview["text"],)], as_json=output.as_json)
        return
    sent = notify_test_view(app)
    channels = [each.channel for each in sent["deliveries"]]
    report(sent, [(Styled("✓ ", "green"), f"sent: {', '.join(channels)}")], as_json=output.as_json)
