"""The board on a real socket of this process, and a client that sends exactly the given bytes."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import urlencode

from fairlead.core.clock import Clock, SystemClock
from fairlead.core.serialization import plain
from fairlead.interfaces.web.access import BoardSessions
from fairlead.interfaces.web.server import Board, open_board_port, projects_of, server_of
from fairlead.jobs.folder import record_text
from tests.conftest import Fairlead
from tests.seeds.conftest import SeedProject
from tests.support.council import a_full_job

HEADER_SECONDS = 0.4
MARKUP = '<script>alert(1)</script><img src=x onerror=alert(1)>" autofocus onfocus="alert(1)'
_SHORT = "<img src=x onerror=alert(1)>"


class ServedProject(Protocol):
    """A project by its folder."""

    @property
    def folder(self) -> Path:
        """Where it is."""
        ...


class Reply(NamedTuple):
    """What the server sent; status 0: it closed the connection without an answer."""

    status: int
    headers: dict[str, str]
    text: str


class BoardArena:
    """A running board with one person's session, and what an attacker can reach."""

    def __init__(self, board: Board, sessions: BoardSessions, port: int, folder: Path) -> None:
        self.board = board
        self.sessions = sessions
        self.port = port
        self.folder = folder
        self.now = 0.0
        self.host = f"127.0.0.1:{port}"
        self.origin = f"http://{self.host}"
        self.cookie = ""

    def enter(self) -> str:
        """Open a new link as the person; the cookie of the session."""
        reply = self.get(f"/enter?code={self.sessions.new_code()}", cookie="")
        return reply.headers["set-cookie"].partition(";")[0]

    def raw(self, data: bytes, seconds: float = 20.0) -> Reply:
        """Send bytes and read the answer to its end."""
        with socket.create_connection(("127.0.0.1", self.port), seconds) as client:
            try:
                client.sendall(data)
            except OSError:
                pass  # the server may refuse before it has read everything
            return read_reply(client)

    def get(self, path: str, cookie: str | None = None, **headers: str) -> Reply:
        """A GET request; headers replace the usual ones, an empty one is left out."""
        return self.raw(self.request("GET", path, b"", cookie, **headers))

    def request(
        self, method: str, path: str, body: bytes = b"", cookie: str | None = None, **headers: str
    ) -> bytes:
        """The bytes of a request."""
        given = {
            "host": self.host,
            "cookie": self.cookie if cookie is None else cookie,
            "connection": "close",
            **({"content-length": str(len(body))} if body else {}),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        lines = [f"{method} {path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in given.items() if value]
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + body

    def secret(self) -> str:
        """The secret in the person's forms."""
        return self.sessions.form_secret(self.cookie.partition("=")[2])

    def post(self, action: str = "capture", cookie: str | None = None, **more: str) -> Reply:
        """Send a form. `header_X` sets the header X, everything else is a field."""
        headers = {
            name.removeprefix("header_"): value
            for name, value in more.items()
            if name.startswith("header_")
        }
        fields = {name: value for name, value in more.items() if not name.startswith("header_")}
        form = {"form_secret": self.secret(), "text": "planted by an attack", **fields}
        given = {"origin": self.origin, "content-type": "application/x-www-form-urlencoded"}
        body = urlencode(form).encode()
        path = f"/p/project/do/{action}"
        data = self.request("POST", path, body, cookie, **{**given, **headers})
        return self.raw(data)

    def was_changed(self) -> bool:
        """Whether an attack has written anything."""
        found = (self.folder / ".planning").rglob("*.md")
        return any("planted by an attack" in path.read_text("utf-8") for path in found)

    def is_alive(self) -> bool:
        """Whether the person is still served."""
        return self.get("/p/project").status == 200


def read_reply(client: socket.socket) -> Reply:
    """Everything until the server closes the connection."""
    data = b""
    try:
        while part := client.recv(65536):
            data += part
    except ConnectionError:
        pass
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    match = re.match(r"HTTP/1\.1 (\d+)", lines[0])
    pairs = (line.partition(":") for line in lines[1:])
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    return Reply(int(match[1]) if match else 0, headers, body.decode("utf-8", "replace"))


@contextmanager
def serving(
    project: ServedProject, header_seconds: float = HEADER_SECONDS, clock: Clock | None = None
) -> Iterator[BoardArena]:
    """Serve a project on loopback in a thread of this process."""
    listening = open_board_port(0)
    port = listening.getsockname()[1]
    tokens = (f"token-{number}-of-{port}" for number in range(100_000))
    sessions = BoardSessions(lambda: arena.now, lambda: next(tokens))
    board = Board(projects_of([str(project.folder)]), sessions, port, clock or SystemClock())
    arena = BoardArena(board, sessions, port, Path(project.folder))
    server = server_of(board, header_seconds)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        arena.cookie = arena.enter()
        yield arena
    finally:
        server.should_exit = True
        thread.join()


def hostile_project(folder: Path, fairlead: Fairlead) -> SeedProject:
    """A project with markup in every field that comes from a file or an agent."""
    home = folder / "project"
    home.mkdir()
    project = SeedProject(home, fairlead)
    project.run("init", "Demo", "--yes")
    project.plan(1, 1)
    project.plan(1, 2)
    project.summary(1, 1)
    project.run("state", "sync")
    project.run("capture", f"todo {_SHORT}")
    for words in (("add-decision", "--phase", "1", "--summary"), ("add-blocker", "--text")):
        project.run("state", *words, f"{words[0]} {_SHORT}")
    roadmap = project.path("ROADMAP.md")
    roadmap.write_text(roadmap.read_text("utf-8").replace("Foundation", f"Phase {_SHORT}"), "utf-8")
    [plan] = project.path("phases").glob("01-*/01-02-PLAN.md")
    plan.write_text(plan.read_text("utf-8").replace("Make it.", MARKUP), "utf-8")
    (plan.parent / f"01-{_SHORT.replace('/', '')}.md").write_text(MARKUP, "utf-8")
    _hostile_council(project)
    return project


def _hostile_council(project: SeedProject) -> None:
    home = project.path("jobs") / "j_20260412_0001"
    home.mkdir(parents=True)
    text = json.dumps(plain(a_full_job()))
    for word in ("Let people sign in", "the token is logged", "mask it", "one model family"):
        text = text.replace(word, f"{word} {_SHORT}")
    record = {**json.loads(text), "job_id": home.name, "blocker_reason": f"why {_SHORT}"}
    (home / "job.json").write_text(record_text(record), "utf-8")
    event = {"at": "2026-04-12", "kind": f"moved {_SHORT}", "subject": _SHORT, "text": _SHORT}
    (home / "events.jsonl").write_text(json.dumps(event) + "\n", "utf-8")
    for version in (1, 2):
        (home / f"master_plan.v{version}.md").write_text(f"# {MARKUP}\n\n{version} {MARKUP}\n")
