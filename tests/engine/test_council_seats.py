"""Seats that are dead, slow, unpaid, refusing, blind or garbled; every subset is in the long tier."""

from pathlib import Path

import pytest

from fairlead.adapters.scripted_council import answer
from fairlead.engine.council_site import SYNTHESISER
from fairlead.model.council_job import AnswerStatus, Vote
from fairlead.model.seats import NAMES
from tests.support.council_table import WAYS, Speaker, a_plain_meeting, fails, is_ballot, wrong_with

PLANNING = [("dead", "builder"), ("garbled", "security"), ("slow", "architect skeptic operator")]
VOTING = [
    ("slow", ""),
    ("dead", "operator"),
    ("busy", "skeptic"),
    ("unpaid", "security"),
    ("refusing", "builder advocate"),
    ("blind", "skeptic"),
    ("garbled", "architect builder skeptic"),
]


@pytest.mark.parametrize(("way", "seats"), PLANNING)
def test_a_council_plans_with_enough_seats_or_says_whom_it_lacks(
    way: str, seats: str, tmp_path: Path, scratch_home: Path
) -> None:
    assert wrong_with(tmp_path, seats.split(), way) == []


@pytest.mark.parametrize(("way", "seats"), VOTING)
def test_a_seat_that_does_not_vote_is_never_a_yes(
    way: str, seats: str, tmp_path: Path, scratch_home: Path
) -> None:
    assert wrong_with(tmp_path, seats.split(), way, only_ballots=True) == []


def test_one_absent_seat_is_borne_where_that_is_allowed(tmp_path: Path, scratch_home: Path) -> None:
    told = wrong_with(tmp_path, ("advocate",), "dead", only_ballots=True, allow_absent=1)
    assert told == []


def test_a_seat_that_votes_nothing_readable_is_asked_twice_more_and_no_oftener(
    tmp_path: Path, scratch_home: Path
) -> None:
    speaker = Speaker({"skeptic": fails("garbled", only_ballots=True)})
    job = a_plain_meeting(tmp_path, speaker=speaker).run()
    first = [each for each in job.cumulative_votes if (each.seat, each.round) == ("skeptic", 1)]
    assert [(each.vote, each.status, each.retry, each.final) for each in first] == [
        (Vote.ABSTAIN, AnswerStatus.UNREADABLE, 0, False),
        (Vote.ABSTAIN, AnswerStatus.UNREADABLE, 1, True),
    ]
    asked = [prompt for who, prompt in speaker.asked if who == "skeptic" and is_ballot(prompt)]
    assert len(asked) == 3 * job.review_round  # the ballot, its repair, and once more


def test_no_seat_sees_another_seats_words_or_the_folder_of_the_project(
    tmp_path: Path, scratch_home: Path
) -> None:
    table = a_plain_meeting(tmp_path)
    seen: list[list[str]] = []

    def looks(prompt: str) -> str:
        [folder] = table.speaker.folders
        seen.append(sorted(path.name for path in Path(folder).iterdir()))
        return answer(prompt)

    table.speaker.says = {"builder": looks}
    table.run()
    for who, prompt in table.speaker.asked:
        others = [f"Seen by the {name}" for name in NAMES if name != who]
        assert who == SYNTHESISER or not [each for each in others if each in prompt]
    assert seen == [["app.py"]] * 3
    assert not [each for each in table.speaker.folders if Path(each).exists()]


def test_every_way_to_fail_is_tried() -> None:
    assert {way for way, _ in (*PLANNING, *VOTING)} == set(WAYS)
