"""Real agents behind our adapters: they do the work, keep to reading, and fail by class.

Claude Code and Codex run here; OpenCode and Gemini, which take their time to start, only in the
long tier.
"""

from datetime import timedelta
from pathlib import Path

import pytest

from fairlead.agents.model import AgentStarted, CallLimits, CommandPermissions, EndKind
from tests.support.agents import an_order, called
from tests.support.model_server import ModelServer, Turn
from tests.support.real_agents import MODELS, a_real_agent, running, writing

pytestmark = pytest.mark.walk

SLOW = [pytest.param(name, marks=pytest.mark.long) for name in ("opencode", "gemini")]
ALL = ["claude", "codex", *SLOW]
LONG = timedelta(minutes=3)  # shared machines stall; a healthy run takes two seconds
PATIENT = CallLimits(wall=LONG, first_event=LONG, idle=LONG)
ASKED = "Write out.txt: the file is asked for. " + "words " * 170_000 + "the end of it"


def started(name, tmp_path, monkeypatch, script, **more):
    with ModelServer(script) as server:
        agent = a_real_agent(name, tmp_path / "home", server, monkeypatch)
        order = an_order(tmp_path, prompt=ASKED, limits=PATIENT, model=MODELS[name], **more)
        call = called(agent, order)
        return call, server


@pytest.mark.parametrize("name", ALL)
def test_a_real_agent_does_the_work_and_leaves_no_process(name, tmp_path: Path, monkeypatch):
    target = tmp_path / "work" / "out.txt"

    call, server = started(name, tmp_path, monkeypatch, writing(target))

    assert (call.ending.kind, call.ending.text) == (EndKind.OK, "the file is written")
    assert ASKED in server.requests[0].conversation  # a megabyte, and whole
    assert target.read_text() == "hello\n"
    assert call.ending.usage.tokens_in >= 200
    assert [event.session for event in call.events if isinstance(event, AgentStarted)] == [
        call.ending.session
    ]
    assert (call.ending.malformed_lines, call.left) == (0, [])


@pytest.mark.parametrize("name", ALL)
def test_a_real_agent_that_may_only_read_changes_nothing(name, tmp_path: Path, monkeypatch):
    target = tmp_path / "work" / "out.txt"

    call, _ = started(name, tmp_path, monkeypatch, writing(target), is_read_only=True)

    assert call.ending.kind is EndKind.OK
    assert list((tmp_path / "work").iterdir()) == []


VERIFY = """python3 -c 'print("a, b (c)")' | grep -q "(c)" && touch ran.txt"""
ALLOWED = CommandPermissions((VERIFY,), ("python3 -m unittest",))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("command", "commands"),
    [
        (VERIFY, ALLOWED),
        ("python3 -m unittest --help > ran.txt", ALLOWED),
        ("touch ran.txt; uname", CommandPermissions(is_unlimited=True)),
    ],
    ids=["the verify line", "a command of the project", "any command"],
)
def test_a_real_agent_runs_the_commands_it_may_run(
    name, command, commands, tmp_path: Path, monkeypatch
):
    call, _ = started(name, tmp_path, monkeypatch, running(command), commands=commands)

    assert (call.ending.kind, call.ending.denied) == (EndKind.OK, ())
    assert (tmp_path / "work/ran.txt").exists()


@pytest.mark.parametrize("name", [each for each in ALL if each != "codex"])  # it cannot refuse
def test_a_real_agent_runs_no_other_command(name, tmp_path: Path, monkeypatch):
    other = "python3 -c 'import os; os.mknod(\"ran.txt\")'"
    call, _ = started(name, tmp_path, monkeypatch, running(other), commands=ALLOWED)

    assert call.ending.kind is EndKind.OK
    assert not (tmp_path / "work/ran.txt").exists()


def test_codex_writes_to_its_worktree_and_its_own_temporary_folder_only(
    tmp_path: Path, monkeypatch
):
    command = f"touch in.txt $TMPDIR/in.txt; touch {tmp_path}/out.txt /tmp/out-{tmp_path.name}"
    call, _ = started("codex", tmp_path, monkeypatch, running(command), commands=ALLOWED)

    assert call.ending.kind is EndKind.OK
    assert [each.name for each in (tmp_path / "work").iterdir()] == ["in.txt"]
    assert (call.raw / "temporary/in.txt").exists()
    assert not (tmp_path / "out.txt").exists()
    assert not Path(f"/tmp/out-{tmp_path.name}").exists()


@pytest.mark.parametrize("name", ALL)
def test_a_refused_key_is_an_auth_failure(name, tmp_path: Path, monkeypatch):
    call, _ = started(name, tmp_path, monkeypatch, [Turn(status=401)])

    assert (call.ending.kind, call.left) == (EndKind.AUTH, [])
