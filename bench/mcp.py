"""Compares the start of the MCP server with that of a server of the SDK with one tool.

`python -m bench.mcp [--rounds N]` measures start, handshake, list of tools and end.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from bench.measure import Contestant, figures, take_turns
from tests.support.programs import fairlead, run, scratch_environment

OURS = "fairlead mcp: start, handshake, tools"
BARE = "a server of the MCP SDK with one tool"
GOALS = ((OURS, BARE, 1.5),)
_SERVER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("bare")
@server.tool()
def status() -> dict[str, str]:
    "Say where the project stands."
    return {}
server.run()
"""
_START = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
_MESSAGES = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _START},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)


def contestants(scratch: Path) -> list[Contestant]:
    """Both servers, with the same messages."""
    (scratch / "home").mkdir(parents=True)
    folder = scratch / "project"
    folder.mkdir()
    run(fairlead().command(folder, "init", "Sample", "--yes"))
    environment = scratch_environment(scratch)
    stdin = "".join(f"{json.dumps(message)}\n" for message in _MESSAGES).encode()
    words = {OURS: (*fairlead().words, "mcp"), BARE: (sys.executable, "-c", _SERVER)}
    return [
        Contestant(name, command, folder, environment, message=stdin)
        for name, command in words.items()
    ]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.mcp", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        timings = take_turns(contestants(Path(scratch)), rounds, lambda _: None)
    sys.stdout.write("\n".join(figures(timings, GOALS)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
