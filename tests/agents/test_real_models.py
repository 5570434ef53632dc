"""Real agent programs and a real client as respondents of a council: read-only, and asked in one way."""

from datetime import timedelta
from pathlib import Path

import pytest

from fairlead.agents import registry
from fairlead.agents.ask import AskResult, Inquiry, Respondent, ask
from fairlead.agents.model import EndKind
from tests.support.model_server import ModelServer, Request, Turn
from tests.support.models import KEY, VARIABLE, a_model
from tests.support.real_agents import MODELS, a_real_agent, write_call

pytestmark = pytest.mark.walk

PLAN = "## Summary\n\nOne step, and a test for it."
LONG = timedelta(minutes=3)  # shared machines stall; a healthy call takes two seconds


def asked(tmp_path: Path, *respondents: Respondent) -> AskResult:
    work, private = tmp_path / "work", tmp_path / "private"
    work.mkdir()
    private.mkdir(mode=0o700)
    question = Inquiry("seat", "Plan it.", str(work), str(private / "raw"), "job", 8192, LONG)
    answer = ask(question, respondents, pause=lambda _: None)
    assert list(work.iterdir()) == []
    return answer


def a_voice(name: str, tmp_path: Path, server: ModelServer, monkeypatch) -> Respondent:
    agent = a_real_agent(name, tmp_path / "home", server, monkeypatch)
    return Respondent(agent, MODELS[name], registry.family(agent, MODELS[name]))


def planning(request: Request) -> Turn:
    """A model that would rather write a file than answer, if anybody let it."""
    call = write_call(request.tools, Path("plan.md"), "a plan")
    is_first = PLAN not in request.conversation and "plan.md" not in request.conversation
    return Turn(calls=(call,)) if call and is_first else Turn(PLAN)


@pytest.mark.parametrize(("name", "family"), [("claude", "claude"), ("codex", "other")])
def test_a_real_agent_answers_a_question_and_writes_nothing(name, family, tmp_path, monkeypatch):
    with ModelServer(planning) as server:
        respondent = a_voice(name, tmp_path, server, monkeypatch)
        answer = asked(tmp_path, respondent)

    assert (answer.status, answer.text, answer.is_cut) == ("ok", PLAN, False)
    assert (answer.respondent, answer.tries[0].family) == (respondent, family)
    assert answer.tokens_in >= 100


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_real_agent_with_an_overloaded_service_is_asked_again(name, tmp_path, monkeypatch):
    with ModelServer([Turn(status=529), Turn(PLAN)]) as server:
        answer = asked(tmp_path, a_voice(name, tmp_path, server, monkeypatch))

    assert answer.text == PLAN
    assert [each.status for each in answer.tries] == ["overloaded", "ok"]


def test_a_model_takes_the_seat_of_an_agent_whose_key_is_refused(tmp_path, monkeypatch):
    with (
        ModelServer([Turn(status=401)]) as refusing,
        ModelServer([Turn(PLAN)], has_asides=False) as server,
    ):
        first = a_voice("claude", tmp_path, refusing, monkeypatch)
        monkeypatch.setenv(VARIABLE, KEY)
        second = Respondent(a_model("openai", server), "llama3", "llama")
        answer = asked(tmp_path, first, second)

    assert (answer.text, answer.respondent) == (PLAN, second)
    assert [each.status for each in answer.tries] == [EndKind.AUTH, EndKind.OK]
    assert server.requests[0].body["model"] == "llama3"
