"""Budgets and limits: what is estimated, what is refused and why."""

import pytest

from fairlead.errors import SettingValue
from fairlead.model import policy
from fairlead.model.budget import (
    Actual,
    Caps,
    Comparison,
    Prices,
    Spent,
    estimate,
    loose_limits,
    may_spend,
    unmeasured,
)
from fairlead.model.config import SETTINGS, checked

CAPS = Caps(1000, 10.0, 5000, 50.0)


@pytest.mark.parametrize(
    ("planned", "run", "day", "refusal"),
    [
        (Spent(1000, 10.0), Spent(), Spent(), ""),
        (
            Spent(1001, 0.0),
            Spent(),
            Spent(),
            "this run would take 1,001 tokens, the limit is 1,000",
        ),
        (Spent(500, 0.0), Spent(501, 0.0), Spent(), "this run would take 1,001 tokens"),
        (Spent(1, 4.0), Spent(1, 6.5), Spent(), "this run would cost $10.50, the limit is $10.00"),
        (Spent(1, 0.0), Spent(), Spent(5000, 0.0), "today would take 5,001 tokens"),
        (Spent(1, 1.0), Spent(), Spent(1, 49.5), "today would cost $50.50, the limit is $50.00"),
    ],
)
def test_a_call_beyond_a_cap_is_refused_with_the_cap(
    planned: Spent, run: Spent, day: Spent, refusal: str
) -> None:
    found = may_spend(planned, run, day, CAPS)

    assert found.startswith(refusal)
    assert bool(found) is bool(refusal)


def test_a_cap_of_zero_is_none() -> None:
    assert not may_spend(Spent(10**9, 10.0**6), Spent(), Spent(), Caps(0, 0, 0, 0))


def test_the_caps_are_on_by_default_and_those_of_the_settings() -> None:
    assert Caps.of({known.key: known.default for known in SETTINGS}) == Caps()
    assert may_spend(Spent(2_000_001), Spent(), Spent(), Caps())
    assert may_spend(Spent(1, 20.01), Spent(), Spent(), Caps())
    assert may_spend(Spent(1, 1.0), Spent(), Spent(1, 99.5), Caps())


def test_an_estimate_grows_with_the_prompt_and_costs_something() -> None:
    small, large = estimate("executor", 4_000), estimate("executor", 40_000)

    assert 0 < small.tokens * 10 == large.tokens
    assert 0 < small.usd < large.usd


def test_an_estimate_follows_what_calls_of_the_role_really_took() -> None:
    past = [
        Actual("executor", 4_000, Spent(tokens, tokens / 1e5)) for tokens in (900, 2_000, 90_000)
    ]

    assert estimate("executor", 8_000, past) == Spent(4_000, 0.04)
    assert estimate("architect", 8_000, past) == estimate("architect", 8_000)
    assert estimate("executor", 8_000, past[:2]) == estimate("executor", 8_000)


def test_a_call_that_tells_no_tokens_is_counted_by_its_sizes_as_it_was_estimated() -> None:
    read, wrote = unmeasured("executor", 4_000, 400)

    assert (read, wrote) == (estimate("executor", 4_000).tokens, 100)


@pytest.mark.parametrize(
    ("caps", "tells_tokens", "said"),
    [
        (Caps(5, 1.0, 0, 2.0), True, "told tells no price"),
        (Caps(5, 1.0, 0, 2.0), False, "told tells neither tokens nor price"),
        (Caps(5, 0, 5, 0), True, ""),
        (Caps(5, 0, 5, 0), False, "told tells neither tokens nor price"),
        (Caps(0, 0, 0, 0), False, ""),
    ],
)
def test_limits_of_a_kind_that_an_agent_does_not_tell_are_named(
    caps: Caps, tells_tokens: bool, said: str
) -> None:
    found = loose_limits("told", caps, tells_tokens=tells_tokens)

    assert found.startswith(said)
    assert bool(found) is bool(said)
    assert ("5 tokens" in found) is (bool(said) and not tells_tokens)


def test_what_was_read_from_a_cache_costs_a_tenth() -> None:
    prices = Prices()
    assert prices.cost(1_000_000, 0, 900_000) == pytest.approx(0.57)
    assert prices.cost(1_000_000, 0, 5_000_000) == pytest.approx(0.3)  # it cannot be more than all


def test_dollars_may_be_parts_of_one_and_tokens_may_not() -> None:
    assert (
        Caps.of({"fairlead.budget.run_usd": checked("fairlead.budget.run_usd", 2.5)}).run_usd == 2.5
    )
    assert checked("fairlead.budget.day_usd", 3) == 3
    for key, value in (("run_tokens", 2.5), ("run_usd", -0.5), ("run_usd", True)):
        with pytest.raises(SettingValue):
            checked(f"fairlead.budget.{key}", value)


def test_an_estimate_stands_beside_what_it_became() -> None:
    told = str(Comparison(Spent(1_000, 1.0), Spent(1_500, 2.0)))

    assert told == "1,500 tokens, $2.00; estimated 1,000, $1.00 (150%)"


def test_three_failed_tasks_halt_a_wave() -> None:
    assert [policy.halts_wave(count) for count in (2, 3)] == [False, True]
