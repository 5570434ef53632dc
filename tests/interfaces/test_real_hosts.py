"""The real Claude Code and Codex call the installed hooks: blocked with a reason, then released."""

import json
import subprocess
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from fairlead.agents.model import CallLimits, EndKind
from fairlead.planphase.stop_rule import MOST_BLOCKS, OPEN
from tests.support.agents import an_order, called
from tests.support.hosts import Agent, agent_in, agent_program
from tests.support.model_server import Call, ModelServer, Request, Turn
from tests.support.plan_files import PLAN, plan_text, put
from tests.support.programs import ROOT
from tests.support.real_agents import MODELS, a_real_agent

pytestmark = pytest.mark.walk

CRITERION = 'exit_criteria:\n  - text: "The report is written"\n    check: {file: REPORT.md}\n'
PLANNED = plan_text(criteria=()).replace("exit_criteria:\n", CRITERION)
DONE = "FINAL: done"
LONG = timedelta(minutes=3)  # shared machines stall; a healthy run takes two seconds
PATIENT = CallLimits(wall=LONG, first_event=LONG, idle=LONG)


def prepared(tmp_path: Path, server: ModelServer, host: str) -> Agent:
    agent = agent_in(tmp_path, server)
    put(agent.folder, PLAN, PLANNED)
    done = agent.fairlead("install", host, "--yes")
    assert done.returncode == 0, done.stderr
    return agent


def is_held(request: Request) -> bool:
    return "is not complete. What is missing" in request.conversation


def obedient(call: Call) -> tuple[Turn, ...]:
    """A model that stops, follows the reason of the block, and stops again."""
    return Turn(DONE), Turn(calls=(call,)), Turn(DONE)


def restless(request: Request) -> Turn:
    """A model that answers every block with a tool call and never follows the reason.

    Claude Code's own limit does not count blocks with a tool call between them.
    """
    last = request.body["messages"][-1]
    spoke = any(part.get("type") == "tool_result" for part in _parts(last["content"]))
    reading = Call("Read", {"file_path": "/etc/hostname"})
    return Turn(DONE) if spoke or not is_held(request) else Turn(calls=(reading,))


def _parts(content: object) -> list[dict[str, object]]:
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def result_of(done: subprocess.CompletedProcess[str]) -> dict[str, object]:
    assert done.returncode == 0, done.stderr + done.stdout
    result = json.loads(done.stdout)
    assert isinstance(result, dict)
    return result


def test_claude_code_is_held_by_an_open_plan_and_then_released(tmp_path: Path):
    report = tmp_path / "work" / "REPORT.md"
    script = obedient(Call("Write", {"file_path": str(report), "content": "It works.\n"}))
    with ModelServer(script) as server:
        agent = prepared(tmp_path, server, "claude")
        result = result_of(agent.claude("Do it"))

    first, blocked, last = server.requests
    assert not is_held(first)
    assert is_held(blocked)
    assert "next: write REPORT.md" in blocked.conversation
    assert not is_held(Request("", {"messages": last.body["messages"][-1:]}))
    assert (result["result"], report.read_text("utf-8")) == (DONE, "It works.\n")


def test_claude_code_starts_with_the_facts_of_the_project(tmp_path: Path):
    with ModelServer([Turn(DONE)]) as server:
        agent = prepared(tmp_path, server, "claude")
        agent.fairlead("init", "Sample", "--yes")
        agent.claude("Do it")

    assert "Facts about this project" in server.requests[0].conversation
    assert "The report is written" in server.requests[0].conversation


def test_claude_code_is_released_when_nothing_changes(tmp_path: Path):
    with ModelServer(restless) as server:
        agent = prepared(tmp_path, server, "claude")
        result = result_of(agent.claude("Do it"))

    assert result["result"] == DONE
    # The first answer, and for each block a tool call and another answer.
    assert len(server.requests) == 1 + 2 * MOST_BLOCKS[OPEN]


def test_claude_code_stops_at_once_when_the_plan_is_met(tmp_path: Path):
    with ModelServer([Turn(DONE)]) as server:
        agent = prepared(tmp_path, server, "claude")
        put(agent.folder, "REPORT.md", "It works.\n")
        result_of(agent.claude("Do it"))

    assert len(server.requests) == 1


def test_claude_code_records_the_end_of_its_session(tmp_path: Path):
    note = tmp_path / "work" / ".planning" / "NOTE.md"
    write = Call("Write", {"file_path": str(note), "content": "Something happened.\n"})
    with ModelServer([Turn(calls=(write,)), Turn(DONE)]) as server:
        agent = prepared(tmp_path, server, "claude")
        put(agent.folder, "REPORT.md", "It works.\n")
        agent.fairlead("init", "Sample", "--yes")
        before = (agent.folder / ".planning" / "STATE.md").read_text("utf-8")
        result_of(agent.claude("Do it"))

    after = (agent.folder / ".planning" / "STATE.md").read_text("utf-8")
    assert "Last session: " in after
    assert after != before


