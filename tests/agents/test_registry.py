"""Which agents are found, which are refused, and what a person may describe."""

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from fairlead.agents import registry
from fairlead.agents.cli_agent import CliAgent
from fairlead.agents.custom_agents import SERVICE_KINDS, AgentCommand, custom_agents
from fairlead.agents.discovery import AgentDiscovery
from fairlead.agents.errors import NoAgent, NoAgentAnswers, NoSuchAgent
from fairlead.agents.model import EndKind, Stream, TokenUsage
from fairlead.app import App
from fairlead.core import process
from fairlead.core.errors import NoProgram, SettingValue, UnknownSetting
from fairlead.interfaces.cli.main import run
from tests.support.agents import an_order, called

CLAUDE_LIKE = r"""#!/bin/sh
echo "$@" >> "$HOME/asked"
case "$1" in
--version) echo "9.8.7 (Claude Code)";;
--help) echo "--output-format --permission-mode --setting-sources --settings";;
*) cat > /dev/null; echo '{"type":"result","subtype":"success","is_error":false,"result":"ready",'\
   '"usage":{"output_tokens":1}}';;
esac
"""


def a_program(folder: Path, name: str, text: str = CLAUDE_LIKE) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a PATH of its own."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return tmp_path


def discovery(machine: Path, *commands: AgentCommand) -> AgentDiscovery:
    return AgentDiscovery(
        commands, (str(machine / "project"),), str(machine / "cache" / "agents.json")
    )


@pytest.mark.parametrize(
    "planted", [".", "", "bin", "{project}/bin", "{project}/node_modules/.bin"]
)
def test_a_program_planted_in_the_project_is_not_found(planted, machine, monkeypatch):
    project = machine / "project"
    for folder in (".", "bin", "node_modules/.bin"):
        a_program(project / folder, "claude")
    monkeypatch.chdir(project)
    monkeypatch.setenv("PATH", planted.format(project=project))

    with pytest.raises(NoProgram):
        process.program("claude", (str(project),))


def test_a_link_on_path_that_leads_into_the_project_is_not_followed_there(machine, monkeypatch):
    a_program(machine / "project" / "bin", "claude")
    (machine / "sly").symlink_to(machine / "project" / "bin")
    monkeypatch.setenv("PATH", str(machine / "sly"))

    with pytest.raises(NoProgram):
        process.program("claude", (str(machine / "project"),))


def test_a_project_that_contains_the_home_does_not_hide_the_users_programs(machine):
    a_program(machine / "bin", "claude")

    assert process.program("claude", (str(machine),)) == str(machine / "bin" / "claude")


def test_the_first_installed_agent_is_chosen(machine):
    a_program(machine / "bin", "gemini")
    a_program(machine / "bin", "codex")

    assert registry.agent("").name == "codex"


def test_without_any_agent_the_error_names_the_programs_and_the_rehearsal(machine):
    with pytest.raises(NoAgent) as caught:
        registry.agent("")

    assert "claude, codex, opencode, gemini" in caught.value.message
    assert "--rehearse" in caught.value.hint


def test_an_unknown_name_is_refused_with_the_known_ones(machine):
    with pytest.raises(NoSuchAgent, match="hal"):
        registry.agent("hal")


def test_an_agent_of_another_package_is_found_by_its_entry_point(machine, monkeypatch):
    site = machine / "site"
    (site / "other-1.dist-info").mkdir(parents=True)
    (site / "other-1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: other\nVersion: 1\n"
    )
    (site / "other-1.dist-info" / "entry_points.txt").write_text(
        "[fairlead.agents]\nhal = other_agent:row\n"
    )
    (site / "other_agent.py").write_text(
        "from fairlead.agents.drivers.driver import Driver\nfrom fairlead.agents.streams import Stream\n"
        "def row():\n    return Driver('hal', ('hal',), Stream.TEXT, lambda _: ())\n"
    )
    monkeypatch.syspath_prepend(site)
    a_program(machine / "bin", "hal")

    assert registry.agent("hal").program == str(machine / "bin" / "hal")


