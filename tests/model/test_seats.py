"""The six seats: each subset of those that fail in any way, and the words for it."""

import itertools

import pytest

from fairlead.model.council_job import AnswerStatus, Ballot, SeatPlan, Vote
from fairlead.model.seats import (
    NAMES,
    ROSTER,
    degenerate,
    degraded,
    families_of,
    lacking_quorum,
    says_unread,
    tokens_of,
)
from fairlead.model.tally import Outcome, Review, tally
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
def test_each_subset_of_failing_seats_meets_the_quorum_or_not(how: AnswerStatus) -> None:
    for failed in SUBSETS:
        lacking = lacking_quorum(plans(failed, how))
        assert (lacking == "") == (len(failed) <= 2 and "security" not in failed), failed


@pytest.mark.parametrize("how", WAYS)
def test_each_subset_of_failing_seats_is_said_in_honest_words(how: AnswerStatus) -> None:
    for failed in SUBSETS[1:]:
        told = " ".join(degraded(plans(failed, how)))
        assert f"{6 - len(failed)} of 6 seats planned" in told
        assert all(seat in told for seat in failed), failed


@pytest.mark.parametrize("how", WAYS)
def test_each_subset_of_seats_that_fail_to_vote_has_the_right_outcome(how: AnswerStatus) -> None:
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


def test_a_whole_council_of_two_families_is_not_degraded() -> None:
    ballots = [Ballot(1, seat, Vote.APPROVE, SHA, family="gpt") for seat in SEATS[:3]]
    ballots += [Ballot(1, seat, Vote.APPROVE, SHA, family="claude") for seat in SEATS[3:]]
    assert degraded(plans(frozenset(), AnswerStatus.OK), ballots) == ()


def test_one_family_is_degraded_and_named() -> None:
    told = degraded(plans(frozenset(), AnswerStatus.OK, "claude"))
    assert told == ("all plans come from one model family: claude",)


def test_one_family_is_too_few_where_two_are_asked_for() -> None:
    held = plans(frozenset(), AnswerStatus.OK, "claude")
    assert lacking_quorum(held, 1) == ""
    assert "2 model families" in lacking_quorum(held, 2)


def test_families_count_only_if_they_answered() -> None:
    held = [SeatPlan(PLAN, family="gpt", status=AnswerStatus.ABSENT), SeatPlan(PLAN, family="x")]
    assert families_of(held) == ("x",)


def test_only_security_has_a_veto() -> None:
    assert NAMES == SEATS
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
def test_an_answer_that_is_none_does_not_count(text: str) -> None:
    assert degenerate(text)


@pytest.mark.parametrize(
    "text",
    [
        PLAN,
        PLAN + "Users cannot access the file of another user. " * 20,
        PLAN.replace("## ", "**"),
        PLAN.replace("## ", "1. "),
    ],
)
def test_a_plan_counts(text: str) -> None:
    assert degenerate(text) == ""


def test_a_long_text_may_speak_of_files_that_cannot_be_read() -> None:
    assert not says_unread("The worker cannot read the file. " * 40)


@pytest.mark.parametrize(("length", "tokens"), [(0, 0), (1, 1), (4, 1), (5, 2), (32768, 8192)])
def test_tokens_are_a_quarter_of_the_characters_rounded_up(length: int, tokens: int) -> None:
    assert tokens_of("x" * length) == tokens
