"""Plain models on loopback: their answers, every kind of failure, and keys that never leak."""

import os
from datetime import timedelta
from pathlib import Path

import pytest

from fairlead.agents import registry
from fairlead.agents.ask import AskResult, Inquiry, Respondent, ask
from fairlead.agents.custom_agents import ModelService, custom_agents
from fairlead.agents.discovery import AgentDiscovery
from fairlead.agents.errors import NoModelClient
from fairlead.agents.model import AgentStarted, AgentText, EndKind, ModelRetried, TokenUsage
from fairlead.core.errors import SettingValue, UnknownSetting
from tests.support.agents import an_order, called
from tests.support.model_server import USAGE, Fault, ModelServer, Turn
from tests.support.models import KEY, VARIABLE, a_model, a_service, files_below, model_output

KINDS = ["anthropic", "openai"]
BROKEN = {
    Fault.BREAK: EndKind.OVERLOADED,
    Fault.RESET: EndKind.OVERLOADED,
    Fault.RESET_LATE: EndKind.OVERLOADED,
    Fault.ERROR_EVENT: EndKind.OVERLOADED,
    Fault.PAGE: EndKind.INVALID_OUTPUT,
    Fault.GARBLED: EndKind.INVALID_OUTPUT,
    Fault.EMPTY: EndKind.INVALID_OUTPUT,
    Fault.OTHER_SHAPE: EndKind.INVALID_OUTPUT,
    Fault.REDIRECT: EndKind.FAILED,
    Fault.SILENCE: EndKind.TIMEOUT,
    Fault.STALL: EndKind.TIMEOUT,
}
STATUSES = {
    400: EndKind.FAILED,
    401: EndKind.AUTH,
    402: EndKind.AUTH,
    403: EndKind.AUTH,
    404: EndKind.FAILED,
    408: EndKind.OVERLOADED,
    413: EndKind.FAILED,
    429: EndKind.RATE_LIMITED,
    500: EndKind.OVERLOADED,
    503: EndKind.OVERLOADED,
    529: EndKind.OVERLOADED,
}
LONG_TEXT = "word " * 4000


def a_server(*turns: Turn) -> ModelServer:
    return ModelServer(turns, has_asides=False)


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv(VARIABLE, KEY)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_answers_in_pieces_with_its_tokens_and_its_price(kind):
    with a_server(Turn("a plan")) as server:
        heard = model_output(kind, server, usd_in=3.0, usd_out=15.0)

    assert (heard.ending.kind, heard.ending.text, heard.ending.is_cut) == ("ok", "a plan", False)
    assert heard.ending.usage == TokenUsage(USAGE[0], 0, USAGE[1])
    assert heard.ending.cost_usd == pytest.approx((100 * 3 + 5 * 15) / 1e6)
    assert any(isinstance(each, AgentText) and each.is_piece for each in heard.events)
    assert any(isinstance(each, AgentStarted) and each.model for each in heard.events)


@pytest.mark.parametrize("kind", KINDS)
def test_the_complete_prompt_and_the_cap_are_sent(kind):
    prompt = "umlaut ü, " + "words " * 100_000 + "the end"
    with a_server(Turn("a plan")) as server:
        model_output(kind, server, prompt=prompt, max_tokens=8192)

    body = server.requests[0].body
    assert body["messages"] == [{"role": "user", "content": prompt}]
    assert (body["max_tokens"], body["stream"]) == (8192, True)


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_that_stops_at_the_cap_is_marked(kind):
    with a_server(Turn("half a plan", is_cut=True)) as server:
        ending = model_output(kind, server).ending

    assert (ending.kind, ending.text, ending.is_cut) == (EndKind.OK, "half a plan", True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", STATUSES)
def test_an_http_status_is_classified_after_one_request(status, kind):
    with a_server(Turn(status=status, retry_after_seconds=7)) as server:
        ending = model_output(kind, server).ending

    assert (ending.kind, ending.error, ending.retry_after) == (
        STATUSES[status],
        f"scripted {status}",
        7.0,
    )
    assert len(server.requests) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "error",
    [
        {"type": "insufficient_quota"},
        {"type": "billing_error"},
        {"message": "Your credit balance is too low to access the API."},
    ],
)
def test_an_unpaid_bill_is_an_auth_failure_whatever_its_status(error, kind):
    with a_server(Turn(status=429, error=error)) as server:
        assert model_output(kind, server).ending.kind is EndKind.AUTH


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", BROKEN)
def test_every_failure_is_classified_and_is_no_answer(fault, kind):
    with a_server(Turn("a plan", fault=fault)) as server:
        ending = model_output(
            kind, server, seconds=0.5 if BROKEN[fault] == "timeout" else 20
        ).ending

    assert (ending.kind, len(server.requests)) == (BROKEN[fault], 1)


