"""The real Claude Code and Codex call the installed hooks: held, told what to do, let go."""

import json
import subprocess
from pathlib import Path

import pytest

from fairlead.model.stopping import MOST_BLOCKS, OPEN
from tests.support.hosts import Agent, agent_in
from tests.support.model_server import Call, ModelServer, Request, Turn
from tests.support.plan_files import PLAN, plan_text, put
from tests.support.programs import ROOT

CRITERION = 'exit_criteria:\n  - text: "The report is written"\n    check: {file: REPORT.md}\n'
PLANNED = plan_text(criteria=()).replace("exit_criteria:\n", CRITERION)
DONE = "FINAL: done"


def prepared(tmp_path: Path, server: ModelServer, host: str) -> Agent:
    agent = agent_in(tmp_path, server)
    put(agent.folder, PLAN, PLANNED)
    done = agent.fairlead("install", host)
    assert done.returncode == 0, done.stderr
    return agent


def is_held(request: Request) -> bool:
    return "is not complete. What is missing" in request.conversation


def obedient(call: Call) -> tuple[Turn, ...]:
    """A model that stops, does what it is told, and stops again."""
    return Turn(DONE), Turn(calls=(call,)), Turn(DONE)


def restless(request: Request) -> Turn:
    """A model that answers every block by a tool and never does what it is told.

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


def test_claude_code_is_held_by_an_unmet_plan_told_what_to_do_and_let_go(tmp_path: Path):
    report = tmp_path / "work" / "REPORT.md"
    script = obedient(Call("Write", {"file_path": str(report), "content": "It works.\n"}))
    with ModelServer(script) as server:
        agent = prepared(tmp_path, server, "claude")
        result = result_of(agent.claude("Do it"))

    first, held, last = server.requests
    assert not is_held(first)
    assert is_held(held)
    assert "next: write REPORT.md" in held.conversation
    assert not is_held(Request("", {"messages": last.body["messages"][-1:]}))
    assert (result["result"], report.read_text("utf-8")) == (DONE, "It works.\n")


def test_claude_code_begins_with_the_facts_of_the_project(tmp_path: Path):
    with ModelServer([Turn(DONE)]) as server:
        agent = prepared(tmp_path, server, "claude")
        agent.fairlead("init", "Sample", "--yes")
        agent.claude("Do it")

    assert "Facts about this project" in server.requests[0].conversation
    assert "The report is written" in server.requests[0].conversation


def test_claude_code_is_let_go_when_nothing_changes_though_tools_are_called(tmp_path: Path):
    with ModelServer(restless) as server:
        agent = prepared(tmp_path, server, "claude")
        result = result_of(agent.claude("Do it"))

    assert result["result"] == DONE
    # The first answer, and for each block a call of a tool and another answer.
    assert len(server.requests) == 1 + 2 * MOST_BLOCKS[OPEN]


def test_claude_code_stops_at_once_when_the_plan_is_met(tmp_path: Path):
    with ModelServer([Turn(DONE)]) as server:
        agent = prepared(tmp_path, server, "claude")
        put(agent.folder, "REPORT.md", "It works.\n")
        result_of(agent.claude("Do it"))

    assert len(server.requests) == 1


def test_claude_code_records_the_end_of_its_session(tmp_path: Path):
    with ModelServer([Turn(DONE)]) as server:
        agent = prepared(tmp_path, server, "claude")
        put(agent.folder, "REPORT.md", "It works.\n")
        agent.fairlead("init", "Sample", "--yes")
        before = (agent.folder / ".planning" / "STATE.md").read_text("utf-8")
        result_of(agent.claude("Do it"))

    after = (agent.folder / ".planning" / "STATE.md").read_text("utf-8")
    assert "Last session: " in after
    assert after != before


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_the_session_that_begins_a_plan_itself_is_held_by_it(tmp_path: Path, host: str):
    # By its place: a login shell has a path of its own.
    begin = f"{ROOT}/.venv/bin/fairlead planning start 'A goal'"
    calls = {
        "claude": Call("Bash", {"command": begin, "description": "Begin"}),
        "codex": Call("exec_command", {"cmd": begin}),
    }
    with ModelServer([Turn(calls=(calls[host],)), Turn(DONE)]) as server:
        agent = agent_in(tmp_path, server)
        agent.fairlead("install", host)
        if host == "claude":
            agent.claude("Do it", "--allowedTools", "Bash")
        else:
            agent.codex("Do it")

    plan = (agent.folder / PLAN).read_text("utf-8")
    assert "session: " in plan
    assert is_held(server.requests[-1])
    assert len(server.requests) == 2 + MOST_BLOCKS[OPEN]


def test_claude_code_shows_the_status_line_beside_the_persons_own(tmp_path: Path):
    with ModelServer([Turn(DONE)]) as server:
        agent = agent_in(tmp_path, server)
        theirs = '{"statusLine": {"type": "command", "command": "echo my own line"}}'
        put(agent.home, "claude/settings.json", theirs)
        agent.fairlead("init", "Sample", "--yes")
        agent.fairlead("install", "claude")
        screen = agent.claude_on_a_terminal(until="my own line │ ")

    line = next((line for line in screen.splitlines() if "my own line" in line), screen)
    assert "│ work" in line
    assert "Sonnet 4.5" in line


def test_codex_is_held_by_an_unmet_plan_told_what_to_do_and_let_go(tmp_path: Path):
    report = tmp_path / "work" / "REPORT.md"
    script = obedient(Call("exec_command", {"cmd": f"echo 'It works.' > {report}"}))
    with ModelServer(script) as server:
        agent = prepared(tmp_path, server, "codex")
        done = agent.codex("Do it")

    assert done.returncode == 0, done.stderr
    assert [is_held(request) for request in server.requests] == [False, True, True]
    assert "next: write REPORT.md" in server.requests[1].conversation
    assert report.read_text("utf-8") == "It works.\n"


def test_codex_is_let_go_though_it_has_no_limit_of_its_own(tmp_path: Path):
    with ModelServer([Turn(DONE)]) as server:
        agent = prepared(tmp_path, server, "codex")
        done = agent.codex("Do it")

    assert done.returncode == 0, done.stderr
    assert len(server.requests) == 1 + MOST_BLOCKS[OPEN]
