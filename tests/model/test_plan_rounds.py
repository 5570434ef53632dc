"""The rounds of planning: they converge, stall or meet the cap, and end in one of three ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.model.job import FIX
from fairlead.model.plan_rounds import (
    ABANDON,
    KEEP,
    MOST_REVISIONS,
    PROCEED,
    PlanFacts,
    PlanStep,
    Round,
    next_step,
)


def step(*rounds: Round, check: bool = True) -> PlanStep:
    return next_step(PlanFacts(wants_check=check, rounds=rounds))


@pytest.mark.parametrize(
    ("facts", "wanted"),
    [
        (PlanFacts(wants_research=True, wants_patterns=True), PlanStep.RESEARCH),
        (PlanFacts(wants_patterns=True), PlanStep.PATTERNS),
        (PlanFacts(), PlanStep.PLAN),
        (PlanFacts(rounds=(Round(0),)), PlanStep.CHECK),
        (PlanFacts(rounds=(Round(0),), wants_check=False), PlanStep.WRITE),
        (PlanFacts(rounds=(Round(0, 0),)), PlanStep.WRITE),
        (PlanFacts(rounds=(Round(2),)), PlanStep.PLAN),
        (PlanFacts(rounds=(Round(0, 1),)), PlanStep.PLAN),
    ],
)
def test_the_next_step_follows_from_what_is_there(facts: PlanFacts, wanted: PlanStep):
    assert next_step(facts) is wanted


def test_plans_with_faults_of_form_never_reach_the_checker():
    assert step(Round(1)) is PlanStep.PLAN
    assert step(Round(1), check=False) is PlanStep.PLAN


def test_a_revision_that_brings_nothing_is_a_stall_and_a_person_is_asked():
    assert step(Round(0, 2), Round(0, 2)) is PlanStep.ASK
    assert step(Round(0, 2), Round(0, 3)) is PlanStep.ASK
    assert step(Round(2), Round(2)) is PlanStep.ASK


def test_mended_form_is_progress_although_the_checker_then_finds_more():
    assert step(Round(1), Round(0, 5)) is PlanStep.PLAN


def test_three_revisions_are_the_cap():
    better = [Round(0, blockers) for blockers in (9, 8, 7, 6)]

    assert step(*better[:3]) is PlanStep.PLAN
    assert step(*better) is PlanStep.ASK


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        (KEEP, PlanStep.WRITE_MARKED),
        (PROCEED, PlanStep.WRITE),
        (ABANDON, PlanStep.ABANDON),
        (f"{FIX} use one file", PlanStep.PLAN),
    ],
)
def test_a_person_decides_what_becomes_of_plans_that_do_not_pass(answer: str, wanted: PlanStep):
    assert step(Round(0, 2), Round(0, 2, answer)) is wanted


def test_guidance_gives_rounds_again_and_they_are_capped_again():
    told = [Round(0, 9), Round(0, 9, f"{FIX} so")]

    assert step(*told, Round(0, 8)) is PlanStep.PLAN
    assert step(*told, *(Round(0, 8 - at) for at in range(MOST_REVISIONS + 1))) is PlanStep.ASK


ROUNDS = st.lists(
    st.builds(Round, st.integers(0, 3), st.one_of(st.none(), st.integers(0, 3))), max_size=6
)


@given(ROUNDS, st.booleans())
def test_plans_that_did_not_pass_are_written_only_with_a_mark_or_by_a_persons_word(
    rounds: list[Round], check: bool
):
    if step(*rounds, check=check) is PlanStep.WRITE:
        last = rounds[-1]
        assert last.faults == 0
        assert not last.blockers
        assert last.blockers == 0 or not check


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40))
def test_rounds_without_a_person_always_come_to_an_end(found: list[int]):
    rounds: list[Round] = []
    while step(*rounds) in (PlanStep.PLAN, PlanStep.CHECK):
        rounds.append(Round(0, found[len(rounds) % len(found)]))

    assert len(rounds) <= MOST_REVISIONS + 1
