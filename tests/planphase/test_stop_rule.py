"""The stop table, enumerated: a person can always stop, and no unmet plan is dropped silently."""

from itertools import product

import pytest

from fairlead.planphase import stop_rule
from fairlead.planphase.stop_rule import (
    API_ERROR,
    BLOCK,
    COUNTS,
    EVENTS,
    GIVE_WAY,
    HOLDERS,
    INTERRUPTED,
    MOST_BLOCKS,
    MOST_IN_ALL,
    NOTIFY,
    OPEN,
    OTHER,
    OTHER_SESSION,
    OWN_SESSION,
    REACHED,
    RELEASED,
    SILENT,
    STOP,
    STOP_AGAIN,
    SUBAGENT,
    TABLE,
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
    assert {decide(*situation) for situation in ALL} == set(VERDICTS)


@pytest.mark.parametrize("at", range(len(TABLE)), ids=str)
def test_every_row_decides_something(at: int):
    def row_of(situation: tuple[str, ...]) -> int:
        return next(
            number
            for number, (*row, _) in enumerate(TABLE)
            if all(cell in (None, value) for cell, value in zip(row, situation, strict=True))
        )

    assert at in {row_of(situation) for situation in ALL}


@pytest.mark.parametrize("event", [INTERRUPTED, API_ERROR])
def test_an_interruption_or_an_api_error_is_never_blocked(event: str):
    assert BLOCK not in {decide(*situation) for situation in ALL if situation[3] == event}


def test_only_the_owner_of_an_unmet_plan_is_blocked():
    blocked = [situation for situation in ALL if decide(*situation) == BLOCK]

    assert {(work, holder) for work, holder, _, _ in blocked} == {
        (OPEN, OWN_SESSION),
        (WAITING, OWN_SESSION),
    }
    assert {event for *_, event in blocked} == {STOP, STOP_AGAIN}


def test_no_session_is_blocked_beyond_the_limit_or_twice_without_a_count():
    blocked = {situation[2:] for situation in ALL if decide(*situation) == BLOCK}

    assert not any(count == REACHED for count, _ in blocked)
    assert (UNCOUNTED, STOP_AGAIN) not in blocked


def test_a_released_or_unreadable_plan_never_blocks():
    verdicts = {
        decide(*situation)
        for situation in ALL
        if situation[1] == RELEASED or situation[0] == UNREADABLE
    }

    assert BLOCK not in verdicts


def test_an_unmet_plan_is_never_dropped_silently():
    silent = {
        situation[3] for situation in ALL if situation[0] in UNMET and decide(*situation) == SILENT
    }

    # Neither event ends the turn of a session.
    assert silent == {SUBAGENT, OTHER}


def test_giving_way_is_reported_in_the_session_that_owns_the_plan():
    owners = {situation[1] for situation in ALL if decide(*situation) == GIVE_WAY}
    others = {
        situation[1] for situation in ALL if situation[0] in UNMET and decide(*situation) == NOTIFY
    }

    assert owners == {OWN_SESSION}
    assert others == {OTHER_SESSION, RELEASED}


@pytest.mark.parametrize("work", UNMET)
def test_an_agent_that_changes_nothing_may_stop_after_the_limit(work: str):
    hold = Hold("p").claimed("s")
    blocks = 0
    while decide(work, hold.holder("s"), hold.count(work, "same"), STOP_AGAIN) == BLOCK:
        hold = hold.counted("same")
        blocks += 1

    assert blocks == MOST_BLOCKS[work]


def test_an_agent_that_always_changes_something_may_stop_in_the_end():
    hold = Hold("p").claimed("s")
    blocks = 0
    while decide(OPEN, OWN_SESSION, hold.count(OPEN, str(blocks)), STOP) == BLOCK:
        hold = hold.counted(str(blocks))
        blocks += 1

    assert blocks == MOST_IN_ALL


def test_a_change_of_the_plan_restarts_the_count():
    hold = Hold("p", "s", blocks=MOST_BLOCKS[OPEN], total=5, state="a")

    assert hold.count(OPEN, "a") == REACHED
    assert hold.count(OPEN, "b") == stop_rule.BELOW


def test_the_first_session_owns_the_plan():
    hold = Hold("p").claimed("one").claimed("two")

    assert (hold.holder("one"), hold.holder("two")) == (OWN_SESSION, OTHER_SESSION)


def test_the_plan_of_an_ended_session_goes_to_the_next():
    hold = Hold("p", "one").left("one").claimed("two")

    assert hold.owner == "two"
    assert Hold("p", "one").left("two").owner == "one"


def test_a_new_owner_starts_at_zero():
    hold = Hold("p", "one", blocks=5, total=MOST_IN_ALL, state="a").left("one").claimed("two")

    assert hold.count(OPEN, "a") == stop_rule.BELOW
