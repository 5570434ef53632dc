"""`fairlead mcp`: serve the project to a host agent through the Model Context Protocol."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from fairlead.app import App
from fairlead.interfaces.cli.options import json_option, with_app
from fairlead.interfaces.cli.output import (
    Cells,
    Line,
    Styled,
    report,
    show_traceback,
    table_lines,
    warn,
)

if TYPE_CHECKING:
    from fairlead.interfaces.mcp.service import ProjectServer

_PORT = 8137
_HOST_FOLDER = "CLAUDE_PROJECT_DIR"  # set by a host that starts the server elsewhere


@click.command(epilog="Example: fairlead mcp --http --port 0")
@click.option("--http", is_flag=True, help="Serve on loopback, not on standard input and output.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=_PORT,
    show_default=True,
    help="Port for --http; 0 takes a free one.",
)
@click.option("--allow-write", is_flag=True, help="With --http: offer the tools that write, too.")
@click.option("--list", "lists", is_flag=True, help="Show tools, resources and prompts, and exit.")
@json_option
@with_app
def mcp(app: App, *, http: bool, port: int, allow_write: bool, lists: bool, as_json: bool) -> None:
    """Serve the project to host agents through MCP.

    Claude Code, Codex and other hosts start this command themselves and talk to it on standard
    input and output. With --http it serves on 127.0.0.1, and every request needs the token in the
    file that is shown. No tool can approve, accept, veto or rule; a person does that. Needs the
    extra: pip install 'fairlead[mcp]'.
    """
    from fairlead.interfaces.mcp.service import ProjectServer
    from fairlead.jobs.detached import start_detached

    if allow_write and not http:
        raise click.UsageError("--allow-write needs --http; on standard input, tools may write")
    has_writes = allow_write or not http
    project = ProjectServer(
        _folder(app), has_writes=has_writes, log=show_traceback, start=start_detached
    )
    if lists:
        _report_surface(project, as_json=as_json)
    elif http:
        _serve_http(app, project, port, as_json=as_json)
    else:
        _require_packages()
        from fairlead.interfaces.mcp.server import serve_stdio

        if sys.stdin.isatty():
            warn(
                "this waits for a host, which starts it after: fairlead install HOST. Ctrl+C: stop"
            )
        serve_stdio(project)


def _folder(app: App) -> str:
    """The folder given with -C, else the one that the host names, else the present one."""
    named = os.environ.get(_HOST_FOLDER, "")
    is_named = app.folder == os.curdir and os.path.isabs(named) and os.path.isdir(named)
    return named if is_named else app.folder


def _serve_http(app: App, project: ProjectServer, port: int, *, as_json: bool) -> None:
    _require_packages()
    from fairlead.core.loopback import HOST
    from fairlead.interfaces.mcp.http import PATH, open_port, serve_http, token_of

    token, path = token_of(app.state.folder)
    listening = open_port(port)
    url = f"http://{HOST}:{listening.getsockname()[1]}{PATH}"
    tools = [tool.name for tool in project.tools]
    lines: list[Line] = [
        (Styled("✓ ", "green"), f"serving {url}"),
        (f"  header   Authorization: Bearer TOKEN, from {path}",),
        (f"  tools    {', '.join(tools)}",),
    ]
    report({"url": url, "token_file": path, "tools": tools}, lines, as_json=as_json)
    serve_http(project, listening, token)


def _require_packages() -> None:
    from fairlead.interfaces.mcp.errors import NoMcpPackage

    if find_spec("mcp") is None:
        raise NoMcpPackage("mcp")


def _report_surface(project: ProjectServer, *, as_json: bool) -> None:
    from fairlead.interfaces.mcp.prompts import PROMPTS
    from fairlead.interfaces.mcp.resources import TEMPLATES

    content = {
        "tools": [
            {
                "name": tool.name,
                "description": tool.description,
                "writes": tool.is_write,
                "input_schema": tool.input_schema,
            }
            for tool in project.tools
        ],
        "resources": [uri for uri, _, _, _ in TEMPLATES],
        "prompts": [{"name": each.name, "description": each.description} for each in PROMPTS],
    }
    table: list[Cells] = [
        (Styled(tool.name, "bold"), "writes" if tool.is_write else "reads", tool.description)
        for tool in project.tools
    ]
    lines = table_lines(table)
    lines += [(Styled("resource  ", "dim"), uri) for uri, _, _, _ in TEMPLATES]
    lines += [(Styled("prompt    ", "dim"), f"{each.name}: {each.description}") for each in PROMPTS]
    report(content, lines, as_json=as_json)