@pytest.mark.parametrize("prompt", ["stdin", "file"])
def test_a_described_command_gets_its_prompt_without_a_shell(prompt, machine, tmp_path):
    reader = '#!/bin/sh\nif [ $# = 2 ]; then cat "$2"; else cat; fi; echo " $1"\n'
    a_program(machine / "bin", "mine", reader)
    command = AgentCommand("mine", ("mine", "$(touch x); *"), prompt, Stream.TEXT)

    call = called(registry.agent("mine", custom=(command,)), an_order(tmp_path, prompt="Do it."))

    assert (call.ending.kind, call.ending.text) == (EndKind.OK, "Do it. $(touch x); *\n")


def test_unreported_tokens_are_estimated_unless_the_program_did_not_start(machine, tmp_path):
    mine = a_program(machine / "bin", "mine", "#!/bin/sh\ncat\n")
    command = AgentCommand("mine", ("mine",), "stdin", Stream.TEXT)
    agent = registry.agent("mine", custom=(command,))

    ending = called(agent, an_order(tmp_path, prompt="x" * 400)).ending
    mine.unlink()
    gone = called(agent, an_order(tmp_path, prompt="x" * 400)).ending

    assert (ending.usage, ending.is_estimated) == (TokenUsage(1200, 0, 100), True)
    assert (gone.kind, gone.usage, gone.is_estimated) == (EndKind.SPAWN, TokenUsage(), False)


def test_the_command_line_contains_no_part_of_the_prompt(machine, tmp_path):
    for name in ("claude", "codex", "opencode", "gemini"):
        a_program(machine / "bin", name)
        row = registry.driver_factories()[name]()
        called(CliAgent(row, str(machine / "bin" / name)), an_order(tmp_path, prompt="SECRET-WORD"))

    assert "SECRET-WORD" not in (machine / "asked").read_text()


def test_version_and_help_are_cached_until_the_program_changes(machine):
    program = a_program(machine / "bin", "claude")

    found = [next(each for each in discovery(machine).agents() if each.path) for _ in range(2)]
    asked = (machine / "asked").read_text()
    os.utime(program, ns=(1, 1))
    discovery(machine).agents()

    assert found[0] == found[1]
    assert (found[0].version, found[0].lacks) == (
        "9.8.7",
        ("--strict-mcp-config", "--disable-slash-commands"),
    )
    assert asked.splitlines() == ["--version", "--help"]
    assert len((machine / "asked").read_text().splitlines()) == 4
    assert stat.S_IMODE((machine / "cache" / "agents.json").stat().st_mode) == 0o600


def test_a_damaged_cache_is_built_again(machine):
    a_program(machine / "bin", "claude")
    (machine / "cache").mkdir()
    (machine / "cache" / "agents.json").write_text('{"claude": [1]}')

    assert discovery(machine).agents()[0].version == "9.8.7"


def test_a_readiness_check_runs_in_its_own_folder(machine):
    a_program(machine / "bin", "claude")

    answer = discovery(machine).ask("claude")

    assert (answer.is_ready, answer.ending.text) == (True, "ready")


def test_a_description_is_read_with_its_defaults():
    values = {"fairlead.agents.mine.argv": ["mine", "-x"], "fairlead.color": "auto"}

    assert custom_agents(values)[0] == AgentCommand("mine", ("mine", "-x"))


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("fairlead.agents.a.argv", "rm -rf /", SettingValue),
        ("fairlead.agents.a.argv", [], SettingValue),
        ("fairlead.agents.a.stream", "morse", SettingValue),
        ("fairlead.agents.a.prompt", "argv", SettingValue),
        ("fairlead.agents.a.shell", True, UnknownSetting),
        ("fairlead.agents.a.stream", "text", SettingValue),  # and no argv
    ],
)
def test_a_wrong_description_is_refused(key, value, error):
    with pytest.raises(error):
        custom_agents({key: value})


