"""Every combination of ballots in every round against an oracle that was written apart."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.model.council import Guard
from fairlead.model.council_job import (
    Ballot,
    Category,
    CouncilJob,
    Item,
    Vote,
    moved,
    with_ballot,
)
from fairlead.model.job import JobStatus
from fairlead.model.tally import (
    Answered,
    Outcome,
    Review,
    Tally,
    blocking_count,
    both_sides,
    has_evidence,
    is_place,
    open_items,
    tally,
)
from tests.support.council import NOW, SEATS, SHA
from tests.support.council_oracle import Round, outcome

VOTES = {"A": Vote.APPROVE, "R": Vote.REVISE, "B": Vote.ABSTAIN, "V": Vote.VETO}
WHY = "the service account may read every bucket of the project so that one leaked key opens all of the data"
GRAVE = Item("security-1", Category.SECURITY, "step 2", WHY, "narrow it", "critical")
PLACES = ("1", "2", "Risks")
EVERY = ["".join(each) for each in itertools.product("ARBV", repeat=6)]


def review(case: Round, **more: object) -> Review:
    ballots = [
        _ballot(case.number, seat, letter, case.is_reasked)
        for seat, letter in zip(SEATS, case.letters, strict=True)
    ]
    at = next((at for at, each in enumerate(ballots) if each.vote is Vote.REVISE), None)
    if at is not None:  # as many blocking items as the case wants, all from one seat
        others = blocking_count([each for number, each in enumerate(ballots) if number != at])
        told = tuple(_item(f"more-{number}") for number in range(case.now - others))
        ballots[at] = replace(ballots[at], blocking=told)
    held = Review(
        tuple(ballots),
        case.number,
        SHA,
        PLACES,
        open_before=case.before,
        last_sha256=SHA if case.is_same_plan else "",
        allow_absent=int(case.may_miss),
    )
    return replace(held, **more)  # type: ignore[arg-type]


@cache
def _ballot(number: int, seat: str, letter: str, is_reasked: bool) -> Ballot:
    items = _items(seat, letter)
    return Ballot(number, seat, VOTES[letter], SHA, items, retry=int(is_reasked))


@cache
def _item(name: str) -> Item:
    return Item(name, Category.CORRECTNESS, "step 1", "it is off by one")


def _items(seat: str, letter: str) -> tuple[Item, ...]:
    if letter == "V":
        return (replace(GRAVE, id=f"{seat}-1"),)
    return (_item(f"{seat}-1"),) if letter == "R" else ()


def disagreements(
    count: Callable[[Review], Tally], cases: Iterable[Round]
) -> Iterator[tuple[Round, str]]:
    """The cases in which a tally says something else than the oracle."""
    for case in cases:
        held = review(case)
        real = case._replace(now=blocking_count(held.ballots))
        said = count(held).guard or "again"
        if said != outcome(real):
            yield real, said


def combinations(**more: object) -> Iterator[Round]:
    for letters in EVERY:
        yield Round(letters, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("may_miss", [False, True])
def test_every_combination_of_ballots_has_the_outcome_of_the_table(
    number: int, may_miss: bool
) -> None:
    before = None if number == 1 else 3
    for now in (2, 3, 4)[: 1 if before is None else 3]:
        cases = combinations(number=number, before=before, now=now, may_miss=may_miss)
        assert list(disagreements(tally, cases)) == []


def test_every_combination_is_asked_again_once_before_it_counts() -> None:
    cases = combinations(number=1, before=None, now=1, is_reasked=False)
    assert list(disagreements(tally, cases)) == []


def test_a_revision_that_changed_nothing_ends_whatever_the_ballots_say() -> None:
    cases = combinations(number=2, before=1, now=1, is_same_plan=True)
    assert list(disagreements(tally, cases)) == []


@pytest.mark.parametrize(
    "planted",
    [
        lambda held: (
            replace(tally(held), guard="unanimous") if tally(held).approve == 5 else tally(held)
        ),
        lambda held: tally(replace(held, open_before=None)),
        lambda held: tally(replace(held, max_rounds=4)),
        lambda held: (
            replace(tally(held), guard="unanimous")
            if tally(held).approve and not tally(held).revise + tally(held).vetoes
            else tally(held)
        ),
        lambda held: tally(
            replace(
                held,
                ballots=tuple(
                    replace(each, vote=Vote.REVISE) if each.vote is Vote.VETO else each
                    for each in held.ballots
                ),
            )
        ),
    ],
    ids=["five are enough", "no stall", "four rounds", "absent seats left out", "no veto"],
)
def test_the_oracle_notices_a_tally_that_counts_wrongly(
    planted: Callable[[Review], Tally],
) -> None:
    rounds = ((1, None), (2, 3), (3, 3))
    cases = itertools.chain.from_iterable(
        combinations(number=number, before=before, now=3) for number, before in rounds
    )
    assert next(disagreements(planted, cases), None)


@pytest.mark.parametrize(
    ("letters", "number", "before", "said"),
    [
        ("AAAAAA", 1, None, "unanimous"),
        ("AAAAAR", 1, None, "revise"),
        ("AAAARB", 1, None, "revise"),
        ("AAAAAB", 1, None, "review_quorum"),
        ("AARBBB", 1, None, "review_quorum"),
        ("AAAVAA", 3, 9, "veto"),
        ("AVAAAA", 1, None, "revise"),
        ("AAAAAR", 3, 9, "deadlock_rounds"),
        ("AAAARR", 2, 2, "deadlock_stall"),
    ],
)
def test_the_rows_of_the_specification(
    letters: str, number: int, before: int | None, said: str
) -> None:
    held = review(Round(letters, number, before, letters.count("R")))
    assert tally(held).guard == said


@pytest.mark.parametrize(
    ("change", "holds"),
    [
        ({}, True),
        ({"severity": "high"}, True),
        ({"severity": "medium"}, False),
        ({"severity": ""}, False),
        ({"where": "step 9"}, False),
        ({"where": ""}, False),
        ({"where": "risks"}, True),
        ({"why": " ".join(WHY.split()[:19])}, False),
        ({"why": " ".join(WHY.split()[:20])}, True),
    ],
)
def test_a_veto_holds_only_with_evidence(change: dict[str, Any], holds: bool) -> None:
    held = review(Round("AAAVAA", 1, None, 1))
    item = replace(GRAVE, **change)
    ballots = tuple(
        replace(each, blocking=(item,)) if each.vote is Vote.VETO else each for each in held.ballots
    )
    found = tally(replace(held, ballots=ballots))
    assert found.guard == ("veto" if holds else "revise")
    assert (found.veto is not None) == holds == bool(has_evidence(ballots[3], PLACES))


def test_an_approval_of_another_plan_is_none() -> None:
    held = review(Round("AAAAAA", 1, None, 0))
    stale = (replace(held.ballots[0], plan_sha256="00" * 32), *held.ballots[1:])
    found = tally(replace(held, ballots=stale))
    assert (found.outcome, found.reask) == (Outcome.ASK_AGAIN, ("architect",))


def test_an_approval_of_another_round_is_none() -> None:
    held = review(Round("AAAAAA", 2, 1, 0))
    stale = (replace(held.ballots[0], round=1), *held.ballots[1:])
    assert tally(replace(held, ballots=stale)).reask == ("architect",)


def test_an_approval_without_a_seat_is_marked_as_degraded() -> None:
    found = tally(review(Round("AAAAAB", 1, None, 0, may_miss=True)))
    assert (found.outcome, found.is_degraded) == (Outcome.APPROVED, True)
    assert "advocate" in found.text


def test_the_seat_with_the_veto_may_never_be_missing() -> None:
    found = tally(review(Round("AAABAA", 1, None, 0, may_miss=True)))
    assert found.guard == "review_quorum"


@given(st.sampled_from(EVERY), st.permutations(range(6)), st.integers(1, 3))
def test_the_order_in_which_ballots_come_in_does_not_matter(
    letters: str, order: list[int], number: int
) -> None:
    held = review(Round(letters, number, 2, 2))
    shuffled = tuple(held.ballots[at] for at in order)
    assert tally(replace(held, ballots=shuffled)) == tally(held)


@given(st.sampled_from(EVERY), st.integers(1, 3))
def test_one_approval_less_never_approves(letters: str, number: int) -> None:
    held = review(Round(letters, number, 2, 2))
    for at, ballot in enumerate(held.ballots):
        fewer = (*held.ballots[:at], replace(ballot, vote=Vote.ABSTAIN), *held.ballots[at + 1 :])
        assert tally(replace(held, ballots=fewer)).outcome is not Outcome.APPROVED


@given(st.sampled_from(EVERY))
def test_the_counts_are_those_of_six_seats(letters: str) -> None:
    found = tally(review(Round(letters, 1, None, 1)))
    assert found.approve + found.revise + found.absent + found.vetoes == 6


@given(st.lists(st.tuples(st.sampled_from(EVERY), st.sampled_from(EVERY)), min_size=3, max_size=3))
def test_a_review_ends_within_three_rounds_with_six_final_ballots_each(
    rounds: list[tuple[str, str]],
) -> None:
    job = CouncilJob("j_1", NOW, "make it", status=JobStatus.SYNTHESIZING)
    for first, again in rounds:
        job = moved(job, JobStatus.COUNCIL_REVIEWING, Guard.PLAN_VALID, NOW)
        plan = f"{job.review_round:064x}"
        before = [each for each in job.cumulative_votes if each.round == job.review_round - 1]
        for seat, letter in zip(SEATS, first, strict=True):
            job = with_ballot(job, _cast(job, seat, letter, plan), NOW)
        held = Review((), job.review_round, plan, PLACES)
        held = replace(held, open_before=blocking_count(before) if before else None)
        found = tally(replace(held, ballots=job.council_votes))
        for seat in found.reask:
            letter = again[SEATS.index(seat)]
            job = with_ballot(job, replace(_cast(job, seat, letter, plan), retry=1), NOW)
        found = tally(replace(held, ballots=job.council_votes))
        assert found.outcome is not Outcome.ASK_AGAIN
        assert sum(each.final for each in job.cumulative_votes) == 6 * job.review_round
        target = {"approved": "APPROVED", "revise": "SYNTHESIZING", "blocked": "BLOCKED"}
        job = moved(job, JobStatus(target[found.outcome]), found.guard, NOW, found.text)
        if job.status is not JobStatus.SYNTHESIZING:
            return
    pytest.fail("the council went on after its last round")


def _cast(job: CouncilJob, seat: str, letter: str, plan: str) -> Ballot:
    return Ballot(job.review_round, seat, VOTES[letter], plan, _items(seat, letter))


@pytest.mark.parametrize(
    ("where", "is_one"),
    [
        ("step 2", True),
        ("Step 2", True),
        ("steps 1, 2", True),
        ("step 12", False),
        ("2", True),
        ("RISKS", True),
        ("somewhere", False),
        ("step", False),
        ("Steps 1-3", True),
        ("step 2/7", True),
        ("Step 2's command", True),
        ("steps 7-9", False),
    ],
)
def test_a_place_is_a_step_or_a_part_of_the_plan(where: str, is_one: bool) -> None:
    assert is_place(where, PLACES) is is_one


def test_an_item_that_two_seats_name_counts_once() -> None:
    both = [Ballot(1, seat, Vote.REVISE, SHA, (_item("skeptic-1"),)) for seat in SEATS[:2]]
    assert blocking_count(both) == 1


def test_open_items_have_an_age_and_their_seats() -> None:
    history = [
        Ballot(1, "skeptic", Vote.REVISE, SHA, (_item("skeptic-1"), _item("skeptic-2"))),
        Ballot(2, "skeptic", Vote.REVISE, SHA, (_item("skeptic-2"),)),
        Ballot(2, "builder", Vote.REVISE, SHA, (_item("skeptic-2"), _item("builder-1"))),
    ]
    found = [(each.item.id, each.age, each.seats) for each in open_items(history, 2)]
    assert found == [("skeptic-2", 2, ("skeptic", "builder")), ("builder-1", 1, ("builder",))]


def test_both_sides_of_an_open_item_are_told() -> None:
    items = open_items([Ballot(1, "skeptic", Vote.REVISE, SHA, (_item("skeptic-1"),))], 1)
    told = both_sides(items, {"skeptic-1": Answered("skeptic-1", False, "it is meant so")})
    assert "it is off by one" in told
    assert "declined: it is meant so" in told


def test_a_tally_says_itself_in_words() -> None:
    assert str(tally(review(Round("AAAARB", 2, 9, 1)))) == "4 approve, 1 revise, 1 absent"
