"""Asking: who is asked how often, how long one waits, and what an answer tells."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from fairlead.agents.ask import LONGEST_PAUSE, AskResult, Inquiry, Respondent, ask
from fairlead.agents.model import (
    AgentCall,
    AgentEvent,
    CallResult,
    EndKind,
    ModelRetried,
    TokenUsage,
)

QUESTION = Inquiry("seat", "plan it", "/work", "/private/raw", "job", 8192, timedelta(seconds=180))
FINE = CallResult(EndKind.OK, "a plan", usage=TokenUsage(100, 0, 5), cost_usd=0.25, seconds=2.0)
PASSING = [EndKind.RATE_LIMITED, EndKind.OVERLOADED, EndKind.TIMEOUT, EndKind.IDLE]
LASTING = [each for each in EndKind if each not in (*PASSING, EndKind.OK)]


class ScriptedAgent:
    """An agent that ends as it is result, the last ending again and again."""

    def __init__(self, *endings: CallResult, name: str = "result") -> None:
        self.name = name
        self._endings = endings
        self.orders: list[AgentCall] = []

    def start(
        self,
        order: AgentCall,
        watch: Callable[[AgentEvent], None],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> CallResult:
        self.orders.append(order)
        return self._endings[min(len(self.orders), len(self._endings)) - 1]


class AskedQuestion:
    """A question that was asked, with what was seen of it."""

    def __init__(
        self, *agents: ScriptedAgent, is_wanted: Callable[[], bool] = lambda: True
    ) -> None:
        self.pauses: list[float] = []
        self.events: list[AgentEvent] = []
        respondents = [
            Respondent(each, f"model-{at}", f"family-{at}") for at, each in enumerate(agents)
        ]
        self.answer: AskResult = ask(
            QUESTION,
            respondents,
            pause=self.pauses.append,
            is_wanted=is_wanted,
            watch=self.events.append,
        )

    @property
    def waited(self) -> list[float]:
        return [each.delay_seconds for each in self.events if isinstance(each, ModelRetried)]


def ended(kind: EndKind, **more) -> CallResult:
    return CallResult(kind, error="so it is", usage=TokenUsage(10, 0, 1), seconds=0.5, **more)


def test_an_answer_names_its_respondent_and_its_cost():
    agent = ScriptedAgent(FINE)

    answer = AskedQuestion(agent).answer

    assert (answer.status, answer.is_ok, answer.text) == ("ok", True, "a plan")
    assert answer.respondent == Respondent(agent, "model-0", "family-0")
    assert (answer.tokens_in, answer.tokens_out, answer.cost_usd, answer.ms) == (100, 5, 0.25, 2000)


def test_every_call_is_read_only_and_within_its_limits():
    agent = ScriptedAgent(FINE)

    AskedQuestion(agent)

    order = agent.orders[0]
    assert (order.is_read_only, order.max_tokens, order.model) == (True, 8192, "model-0")
    assert order.limits.wall == order.limits.idle == QUESTION.wall


@pytest.mark.parametrize("kind", PASSING)
def test_a_temporary_failure_is_retried_after_one_and_two_seconds(kind):
    agent = ScriptedAgent(ended(kind))

    asked = AskedQuestion(agent)

    assert (asked.answer.status, len(agent.orders)) == ("absent", 3)
    assert (asked.waited, sum(asked.pauses)) == ([1.0, 2.0], 3.0)
    assert asked.answer.error == f"{kind}: so it is"


@pytest.mark.parametrize("kind", LASTING)
def test_a_permanent_failure_is_not_retried(kind):
    agent = ScriptedAgent(ended(kind))

    asked = AskedQuestion(agent)

    assert (len(agent.orders), asked.pauses) == (1, [])


def test_a_fallback_answers_and_every_attempt_is_recorded():
    asked = AskedQuestion(ScriptedAgent(ended(EndKind.OVERLOADED)), ScriptedAgent(FINE))

    answer = asked.answer
    assert answer.respondent
    assert answer.respondent.family == "family-1"
    assert [each.status for each in answer.tries] == ["overloaded"] * 3 + ["ok"]
    assert (answer.tokens_in, answer.ms) == (130, 3500)


def test_a_call_without_a_reported_price_gets_a_computed_one():
    answer = AskedQuestion(ScriptedAgent(ended(EndKind.OVERLOADED), FINE)).answer

    assert answer.cost_usd == pytest.approx((10 * 3 + 1 * 15) / 1e6 + 0.25)


def test_every_attempt_has_its_own_private_folder():
    first, second = ScriptedAgent(ended(EndKind.IDLE)), ScriptedAgent(FINE)

    AskedQuestion(first, second)

    folders = [order.raw for order in (*first.orders, *second.orders)]
    assert folders == [f"/private/raw-{at}" for at in (1, 2, 3, 4)]


@pytest.mark.parametrize(("result", "waited"), [(0.0, 0.0), (7.0, 7.0), (86_400.0, LONGEST_PAUSE)])
def test_the_pause_follows_the_service_up_to_a_limit(result, waited):
    asked = AskedQuestion(ScriptedAgent(ended(EndKind.RATE_LIMITED, retry_after=result), FINE))

    assert asked.waited == [waited]
    assert sum(asked.pauses) == waited


def test_an_empty_answer_is_a_failure():
    answer = AskedQuestion(
        ScriptedAgent(CallResult(EndKind.OK, "  \n", usage=TokenUsage(10, 0, 1)))
    ).answer

    assert (answer.status, answer.tries[0].status) == ("absent", "invalid_output")
    assert answer.tokens_in == 10


def test_a_cut_answer_is_marked():
    assert AskedQuestion(ScriptedAgent(CallResult(EndKind.OK, "half a", is_cut=True))).answer.is_cut


def test_an_answer_beyond_the_limit_is_not_cut():
    long = CallResult(EndKind.OK, "x" * 40_000, usage=TokenUsage(1, 0, 10_000))

    answer = AskedQuestion(ScriptedAgent(long)).answer

    assert (len(answer.text), answer.is_cut) == (40_000, False)


def test_no_call_is_made_when_the_answer_is_not_wanted():
    agent = ScriptedAgent(FINE)

    asked = AskedQuestion(agent, is_wanted=lambda: False)

    assert (asked.answer.status, agent.orders) == ("absent", [])


def test_a_pause_ends_when_the_answer_is_not_wanted_any_more():
    agent = ScriptedAgent(ended(EndKind.RATE_LIMITED, retry_after=50.0))
    looks = iter([True, True, True])

    asked = AskedQuestion(agent, is_wanted=lambda: next(looks, False))

    assert (asked.pauses, len(agent.orders)) == ([1.0, 1.0], 1)


def test_without_a_respondent_the_answer_is_absent():
    assert AskedQuestion().answer == AskResult("absent")  # type: ignore[arg-type]
