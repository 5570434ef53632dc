"""The server on loopback: streamable HTTP, and a token that every request needs.

The token is a file in the user's own state folder with mode 0600. It is made once, so that a
host's settings stay valid, and it is never printed.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import socket
import stat
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn

from fairlead.core.loopback import HOST, listen
from fairlead.interfaces.mcp.errors import OpenToken, PortBusy, TokenRequired
from fairlead.interfaces.mcp.server import make_server
from fairlead.interfaces.mcp.service import ProjectServer
from fairlead.views.document import error_document

PATH = "/mcp"
TOKEN_FILE = "mcp-token"  # noqa: S105  # a name

_Scope = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
_Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
_Application = Callable[[_Scope, _Receive, _Send], Awaitable[None]]


def open_port(port: int) -> socket.socket:
    """A listening socket on loopback; port 0 is any free one."""
    return listen(port, PortBusy)


def token_of(folder: str) -> tuple[str, str]:
    """The token and its file in a folder; made if it is missing."""
    path = os.path.join(folder, TOKEN_FILE)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    try:
        made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(made, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
    except FileExistsError:
        pass
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), encoding="ascii") as file:
        facts = os.fstat(file.fileno())
        if stat.S_IMODE(facts.st_mode) & 0o077 or facts.st_uid != os.getuid():
            raise OpenToken(path)
        return file.read().strip(), path


def serve_http(project: ProjectServer, listening: socket.socket, token: str) -> None:
    """Serve until the process is ended."""
    # The SDK refuses hosts and origins other than loopback: no web page reaches the server.
    application = make_server(project).streamable_http_app(streamable_http_path=PATH, host=HOST)
    config = uvicorn.Config(
        only_with_token(application, token),
        log_level="warning",
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=3,
    )
    uvicorn.Server(config).run(sockets=[listening])


def only_with_token(application: Any, token: str) -> _Application:
    """The application for requests that carry the token; all others get 401."""
    expected = f"Bearer {token}".encode()

    async def guarded(scope: _Scope, receive: _Receive, send: _Send) -> None:
        if scope["type"] == "lifespan":
            await application(scope, receive, send)
            return
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(given) == 1 and hmac.compare_digest(given[0], expected):
            await application(scope, receive, send)
            return
        headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"application/json")]
        body = json.dumps(error_document(TokenRequired())).encode()
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return guarded
