"""The outcome of a round of ballots, written independently from the specification.

It knows nothing of the product: ballots are six letters (A, R, B, V: a veto that holds), the
fourth seat is the one with the veto, and the rules are patterns over the sorted letters, the
first that fits wins.
"""

import re
from typing import NamedTuple

VETO_SEAT = 3


class Round(NamedTuple):
    letters: str  # in the order of the seats: A approve, R revise, B nothing, V veto
    number: int
    before: int | None  # blocking items in the round before
    now: int
    is_reasked: bool = True
    may_miss: bool = False
    is_same_plan: bool = False


def _always(_: Round) -> bool:
    return True


# A pattern over the sorted letters, a further condition, and the outcome.
RULES = (
    (r".*", lambda r: r.is_same_plan, "deadlock_same_plan"),
    (r".*V", _always, "veto"),
    (r".*B.*", lambda r: not r.is_reasked, "again"),
    (r"A{6}", _always, "unanimous"),
    (r"A{5}B", lambda r: r.may_miss and r.letters[VETO_SEAT] != "B", "unanimous"),
    (r"A*B+", _always, "review_quorum"),
    (r"A*B{3,}R*", _always, "review_quorum"),
    (r".*", lambda r: r.number == 3, "deadlock_rounds"),
    (r".*", lambda r: r.before is not None and not r.now < r.before, "deadlock_stall"),
    (r".*R.*", _always, "revise"),
)


def outcome(round_: Round) -> str:
    """Return the outcome of the first rule that fits."""
    only_one_may_veto = "".join(
        "R" if letter == "V" and at != VETO_SEAT else letter
        for at, letter in enumerate(round_.letters)
    )
    counted = round_._replace(letters=only_one_may_veto)
    tally = "".join(sorted(counted.letters))
    return next(
        said for pattern, holds, said in RULES if re.fullmatch(pattern, tally) and holds(counted)
    )
