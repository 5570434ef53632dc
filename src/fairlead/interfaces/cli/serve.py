"""`fairlead serve`: the board in a browser."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from zlib import crc32

import click

from fairlead.app import App
from fairlead.interfaces.cli.options import json_option, with_app
from fairlead.interfaces.cli.output import Line, Styled, is_interactive, report

_PACKAGES = ("starlette", "uvicorn", "sse_starlette", "watchfiles", "jinja2")
_FIRST_PORT, _PORTS = 8200, 700  # a stable port for each project


@click.command(epilog="Example: fairlead serve --no-open")
@click.argument(
    "folders", nargs=-1, metavar="[DIR]...", type=click.Path(exists=True, file_okay=False)
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=None,
    help="Port [default: the same one for this project each time]; 0 takes a free one.",
)
@click.option("--open/--no-open", "opens", default=True, help="Open the board in a browser.")
@json_option
@with_app
def serve(
    app: App, *, folders: tuple[str, ...], port: int | None, opens: bool, as_json: bool
) -> None:
    """Show one or more projects as a board in the browser.

    The board is served on 127.0.0.1 only. Its link works once, for a minute; press Enter in the
    terminal for another one. Needs the extra: pip install 'fairlead[web]'.
    """
    from fairlead.interfaces.web.errors import NoWebPackages

    if not all(find_spec(name) for name in _PACKAGES):
        raise NoWebPackages
    from fairlead.core.loopback import HOST
    from fairlead.interfaces.web.server import (
        Board,
        new_sessions,
        open_board_port,
        projects_of,
        serve,
    )

    projects = projects_of(folders or (app.folder,))
    listening = open_board_port(stable_port(projects[0].folder) if port is None else port)
    number = listening.getsockname()[1]
    sessions = new_sessions()

    def link() -> str:
        return f"http://{HOST}:{number}/enter?code={sessions.new_code()}"

    def show_link() -> None:
        sys.stdin.readline()
        report({}, [(f"  {link()}",)], as_json=False)

    url = link()
    lines: list[Line] = [
        (Styled("✓ ", "green"), f"serving {', '.join(each.title for each in projects)}"),
        (f"  {url}",),
        (Styled("  The link works once, for a minute. Enter: another link. Ctrl-C: stop.", "dim"),),
    ]
    content = {"url": url, "port": number, "projects": [each.folder for each in projects]}
    report(content, lines, as_json=as_json)
    page = _open_in_browser(url, app.state.folder) if opens and is_interactive() else ""
    try:
        entered = show_link if is_interactive() else None
        serve(Board(projects, sessions, number, app.clock, entered), listening)
    finally:
        if page:
            with suppress(OSError):
                os.unlink(page)


def stable_port(folder: str) -> int:
    """The port of a project: the same one each time."""
    return _FIRST_PORT + crc32(os.fsencode(folder)) % _PORTS


def _open_in_browser(url: str, folder: str) -> str:
    """Open a link through a page that only this user can read, so that no argv contains it."""
    import webbrowser

    os.makedirs(folder, mode=0o700, exist_ok=True)
    fd, page = tempfile.mkstemp(dir=folder, prefix="board-", suffix=".html")
    with open(fd, "w", encoding="ascii") as file:
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={url}">\n')
    sys.stdout.flush()
    webbrowser.open(f"file://{page}")
    return page
