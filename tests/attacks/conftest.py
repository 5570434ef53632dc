"""Chooses the attacks that this run tries: all with --long, otherwise a seeded sample."""

import random
from collections.abc import Sequence
from typing import TypeVar

import pytest

from tests.attacks.catalog import Attacker
from tests.attacks.table import ATTACKS
from tests.attacks.weaknesses import WEAKNESSES

MORE = 5  # attacks besides one of each attacker
WEAK = 2  # attacks with a defence switched off
Case = TypeVar("Case")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each test its attacks."""
    config = metafunc.config
    seed, is_whole = config.getoption("--seed"), config.getoption("--long")
    if "attack" in metafunc.fixturenames and "weakness" not in metafunc.fixturenames:
        metafunc.parametrize("attack", [*ATTACKS] if is_whole else chosen(seed))
    elif "weakness" in metafunc.fixturenames:
        pairs = [(name, each) for name, found in WEAKNESSES.items() for each in found.attacks]
        some = pairs if is_whole else _some(pairs, WEAK, f"{seed}:weaknesses")
        metafunc.parametrize(("weakness", "attack"), some)


def chosen(seed: int) -> list[str]:
    """One attack of each attacker, and a few more."""
    by_attacker = {
        each: [id_ for id_, row in ATTACKS.items() if row.attacker is each] for each in Attacker
    }
    firsts = [_some(ids, 1, f"{seed}:{each}")[0] for each, ids in by_attacker.items()]
    others = [id_ for id_ in ATTACKS if id_ not in firsts]
    return [id_ for id_ in ATTACKS if id_ in {*firsts, *_some(others, MORE, f"{seed}:more")}]


def _some(cases: Sequence[Case], count: int, seed: str) -> list[Case]:
    return random.Random(seed).sample(cases, count)
