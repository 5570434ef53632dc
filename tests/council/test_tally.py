"""Every combination of ballots in every round, against an independent oracle."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.council.model import (
    Ballot,
    Category,
    CouncilJob,
    Item,
    TransitionGuard,
    Vote,
    with_ballot,
    with_status,
)
from fairlead.council.tally import (
    ItemAnswer,
    Outcome,
    Review,
    VoteTally,
    blocking_count,
    both_sides,
    is_place,
    open_items,
    tally,
    veto_evidence,
)
from fairlead.jobs.model import JobStatus
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
    if at is not None:  # add blocking items up to the number of the case, all from one seat
        others = blocking_count([each for number, each in enumerate(ballots) if number != at])
        more_items = tuple(_item(f"more-{number}") for number in range(case.now - others))
        ballots[at] = replace(ballots[at], blocking=more_items)
    result = Review(
        tuple(ballots),
        case.number,
        SHA,
        PLACES,
        open_before=case.before,
        last_sha256=SHA if case.is_same_plan else "",
        allow_absent=int(case.may_miss),
    )
    return replace(result, **more)  # type: ignore[arg-type]


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
    count: Callable[[Review], VoteTally], cases: Iterable[Round]
) -> Iterator[tuple[Round, str]]:
    """Yield the cases in which the tally and the oracle differ."""
    for case in cases:
        round_review = review(case)
        real = case._replace(now=blocking_count(round_review.ballots))
        said = count(round_review).guard or "again"
        if said != outcome(real):
            yield real, said


def combinations(**more: object) -> Iterator[Round]:
    for letters in EVERY:
        yield Round(letters, **more)  # type: ignore[arg-type]


@pytest.mark.sweep(3)
@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("may_miss", [False, True])
def test_every_combination_of_ballots_has_the_outcome_of_the_table(
    number: int, may_miss: bool
) -> None:
    before = None if number == 1 else 3
    for now in (2, 3, 4)[: 1 if before is None else 3]:
        cases = combinations(number=number, before=before, now=now, may_miss=may_miss)
        assert list(disagreements(tally, cases)) == []


def test_absent_seats_are_asked_again_before_the_count() -> None:
    cases = combinations(number=1, before=None, now=1, is_reasked=False)
    assert list(disagreements(tally, cases)) == []


def test_an_unchanged_revision_is_a_deadlock_for_all_ballots() -> None:
    cases = combinations(number=2, before=1, now=1, is_same_plan=True)
    assert list(disagreements(tally, cases)) == []


@pytest.mark.parametrize(
    "planted",
    [
        lambda round_review: (
            replace(tally(round_review), guard="unanimous")
            if tally(round_review).approve == 5
            else tally(round_review)
        ),
        lambda round_review: tally(replace(round_review, open_before=None)),
        lambda round_review: tally(replace(round_review, max_rounds=4)),
        lambda round_review: (
            replace(tally(round_review), guard="unanimous")
            if tally(round_review).approve
            and not tally(round_review).revise + tally(round_review).vetoes
            else tally(round_review)
        ),
        lambda round_review: tally(
            replace(
                round_review,
                ballots=tuple(
                    replace(each, vote=Vote.REVISE) if each.vote is Vote.VETO else each
                    for each in round_review.ballots
                ),
            )
        ),
    ],
    ids=["five are enough", "no stall", "four rounds", "absent seats left out", "no veto"],
)
def test_the_oracle_detects_a_wrong_tally(
    planted: Callable[[Review], VoteTally],
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
def test_the_examples_of_the_specification(
    letters: str, number: int, before: int | None, said: str
) -> None:
    round_review = review(Round(letters, number, before, letters.count("R")))
    assert tally(round_review).guard == said


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
    round_review = review(Round("AAAVAA", 1, None, 1))
    item = replace(GRAVE, **change)
    ballots = tuple(
        replace(each, blocking=(item,)) if each.vote is Vote.VETO else each
        for each in round_review.ballots
    )
    found = tally(replace(round_review, ballots=ballots))
    assert found.guard == ("veto" if holds else "revise")
    assert (found.veto is not None) == holds == bool(veto_evidence(ballots[3], PLACES))


def test_an_approval_of_another_plan_does_not_count() -> None:
    round_review = review(Round("AAAAAA", 1, None, 0))
    stale = (replace(round_review.ballots[0], plan_sha256="00" * 32), *round_review.ballots[1:])
    found = tally(replace(round_review, ballots=stale))
    assert (found.outcome, found.reask) == (Outcome.ASK_AGAIN, ("architect",))


def test_an_approval_of_another_round_does_not_count() -> None:
    round_review = review(Round("AAAAAA", 2, 1, 0))
    stale = (replace(round_review.ballots[0], round=1), *round_review.ballots[1:])
    assert tally(replace(round_review, ballots=stale)).reask == ("architect",)


def test_an_approval_without_a_seat_names_the_absent_seat() -> None:
    found = tally(review(Round("AAAAAB", 1, None, 0, may_miss=True)))
    assert found.outcome is Outcome.APPROVED
    assert "advocate" in found.text


def test_the_veto_seat_is_never_excused() -> None:
    found = tally(review(Round("AAABAA", 1, None, 0, may_miss=True)))
    assert found.guard == "review_quorum"


@given(st.sampled_from(EVERY), st.permutations(range(6)), st.integers(1, 3))
def test_the_order_of_ballots_does_not_matter(letters: str, order: list[int], number: int) -> None:
    round_review = review(Round(letters, number, 2, 2))
    shuffled = tuple(round_review.ballots[at] for at in order)
    assert tally(replace(round_review, ballots=shuffled)) == tally(round_review)


@given(st.sampled_from(EVERY), st.integers(1, 3))
def test_one_approval_less_never_approves(letters: str, number: int) -> None:
    round_review = review(Round(letters, number, 2, 2))
    for at, ballot in enumerate(round_review.ballots):
        fewer = (
            *round_review.ballots[:at],
            replace(ballot, vote=Vote.ABSTAIN),
            *round_review.ballots[at + 1 :],
        )
        assert tally(replace(round_review, ballots=fewer)).outcome is not Outcome.APPROVED


@given(st.sampled_from(EVERY))
def test_the_counts_add_up_to_six_seats(letters: str) -> None:
    found = tally(review(Round(letters, 1, None, 1)))
    assert found.approve + found.revise + found.absent + found.vetoes == 6


@given(st.lists(st.tuples(st.sampled_from(EVERY), st.sampled_from(EVERY)), min_size=3, max_size=3))
def test_a_review_ends_within_three_rounds_with_six_final_ballots_each(
    rounds: list[tuple[str, str]],
) -> None:
    job = CouncilJob("j_1", NOW, "make it", status=JobStatus.SYNTHESIZING)
    for first, again in rounds:
        job = with_status(job, JobStatus.COUNCIL_REVIEWING, TransitionGuard.PLAN_VALID, NOW)
        plan = f"{job.review_round:064x}"
        before = [each for each in job.cumulative_votes if each.round == job.review_round - 1]
        for seat, letter in zip(SEATS, first, strict=True):
            job = with_ballot(job, _cast(job, seat, letter, plan), NOW)
        round_review = Review((), job.review_round, plan, PLACES)
        round_review = replace(round_review, open_before=blocking_count(before) if before else None)
        found = tally(replace(round_review, ballots=job.council_votes))
        for seat in found.reask:
            letter = again[SEATS.index(seat)]
            job = with_ballot(job, replace(_cast(job, seat, letter, plan), retry=1), NOW)
        found = tally(replace(round_review, ballots=job.council_votes))
        assert found.outcome is not Outcome.ASK_AGAIN
        assert sum(each.final for each in job.cumulative_votes) == 6 * job.review_round
        target = {"approved": "APPROVED", "revise": "SYNTHESIZING", "blocked": "BLOCKED"}
        job = with_status(job, JobStatus(target[found.outcome]), found.guard, NOW, found.text)
        if job.status is not JobStatus.SYNTHESIZING:
            return
    pytest.fail("the council went on after its last round")


def _cast(job: CouncilJob, seat: str, letter: str, plan: str) -> Ballot:
    return Ballot(job.review_round, seat, VOTES[letter], plan, _items(seat, letter))


@pytest.mark.parametrize(
    ("where", "expected"),
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
def test_steps_and_parts_of_the_plan_are_places(where: str, expected: bool) -> None:
    assert is_place(where, PLACES) is expected


def test_an_item_of_two_seats_counts_once() -> None:
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


def test_an_open_item_is_listed_with_both_sides() -> None:
    items = open_items([Ballot(1, "skeptic", Vote.REVISE, SHA, (_item("skeptic-1"),))], 1)
    text = both_sides(items, {"skeptic-1": ItemAnswer("skeptic-1", False, "it is meant so")})
    assert "it is off by one" in text
    assert "declined: it is meant so" in text


def test_a_tally_prints_its_counts() -> None:
    assert str(tally(review(Round("AAAARB", 2, 9, 1)))) == "4 approve, 1 revise, 1 absent"
