"""Deciding again and again: what is kept between decisions never changes one."""

from itertools import islice
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.execution.decide import Decider, decide
from fairlead.execution.plan_index import differences
from tests.support.decisions import plain_decision, random_job


@settings(max_examples=60)
@given(st.integers(0, 1 << 32))
def test_every_decision_equals_its_plain_definition(seed: int) -> None:
    decider = Decider()
    for snapshot in islice(random_job(Random(seed)), 25):
        wanted = plain_decision(snapshot)
        assert decider.decide(snapshot) == wanted
        assert decide(snapshot) == wanted


_GATES = st.lists(st.sampled_from("abcdefghijkl"), unique=True)


@given(_GATES, _GATES)
def test_differences_turn_one_sequence_into_another(old: list[str], new: list[str]) -> None:
    removed, added = differences(tuple(old), tuple(new))

    left = list(old)
    for each in removed:
        left.remove(each)
    assert sorted([*left, *added]) == sorted(new)


def test_a_difference_in_a_long_sequence_is_found_where_it_is() -> None:
    old = tuple(range(5000))

    assert differences(old, (*old[:3000], -1, *old[3001:])) == ([3000], [-1])
    assert differences(old, (*old[:3000], -1, *old[3000:])) == ([], [-1])
    assert differences(old, old[:-1]) == ([4999], [])
