"""The installed MCP server with other programs: the official client, raw messages, the inspector."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from fairlead.interfaces.mcp.tools import TOOLS
from tests.support.mcp_calls import listing
from tests.support.programs import ROOT, scratch_environment

pytestmark = pytest.mark.walk

READ_TOOLS = [tool.name for tool in TOOLS if not tool.is_write]
ALL_TOOLS = [tool.name for tool in TOOLS]
HANDSHAKES = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
STATELESS = "2026-07-28"
SCHEMAS = Path(__file__).parent / "pages" / "mcp-tools.json"
SECONDS = 120


class Place(NamedTuple):
    """A project, the installed command, and the environment of a user."""

    folder: Path
    command: str
    environment: dict[str, str]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.command, *words],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )


@pytest.fixture
def place(installed_command: Path, tmp_path: Path) -> Place:
    folder = tmp_path / "project"
    folder.mkdir()
    made = Place(folder, str(installed_command), scratch_environment(tmp_path))
    assert made.run("init", "Harbour", "--yes").returncode == 0
    return made


class HttpServer(NamedTuple):
    """A running server: its address, its token, and what it said when it started."""

    url: str
    token: str
    said: dict[str, Any]


@pytest.fixture(params=[(), ("--allow-write",)], ids=["read", "write"])
def http_server(place: Place, request: pytest.FixtureRequest) -> Iterator[HttpServer]:
    words = [place.command, "mcp", "--http", "--port", "0", "--json", *request.param]
    with subprocess.Popen(
        words, cwd=place.folder, env=place.environment, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            lines = iter(server.stdout.readline, "")
            said = ""
            for line in lines:
                said += line
                if line == "}\n":
                    break
            start = json.loads(said)
            token = Path(start["token_file"]).read_text("ascii").strip()
            yield HttpServer(start["url"], token, start)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(SECONDS)


@cache
def inspector() -> tuple[list[str], str]:
    """The words that start the inspector; or why it cannot be had."""
    done = subprocess.run([str(ROOT / "tools" / "mcp-inspector")], capture_output=True, text=True)
    return done.stdout.split(), done.stderr.strip()


@pytest.mark.parametrize("mode", ["legacy", STATELESS])
def test_the_official_client_works_over_stdio(place: Place, mode: str) -> None:
    parameters = StdioServerParameters(
        command=place.command, args=["mcp"], cwd=place.folder, env=place.environment
    )

    async def use() -> None:
        async with Client(stdio_client(parameters), mode=mode) as client:
            tools = (await client.list_tools()).tools
            assert listing(tools) == SCHEMAS.read_text("utf-8")
            captured = await client.call_tool("capture", {"text": "Dim the lamps"})
            assert captured.structured_content["ok"] is True
            read = await client.read_resource("fairlead://document/STATE.md")
            assert "dim-the-lamps" in str(getattr(read.contents[0], "text", ""))

    anyio.run(use)


def test_a_job_that_a_client_starts_outlives_the_server(place: Place) -> None:
    parameters = StdioServerParameters(
        command=place.command, args=["mcp"], cwd=place.folder, env=place.environment
    )

    async def start() -> Any:
        async with Client(stdio_client(parameters), mode="legacy") as client:
            arguments = {"kind": "discuss", "subject": "1", "rehearse": True}
            return (await client.call_tool("start_job", arguments)).structured_content

    begun = anyio.run(start)

    assert begun["ok"], begun
    copy = place._replace(folder=Path(begun["folder"]))
    assert begun["job"] in copy.run("job", "watch", begun["job"]).stdout
    shown = json.loads(copy.run("job", "show", begun["job"], "--json").stdout)
    assert shown["is_running"] is False
    assert shown["status"] in ("DONE", "WAITING", "BLOCKED")


@pytest.mark.parametrize("mode", ["legacy", STATELESS])
def test_the_official_client_works_over_http(http_server: HttpServer, mode: str) -> None:
    may_write = len(http_server.said["tools"]) == len(ALL_TOOLS)

    async def use() -> None:
        headers = {"Authorization": f"Bearer {http_server.token}"}
        async with httpx2.AsyncClient(headers=headers) as http:
            transport = streamable_http_client(http_server.url, http_client=http)
            async with Client(transport, mode=mode) as client:
                names = [tool.name for tool in (await client.list_tools()).tools]
                assert names == (ALL_TOOLS if may_write else READ_TOOLS)
                captured = await client.call_tool("capture", {"text": "Dim the lamps"})
                assert captured.structured_content["ok"] is may_write

    anyio.run(use)


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer x"}, 401),
        ({"Host": "harbour.example"}, 421),
        ({"Origin": "http://harbour.example"}, 403),
    ],
)
def test_requests_without_token_or_from_elsewhere_are_refused(
    http_server: HttpServer, changed: dict[str, str], status: int
) -> None:
    headers = {"Authorization": f"Bearer {http_server.token}", **changed}

    answer = httpx2.post(http_server.url, json={}, headers=headers)

    assert answer.status_code == status
    assert http_server.token not in answer.text
    assert http_server.token not in json.dumps(http_server.said)


@pytest.mark.parametrize("revision", HANDSHAKES)
def test_every_handshake_revision_is_negotiated(place: Place, revision: str) -> None:
    client = {"name": "test", "version": "1"}
    start = {"protocolVersion": revision, "capabilities": {}, "clientInfo": client}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    with subprocess.Popen(
        [place.command, "mcp"],
        cwd=place.folder,
        env=place.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for message in messages:
            server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
        first, second = (json.loads(server.stdout.readline()) for _ in range(2))
        server.stdin.close()
        assert server.wait(SECONDS) == 0

    assert first["result"]["protocolVersion"] == revision
    assert [tool["name"] for tool in second["result"]["tools"]] == ALL_TOOLS


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_lists_and_calls_the_tools(place: Place, era: str) -> None:
    words, why = inspector()
    if not words:
        pytest.skip(why)
    begin = [
        *words,
        "--cli",
        "--format",
        "json",
        "--protocol-era",
        era,
        "--connect-timeout",
        "120000",
    ]
    variables = [word for pair in place.environment.items() for word in ("-e", "=".join(pair))]

    def inspected(*method: str) -> dict[str, Any]:
        done = subprocess.run(
            [*begin, "--cwd", str(place.folder), *variables, *method, place.command, "mcp"],
            env={**place.environment, "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found.get("result", found)

    listed = inspected("--strict", "--method", "tools/list")
    assert [tool["name"] for tool in listed["tools"]] == ALL_TOOLS
    called = inspected("--method", "tools/call", "--tool-name", "next")
    assert called["structuredContent"]["phase"] == "1"
    read = inspected("--method", "resources/read", "--uri", "fairlead://document/ROADMAP.md")
    assert "Phase 1" in read["contents"][0]["text"]
