"""Which files each host reads, and what Fairlead adds to them.

One function per host returns the plan of an installation. Paths follow the documentation of the
hosts; the tests with the real programs check that they are read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec

from fairlead.core.host_names import CLAUDE_MEMORY, PRODUCT, installed_name
from fairlead.core.user_folders import CLAUDE_LOCAL_SETTINGS, CLAUDE_SETTINGS, host_folder
from fairlead.core.values import dataclass
from fairlead.interfaces.install import render
from fairlead.interfaces.install.blocks import markdown_block, toml_block
from fairlead.interfaces.install.host_settings import HookEntry, SettingsEntries
from fairlead.interfaces.install.parts import (
    MARK,
    BlockPart,
    ServerPart,
    SettingsPart,
    WholePart,
)
from fairlead.interfaces.install.receipt import RECEIPT
from fairlead.interfaces.install.service import HostFile, InstallationPlan
from fairlead.interfaces.install.subagents import subagents
from fairlead.interfaces.install.workflows import MEMORY, WORKFLOWS
from fairlead.store.layout import DOCUMENT_LIMIT
from fairlead.text.json_edit import Json

CLAUDE, CODEX, OPENCODE, GEMINI = HOSTS = ("claude", "codex", "opencode", "gemini")
USER, PROJECT, LOCAL = SCOPES = ("user", "project", "local")

# Event of Claude Code and Codex, hook that answers it, time limit in seconds.
EVENTS = (
    ("Stop", "stop", 10),
    ("SessionStart", "session-start", 20),
    ("PreCompact", "pre-compact", 20),
    ("SessionEnd", "session-end", 5),  # without a limit Claude Code allows 1.5 seconds
)
# The names of the same events in Gemini CLI, whose limits are in milliseconds. In `gemini -p` the
# text of its own SessionStart goes before the prompt, so that `/fairlead-…` is no command any more.
_GEMINI_EVENTS = {
    "Stop": "AfterAgent",
    "SessionStart": "BeforeAgent",
    "PreCompact": "PreCompress",
}


@dataclass(frozen=True, slots=True)
class StartCommands:
    """The argument lists that start Fairlead."""

    program: tuple[str, ...]
    hooks: Mapping[str, tuple[str, ...]]
    status_line: tuple[str, ...] = ()  # empty: none
    shell: str = PRODUCT  # the command in texts for the agent
    has_server: bool = True  # register the MCP server


@dataclass(frozen=True, slots=True)
class HostPlan:
    """The plan of an installation, with notes for the user."""

    plan: InstallationPlan
    notes: tuple[str, ...] = ()


def host_plan(host: str, scope: str, project: str, commands: StartCommands) -> HostPlan:
    """The plan for a host; `project` is the folder of the project."""
    planned = _PLANNERS[host](scope, project, commands)
    notes = []
    if commands.has_server and find_spec("mcp") is None:
        notes.append("the MCP tools need an extra: install fairlead[mcp]")
    files: list[HostFile] = []
    for file in planned.files:
        if _is_too_large(file.path):
            notes.append(f"{file.path} is too large to be edited, so it was left unchanged")
        else:
            files.append(file)
    plan = InstallationPlan(
        host,
        planned.home,
        planned.settings,
        planned.settings + RECEIPT,
        tuple(files),
        scope == USER,
    )
    return HostPlan(plan, tuple(notes))


def has_scope(host: str, scope: str) -> bool:
    """Whether a host has settings of this kind."""
    return scope != LOCAL or host == CLAUDE


def to_type(host: str) -> str:
    """What a person types in the chat of a host to begin."""
    name = installed_name("status")
    return {CODEX: f"${name}"}.get(host, f"/{name}")


@dataclass(frozen=True, slots=True)
class _Files:
    home: str
    settings: str
    files: tuple[HostFile, ...]


def _claude(scope: str, project: str, commands: StartCommands) -> _Files:
    folder = host_folder(CLAUDE) if scope == USER else os.path.join(project, ".claude")
    name = CLAUDE_LOCAL_SETTINGS if scope == LOCAL else CLAUDE_SETTINGS
    settings = os.path.join(folder, name)
    entries = SettingsEntries(
        _hooks(commands), has_arguments=True, status_line=commands.status_line
    )
    files = [HostFile(settings, SettingsPart(entries))]
    if scope != LOCAL:
        for workflow in WORKFLOWS:
            skill = installed_name(workflow.name)
            text = render.claude_skill(workflow, skill, commands.shell)
            files.append(_whole(folder, "skills", skill, "SKILL.md", content=text))
        for agent in subagents():
            agent_name = installed_name(agent.name)
            text = render.claude_agent(agent, agent_name)
            files.append(_whole(folder, "agents", f"{agent_name}.md", content=text))
        files += _claude_memory(scope, folder, project)
        if commands.has_server:
            place = _claude_servers(folder) if scope == USER else os.path.join(project, ".mcp.json")
            server: Json = {"type": "stdio", **_server(commands)}
            part = SettingsPart(SettingsEntries(server=("mcpServers", server)))
            files.append(HostFile(place, part))
    return _Files(folder if scope == USER else project, settings, tuple(files))


def _claude_memory(scope: str, folder: str, project: str) -> Iterator[HostFile]:
    """The block in CLAUDE.md.

    The user's own one imports a file, which agents that Fairlead starts can be spared; those do
    not read the project's CLAUDE.md at all.
    """
    if scope == PROJECT:
        yield _block(os.path.join(project, "CLAUDE.md"), MEMORY)
        return
    yield _block(os.path.join(folder, "CLAUDE.md"), (f"@{CLAUDE_MEMORY}",))
    text = "\n".join((f"<!-- {MARK}; do not edit. -->", "", *MEMORY)) + "\n"
    yield _whole(folder, CLAUDE_MEMORY, content=text)


def _claude_servers(folder: str) -> str:
    """The file in which Claude Code keeps the user's MCP servers."""
    if os.environ.get("CLAUDE_CONFIG_DIR"):
        return os.path.join(folder, ".claude.json")
    return os.path.join(os.path.dirname(folder), ".claude.json")


