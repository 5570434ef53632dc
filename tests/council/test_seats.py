"""The six seats: quorum and degradation for every subset of failing seats."""

import itertools

import pytest

from fairlead.council.model import AnswerStatus, Ballot, SeatPlan, Vote
from fairlead.council.seats import (
    FAMILY_FIX,
    ROSTER,
    SEAT_NAMES,
    degradations,
    families_of,
    lacking_quorum,
    plan_fault,
    says_nothing_to_read,
    tokens_of,
)
from fairlead.council.tally import Outcome, Review, tally
from tests.support.council import SEATS, SHA

PLAN = "## Summary\n" + "We change the parser in three places. " * 10 + "\n## Steps\n1. app.py\n"
SUBSETS = [frozenset(each) for size in range(7) for each in itertools.combinations(SEATS, size)]
WAYS = [AnswerStatus.ABSENT, AnswerStatus.DEGENERATE, AnswerStatus.UNREADABLE, AnswerStatus.BLIND]


def plans(failed: frozenset[str], how: AnswerStatus, *families: str) -> dict[str, SeatPlan]:
    spoken = families or ("claude", "gpt")
    return {
        seat: SeatPlan(status=how)
        if seat in failed
        else SeatPlan(PLAN, family=spoken[at % len(spoken)])
        for at, seat in enumerate(SEATS)
    }


@pytest.mark.parametrize("how", WAYS)
def test_the_quorum_needs_four_plans_and_the_security_seat(how: AnswerStatus) -> None:
    for failed in SUBSETS:
        lacking = lacking_quorum(plans(failed, how))
        assert (lacking == "") == (len(failed) <= 2 and "security" not in failed), failed


@pytest.mark.parametrize("how", WAYS)
def test_the_degradation_names_every_failing_seat(how: AnswerStatus) -> None:
    for failed in SUBSETS[1:]:
        notes = " ".join(degradations(plans(failed, how)))
        assert f"{6 - len(failed)} of 6 seats planned" in notes
        assert all(seat in notes for seat in failed), failed


@pytest.mark.parametrize("how", WAYS)
def test_any_missing_vote_is_asked_again_and_then_blocks(how: AnswerStatus) -> None:
    for failed in SUBSETS:
        ballots = tuple(
            Ballot(1, seat, Vote.ABSTAIN if seat in failed else Vote.APPROVE, SHA, status=how)
            for seat in SEATS
        )
        first = tally(Review(ballots, 1, SHA))
        assert set(first.reask) == failed
        again = tuple(
            Ballot(1, seat, Vote.ABSTAIN, SHA, status=how, retry=1)
            if seat in failed
            else Ballot(1, seat, Vote.APPROVE, SHA)
            for seat in SEATS
        )
        found = tally(Review(again, 1, SHA))
        assert found.outcome is (Outcome.BLOCKED if failed else Outcome.APPROVED)
        assert all(seat in found.text for seat in failed)


def test_six_seats_of_two_families_are_not_degraded() -> None:
    ballots = [Ballot(1, seat, Vote.APPROVE, SHA, family="gpt") for seat in SEATS[:3]]
    ballots += [Ballot(1, seat, Vote.APPROVE, SHA, family="claude") for seat in SEATS[3:]]
    assert degradations(plans(frozenset(), AnswerStatus.OK), ballots) == ()


def test_a_single_model_family_is_a_degradation() -> None:
    notes = degradations(plans(frozenset(), AnswerStatus.OK, "claude"))
    assert notes == (f"all plans come from one model family: claude{FAMILY_FIX}",)


def test_one_family_fails_a_quorum_of_two() -> None:
    answers = plans(frozenset(), AnswerStatus.OK, "claude")
    assert lacking_quorum(answers, 1) == ""
    assert "of claude, at least 2 model families" in lacking_quorum(answers, 2)


def test_only_families_with_readable_answers_count() -> None:
    answers = [SeatPlan(PLAN, family="gpt", status=AnswerStatus.ABSENT), SeatPlan(PLAN, family="x")]
    assert families_of(answers) == ("x",)


def test_only_security_has_a_veto() -> None:
    assert SEAT_NAMES == SEATS
    assert [seat.name for seat in ROSTER if seat.has_veto] == ["security"]
    assert all(seat.lens for seat in ROSTER)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "Looks good to me.",
        "x" * 199,
        "I cannot access the file you mention. " + "Would you kindly help me with that? " * 8,
        "I'm unable to read the plan. " * 8,
        "No plan was provided, so I have written nothing. " * 6,
        "Please provide the brief and I will get going. " * 6,
        "Credit balance is too low",
        "(no content)",
        "API Error: 529 overloaded",
        "lorem ipsum " * 40,
        "x" * 200,
    ],
)
def test_stubs_and_apologies_do_not_count_as_a_plan(text: str) -> None:
    assert plan_fault(text)


@pytest.mark.parametrize(
    "text",
    [
        PLAN,
        PLAN + "Users cannot access the file of another user. " * 20,
        PLAN.replace("## ", "**"),
        PLAN.replace("## ", "1. "),
    ],
)
def test_a_plan_with_its_parts_counts(text: str) -> None:
    assert plan_fault(text) == ""


def test_a_long_text_may_mention_unreadable_files() -> None:
    assert not says_nothing_to_read("The worker cannot read the file. " * 40)


@pytest.mark.parametrize(("length", "tokens"), [(0, 0), (1, 1), (4, 1), (5, 2), (32768, 8192)])
def test_tokens_are_a_quarter_of_the_characters_rounded_up(length: int, tokens: int) -> None:
    assert tokens_of("x" * length) == tokens
