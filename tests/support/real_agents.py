"""Real agent programs behind our adapters, in a scratch home, with a scripted model."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from fairlead.agents import registry
from fairlead.agents.cli_agent import CliAgent
from tests.support.hosts import agent_program
from tests.support.model_server import DUMMY_KEY, Call, ModelServer, Request, Turn
from tests.support.programs import ROOT, scratch_environment

MODELS = {
    "claude": "claude-sonnet-4-5",
    "codex": "mock-model",
    "gemini": "gemini-2.5-flash",
    "opencode": "mock/mock-model",
}
_NONCE = re.compile(r'"nonce": "([^"]+)"')
_NAME = re.compile(r'"task_name": "([^"]+)"')
_FILES = re.compile(r"<files>(.*?)</files>")
_PLACE = re.compile(r"/[^\s\"'`]*/worktrees/[\w.-]+")  # agents send their folder to the model


def a_real_agent(
    name: str, home: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> CliAgent:
    """An agent program behind our adapter; nothing of the user's is read."""
    program = agent_program(name)
    for key, value in surroundings_of(home, server).items():
        monkeypatch.setenv(key, value)
    return CliAgent(registry.driver_factories()[name](), program, (str(ROOT / "src"),))


def surroundings_of(home: Path, server: ModelServer, *programs: str) -> dict[str, str]:
    """The environment of a user of these programs, with a new home."""
    home.mkdir()
    _configure(home, server.url)
    home_variables = home / "bin"
    home_variables.mkdir()
    for name in programs:
        (home_variables / name).symlink_to(agent_program(name))
    scratch = scratch_environment(home.parent)
    return scratch | {
        "PATH": f"{home_variables}{os.pathsep}{scratch['PATH']}",
        "HOME": str(home),
        "ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_API_KEY": DUMMY_KEY,
        "CLAUDE_CONFIG_DIR": str(home / "claude"),
        "CLAUDE_CODE_MAX_RETRIES": "0",
        "CODEX_HOME": str(home / "codex"),
        "OPENAI_API_KEY": DUMMY_KEY,
        "GEMINI_API_KEY": DUMMY_KEY,
        "GOOGLE_GEMINI_BASE_URL": server.url,
        "OPENCODE_CONFIG": str(home / "opencode.json"),
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }


def _configure(home: Path, url: str) -> None:
    (home / "codex").mkdir()
    (home / "codex" / "config.toml").write_text(
        'model_provider = "mock"\n[model_providers.mock]\nname = "mock"\n'
        f'base_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n'
        "request_max_retries = 0\nstream_max_retries = 0\n"
    )
    (home / ".gemini").mkdir()
    chosen = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    (home / ".gemini" / "settings.json").write_text(json.dumps(chosen))
    options = {"baseURL": f"{url}/v1", "apiKey": DUMMY_KEY}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options}
    mock = {**provider, "models": {"mock-model": {}}}
    settings = {"provider": {"mock": mock}, "small_model": "mock/mock-model", "share": "disabled"}
    (home / "opencode.json").write_text(json.dumps({**settings, "autoupdate": False}))


def writing(path: Path, content: str = "hello\n") -> Callable[[Request], Turn]:
    """A model that writes one file with the tool on offer, and then reports it."""

    def turn(request: Request) -> Turn:
        if "the file is asked for" in request.conversation and not has_answer(request):
            call = write_call(request.tools, path, content)
            return Turn(calls=(call,)) if call else Turn("I cannot write here")
        return Turn("the file is written")

    return turn


def carrying_out(request: Request) -> Turn:
    """A model that does or approves the task of its prompt and answers in the requested block."""
    said = request.conversation
    if '"verdict": ' in said:
        return Turn(answer_of(said, verdict="APPROVED", confidence="high"))
    place, wanted = _PLACE.search(said), _FILES.search(said)
    if wanted and not has_answer(request):
        path = Path(place[0] if place else ".") / wanted[1].strip()
        call = write_call(request.tools, path, "made\n")
        return Turn(calls=(call,)) if call else Turn("I cannot write here")
    return Turn(answer_of(said, status="success", done_criteria_met=True, evidence="it is there"))


def running(command: str) -> Callable[[Request], Turn]:
    """A model that runs one command with the tool on offer, and then reports it."""

    def turn(request: Request) -> Turn:
        if "the file is asked for" in request.conversation and not has_answer(request):
            call = command_call(request.tools, command)
            return Turn(calls=(call,)) if call else Turn("I cannot run anything")
        return Turn("the command has ended")

    return turn


def command_call(tools: tuple[str, ...], command: str) -> Call | None:
    """A call that runs a command with the tool on offer."""
    keys = {"Bash": "command", "exec_command": "cmd", "run_shell_command": "command"}
    keys |= {"bash": "command"}
    name = next((name for name in keys if name in tools), "")
    more = {"description": "as asked"} if name == "bash" else {}
    return Call(name, {keys[name]: command, **more}) if name else None


def answer_of(prompt: str, **answer: object) -> str:
    """The fenced block that a prompt asks for."""
    nonce, name = _NONCE.search(prompt), _NAME.search(prompt)
    assert nonce
    assert name
    document = {"nonce": nonce[1], "task_name": name[1], **answer}
    return f"It is done.\n\n```json\n{json.dumps(document)}\n```\n"


def has_answer(request: Request) -> bool:
    """Whether a tool has been used already."""
    marks = ('"tool_result"', '"function_call_output"', '"functionResponse"', '"role": "tool"')
    said = json.dumps(request.body)
    return any(mark in said for mark in marks)


def write_call(tools: tuple[str, ...], path: Path, content: str) -> Call | None:
    """A call that writes a file with the tool on offer."""
    for name, key in (("Write", "file_path"), ("write_file", "file_path"), ("write", "filePath")):
        if name in tools:
            return Call(name, {key: str(path), "content": content})
    if "exec_command" in tools:
        return Call("exec_command", {"cmd": f"printf '{content}' > {path.name}"})
    return None
