"""The real OpenCode and Gemini CLI with Fairlead installed, and a scripted model.

Each session checks several things, because these programs take long to start.
"""

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from fairlead.agents.model import CallLimits, EndKind
from tests.support.agents import an_order, called
from tests.support.hosts import PATIENCE_SECONDS, agent_program
from tests.support.model_server import Call, ModelServer, Request, Turn
from tests.support.plan_files import put
from tests.support.programs import ROOT
from tests.support.real_agents import MODELS, a_real_agent, command_call, surroundings_of

pytestmark = pytest.mark.walk

HOSTS = ("opencode", "gemini")
FAIRLEAD = f"{ROOT}/.venv/bin/fairlead"
FACTS = "Facts about this project"
STATUS_TOOL = {"opencode": "fairlead_status", "gemini": "mcp_fairlead_status"}
OURS = ("fairlead-status", "fairlead-planner", *STATUS_TOOL.values(), FACTS)
DONE = "FINAL: done"
OPENCODE_SETTINGS = """\
{
  "$schema": "https://opencode.ai/config.json",
  "share": "disabled" // mine
}
"""
LONG = timedelta(seconds=PATIENCE_SECONDS)
PATIENT = CallLimits(wall=LONG, first_event=LONG, idle=LONG)
MEMORY = {"opencode": "config/opencode/AGENTS.md", "gemini": ".gemini/GEMINI.md"}


@dataclass(frozen=True, slots=True)
class Host:
    """A host in its own home, with a project to work in."""

    name: str
    folder: Path
    home: Path
    environment: Mapping[str, str]

    def fairlead(self, *words: str) -> None:
        done = self._run(FAIRLEAD, *words)
        assert done.returncode == 0, done.stderr

    def says(self, prompt: str, command: str = "") -> None:
        """One session without a terminal, with a command of Fairlead or without."""
        model = MODELS[self.name]
        if self.name == "opencode":
            named = ("--command", command) if command else ()
            options = ("run", *named, "--model", model, *prompt.split())
        else:
            text = f"/{command} {prompt}" if command else prompt
            options = ("-m", model, "--yolo", "--skip-trust", "-p", text)
        done = self._run(agent_program(self.name), *options)
        assert done.returncode == 0, done.stderr + done.stdout

    def files(self) -> dict[str, bytes]:
        """What a person and we keep in the folders of the host."""
        places = (self.home / ".gemini", self.home / "config")
        found = [path for place in places for path in (place, *place.rglob("*"))]
        written = ("settings.json", "opencode.json", "opencode.jsonc", ".md", ".toml", ".js")
        return {
            path.relative_to(self.home).as_posix(): path.read_bytes()
            for path in found
            if path.is_file() and path.name.endswith(written) and "node_modules" not in path.parts
        }

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            cwd=self.folder,
            env={**self.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )


def a_host(name: str, tmp_path: Path, server: ModelServer) -> Host:
    agent_program(name)  # skips the test if it is not available
    environment = surroundings_of(tmp_path / "home", server)
    environment["PATH"] = f"{ROOT / '.venv' / 'bin'}{os.pathsep}{environment['PATH']}"
    environment.pop("FAIRLEAD_NOW", None)
    folder = tmp_path / "work"
    folder.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    host = Host(name, folder, tmp_path / "home", environment)
    # Settings as OpenCode writes them: it adds the schema where it is missing.
    put(host.home, "config/opencode/opencode.json", OPENCODE_SETTINGS)
    put(host.home, f"{MEMORY[name]}", "# Mine\n\nUse tabs.\n")
    host.fairlead("init", "Sample", "--yes")
    return host


def using(tool: str, seen: Callable[[Request], Call | None]) -> Callable[[Request], Turn]:
    """A model that makes one call as soon as a tool is on offer, and then stops."""
    asked: list[Request] = []

    def turn(request: Request) -> Turn:
        asked.append(request)
        call = seen(request)
        if call is None or tool not in request.tools or len(asked) > 1:
            return Turn(DONE)
        return Turn(calls=(call,))

    return turn


@pytest.mark.parametrize("name", HOSTS)
def test_a_session_has_the_facts_and_the_tools_and_uninstalling_restores_the_files(
    name: str, tmp_path: Path
):
    tool = STATUS_TOOL[name]
    with ModelServer(using(tool, lambda _: Call(tool, {}))) as server:
        host = a_host(name, tmp_path, server)
        before = host.files()
        host.fairlead("install", name, "--yes")
        installed = host.files()
        host.says("Where does it stand?")
        host.fairlead("uninstall", name)

    first, last = server.requests[0], server.requests[-1]
    assert json.dumps(first.body).count(FACTS) == 1  # the session text, once
    assert len([each for each in first.tools if each.startswith(tool[:-6])]) == 10
    assert "recorded_status" in last.conversation  # the answer of the tool
    assert any("fairlead" in path for path in installed)
    after = host.files()
    assert {path: after.get(path) for path in before} == before
    assert [path for path, text in after.items() if b"fairlead" in text.lower()] == []


@pytest.mark.parametrize("name", HOSTS)
def test_a_workflow_runs_inside_the_host(name: str, tmp_path: Path):
    shell = {"opencode": "bash", "gemini": "run_shell_command"}[name]
    line = f"{FAIRLEAD} capture 'A lamp' --json"
    with ModelServer(using(shell, lambda each: command_call(each.tools, line))) as server:
        host = a_host(name, tmp_path, server)
        host.fairlead("install", name, "--yes")
        host.says("A lamp", command="fairlead-capture")

    todos = [path for path in (host.folder / ".planning").rglob("*.md") if "lamp" in path.name]
    assert todos
    assert "Record an idea as a todo" in server.requests[0].conversation  # the text of the command
    assert "The text is: A lamp" in server.requests[0].conversation
    assert json.dumps(server.requests[0].body).count(FACTS) == 1


@pytest.mark.parametrize("name", HOSTS)
def test_an_agent_that_fairlead_starts_sees_nothing_of_fairlead(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with ModelServer([Turn(DONE)]) as server:
        agent = a_real_agent(name, tmp_path / "home", server, monkeypatch)
        order = an_order(tmp_path, prompt="Do it", limits=PATIENT, model=MODELS[name])
        for words in (("init", "Sample", "--yes"), ("install", name, "--yes")):
            subprocess.run([FAIRLEAD, "-C", order.folder, *words], check=True, capture_output=True)
        call = called(agent, order)

    assert call.ending.kind is EndKind.OK
    for request in server.requests:
        text = json.dumps(request.body)
        assert [word for word in OURS if word in text] == []