def _codex(scope: str, project: str, commands: StartCommands) -> _Files:
    folder = host_folder(CODEX) if scope == USER else os.path.join(project, ".codex")
    settings = os.path.join(folder, "hooks.json")
    files = [HostFile(settings, SettingsPart(SettingsEntries(_hooks(commands))))]
    skills = folder if scope == USER else os.path.join(project, ".agents")
    for workflow in WORKFLOWS:
        skill = installed_name(workflow.name)
        text = render.codex_skill(workflow, skill, commands.shell)
        files.append(_whole(skills, "skills", skill, "SKILL.md", content=text))
    for agent in subagents():
        name = installed_name(agent.name)
        text = render.codex_agent(agent, name)
        files.append(_whole(folder, "agents", f"{name}.toml", content=text))
    files.append(_block(os.path.join(folder if scope == USER else project, "AGENTS.md"), MEMORY))
    if commands.has_server:
        config = os.path.join(folder, "config.toml")
        files.append(HostFile(config, ServerPart(toml_block(codex_server(commands.program)))))
    return _Files(folder if scope == USER else project, settings, tuple(files))


def codex_server(program: tuple[str, ...]) -> tuple[str, ...]:
    """The table of our MCP server in the settings of Codex."""
    command, *words = (*program, "mcp")
    arguments = ", ".join(_toml_string(word) for word in words)
    return (
        f"[mcp_servers.{PRODUCT}]",
        f"command = {_toml_string(command)}",
        f"args = [{arguments}]",
    )


def _opencode(scope: str, project: str, commands: StartCommands) -> _Files:
    folder = host_folder(OPENCODE) if scope == USER else os.path.join(project, ".opencode")
    top = folder if scope == USER else project
    names = [os.path.join(top, name) for name in ("opencode.jsonc", "opencode.json")]
    settings = next((name for name in names if os.path.lexists(name)), names[-1])
    files = []
    if commands.has_server:
        words: list[Json] = [*commands.program, "mcp"]
        server: Json = {"type": "local", "command": words, "enabled": True}
        entries = SettingsEntries(server=("mcp", server), allows_comments=True)
        files.append(HostFile(settings, SettingsPart(entries)))
    for workflow in WORKFLOWS:
        text = render.opencode_command(workflow, commands.shell)
        name = f"{installed_name(workflow.name)}.md"
        files.append(_whole(folder, "commands", name, content=text))
    for agent in subagents():
        text = render.opencode_agent(agent)
        files.append(_whole(folder, "agents", f"{installed_name(agent.name)}.md", content=text))
    plugin = render.opencode_plugin(commands.program)
    files.append(_whole(folder, "plugins", f"{PRODUCT}.js", content=plugin))
    files.append(_block(os.path.join(top, "AGENTS.md"), MEMORY))
    return _Files(top, os.path.join(top, "opencode.json"), tuple(files))


def _gemini(scope: str, project: str, commands: StartCommands) -> _Files:
    """Gemini CLI gets no subagents: it cannot hide them from the agents that Fairlead starts."""
    folder = host_folder(GEMINI) if scope == USER else os.path.join(project, ".gemini")
    settings = os.path.join(folder, "settings.json")
    server: tuple[str, Json] | None = None
    if commands.has_server:
        server = ("mcpServers", _server(commands))
    entries = SettingsEntries(_gemini_hooks(commands), server=server, allows_comments=True)
    files = [HostFile(settings, SettingsPart(entries))]
    for workflow in WORKFLOWS:
        text = render.gemini_command(workflow, commands.shell)
        name = f"{installed_name(workflow.name)}.toml"
        files.append(_whole(folder, "commands", name, content=text))
    files.append(_block(os.path.join(folder if scope == USER else project, "GEMINI.md"), MEMORY))
    return _Files(folder if scope == USER else project, settings, tuple(files))


_PLANNERS: Mapping[str, Callable[[str, str, StartCommands], _Files]] = {
    CLAUDE: _claude,
    CODEX: _codex,
    OPENCODE: _opencode,
    GEMINI: _gemini,
}


def _hooks(commands: StartCommands) -> tuple[HookEntry, ...]:
    return tuple(HookEntry(event, commands.hooks[name], limit) for event, name, limit in EVENTS)


def _gemini_hooks(commands: StartCommands) -> tuple[HookEntry, ...]:
    return tuple(
        HookEntry(
            _GEMINI_EVENTS.get(event, event), commands.hooks[name], 1000 * limit, f"fairlead-{name}"
        )
        for event, name, limit in EVENTS
    )


def _server(commands: StartCommands) -> dict[str, Json]:
    command, *words = (*commands.program, "mcp")
    return {"command": command, "args": [*words]}


def _whole(*parts: str, content: str) -> HostFile:
    return HostFile(os.path.join(*parts), WholePart(content))


def _block(path: str, lines: tuple[str, ...]) -> HostFile:
    return HostFile(path, BlockPart(markdown_block(lines)))


def _toml_string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _is_too_large(path: str) -> bool:
    try:
        return os.path.getsize(path) > DOCUMENT_LIMIT
    except OSError:
        return False
