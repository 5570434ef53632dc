"""Real agents behind our adapters: they do the work, keep to reading, and fail by class.

Claude Code and Codex run here; OpenCode and Gemini, which take their time to start, only in the
long tier.
"""

from datetime import timedelta
from pathlib import Path

import pytest

from fairlead.model.agent_events import EndKind, Started
from fairlead.model.agent_orders import Limits
from tests.support.agents import an_order, called
from tests.support.model_server import ModelServer, Turn
from tests.support.real_agents import MODELS, a_real_agent, writing

SLOW = [pytest.param(name, marks=pytest.mark.long) for name in ("opencode", "gemini")]
ALL = ["claude", "codex", *SLOW]
LONG = timedelta(minutes=3)  # shared machines stall; a healthy run takes two seconds
PATIENT = Limits(wall=LONG, first_event=LONG, idle=LONG)
ASKED = "Write out.txt: the file is asked for. " + "words " * 170_000 + "the end of it"


def started(name, tmp_path, monkeypatch, script, **more):
    with ModelServer(script) as server:
        agent = a_real_agent(name, tmp_path / "home", server, monkeypatch)
        order = an_order(tmp_path, prompt=ASKED, limits=PATIENT, model=MODELS[name], **more)
        call = called(agent, order)
        return call, server


@pytest.mark.parametrize("name", ALL)
def test_a_real_agent_does_the_work_and_leaves_nobody(name, tmp_path: Path, monkeypatch):
    target = tmp_path / "work" / "out.txt"

    call, server = started(name, tmp_path, monkeypatch, writing(target))

    assert (call.ending.kind, call.ending.text) == (EndKind.OK, "the file is written")
    assert ASKED in server.requests[0].conversation  # a megabyte, and whole
    assert target.read_text() == "hello\n"
    assert call.ending.usage.tokens_in >= 200
    assert [event.session for event in call.events if isinstance(event, Started)] == [
        call.ending.session
    ]
    assert (call.ending.malformed_lines, call.left) == (0, [])


@pytest.mark.parametrize("name", ALL)
def test_a_real_agent_that_may_only_read_changes_nothing(name, tmp_path: Path, monkeypatch):
    target = tmp_path / "work" / "out.txt"

    call, _ = started(name, tmp_path, monkeypatch, writing(target), is_read_only=True)

    assert call.ending.kind is EndKind.OK
    assert list((tmp_path / "work").iterdir()) == []


@pytest.mark.parametrize("name", ALL)
def test_a_refused_key_is_a_matter_for_a_person(name, tmp_path: Path, monkeypatch):
    call, _ = started(name, tmp_path, monkeypatch, [Turn(status=401)])

    assert (call.ending.kind, call.left) == (EndKind.AUTH, [])