@pytest.mark.parametrize(("kind", "last_word"), [("anthropic", 733), ("openai", 330)])
def test_a_stream_that_ends_before_its_last_event_is_no_answer(kind, last_word):
    cuts = [*range(0, last_word, 37), None]
    turns = [
        Turn("a plan", fault=Fault.BREAK if at is not None else None, cut_at=at) for at in cuts
    ]
    with a_server(*turns) as server:
        kinds = [model_output(kind, server).ending.kind for _ in cuts]

    assert kinds[-1] is EndKind.OK
    assert set(kinds[:-1]) <= {EndKind.OVERLOADED, EndKind.INVALID_OUTPUT}


@pytest.mark.parametrize("kind", KINDS)
def test_the_cost_of_a_broken_answer_is_counted(kind):
    with a_server(Turn("a plan", fault=Fault.RESET_LATE)) as server:
        ending = model_output(kind, server, prompt="words " * 100).ending

    assert ending.usage.tokens_in == (USAGE[0] if kind == "anthropic" else 150)


def test_a_parameter_that_a_server_refuses_is_not_sent_again():
    def picky(request):
        known = {"model", "messages", "stream", "max_completion_tokens"}
        unknown = sorted(set(request.body) - known)
        sent = {"message": f"Unsupported parameter: {unknown[0]}"} if unknown else {}
        return Turn("a plan", status=400 if unknown else 200, error=sent)

    with ModelServer(picky, has_asides=False) as server:
        ending = model_output("openai", server, max_tokens=100).ending

    assert (ending.kind, ending.text) == (EndKind.OK, "a plan")


def test_without_its_key_no_request_is_made(tmp_path: Path):
    with a_server(Turn("a plan")) as server:
        call = called(a_model("openai", server), an_order(tmp_path))

    assert (call.ending.kind, call.ending.error) == (EndKind.AUTH, f"{VARIABLE} is not set")
    assert server.requests == []


def test_without_a_model_name_no_request_is_made(tmp_path: Path, key):
    with a_server(Turn("a plan")) as server:
        service = ModelService("mine", "openai", "", server.url, VARIABLE)
        call = called(registry.agent("mine", custom=(service,)), an_order(tmp_path))

    assert "fairlead.models.mine.model" in call.ending.error
    assert server.requests == []


@pytest.mark.sweep(1)
@pytest.mark.parametrize("kind", KINDS)
def test_no_output_contains_a_key(kind, tmp_path: Path, key):
    def echo(request):
        content = {name.lower(): value for name, value in request.headers.items()}
        sent = content.get("x-api-key", "") + content.get("authorization", "")
        return Turn(f"you sent {sent}") if sent.endswith(KEY) else Turn(status=400)

    with ModelServer(echo, has_asides=False) as server:
        call = called(a_model(kind, server), an_order(tmp_path))

    assert call.ending.text.endswith(f"[{VARIABLE}]")
    assert KEY not in repr((call.ending, call.events))
    assert [
        name for name, content in files_below(call.raw).items() if KEY.encode() in content
    ] == []


def test_a_key_in_an_error_message_is_removed(tmp_path: Path, key):
    with a_server(Turn(status=401, error={"message": f"Incorrect API key: {KEY}"})) as server:
        call = called(a_model("openai", server), an_order(tmp_path))

    assert call.ending.error == f"Incorrect API key: [{VARIABLE}]"
    assert [
        name for name, content in files_below(call.raw).items() if KEY.encode() in content
    ] == []


def test_no_key_and_no_prompt_is_in_the_command(tmp_path: Path, key, monkeypatch):
    with a_server(Turn("a plan")) as server:
        agent = a_model("openai", server)
        words = agent._launch(an_order(tmp_path, prompt="a private thing")).words

    assert KEY not in repr(words)
    assert "private thing" not in repr(words)
    assert server.url not in repr(words)


