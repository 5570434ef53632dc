"""Budgets and limits: what is estimated, what is refused and why."""

import pytest

from fairlead.agents.budget import (
    Actual,
    Caps,
    Comparison,
    Cost,
    Prices,
    estimate,
    may_spend,
    rough_caps_note,
    unmeasured,
)
from fairlead.core.errors import SettingValue
from fairlead.core.settings import SETTINGS, checked
from fairlead.execution import decide

CAPS = Caps(1000, 10.0, 5000, 50.0)


@pytest.mark.parametrize(
    ("planned", "run", "day", "refusal"),
    [
        (Cost(1000, 10.0), Cost(), Cost(), ""),
        (
            Cost(1001, 0.0),
            Cost(),
            Cost(),
            "this run would take 1,001 tokens, the limit is 1,000",
        ),
        (Cost(500, 0.0), Cost(501, 0.0), Cost(), "this run would take 1,001 tokens"),
        (Cost(1, 4.0), Cost(1, 6.5), Cost(), "this run would cost $10.50, the limit is $10.00"),
        (Cost(1, 0.0), Cost(), Cost(5000, 0.0), "today would take 5,001 tokens"),
        (Cost(1, 1.0), Cost(), Cost(1, 49.5), "today would cost $50.50, the limit is $50.00"),
    ],
)
def test_a_call_above_a_cap_is_refused_with_the_cap(
    planned: Cost, run: Cost, day: Cost, refusal: str
) -> None:
    found = may_spend(planned, run, day, CAPS)

    assert found.startswith(refusal)
    assert bool(found) is bool(refusal)


def test_a_cap_of_zero_is_no_cap() -> None:
    assert not may_spend(Cost(10**9, 10.0**6), Cost(), Cost(), Caps(0, 0, 0, 0))


def test_the_caps_are_on_by_default_and_those_of_the_settings() -> None:
    assert Caps.of({known.key: known.default for known in SETTINGS}) == Caps()
    assert may_spend(Cost(2_000_001), Cost(), Cost(), Caps())
    assert may_spend(Cost(1, 20.01), Cost(), Cost(), Caps())
    assert may_spend(Cost(1, 1.0), Cost(), Cost(1, 99.5), Caps())


def test_an_estimate_grows_with_the_prompt_and_costs_something() -> None:
    small, large = estimate("executor", 4_000), estimate("executor", 40_000)

    assert 0 < small.tokens * 10 == large.tokens
    assert 0 < small.usd < large.usd


def test_an_estimate_follows_the_actual_cost_of_the_role() -> None:
    past = [
        Actual("executor", 4_000, Cost(tokens, tokens / 1e5)) for tokens in (900, 2_000, 90_000)
    ]

    assert estimate("executor", 8_000, past) == Cost(4_000, 0.04)
    assert estimate("architect", 8_000, past) == estimate("architect", 8_000)
    assert estimate("executor", 8_000, past[:2]) == estimate("executor", 8_000)


def test_a_call_without_reported_tokens_is_counted_by_its_sizes() -> None:
    read, wrote = unmeasured("executor", 4_000, 400)

    assert (read, wrote) == (estimate("executor", 4_000).tokens, 100)


@pytest.mark.parametrize(
    ("caps", "reports_tokens", "said"),
    [
        (Caps(5, 1.0, 0, 2.0), True, "mute reports no price"),
        (Caps(5, 1.0, 0, 2.0), False, "mute reports neither tokens nor price"),
        (Caps(5, 0, 5, 0), True, ""),
        (Caps(5, 0, 5, 0), False, "mute reports neither tokens nor price"),
        (Caps(0, 0, 0, 0), False, ""),
    ],
)
def test_caps_that_hold_only_roughly_are_named(caps: Caps, reports_tokens: bool, said: str) -> None:
    found = rough_caps_note("mute", caps, reports_tokens=reports_tokens)

    assert found.startswith(said)
    assert bool(found) is bool(said)
    assert ("5 tokens" in found) is (bool(said) and not reports_tokens)


def test_tokens_from_the_cache_cost_a_tenth() -> None:
    prices = Prices()
    assert prices.cost(1_000_000, 0, 900_000) == pytest.approx(0.57)
    assert prices.cost(1_000_000, 0, 5_000_000) == pytest.approx(0.3)  # it cannot be more than all


def test_dollars_may_be_fractions_and_tokens_may_not() -> None:
    assert (
        Caps.of({"fairlead.budget.run_usd": checked("fairlead.budget.run_usd", 2.5)}).run_usd == 2.5
    )
    assert checked("fairlead.budget.day_usd", 3) == 3
    for key, value in (("run_tokens", 2.5), ("run_usd", -0.5), ("run_usd", True)):
        with pytest.raises(SettingValue):
            checked(f"fairlead.budget.{key}", value)


def test_an_estimate_is_shown_beside_the_actual_cost() -> None:
    text = str(Comparison(Cost(1_000, 1.0), Cost(1_500, 2.0)))

    assert text == "1,500 tokens, $2.00; estimated 1,000, $1.00 (150%)"


def test_three_failed_tasks_halt_a_wave() -> None:
    assert [decide.halts_wave(count) for count in (2, 3)] == [False, True]
