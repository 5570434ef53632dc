"""The plugins for Claude Code and Codex in this repository, from the same source as `install`.

`tools/plugins.py` writes them, and `make lint` checks that they are in step. A team installs them
from the repository; they call `plugin_script`, which starts the installed Fairlead.
"""

from __future__ import annotations

import json
import os

from fairlead import __version__
from fairlead.core.host_names import PRODUCT
from fairlead.interfaces.install import plugin_script, render
from fairlead.interfaces.install.hosts import CLAUDE, CODEX, EVENTS
from fairlead.interfaces.install.parts import MARK
from fairlead.interfaces.install.subagents import subagents
from fairlead.interfaces.install.workflows import WORKFLOWS
from fairlead.text.json_edit import Json

FOLDERS = {CLAUDE: "plugins/claude", CODEX: "plugins/codex"}

_SCRIPT = "scripts/fairlead_plugin.py"
_ROOT = "${CLAUDE_PLUGIN_ROOT}"  # set by both hosts
_AUTHOR: Json = {"name": "the Fairlead authors"}
_SUMMARY = "Project memory in plain Markdown, and jobs that end in verified, committed work."


def plugin_files() -> dict[str, str]:
    """Every file of the plugins and their catalogues, by its path in the repository."""
    files = {
        ".claude-plugin/marketplace.json": _json(_claude_marketplace()),
        ".agents/plugins/marketplace.json": _json(_codex_marketplace()),
    }
    for host, content in ((CLAUDE, _claude_files()), (CODEX, _codex_files())):
        files |= {f"{FOLDERS[host]}/{path}": text for path, text in content.items()}
    return files


def _claude_files() -> dict[str, str]:
    server: Json = {"command": "python3", "args": [f"{_ROOT}/{_SCRIPT}", CLAUDE, "mcp"]}
    files = {
        ".claude-plugin/plugin.json": _json(_manifest()),
        "hooks/hooks.json": _json({"hooks": {event: _claude_hook(*row) for event, *row in EVENTS}}),
        ".mcp.json": _json({"mcpServers": {PRODUCT: server}}),
        "README.md": _readme(CLAUDE),
        _SCRIPT: _script(),
    }
    for workflow in WORKFLOWS:
        text = render.claude_skill(workflow, workflow.name, PRODUCT, is_plugin=True)
        files[f"skills/{workflow.name}/SKILL.md"] = text
    for agent in subagents():
        files[f"agents/{agent.name}.md"] = render.claude_agent(agent, agent.name)
    return files


def _codex_files() -> dict[str, str]:
    manifest = {
        **_manifest(),
        "skills": "./skills/",
        "hooks": "./hooks/hooks.json",
        "mcpServers": "./.mcp.json",
    }
    server: Json = {"command": PRODUCT, "args": ["mcp"]}
    files = {
        ".codex-plugin/plugin.json": _json(manifest),
        "hooks/hooks.json": _json({"hooks": {event: _codex_hook(*row) for event, *row in EVENTS}}),
        ".mcp.json": _json({"mcpServers": {PRODUCT: server}}),
        "README.md": _readme(CODEX),
        _SCRIPT: _script(),
    }
    for workflow in WORKFLOWS:
        text = render.codex_skill(workflow, workflow.name, PRODUCT, is_plugin=True)
        files[f"skills/{workflow.name}/SKILL.md"] = text
    return files


def _claude_hook(name: object, limit: object) -> Json:
    arguments: list[Json] = [f"{_ROOT}/{_SCRIPT}", CLAUDE, str(name)]
    timeout = int(str(limit))
    return [
        {
            "hooks": [
                {"type": "command", "command": "python3", "args": arguments, "timeout": timeout}
            ]
        }
    ]


def _codex_hook(name: object, limit: object) -> Json:
    command = f'python3 "{_ROOT}/{_SCRIPT}" {CODEX} {name}'
    return [{"hooks": [{"type": "command", "command": command, "timeout": int(str(limit))}]}]


def _manifest() -> dict[str, Json]:
    return {
        "name": PRODUCT,
        "version": __version__,
        "description": _SUMMARY,
        "author": _AUTHOR,
        "license": "MIT",
        "keywords": ["planning", "memory", "agents", "verification"],
    }


def _claude_marketplace() -> Json:
    plugin: Json = {
        "name": PRODUCT,
        "source": f"./{FOLDERS[CLAUDE]}",
        "description": _SUMMARY,
        "author": _AUTHOR,
    }
    return {"name": PRODUCT, "owner": _AUTHOR, "description": _SUMMARY, "plugins": [plugin]}


def _codex_marketplace() -> Json:
    plugin: Json = {
        "name": PRODUCT,
        "source": {"source": "local", "path": f"./{FOLDERS[CODEX]}"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": "Productivity",
    }
    return {"name": PRODUCT, "interface": {"displayName": "Fairlead"}, "plugins": [plugin]}


def _readme(host: str) -> str:
    name, mark = {CLAUDE: ("Claude Code", f"/{PRODUCT}:"), CODEX: ("Codex", "$")}[host]
    commands = "\n".join(f"- `{mark}{workflow.name}`: {workflow.summary}" for workflow in WORKFLOWS)
    return (
        f"<!-- {MARK}; do not edit: run `make docs`. -->\n\n"
        f"# Fairlead for {name}\n\n{_SUMMARY}\n\n"
        "The plugin calls the command `fairlead`. Install it from a checkout or a wheel:"
        " `pipx install PATH` or `uv tool install PATH`. Without it, the plugin only says so.\n\n"
        f"Type in the chat:\n\n{commands}\n"
    )


def _script() -> str:
    path = os.path.abspath(plugin_script.__file__)
    with open(path, encoding="utf-8") as file:
        return file.read()


def _json(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