def test_a_key_is_sent_to_its_own_service_only(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with a_server(Turn("a plan")) as server:
        values = {"kind": "openai", "model": "m", "base_url": f"{server.url}/v1"}
        commands = custom_agents(
            {f"fairlead.models.mine.{key}": content for key, content in values.items()}
        )
        call = called(registry.agent("mine", custom=commands), an_order(tmp_path))

    assert call.ending.kind is EndKind.OK
    assert KEY not in repr(server.requests[0].headers)


@pytest.mark.walk
def test_the_wall_limit_holds_while_bytes_arrive_one_by_one(tmp_path: Path, key):
    with a_server(Turn(LONG_TEXT, fault=Fault.SLOW)) as server:
        call = called(a_model("openai", server), an_order(tmp_path), wall=4)

    assert (call.ending.kind, call.left) == (EndKind.TIMEOUT, [])


@pytest.mark.walk
def test_a_call_that_is_no_longer_wanted_is_ended(tmp_path: Path, key):
    with a_server(Turn(LONG_TEXT, fault=Fault.STALL)) as server:
        ending = a_model("openai", server).start(
            an_order(tmp_path), lambda _: None, lambda: not server.requests
        )

    assert ending.kind is EndKind.KILLED


# --- asking with retries ----------------------------------------------------------------------


def asked(tmp_path: Path, *agents, wall: float = 60) -> tuple[AskResult, list[float]]:
    (tmp_path / "private").mkdir(mode=0o700)
    raw = str(tmp_path / "private" / "raw")
    question = Inquiry("seat", "plan it", str(tmp_path), raw, "job", 100, timedelta(seconds=wall))
    waits: list[float] = []
    respondents = [Respondent(each, "", each.name) for each in agents]

    def watch(event) -> None:
        waits.extend([event.delay_seconds] if isinstance(event, ModelRetried) else [])

    return ask(question, respondents, pause=lambda _: None, watch=watch), waits


@pytest.mark.walk
def test_a_rate_limit_and_an_overload_are_waited_out(tmp_path: Path, key):
    turns = (Turn(status=429, retry_after_seconds=3), Turn(status=529), Turn("a plan"))
    with a_server(*turns) as server:
        answer, waits = asked(tmp_path, a_model("openai", server))

    assert (answer.text, waits) == ("a plan", [3.0, 2.0])
    assert [each.status for each in answer.tries] == ["rate_limited", "overloaded", "ok"]
    assert (answer.tokens_in, answer.tokens_out) == USAGE


@pytest.mark.walk
def test_a_refused_key_moves_on_to_the_substitute_without_a_pause(tmp_path: Path, key):
    with a_server(Turn(status=401), Turn("a plan")) as server:
        answer, waits = asked(tmp_path, a_model("openai", server), a_model("openai", server))

    assert (answer.text, waits, len(answer.tries)) == ("a plan", [], 2)


@pytest.mark.walk
def test_a_silent_service_is_given_up_after_three_attempts(tmp_path: Path, key):
    with a_server(Turn(fault=Fault.STALL)) as server:
        answer, waits = asked(tmp_path, a_model("openai", server), wall=2)

    assert (answer.status, waits) == ("absent", [1.0, 2.0])
    assert [each.status for each in answer.tries] == ["timeout"] * 3
    assert answer.ms < 30_000


# --- settings and discovery -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"model": "m"}, SettingValue),  # and no kind
        ({"kind": "morse"}, SettingValue),
        ({"kind": "openai", "base_url": "ftp://there"}, SettingValue),
        ({"kind": "openai", "base_url": "https://me:secret@there/v1"}, SettingValue),
        ({"kind": "openai", "base_url": "http://there/v1", "key_env": "A_KEY"}, SettingValue),
        ({"kind": "openai", "key_env": "sk-ant-123"}, SettingValue),
        ({"kind": "openai", "usd_in": -1}, SettingValue),
        ({"kind": "openai", "api_key": "sk-123"}, UnknownSetting),
    ],
)
def test_a_wrong_description_is_refused(fields, error):
    with pytest.raises(error) as caught:
        custom_agents({f"fairlead.models.mine.{key}": value for key, value in fields.items()})

    assert "fairlead.models.mine." in str(caught.value)


def test_a_description_is_read_with_its_defaults():
    known = {each.name: each for each in custom_agents({"fairlead.models.anthropic.model": "m"})}

    assert known["anthropic"] == ModelService(
        "anthropic", "anthropic", "m", key_env="ANTHROPIC_API_KEY"
    )
    assert known["openai"] == ModelService("openai", "openai", key_env="OPENAI_API_KEY")


def test_the_family_of_a_model_follows_from_its_name_or_the_settings():
    with a_server() as server:
        assert registry.family(a_model("anthropic", server)) == "claude"
        assert registry.family(a_model("openai", server), "llama3") == "llama"
        assert registry.family(a_model("openai", server, family="qwen")) == "qwen"


def test_discovery_lists_models_without_asking_them(tmp_path: Path, key, monkeypatch):
    with a_server() as server:
        monkeypatch.setenv("PATH", os.devnull)
        found = AgentDiscovery((a_service("openai", server),), (), str(tmp_path / "cache")).agents()

    sent = {each.name: each for each in found}
    assert (sent["mine"].path, sent["mine"].model) == (f"{server.url}/v1", "mock-model")
    assert (sent["openai"].path, sent["openai"].note) == ("", "OPENAI_API_KEY is not set")
    assert server.requests == []


def test_a_model_is_never_chosen_without_naming_it(monkeypatch, key, tmp_path):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with a_server() as server:
        service = a_service("openai", server)
        names = {
            row().name for row in registry.driver_factories((service,)).values() if row().service
        }

    assert names == {"anthropic", "openai", "mine"}


def test_a_missing_client_package_is_an_error():
    with pytest.raises(NoModelClient) as caught:
        registry.agent("old", custom=(ModelService("old", "no-such-client", "m"),))

    assert "pip install 'fairlead[models]'" in caught.value.hint