def test_a_session_without_a_change_leaves_state_alone(tmp_path: Path):
    with ModelServer([Turn(DONE)]) as server:
        agent = agent_in(tmp_path, server)
        agent.fairlead("install", "claude", "--yes")
        agent.fairlead("init", "Sample", "--yes")
        before = (agent.folder / ".planning" / "STATE.md").read_bytes()
        result_of(agent.claude("Just a question"))

    assert (agent.folder / ".planning" / "STATE.md").read_bytes() == before


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_a_session_is_held_by_the_plan_it_starts(tmp_path: Path, host: str):
    # By its full path: a login shell sets its own PATH.
    begin = f"{ROOT}/.venv/bin/fairlead planning start 'A goal'"
    calls = {
        "claude": Call("Bash", {"command": begin, "description": "Begin"}),
        "codex": Call("exec_command", {"cmd": begin}),
    }
    with ModelServer([Turn(calls=(calls[host],)), Turn(DONE)]) as server:
        agent = agent_in(tmp_path, server)
        agent.fairlead("install", host, "--yes")
        if host == "claude":
            agent.claude("Do it", "--allowedTools", "Bash")
        else:
            agent.codex("Do it")

    plan = (agent.folder / PLAN).read_text("utf-8")
    assert "session: " in plan
    assert is_held(server.requests[-1])
    assert len(server.requests) == 2 + MOST_BLOCKS[OPEN]


def test_claude_code_shows_both_status_lines(tmp_path: Path):
    with ModelServer([Turn(DONE)]) as server:
        agent = agent_in(tmp_path, server)
        theirs = '{"statusLine": {"type": "command", "command": "echo my own line"}}'
        put(agent.home, "claude/settings.json", theirs)
        agent.fairlead("init", "Sample", "--yes")
        agent.fairlead("install", "claude", "--yes")
        screen = agent.claude_on_a_terminal(until="my own line │ ")

    line = next((line for line in screen.splitlines() if "my own line" in line), screen)
    assert "my own line │ " in line
    assert "Sonnet 4.5" not in line  # their line shows model and folder if they want


def test_codex_is_held_by_an_open_plan_and_then_released(tmp_path: Path):
    report = tmp_path / "work" / "REPORT.md"
    script = obedient(Call("exec_command", {"cmd": f"echo 'It works.' > {report}"}))
    with ModelServer(script) as server:
        agent = prepared(tmp_path, server, "codex")
        done = agent.codex("Do it")

    assert done.returncode == 0, done.stderr
    assert [is_held(request) for request in server.requests] == [False, True, True]
    assert "next: write REPORT.md" in server.requests[1].conversation
    assert report.read_text("utf-8") == "It works.\n"


def test_codex_is_released_without_a_limit_of_its_own(tmp_path: Path):
    with ModelServer([Turn(DONE)]) as server:
        agent = prepared(tmp_path, server, "codex")
        done = agent.codex("Do it")

    assert done.returncode == 0, done.stderr
    assert len(server.requests) == 1 + MOST_BLOCKS[OPEN]


# --- workflows, tools and plugins --------------------------------------------------------


FAIRLEAD = f"{ROOT}/.venv/bin/fairlead"
STATUS = {
    "claude": Call("Bash", {"command": f"{FAIRLEAD} status --json", "description": "Status"}),
    "codex": Call("exec_command", {"cmd": f"{FAIRLEAD} status --json"}),
}
CAPTURE = {
    "claude": Call(
        "Bash", {"command": f"{FAIRLEAD} capture 'A lamp' --json", "description": "Capture"}
    ),
    "codex": Call("exec_command", {"cmd": f"{FAIRLEAD} capture 'A lamp' --json"}),
}
OURS = ("fairlead-status", "fairlead-planner", "mcp__fairlead", "Facts about this project")


def spoken(agent: Agent, host: str, prompt: str) -> None:
    done = (
        agent.claude(prompt, "--allowedTools", "Bash") if host == "claude" else agent.codex(prompt)
    )
    assert done.returncode == 0, done.stderr + done.stdout


def with_project(tmp_path: Path, server: ModelServer, host: str) -> Agent:
    agent = agent_in(tmp_path, server)
    agent.fairlead("init", "Sample", "--yes")
    done = agent.fairlead("install", host, "--yes")
    assert done.returncode == 0, done.stderr
    return agent


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize(("host", "typed"), [("claude", "/"), ("codex", "$")])
def test_the_status_command_runs_inside_the_host(tmp_path: Path, host: str, typed: str):
    with ModelServer([Turn(calls=(STATUS[host],)), Turn(DONE)]) as server:
        agent = with_project(tmp_path, server, host)
        spoken(agent, host, f"{typed}fairlead-status")

    first, last = server.requests[0], server.requests[-1]
    assert "status --json" in first.conversation  # the text of the skill is in the prompt
    assert "Facts about this project" in first.conversation
    assert "recorded_status" in last.conversation  # and the document reaches the model


