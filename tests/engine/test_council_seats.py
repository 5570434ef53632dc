"""Seats that are dead, slow, unpaid, refusing, blind or garbled; every subset is in the long tier."""

from pathlib import Path

import pytest

from fairlead.model.council_job import AnswerStatus, Vote
from tests.support.council_tables import WAYS, Rig, is_ballot, wrong_with

PLANNING = [("dead", "builder"), ("garbled", "security"), ("slow", "architect skeptic operator")]
VOTING = [
    ("slow", ""),
    ("dead", "operator"),
    ("unpaid", "security"),
    ("refusing", "builder advocate"),
    ("blind", "skeptic"),
    ("garbled", "architect builder skeptic"),
]


@pytest.mark.parametrize(("way", "seats"), PLANNING)
def test_a_council_plans_with_enough_seats_or_says_whom_it_lacks(
    way: str, seats: str, tmp_path: Path, scratch_home: Path
) -> None:
    assert wrong_with(Rig(tmp_path / "project", seats.split(), way)) == []


@pytest.mark.parametrize(("way", "seats"), VOTING)
def test_a_seat_that_does_not_vote_is_never_a_yes(
    way: str, seats: str, tmp_path: Path, scratch_home: Path
) -> None:
    assert wrong_with(Rig(tmp_path / "project", seats.split(), way, only_ballots=True)) == []


def test_one_absent_seat_is_borne_where_that_is_allowed(tmp_path: Path, scratch_home: Path) -> None:
    rig = Rig(tmp_path / "project", ("advocate",), "dead", only_ballots=True, allow_absent=1)
    assert wrong_with(rig) == []


def test_a_seat_that_votes_nothing_readable_is_asked_twice_more_and_no_oftener(
    tmp_path: Path, scratch_home: Path
) -> None:
    rig = Rig(tmp_path / "project", ("skeptic",), "garbled", only_ballots=True)
    job = rig.run()
    first = [each for each in job.cumulative_votes if (each.seat, each.round) == ("skeptic", 1)]
    assert [(each.vote, each.status, each.retry, each.final) for each in first] == [
        (Vote.ABSTAIN, AnswerStatus.UNREADABLE, 0, False),
        (Vote.ABSTAIN, AnswerStatus.UNREADABLE, 1, True),
    ]
    asked = [order for order in rig.speakers["skeptic"].orders if is_ballot(order)]
    assert len(asked) == 3 * job.review_round  # the ballot, its repair, and once more


def test_no_seat_sees_another_seats_words_before_it_votes(
    tmp_path: Path, scratch_home: Path
) -> None:
    rig = Rig(tmp_path / "project")
    rig.run()
    for seat, speaker in rig.speakers.items():
        if seat in ("pm", "synthesiser"):
            continue
        others = [f"Seen by the {name}" for name in rig.speakers if name != seat]
        told = "\n".join(order.prompt for order in speaker.orders)
        assert not [each for each in others if each in told]


def test_every_way_to_fail_is_tried() -> None:
    assert {way for way, _ in (*PLANNING, *VOTING)} == set(WAYS)
