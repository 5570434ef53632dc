"""A web server on loopback that remembers what it got."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class WebhookServer:
    """A running server; `status` and `location` are its answer to everything."""

    url: str = ""
    status: int = 200
    location: str = ""
    hold: threading.Event = field(default_factory=threading.Event)  # set: it answers
    received: list[Received] = field(default_factory=list)


@contextmanager
def webhook_server(*, is_silent: bool = False) -> Iterator[WebhookServer]:
    """Serve until the block ends. A silent server takes a request and never answers."""
    state = WebhookServer()
    if not is_silent:
        state.hold.set()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state.received.append(Received(self.path, dict(self.headers), body))
            state.hold.wait(30)
            self.send_response(state.status)
            if state.location:
                self.send_header("Location", state.location)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        state.url = f"http://127.0.0.1:{server.server_address[1]}/hook?a=1"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield state
        finally:
            state.hold.set()
            server.shutdown()
            thread.join()