@pytest.mark.parametrize("key", ["fairlead.agents.a.prompt", "fairlead.models.a.model"])
def test_a_description_is_not_written_to_the_project(key, machine, capsys):
    (machine / ".planning").mkdir()

    code = run(["-C", str(machine), "config", "set", key, "file", "--json"])

    assert (code, json.loads(capsys.readouterr().out)["error"]["code"]) == (2, "only-personal")
    assert list((machine / ".planning").iterdir()) == []


def run_doctor(capsys, machine: Path, *words: str) -> tuple[int, dict, str]:
    code = run(["-C", str(machine), "doctor", "agents", "--json", *words])
    output = capsys.readouterr()
    return code, json.loads(output.out), output.err


def test_doctor_agents_lists_the_agents_without_asking_them(machine, capsys):
    a_program(machine / "bin", "claude")

    code, output, _ = run_doctor(capsys, machine)

    assert (code, output["agents"][0]["version"], output["answers"]) == (0, "9.8.7", [])
    assert "dollars" in output["price_of_asking"]


def test_doctor_agents_shows_the_price_before_it_asks(machine, capsys):
    a_program(machine / "bin", "claude")

    code, output, complaints = run_doctor(capsys, machine, "--ask")

    assert (code, output["answers"][0]["ending"]["kind"]) == (0, "ok")
    assert "asking claude: about 20,000 tokens" in complaints


def test_doctor_agents_fails_when_no_agent_answers(machine, capsys):
    a_program(machine / "bin", "claude", "#!/bin/sh\nexit 3\n")

    code, output, _ = run_doctor(capsys, machine, "--ask")

    assert (code, output["error"]["code"]) == (5, NoAgentAnswers.code)


def test_doctor_agents_without_any_agent_names_the_programs(machine, capsys):
    code, output, _ = run_doctor(capsys, machine)

    assert (code, output["error"]["code"]) == (5, NoAgent.code)


@pytest.mark.parametrize("words", ["doctor agents --ask", "doctor agents"])
def test_an_agent_cannot_start_a_discovery(words, machine, capsys):
    itself = f'{sys.executable} -m fairlead {words} --json >> "$HOME/inner"'
    path = f"PYTHONPATH={os.pathsep.join(sys.path)}"
    a_program(machine / "bin", "claude", f'#!/bin/sh\necho . >> "$HOME/asked"\n{path} {itself}\n')

    run_doctor(capsys, machine, "--ask")

    inner = (machine / "inner").read_text()
    starts = len((machine / "asked").read_text().splitlines())
    assert starts == 4  # version, help, login, the question
    assert inner.count('"nested-run"') == starts


@pytest.mark.parametrize("file", [".config/fairlead/config.json", ".planning/config.json"])
def test_only_the_users_own_settings_describe_agents(file, machine, capsys, monkeypatch):
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (machine / ".planning").mkdir()
    a_program(machine / "elsewhere", "claude")
    a_program(machine / "elsewhere", "mine")
    monkeypatch.setenv("PATH", f"{machine / 'elsewhere'}:/usr/bin:/bin")
    (machine / file).parent.mkdir(parents=True, exist_ok=True)
    mine = {"mine": {"argv": [str(machine / "elsewhere" / "mine")]}}
    local = {"local": {"kind": "openai", "base_url": "http://127.0.0.1:1", "key_env": "A_KEY"}}
    settings = {"fairlead": {"agents": mine, "models": local}}
    (machine / file).write_text(json.dumps(settings))
    nested = machine / ".planning" / "phases"
    nested.mkdir()

    commands = App(str(machine)).custom_agents()

    own = {each.name for each in commands} - set(SERVICE_KINDS)
    assert own == ({"mine", "local"} if "fairlead" in file else set())
