"""The texts for hosts: commands that exist, names that agree, and formats that the hosts read."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from fairlead.core.host_names import SUBAGENTS, installed_name
from fairlead.interfaces.cli.main import cli
from fairlead.interfaces.install.hosts import EVENTS, HOSTS, PROJECT, StartCommands, host_plan
from fairlead.interfaces.install.subagents import PURPOSES, subagents
from fairlead.interfaces.install.workflows import RULES, WORKFLOWS
from fairlead.workflows.roles import ROLES

NAMES = {"status", "next", "new", "discuss", "plan", "execute", "verify", "run", "capture", "pause"}
COMMANDS = StartCommands(
    ("fairlead",), {name: ("fairlead", "hook", name) for _, name, _ in EVENTS}, ()
)


def files_of(host: str) -> dict[str, str]:
    """What an installation writes into an empty project."""
    plan = host_plan(host, PROJECT, "/nowhere", COMMANDS).plan
    texts = {file.path: file.part.added(None)[0][-1] for file in plan.files}
    return {path.removeprefix("/nowhere/"): text for path, text in texts.items()}


def front_of(text: str) -> dict[str, object]:
    front = yaml.safe_load(text.split("---\n")[1])
    assert isinstance(front, dict)
    return front


def commands_in(text: str) -> Iterator[list[str]]:
    for match in re.finditer(r"`fairlead ([^`]+)`", " ".join(text.split())):
        yield match[1].split()


def test_every_workflow_is_there():
    assert {workflow.name for workflow in WORKFLOWS} == NAMES


def test_every_role_is_a_subagent_under_one_name():
    names = tuple(role.name for role in ROLES)

    assert names == SUBAGENTS
    assert set(PURPOSES) == set(names)
    assert [agent.name for agent in subagents()] == list(names)


@pytest.mark.parametrize("host", HOSTS)
def test_every_command_in_a_text_exists_with_its_options(host: str):
    found = 0
    for path, text in files_of(host).items():
        for words in commands_in(text):
            command: click.Command = cli
            rest = list(words)
            context = click.Context(cli)
            while isinstance(command, click.Group) and rest:
                inner = command.get_command(context, rest[0])
                assert inner, f"{path}: fairlead {' '.join(words)}"
                command, rest = inner, rest[1:]
            known = {option for each in command.params for option in each.opts}
            given = {word for word in rest if word.startswith("--")}
            assert given <= known, f"{path}: fairlead {' '.join(words)}"
            found += 1

    assert found >= 20


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda workflow: workflow.name)
def test_a_job_from_the_chat_is_detached_and_only_a_person_starts_it(workflow):
    starts = [step for step in workflow.steps if "--detach" in step]

    assert bool(starts) == workflow.starts_job
    assert any("--json" in step for step in workflow.steps)


def test_an_agent_is_told_that_only_a_person_approves():
    assert any("Only a person approves" in rule for rule in RULES)


@pytest.mark.parametrize("host", HOSTS)
def test_every_workflow_has_a_file_in_every_host(host: str):
    paths = " ".join(files_of(host))

    assert all(installed_name(name) in paths for name in NAMES)


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_skills_have_the_form_of_the_agent_skills_format(host: str):
    skills = {path: text for path, text in files_of(host).items() if path.endswith("SKILL.md")}

    assert len(skills) == len(NAMES)
    for path, text in skills.items():
        front = front_of(text)
        name, description = str(front["name"]), str(front["description"])
        assert name == Path(path).parent.name
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
        assert len(name) <= 64
        assert 0 < len(description) <= 1024


def test_claude_offers_no_job_to_the_model_itself():
    texts = files_of("claude")
    for workflow in WORKFLOWS:
        front = front_of(texts[f".claude/skills/{installed_name(workflow.name)}/SKILL.md"])
        assert (front.get("disable-model-invocation") is True) == workflow.starts_job


def test_codex_files_are_toml():
    for path, text in files_of("codex").items():
        if path.endswith(".toml"):
            table = tomllib.loads(text)
            if "agents/" in path:
                assert {"name", "description", "developer_instructions"} <= set(table)
            else:
                server = table["mcp_servers"]["fairlead"]
                assert server == {"command": "fairlead", "args": ["mcp"]}


def test_gemini_commands_have_the_documented_keys():
    texts = files_of("gemini")
    for name in NAMES:
        table = tomllib.loads(texts[f".gemini/commands/{installed_name(name)}.toml"])
        assert set(table) == {"description", "prompt"}
        assert "`fairlead " in table["prompt"]
    settings = json.loads(texts[".gemini/settings.json"])
    assert set(settings["hooks"]) == {"AfterAgent", "BeforeAgent", "PreCompress", "SessionEnd"}
    for groups in settings["hooks"].values():
        hook = groups[0]["hooks"][0]
        assert set(hook) == {"type", "name", "command", "timeout"}
        assert hook["timeout"] >= 1000  # milliseconds
    assert settings["mcpServers"]["fairlead"] == {"command": "fairlead", "args": ["mcp"]}


def test_opencode_files_have_the_documented_keys():
    texts = files_of("opencode")
    for name in NAMES:
        front = front_of(texts[f".opencode/commands/{installed_name(name)}.md"])
        assert set(front) == {"description"}
    for name in SUBAGENTS:
        front = front_of(texts[f".opencode/agents/{installed_name(name)}.md"])
        assert front["mode"] == "subagent"
        assert set(front) <= {"description", "mode", "permission"}
    server = json.loads(texts["opencode.json"])["mcp"]["fairlead"]
    assert server == {"type": "local", "command": ["fairlead", "mcp"], "enabled": True}
    assert 'const PROGRAM = ["fairlead"]' in texts[".opencode/plugins/fairlead.js"]


@pytest.mark.parametrize(("host", "file"), [("claude", "CLAUDE.md"), ("codex", "AGENTS.md")])
def test_the_memory_names_the_command_and_spares_agents_of_a_job(host: str, file: str):
    block = files_of(host)[file]

    assert "`fairlead status --json`" in block
    assert "FAIRLEAD_JOB" in block
    assert len(block) < 1000
