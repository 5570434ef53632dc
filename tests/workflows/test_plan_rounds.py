"""The rounds of planning: they converge, stall or meet the cap, and end in one of three ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.jobs.model import FIX
from fairlead.workflows.plan_rules import (
    ABANDON,
    KEEP,
    MAX_REVISIONS,
    PROCEED,
    PlanRound,
    PlanRoundFacts,
    PlanStep,
    next_step,
)


def step(*rounds: PlanRound, check: bool = True) -> PlanStep:
    return next_step(PlanRoundFacts(wants_check=check, rounds=rounds))


@pytest.mark.parametrize(
    ("facts", "wanted"),
    [
        (PlanRoundFacts(wants_research=True, wants_patterns=True), PlanStep.RESEARCH),
        (PlanRoundFacts(wants_patterns=True), PlanStep.PATTERNS),
        (PlanRoundFacts(), PlanStep.PLAN),
        (PlanRoundFacts(rounds=(PlanRound(0),)), PlanStep.CHECK),
        (PlanRoundFacts(rounds=(PlanRound(0),), wants_check=False), PlanStep.WRITE),
        (PlanRoundFacts(rounds=(PlanRound(0, 0),)), PlanStep.WRITE),
        (PlanRoundFacts(rounds=(PlanRound(2),)), PlanStep.PLAN),
        (PlanRoundFacts(rounds=(PlanRound(0, 1),)), PlanStep.PLAN),
    ],
)
def test_the_next_step_follows_from_the_facts(facts: PlanRoundFacts, wanted: PlanStep):
    assert next_step(facts) is wanted


def test_plans_with_faults_of_form_never_reach_the_checker():
    assert step(PlanRound(1)) is PlanStep.PLAN
    assert step(PlanRound(1), check=False) is PlanStep.PLAN


def test_a_revision_without_progress_asks_a_person():
    assert step(PlanRound(0, 2), PlanRound(0, 2)) is PlanStep.ASK
    assert step(PlanRound(0, 2), PlanRound(0, 3)) is PlanStep.ASK
    assert step(PlanRound(2), PlanRound(2)) is PlanStep.ASK


def test_fixed_form_is_progress_even_if_the_checker_finds_more():
    assert step(PlanRound(1), PlanRound(0, 5)) is PlanStep.PLAN


def test_planning_is_limited_to_three_revisions():
    better = [PlanRound(0, blockers) for blockers in (9, 8, 7, 6)]

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
def test_a_person_decides_about_plans_that_do_not_pass(answer: str, wanted: PlanStep):
    assert step(PlanRound(0, 2), PlanRound(0, 2, answer)) is wanted


def test_guidance_allows_three_more_revisions():
    guided = [PlanRound(0, 9), PlanRound(0, 9, f"{FIX} so")]

    assert step(*guided, PlanRound(0, 8)) is PlanStep.PLAN
    assert step(*guided, *(PlanRound(0, 8 - at) for at in range(MAX_REVISIONS + 1))) is PlanStep.ASK


ROUNDS = st.lists(
    st.builds(PlanRound, st.integers(0, 3), st.one_of(st.none(), st.integers(0, 3))), max_size=6
)


@given(ROUNDS, st.booleans())
def test_failed_plans_are_written_only_with_a_mark_or_on_request(
    rounds: list[PlanRound], check: bool
):
    if step(*rounds, check=check) is PlanStep.WRITE:
        last = rounds[-1]
        assert last.faults == 0
        assert not last.blockers
        assert last.blockers == 0 or not check


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40))
def test_rounds_without_a_person_always_end(found: list[int]):
    rounds: list[PlanRound] = []
    while step(*rounds) in (PlanStep.PLAN, PlanStep.CHECK):
        rounds.append(PlanRound(0, found[len(rounds) % len(found)]))

    assert len(rounds) <= MAX_REVISIONS + 1
