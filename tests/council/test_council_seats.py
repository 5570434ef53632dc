"""Councils with failing seats; `make prove` runs every subset."""

from pathlib import Path

import pytest

from fairlead.agents.scripted.council import answer
from fairlead.council.model import AnswerStatus, Vote
from fairlead.council.seats import SEAT_NAMES, SYNTHESISER
from tests.support.council_runs import (
    FAILURES,
    ScriptedModel,
    a_council_without_git,
    fails,
    faults_of_council,
    is_ballot,
)

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
def test_a_council_without_quorum_names_the_missing_seats(
    way: str, seats: str, tmp_path: Path, scratch_home: Path
) -> None:
    assert faults_of_council(tmp_path, seats.split(), way) == []


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("way", "seats"), VOTING)
def test_a_seat_without_a_vote_never_counts_as_a_yes(
    way: str, seats: str, tmp_path: Path, scratch_home: Path
) -> None:
    assert faults_of_council(tmp_path, seats.split(), way, only_ballots=True) == []


def test_one_absent_seat_is_excused_if_the_settings_allow_it(
    tmp_path: Path, scratch_home: Path
) -> None:
    faults = faults_of_council(tmp_path, ("advocate",), "dead", only_ballots=True, allow_absent=1)
    assert faults == []


def test_an_unreadable_seat_gets_one_repair_call_and_one_more(
    tmp_path: Path, scratch_home: Path
) -> None:
    model = ScriptedModel({"skeptic": fails("garbled", only_ballots=True)})
    job = a_council_without_git(tmp_path, model=model).run()
    first = [each for each in job.cumulative_votes if (each.seat, each.round) == ("skeptic", 1)]
    assert [(each.vote, each.status, each.retry, each.final) for each in first] == [
        (Vote.ABSTAIN, AnswerStatus.UNREADABLE, 0, False),
        (Vote.ABSTAIN, AnswerStatus.UNREADABLE, 1, True),
    ]
    asked = [prompt for who, prompt in model.asked if who == "skeptic" and is_ballot(prompt)]
    assert len(asked) == 3 * job.review_round  # the ballot, its repair, and once more


def test_no_seat_sees_other_plans_or_the_project_folder(tmp_path: Path, scratch_home: Path) -> None:
    council = a_council_without_git(tmp_path)
    seen: list[list[str]] = []

    def looks(prompt: str) -> str:
        known = tuple(council.model.folders)  # the other seats add theirs meanwhile
        [folder] = [each for each in known if "builder" in each and Path(each).exists()]
        seen.append(sorted(path.name for path in Path(folder).iterdir()))
        return answer(prompt)

    council.model.says = {"builder": looks}
    council.run()
    for who, prompt in council.model.asked:
        others = [f"Seen by the {name}" for name in SEAT_NAMES if name != who]
        assert who == SYNTHESISER or not [each for each in others if each in prompt]
    assert seen == [["app.py"]] * 3
    assert not [each for each in council.model.folders if Path(each).exists()]


def test_every_kind_of_failure_is_covered() -> None:
    assert {way for way, _ in (*PLANNING, *VOTING)} == set(FAILURES)
