"""Asking: who is asked how often, how long one waits, and what an answer tells."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from fairlead.engine.asking import LONGEST_PAUSE, Answer, Inquiry, Voice, ask
from fairlead.model.agent_events import AgentEvent, Ending, EndKind, Retried, Usage
from fairlead.model.agent_orders import Order

QUESTION = Inquiry("seat", "plan it", "/work", "/private/raw", "job", 8192, timedelta(seconds=180))
FINE = Ending(EndKind.OK, "a plan", usage=Usage(100, 0, 5), cost_usd=0.25, seconds=2.0)
PASSING = [EndKind.RATE_LIMITED, EndKind.OVERLOADED, EndKind.TIMEOUT, EndKind.IDLE]
LASTING = [each for each in EndKind if each not in (*PASSING, EndKind.OK)]


class Told:
    """An agent that ends as it is told, the last ending again and again."""

    def __init__(self, *endings: Ending, name: str = "told") -> None:
        self.name = name
        self._endings = endings
        self.orders: list[Order] = []

    def start(
        self,
        order: Order,
        watch: Callable[[AgentEvent], None],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Ending:
        self.orders.append(order)
        return self._endings[min(len(self.orders), len(self._endings)) - 1]


class Asked:
    """A question that was asked, with what was seen of it."""

    def __init__(self, *agents: Told, is_wanted: Callable[[], bool] = lambda: True) -> None:
        self.pauses: list[float] = []
        self.events: list[AgentEvent] = []
        voices = [Voice(each, f"model-{at}", f"family-{at}") for at, each in enumerate(agents)]
        self.answer: Answer = ask(
            QUESTION,
            voices,
            pause=self.pauses.append,
            is_wanted=is_wanted,
            watch=self.events.append,
        )

    @property
    def waited(self) -> list[float]:
        return [each.delay_seconds for each in self.events if isinstance(each, Retried)]


def ended(kind: EndKind, **more) -> Ending:
    return Ending(kind, error="so it is", usage=Usage(10, 0, 1), seconds=0.5, **more)


def test_an_answer_names_its_voice_and_what_it_took():
    agent = Told(FINE)

    answer = Asked(agent).answer

    assert (answer.status, answer.is_ok, answer.text) == ("ok", True, "a plan")
    assert answer.voice == Voice(agent, "model-0", "family-0")
    assert (answer.tokens_in, answer.tokens_out, answer.cost_usd, answer.ms) == (100, 5, 0.25, 2000)


def test_every_question_is_asked_for_reading_only_within_its_limits():
    agent = Told(FINE)

    Asked(agent)

    order = agent.orders[0]
    assert (order.is_read_only, order.max_tokens, order.model) == (True, 8192, "model-0")
    assert order.limits.wall == order.limits.idle == QUESTION.wall


@pytest.mark.parametrize("kind", PASSING)
def test_what_may_pass_is_asked_three_times_with_one_and_two_seconds_between(kind):
    agent = Told(ended(kind))

    asked = Asked(agent)

    assert (asked.answer.status, len(agent.orders)) == ("absent", 3)
    assert (asked.waited, sum(asked.pauses)) == ([1.0, 2.0], 3.0)
    assert asked.answer.error == f"{kind}: so it is"


@pytest.mark.parametrize("kind", LASTING)
def test_what_will_not_pass_is_not_asked_again(kind):
    agent = Told(ended(kind))

    asked = Asked(agent)

    assert (len(agent.orders), asked.pauses) == (1, [])


def test_a_fallback_answers_and_all_tries_are_told():
    asked = Asked(Told(ended(EndKind.OVERLOADED)), Told(FINE))

    answer = asked.answer
    assert answer.voice
    assert answer.voice.family == "family-1"
    assert [each.status for each in answer.tries] == ["overloaded"] * 3 + ["ok"]
    assert (answer.tokens_in, answer.ms) == (130, 3500)


def test_what_nobody_prices_is_priced_by_us():
    answer = Asked(Told(ended(EndKind.OVERLOADED), FINE)).answer

    assert answer.cost_usd == pytest.approx((10 * 3 + 1 * 15) / 1e6 + 0.25)


def test_each_try_has_a_private_folder_of_its_own():
    first, second = Told(ended(EndKind.IDLE)), Told(FINE)

    Asked(first, second)

    folders = [order.raw for order in (*first.orders, *second.orders)]
    assert folders == [f"/private/raw-{at}" for at in (1, 2, 3, 4)]


@pytest.mark.parametrize(("told", "waited"), [(0.0, 0.0), (7.0, 7.0), (86_400.0, LONGEST_PAUSE)])
def test_one_waits_as_long_as_the_service_asks_within_reason(told, waited):
    asked = Asked(Told(ended(EndKind.RATE_LIMITED, retry_after=told), FINE))

    assert asked.waited == [waited]
    assert sum(asked.pauses) == waited


def test_an_empty_answer_is_none():
    answer = Asked(Told(Ending(EndKind.OK, "  \n", usage=Usage(10, 0, 1)))).answer

    assert (answer.status, answer.tries[0].status) == ("absent", "invalid_output")
    assert answer.tokens_in == 10


def test_a_cut_answer_says_so():
    assert Asked(Told(Ending(EndKind.OK, "half a", is_cut=True))).answer.is_cut


@pytest.mark.parametrize(
    ("characters", "tokens", "kept"),
    [(40_000, 9_000, 32_768), (40_000, 8_192, 40_000), (32_768, 9_000, 32_768)],
)
def test_an_agent_without_a_cap_is_cut_where_the_cap_is(characters, tokens, kept):
    long = Ending(EndKind.OK, "x" * characters, usage=Usage(1, 0, tokens))

    answer = Asked(Told(long)).answer

    assert (len(answer.text), answer.is_cut) == (kept, kept < characters)


def test_an_answer_whose_tokens_are_a_guess_is_not_cut():
    long = Ending(EndKind.OK, "x" * 40_000, usage=Usage(1, 0, 10_000), is_estimated=True)

    assert not Asked(Told(long)).answer.is_cut


def test_nobody_is_asked_when_it_is_not_wanted():
    agent = Told(FINE)

    asked = Asked(agent, is_wanted=lambda: False)

    assert (asked.answer.status, agent.orders) == ("absent", [])


def test_a_pause_ends_when_the_answer_is_not_wanted_any_more():
    agent = Told(ended(EndKind.RATE_LIMITED, retry_after=50.0))
    looks = iter([True, True, True])

    asked = Asked(agent, is_wanted=lambda: next(looks, False))

    assert (asked.pauses, len(agent.orders)) == ([1.0, 1.0], 1)


def test_without_a_voice_the_answer_is_absent():
    assert Asked().answer == Answer("absent")  # type: ignore[arg-type]
