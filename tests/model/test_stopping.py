"""The stop table, enumerated in full: a person can always stop, and nothing is let go silently."""

from itertools import product

import pytest

from fairlead.model import stopping
from fairlead.model.stopping import (
    API_ERROR,
    BLOCK,
    COUNTS,
    EVENTS,
    GIVE_WAY,
    HOLDERS,
    INTERRUPTED,
    MOST_BLOCKS,
    MOST_IN_ALL,
    OPEN,
    OTHER,
    OURS,
    REACHED,
    RELEASED,
    SILENT,
    STOP,
    STOP_AGAIN,
    SUBAGENT,
    TABLE,
    TELL,
    THEIRS,
    UNCOUNTED,
    UNREADABLE,
    VERDICTS,
    WAITING,
    WORK,
    Hold,
    decide,
)

ALL = tuple(product(WORK, HOLDERS, COUNTS, EVENTS))
STOPS = (STOP, STOP_AGAIN)
UNMET = (OPEN, WAITING)


def test_every_state_and_event_has_a_verdict():
    assert len(ALL) == 5 * 3 * 3 * 6
    assert {decide(*facts) for facts in ALL} == set(VERDICTS)


@pytest.mark.parametrize("at", range(len(TABLE)), ids=str)
def test_every_row_decides_something(at: int):
    def row_of(facts: tuple[str, ...]) -> int:
        return next(
            number
            for number, (*row, _) in enumerate(TABLE)
            if all(wanted in (None, fact) for wanted, fact in zip(row, facts, strict=True))
        )

    assert at in {row_of(facts) for facts in ALL}


@pytest.mark.parametrize("event", [INTERRUPTED, API_ERROR])
def test_nobody_is_held_who_was_interrupted_or_cannot_reach_the_model(event: str):
    assert BLOCK not in {decide(*facts) for facts in ALL if facts[3] == event}


def test_only_the_owner_of_an_unmet_plan_is_held():
    held = [facts for facts in ALL if decide(*facts) == BLOCK]

    assert {(work, holder) for work, holder, _, _ in held} == {(OPEN, OURS), (WAITING, OURS)}
    assert {event for *_, event in held} == {STOP, STOP_AGAIN}


def test_nobody_is_held_after_the_limit_or_twice_without_a_count():
    held = {facts[2:] for facts in ALL if decide(*facts) == BLOCK}

    assert not any(count == REACHED for count, _ in held)
    assert (UNCOUNTED, STOP_AGAIN) not in held


def test_nobody_is_held_by_a_plan_that_was_released_or_cannot_be_read():
    verdicts = {decide(*facts) for facts in ALL if facts[1] == RELEASED or facts[0] == UNREADABLE}

    assert BLOCK not in verdicts


def test_no_unmet_plan_is_let_go_silently():
    silent = {facts[3] for facts in ALL if facts[0] in UNMET and decide(*facts) == SILENT}

    # Neither is the end of a session's turn.
    assert silent == {SUBAGENT, OTHER}


def test_giving_way_is_said_to_the_person_whose_plan_it_is():
    told = {facts[1] for facts in ALL if decide(*facts) == GIVE_WAY}
    noted = {facts[1] for facts in ALL if facts[0] in UNMET and decide(*facts) == TELL}

    assert told == {OURS}
    assert noted == {THEIRS, RELEASED}


@pytest.mark.parametrize("work", UNMET)
def test_whatever_happens_an_agent_that_changes_nothing_is_let_go(work: str):
    hold = Hold("p").claimed("s")
    blocks = 0
    while decide(work, hold.holder("s"), hold.count(work, "same"), STOP_AGAIN) == BLOCK:
        hold = hold.counted("same")
        blocks += 1

    assert blocks == MOST_BLOCKS[work]


def test_whatever_happens_an_agent_that_changes_something_every_time_is_let_go():
    hold = Hold("p").claimed("s")
    blocks = 0
    while decide(OPEN, OURS, hold.count(OPEN, str(blocks)), STOP) == BLOCK:
        hold = hold.counted(str(blocks))
        blocks += 1

    assert blocks == MOST_IN_ALL


def test_a_change_of_the_plan_begins_the_count_anew():
    hold = Hold("p", "s", blocks=MOST_BLOCKS[OPEN], total=5, state="a")

    assert hold.count(OPEN, "a") == REACHED
    assert hold.count(OPEN, "b") == stopping.BELOW


def test_the_first_session_that_meets_a_plan_owns_it_and_the_next_does_not():
    hold = Hold("p").claimed("one").claimed("two")

    assert (hold.holder("one"), hold.holder("two")) == (OURS, THEIRS)


def test_the_plan_of_a_session_that_ended_is_for_the_next():
    hold = Hold("p", "one").left("one").claimed("two")

    assert hold.owner == "two"
    assert Hold("p", "one").left("two").owner == "one"


def test_a_new_owner_is_counted_from_the_beginning():
    hold = Hold("p", "one", blocks=5, total=MOST_IN_ALL, state="a").left("one").claimed("two")

    assert hold.count(OPEN, "a") == stopping.BELOW
