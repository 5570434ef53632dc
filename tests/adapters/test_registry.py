"""Which agents are found, which are refused, and what a person may describe."""

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from fairlead.adapters import process, registry
from fairlead.adapters.agent import CliAgent
from fairlead.adapters.roll import Roll
from fairlead.errors import (
    NoAgent,
    NoAgentAnswers,
    NoProgram,
    NoSuchAgent,
    SettingValue,
    UnknownSetting,
)
from fairlead.interfaces.cli.main import run
from fairlead.model.agent_commands import AgentCommand, described
from fairlead.model.agent_events import EndKind, Usage
from fairlead.model.agent_streams import Stream
from fairlead.model.model_services import KINDS
from fairlead.wiring import App
from tests.support.agents import an_order, called

CLAUDE_LIKE = r"""#!/bin/sh
echo "$@" >> "$HOME/asked"
case "$1" in
--version) echo "9.8.7 (Claude Code)";;
--help) echo "--output-format --permission-mode --setting-sources";;
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


def a_roll(machine: Path, *commands: AgentCommand) -> Roll:
    return Roll(commands, (str(machine / "project"),), str(machine / "cache" / "agents.json"))


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


def test_a_project_that_holds_the_home_does_not_hide_the_persons_programs(machine):
    a_program(machine / "bin", "claude")

    assert process.program("claude", (str(machine),)) == str(machine / "bin" / "claude")


def test_the_first_agent_that_is_installed_is_taken(machine):
    a_program(machine / "bin", "gemini")
    a_program(machine / "bin", "codex")

    assert registry.agent("").name == "codex"


def test_without_any_agent_it_is_said_what_was_looked_for_and_how_to_rehearse(machine):
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
        "from fairlead.adapters.agent import Row\nfrom fairlead.model.agent_streams import Stream\n"
        "def row():\n    return Row('hal', ('hal',), Stream.TEXT, lambda _: ())\n"
    )
    monkeypatch.syspath_prepend(site)
    a_program(machine / "bin", "hal")

    assert registry.agent("hal").program == str(machine / "bin" / "hal")


@pytest.mark.parametrize("prompt", ["stdin", "file"])
def test_a_described_command_gets_its_prompt_without_a_shell(prompt, machine, tmp_path):
    reader = '#!/bin/sh\nif [ $# = 2 ]; then cat "$2"; else cat; fi; echo " $1"\n'
    a_program(machine / "bin", "mine", reader)
    command = AgentCommand("mine", ("mine", "$(touch x); *"), prompt, Stream.TEXT)

    call = called(registry.agent("mine", commands=(command,)), an_order(tmp_path, prompt="Do it."))

    assert (call.ending.kind, call.ending.text) == (EndKind.OK, "Do it. $(touch x); *\n")


def test_who_tells_no_tokens_has_them_estimated_and_who_did_not_start_has_none(machine, tmp_path):
    mine = a_program(machine / "bin", "mine", "#!/bin/sh\ncat\n")
    command = AgentCommand("mine", ("mine",), "stdin", Stream.TEXT)
    agent = registry.agent("mine", commands=(command,))

    ending = called(agent, an_order(tmp_path, prompt="x" * 400)).ending
    mine.unlink()
    gone = called(agent, an_order(tmp_path, prompt="x" * 400)).ending

    assert (ending.usage, ending.is_estimated) == (Usage(1200, 0, 100), True)
    assert (gone.kind, gone.usage, gone.is_estimated) == (EndKind.SPAWN, Usage(), False)


def test_no_word_of_the_prompt_is_in_the_command(machine, tmp_path):
    for name in ("claude", "codex", "opencode", "gemini"):
        a_program(machine / "bin", name)
        row = registry.makers()[name]()
        called(CliAgent(row, str(machine / "bin" / name)), an_order(tmp_path, prompt="SECRET-WORD"))

    assert "SECRET-WORD" not in (machine / "asked").read_text()


def test_what_a_program_says_of_itself_is_asked_once_until_its_file_changes(machine):
    program = a_program(machine / "bin", "claude")

    found = [next(each for each in a_roll(machine).call() if each.path) for _ in range(2)]
    asked = (machine / "asked").read_text()
    os.utime(program, ns=(1, 1))
    a_roll(machine).call()

    assert found[0] == found[1]
    assert (found[0].version, found[0].lacks) == ("9.8.7", ("--strict-mcp-config",))
    assert asked.splitlines() == ["--version", "--help"]
    assert len((machine / "asked").read_text().splitlines()) == 4
    assert stat.S_IMODE((machine / "cache" / "agents.json").stat().st_mode) == 0o600


def test_a_damaged_memory_of_the_programs_is_made_anew(machine):
    a_program(machine / "bin", "claude")
    (machine / "cache").mkdir()
    (machine / "cache" / "agents.json").write_text('{"claude": [1]}')

    assert a_roll(machine).call()[0].version == "9.8.7"


def test_an_agent_that_is_asked_answers_in_a_folder_of_its_own(machine):
    a_program(machine / "bin", "claude")

    answer = a_roll(machine).ask("claude")

    assert (answer.is_ready, answer.ending.text) == (True, "ready")


def test_a_description_is_read_with_its_defaults():
    values = {"fairlead.agents.mine.argv": ["mine", "-x"], "fairlead.color": "auto"}

    assert described(values) == (AgentCommand("mine", ("mine", "-x")),)


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
def test_a_description_that_cannot_hold_is_refused(key, value, error):
    with pytest.raises(error):
        described({key: value})


@pytest.mark.parametrize("key", ["fairlead.agents.a.prompt", "fairlead.models.a.model"])
def test_a_description_is_not_written_where_it_would_not_count(key, machine, capsys):
    (machine / ".planning").mkdir()

    code = run(["-C", str(machine), "config", "set", key, "file", "--json"])

    assert (code, json.loads(capsys.readouterr().out)["error"]["code"]) == (2, "only-personal")
    assert list((machine / ".planning").iterdir()) == []


def at_the_door(capsys, machine: Path, *words: str) -> tuple[int, dict, str]:
    code = run(["-C", str(machine), "doctor", "agents", "--json", *words])
    told = capsys.readouterr()
    return code, json.loads(told.out), told.err


def test_doctor_agents_tells_what_is_here_and_asks_nobody(machine, capsys):
    a_program(machine / "bin", "claude")

    code, told, _ = at_the_door(capsys, machine)

    assert (code, told["agents"][0]["version"], told["answers"]) == (0, "9.8.7", [])
    assert "dollars" in told["price_of_asking"]


def test_doctor_agents_names_the_price_and_then_asks(machine, capsys):
    a_program(machine / "bin", "claude")

    code, told, complaints = at_the_door(capsys, machine, "--ask")

    assert (code, told["answers"][0]["ending"]["kind"]) == (0, "ok")
    assert "asking claude: about 20,000 tokens" in complaints


def test_doctor_agents_says_when_nobody_answers(machine, capsys):
    a_program(machine / "bin", "claude", "#!/bin/sh\nexit 3\n")

    code, told, _ = at_the_door(capsys, machine, "--ask")

    assert (code, told["error"]["code"]) == (5, NoAgentAnswers.code)


def test_doctor_agents_without_any_says_what_was_looked_for(machine, capsys):
    code, told, _ = at_the_door(capsys, machine)

    assert (code, told["error"]["code"]) == (5, NoAgent.code)


@pytest.mark.parametrize("words", ["doctor agents --ask", "doctor agents"])
def test_a_program_that_looks_for_itself_is_started_by_us_alone(words, machine, capsys):
    itself = f'{sys.executable} -m fairlead {words} --json >> "$HOME/inner"'
    path = f"PYTHONPATH={os.pathsep.join(sys.path)}"
    a_program(machine / "bin", "claude", f'#!/bin/sh\necho . >> "$HOME/asked"\n{path} {itself}\n')

    at_the_door(capsys, machine, "--ask")

    inner = (machine / "inner").read_text()
    assert len((machine / "asked").read_text().splitlines()) == 3  # version, help, the question
    assert inner.count('"nested-run"') == 3


@pytest.mark.parametrize("file", [".config/fairlead/config.json", ".planning/config.json"])
def test_only_a_persons_own_settings_describe_agents(file, machine, capsys, monkeypatch):
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (machine / ".planning").mkdir()
    a_program(machine / "elsewhere", "claude")
    a_program(machine / "elsewhere", "mine")
    monkeypatch.setenv("PATH", f"{machine / 'elsewhere'}:/usr/bin:/bin")
    (machine / file).parent.mkdir(parents=True, exist_ok=True)
    mine = {"mine": {"argv": [str(machine / "elsewhere" / "mine")]}}
    local = {"local": {"kind": "openai", "base_url": "http://127.0.0.1:1", "key_env": "A_KEY"}}
    held = {"fairlead": {"agents": mine, "models": local}}
    (machine / file).write_text(json.dumps(held))
    nested = machine / ".planning" / "phases"
    nested.mkdir()

    commands = App(str(machine)).settings.agents()

    own = {each.name for each in commands} - set(KINDS)
    assert own == ({"mine", "local"} if "fairlead" in file else set())
