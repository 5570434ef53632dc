"""Plain models on loopback: what they answer, every way in which that goes wrong, and no key told."""

import os
from datetime import timedelta
from pathlib import Path

import pytest

from fairlead.adapters import registry
from fairlead.adapters.roll import Roll
from fairlead.engine.asking import Answer, Inquiry, Voice, ask
from fairlead.errors import NoModelClient, SettingValue, UnknownSetting
from fairlead.model.agent_events import EndKind, Retried, Said, Started, Usage
from fairlead.model.model_services import ModelService, described
from tests.support.agents import an_order, called
from tests.support.model_server import USAGE, Fault, ModelServer, Turn
from tests.support.models import KEY, VARIABLE, a_model, a_service, files_below, spoken

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
        heard = spoken(kind, server, usd_in=3.0, usd_out=15.0)

    assert (heard.ending.kind, heard.ending.text, heard.ending.is_cut) == ("ok", "a plan", False)
    assert heard.ending.usage == Usage(USAGE[0], 0, USAGE[1])
    assert heard.ending.cost_usd == pytest.approx((100 * 3 + 5 * 15) / 1e6)
    assert any(isinstance(each, Said) and each.is_piece for each in heard.events)
    assert any(isinstance(each, Started) and each.model for each in heard.events)


@pytest.mark.parametrize("kind", KINDS)
def test_the_prompt_goes_out_whole_and_the_cap_with_it(kind):
    prompt = "umlaut ü, " + "words " * 100_000 + "the end"
    with a_server(Turn("a plan")) as server:
        spoken(kind, server, prompt=prompt, max_tokens=8192)

    body = server.requests[0].body
    assert body["messages"] == [{"role": "user", "content": prompt}]
    assert (body["max_tokens"], body["stream"]) == (8192, True)


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_that_stops_at_the_cap_says_so(kind):
    with a_server(Turn("half a plan", is_cut=True)) as server:
        ending = spoken(kind, server).ending

    assert (ending.kind, ending.text, ending.is_cut) == (EndKind.OK, "half a plan", True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", STATUSES)
def test_a_status_is_told_by_its_class_after_one_request(status, kind):
    with a_server(Turn(status=status, retry_after_seconds=7)) as server:
        ending = spoken(kind, server).ending

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
def test_an_open_bill_is_a_matter_for_a_person_whatever_its_status(error, kind):
    with a_server(Turn(status=429, error=error)) as server:
        assert spoken(kind, server).ending.kind is EndKind.AUTH


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", BROKEN)
def test_every_way_to_go_wrong_has_its_class_and_is_no_answer(fault, kind):
    with a_server(Turn("a plan", fault=fault)) as server:
        ending = spoken(kind, server, seconds=0.5 if BROKEN[fault] == "timeout" else 20).ending

    assert (ending.kind, len(server.requests)) == (BROKEN[fault], 1)


@pytest.mark.parametrize(("kind", "last_word"), [("anthropic", 733), ("openai", 330)])
def test_a_stream_that_ends_anywhere_before_its_last_word_is_no_answer(kind, last_word):
    cuts = [*range(0, last_word, 37), None]
    turns = [
        Turn("a plan", fault=Fault.BREAK if at is not None else None, cut_at=at) for at in cuts
    ]
    with a_server(*turns) as server:
        kinds = [spoken(kind, server).ending.kind for _ in cuts]

    assert kinds[-1] is EndKind.OK
    assert set(kinds[:-1]) <= {EndKind.OVERLOADED, EndKind.INVALID_OUTPUT}


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_broken_answer_has_cost_is_counted(kind):
    with a_server(Turn("a plan", fault=Fault.RESET_LATE)) as server:
        ending = spoken(kind, server, prompt="words " * 100).ending

    assert ending.usage.tokens_in == (USAGE[0] if kind == "anthropic" else 150)


def test_a_server_that_knows_fewer_names_is_asked_with_those_it_knows():
    def picky(request):
        known = {"model", "messages", "stream", "max_completion_tokens"}
        unknown = sorted(set(request.body) - known)
        told = {"message": f"Unsupported parameter: {unknown[0]}"} if unknown else {}
        return Turn("a plan", status=400 if unknown else 200, error=told)

    with ModelServer(picky, has_asides=False) as server:
        ending = spoken("openai", server, max_tokens=100).ending

    assert (ending.kind, ending.text) == (EndKind.OK, "a plan")


def test_without_its_key_nobody_is_asked(tmp_path: Path):
    with a_server(Turn("a plan")) as server:
        call = called(a_model("openai", server), an_order(tmp_path))

    assert (call.ending.kind, call.ending.error) == (EndKind.AUTH, f"{VARIABLE} is not set")
    assert server.requests == []


def test_without_the_name_of_a_model_nobody_is_asked(tmp_path: Path, key):
    with a_server(Turn("a plan")) as server:
        service = ModelService("mine", "openai", "", server.url, VARIABLE)
        call = called(registry.agent("mine", commands=(service,)), an_order(tmp_path))

    assert "fairlead.models.mine.model" in call.ending.error
    assert server.requests == []


@pytest.mark.parametrize("kind", KINDS)
def test_no_key_is_told_by_anybody(kind, tmp_path: Path, key):
    def echo(request):
        held = {name.lower(): value for name, value in request.headers.items()}
        told = held.get("x-api-key", "") + held.get("authorization", "")
        return Turn(f"you sent {told}") if told.endswith(KEY) else Turn(status=400)

    with ModelServer(echo, has_asides=False) as server:
        call = called(a_model(kind, server), an_order(tmp_path))

    assert call.ending.text.endswith(f"[{VARIABLE}]")
    assert KEY not in repr((call.ending, call.events))
    assert [name for name, held in files_below(call.raw).items() if KEY.encode() in held] == []


def test_a_key_in_the_words_of_an_error_is_not_told(tmp_path: Path, key):
    with a_server(Turn(status=401, error={"message": f"Incorrect API key: {KEY}"})) as server:
        call = called(a_model("openai", server), an_order(tmp_path))

    assert call.ending.error == f"Incorrect API key: [{VARIABLE}]"
    assert [name for name, held in files_below(call.raw).items() if KEY.encode() in held] == []


def test_no_key_and_no_prompt_is_in_the_command(tmp_path: Path, key, monkeypatch):
    with a_server(Turn("a plan")) as server:
        agent = a_model("openai", server)
        words = agent._launch(an_order(tmp_path, prompt="a private thing")).words

    assert KEY not in repr(words)
    assert "private thing" not in repr(words)
    assert server.url not in repr(words)


def test_a_key_goes_to_nobody_else_but_its_service(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with a_server(Turn("a plan")) as server:
        values = {"kind": "openai", "model": "m", "base_url": f"{server.url}/v1"}
        commands = described({f"fairlead.models.mine.{key}": held for key, held in values.items()})
        call = called(registry.agent("mine", commands=commands), an_order(tmp_path))

    assert call.ending.kind is EndKind.OK
    assert KEY not in repr(server.requests[0].headers)


def test_the_wall_limit_holds_while_bytes_come_one_by_one(tmp_path: Path, key):
    with a_server(Turn(LONG_TEXT, fault=Fault.SLOW)) as server:
        call = called(a_model("openai", server), an_order(tmp_path), wall=4)

    assert call.ending.kind is EndKind.TIMEOUT
    assert call.ending.seconds < 15
    assert call.left == []


def test_a_call_that_is_not_wanted_any_more_ends_at_once(tmp_path: Path, key):
    with a_server(Turn(LONG_TEXT, fault=Fault.STALL)) as server:
        ending = a_model("openai", server).start(
            an_order(tmp_path), lambda _: None, lambda: not server.requests
        )

    assert (ending.kind, ending.seconds < 15) == (EndKind.KILLED, True)


# --- asking with retries ----------------------------------------------------------------------


def asked(tmp_path: Path, *agents, wall: float = 60) -> tuple[Answer, list[float]]:
    (tmp_path / "private").mkdir(mode=0o700)
    raw = str(tmp_path / "private" / "raw")
    question = Inquiry("seat", "plan it", str(tmp_path), raw, "job", 100, timedelta(seconds=wall))
    waits: list[float] = []
    voices = [Voice(each, "", each.name) for each in agents]

    def watch(event) -> None:
        waits.extend([event.delay_seconds] if isinstance(event, Retried) else [])

    return ask(question, voices, pause=lambda _: None, watch=watch), waits


def test_a_limit_and_a_lame_service_are_waited_out_as_they_ask(tmp_path: Path, key):
    turns = (Turn(status=429, retry_after_seconds=3), Turn(status=529), Turn("a plan"))
    with a_server(*turns) as server:
        answer, waits = asked(tmp_path, a_model("openai", server))

    assert (answer.text, waits) == ("a plan", [3.0, 2.0])
    assert [each.status for each in answer.tries] == ["rate_limited", "overloaded", "ok"]
    assert (answer.tokens_in, answer.tokens_out) == USAGE


def test_a_refused_key_goes_to_the_stand_in_without_a_pause(tmp_path: Path, key):
    with a_server(Turn(status=401), Turn("a plan")) as server:
        answer, waits = asked(tmp_path, a_model("openai", server), a_model("openai", server))

    assert (answer.text, waits, len(answer.tries)) == ("a plan", [], 2)


def test_a_service_that_never_answers_is_left_after_three_limits(tmp_path: Path, key):
    with a_server(Turn(fault=Fault.STALL)) as server:
        answer, waits = asked(tmp_path, a_model("openai", server), wall=2)

    assert (answer.status, waits) == ("absent", [1.0, 2.0])
    assert [each.status for each in answer.tries] == ["timeout"] * 3
    assert answer.ms < 30_000


# --- settings, and the roll -------------------------------------------------------------------


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
def test_a_description_that_cannot_hold_is_refused(fields, error):
    with pytest.raises(error) as caught:
        described({f"fairlead.models.mine.{key}": value for key, value in fields.items()})

    assert "fairlead.models.mine." in str(caught.value)


def test_a_description_is_read_with_its_defaults():
    known = {each.name: each for each in described({"fairlead.models.anthropic.model": "m"})}

    assert known["anthropic"] == ModelService(
        "anthropic", "anthropic", "m", key_env="ANTHROPIC_API_KEY"
    )
    assert known["openai"].key_env == "OPENAI_API_KEY"


def test_the_family_of_a_model_is_told_by_its_name_or_by_a_person():
    with a_server() as server:
        assert registry.family(a_model("anthropic", server)) == "claude"
        assert registry.family(a_model("openai", server), "llama3") == "llama"
        assert registry.family(a_model("openai", server, family="qwen")) == "qwen"


def test_the_roll_tells_models_without_asking_them(tmp_path: Path, key, monkeypatch):
    with a_server() as server:
        monkeypatch.setenv("PATH", os.devnull)
        found = Roll((a_service("openai", server),), (), str(tmp_path / "cache")).call()

    told = {each.name: each for each in found}
    assert (told["mine"].path, told["mine"].model) == (f"{server.url}/v1", "mock-model")
    assert (told["openai"].path, told["openai"].note) == ("", "OPENAI_API_KEY is not set")
    assert server.requests == []


def test_nobody_gets_a_model_without_naming_one(monkeypatch, key, tmp_path):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with a_server() as server:
        service = a_service("openai", server)
        names = {row().name for row in registry.makers((service,)).values() if row().service}

    assert names == {"anthropic", "openai", "mine"}


def test_a_missing_client_is_named_with_the_way_to_install_it():
    with pytest.raises(NoModelClient) as caught:
        registry.agent("old", commands=(ModelService("old", "no-such-client", "m"),))

    assert "pip install 'fairlead[models]'" in caught.value.hint