@pytest.mark.parametrize(("host", "typed"), [("claude", "/"), ("codex", "$")])
def test_a_workflow_runs_inside_the_host(tmp_path: Path, host: str, typed: str):
    with ModelServer([Turn(calls=(CAPTURE[host],)), Turn(DONE)]) as server:
        agent = with_project(tmp_path, server, host)
        spoken(agent, host, f"{typed}fairlead-capture A lamp")

    todos = [path for path in (agent.folder / ".planning").rglob("*.md") if "lamp" in path.name]
    assert todos


def asking_for(name: str, call: Call, wait: Call) -> Callable[[Request], Turn]:
    """A model that waits until a tool is on offer, uses it, and stops.

    Hosts start MCP servers beside the first requests.
    """
    asked: list[Request] = []

    def turn(request: Request) -> Turn:
        asked.append(request)
        if "recorded_status" in request.conversation or len(asked) > 40:
            return Turn(DONE)
        is_offered = name in json.dumps(request.body.get("tools"))
        return Turn(calls=(call if is_offered else wait,))

    return turn


def test_claude_code_lists_and_calls_the_tools(tmp_path: Path):
    name = "mcp__fairlead__status"
    wait = Call("Bash", {"command": "sleep 1", "description": "Wait"})
    with ModelServer(asking_for(name, Call(name, {}), wait)) as server:
        agent = with_project(tmp_path, server, "claude")
        agent.claude("Do it", "--allowedTools", f"Bash,{name}")

    assert name in server.requests[-1].tools
    assert "recorded_status" in server.requests[-1].conversation


def test_codex_lists_and_calls_the_tools(tmp_path: Path):
    wait = Call("exec_command", {"cmd": "sleep 1"})
    call = Call("status", {}, namespace="mcp__fairlead")
    with ModelServer(asking_for("mcp__fairlead", call, wait)) as server:
        agent = with_project(tmp_path, server, "codex")
        spoken(agent, "codex", "Do it")

    assert "mcp__fairlead" in json.dumps(server.requests[-1].body["tools"])
    assert "recorded_status" in server.requests[-1].conversation


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_uninstalling_after_a_session_removes_only_ours(tmp_path: Path, host: str):
    with ModelServer([Turn(DONE)]) as server:
        agent = agent_in(tmp_path, server)
        mine = "# Mine\n\nUse tabs.\n"
        put(agent.home, f"{host}/{'CLAUDE' if host == 'claude' else 'AGENTS'}.md", mine)
        agent.fairlead("install", host, "--yes")
        spoken(agent, host, "Do it")
        done = agent.fairlead("uninstall", host)

    assert done.returncode == 0, done.stderr
    left = files_below(agent.home / host)
    assert mine.encode() in left.values()
    settings = [
        name for name in left if name.endswith((".md", ".toml", "settings.json", ".claude.json"))
    ]
    assert [name for name in settings if b"fairlead" in left[name]] == []
    assert [name for name in left if "fairlead" in name] == []


def test_the_plugins_validate_strictly(tmp_path: Path):
    with ModelServer([Turn(DONE)]) as server:
        agent = agent_in(tmp_path, server)
        for place in (ROOT / "plugins" / "claude", ROOT):
            done = agent._run(agent_program("claude"), "plugin", "validate", "--strict", str(place))
            assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("is_installed", [True, False])
def test_a_plugin_and_an_installation_give_the_facts_once(tmp_path: Path, is_installed: bool):
    with ModelServer([Turn(DONE)]) as server:
        agent = agent_in(tmp_path, server)
        agent.fairlead("init", "Sample", "--yes")
        if is_installed:
            agent.fairlead("install", "claude", "--yes")
        agent.claude("Do it", "--plugin-dir", str(ROOT / "plugins" / "claude"))

    assert json.dumps(server.requests[0].body).count("Facts about this project") == 1


def test_codex_takes_the_plugin_from_the_repository(tmp_path: Path):
    with ModelServer([Turn(DONE)]) as server:
        agent = agent_in(tmp_path, server)
        (agent.home / "codex").mkdir()
        program = agent_program("codex")
        added = agent._run(program, "plugin", "marketplace", "add", str(ROOT))
        done = agent._run(program, "plugin", "add", "fairlead@fairlead")

    assert (added.returncode, done.returncode) == (0, 0), added.stderr + done.stderr
    assert list((agent.home / "codex").rglob("skills/status/SKILL.md"))


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_an_agent_that_fairlead_starts_sees_nothing_of_fairlead(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with ModelServer([Turn(DONE)]) as server:
        agent = a_real_agent(name, tmp_path / "home", server, monkeypatch)
        order = an_order(tmp_path, prompt="Do it", limits=PATIENT, model=MODELS[name])
        fairlead = [FAIRLEAD, "-C", order.folder]
        subprocess.run([*fairlead, "init", "Sample", "--yes"], check=True, capture_output=True)
        subprocess.run([*fairlead, "install", name, "--yes"], check=True, capture_output=True)
        call = called(agent, order)

    assert call.ending.kind is EndKind.OK
    for request in server.requests:
        text = json.dumps(request.body)
        assert [word for word in OURS if word in text] == []
