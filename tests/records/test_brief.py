"""The passes of the PM, read and checked."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.engine.prompting import template
from fairlead.records.brief import (
    failed_checks,
    is_testable,
    new_brief,
    read_audit,
    read_refined,
    read_research,
    read_verify,
    refined_faults,
)
from tests.support.council import AUDIT, REFINED, RESEARCH

LAST = "a request with a session of 25 hours is refused"
NONCE = "3f9a77c2d1e84b06"


def failed(refined: str = REFINED, audit: str = AUDIT, research: str = RESEARCH) -> tuple[str, ...]:
    return failed_checks(
        read_refined(refined),
        read_audit(audit),
        read_research(research),
        new_brief(refined, audit, research),
    )


def test_the_refined_request_has_its_parts() -> None:
    found = read_refined(REFINED)
    assert found.goal == "People sign in with a passkey."
    assert [(each.id, len(each.criteria)) for each in found.requirements] == [("R1", 2), ("R2", 1)]
    assert [(each.id, each.is_blocking) for each in found.questions] == [("Q1", False)]


def test_the_audit_names_conflicts_and_gaps() -> None:
    found = read_audit(AUDIT)
    assert (found.conflicts, [gap.id for gap in found.gaps]) == ((), ["G1", "G2"])


def test_the_research_answers_gaps_or_accepts_them_as_risks() -> None:
    found = read_research(RESEARCH)
    assert [(each.id, each.field("source")) for each in found] == [("G1", "analytics"), ("G2", "")]


def test_a_whole_answer_in_a_fence_is_read() -> None:
    assert read_refined(f"```markdown\n{REFINED}\n```\n") == read_refined(REFINED)


def test_a_good_brief_passes() -> None:
    assert failed() == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"refined": REFINED.replace(f"  - criterion: {LAST}\n", "")}, "R2 has no criterion"),
        ({"refined": REFINED.replace(LAST, "it works well")}, "nobody can test 'it works well'"),
        ({"refined": REFINED.replace("R2:", "R1:")}, "R1 stands for two"),
        ({"refined": REFINED.replace("Q1:", "Q1 [blocking]:")}, "Q1 blocks"),
        ({"refined": REFINED.replace("People sign in with a passkey.", "")}, "no goal"),
        ({"audit": AUDIT.replace("None", "- R1: there is a sign-in already")}, "contradicts"),
        ({"audit": AUDIT + "- G3: who is told\n"}, "G3 is not answered"),
        ({"research": RESEARCH.replace("- G1", "- G9")}, "G1 is not answered"),
        ({"research": RESEARCH + "- more | source: x\n" * 3000}, "tokens"),
    ],
)  # fmt: skip
def test_each_check_fails_by_its_name(change: dict[str, str], said: str) -> None:
    assert [each for each in failed(**change) if said in each]


def test_a_conflict_is_settled_by_research_or_in_place() -> None:
    audit = AUDIT.replace("None", "- R1: there is a sign-in already")
    assert failed(audit=audit, research=RESEARCH.replace("- G2", "- R1: it goes\n- G2")) == ()
    assert failed(audit=audit.replace("already", "already | resolved: it goes")) == ()


@pytest.mark.parametrize(
    "line",
    [
        "None",
        "- None.",
        "- none found in the code",
        "- No conflicts were found",
        "- None: it is new",
        "- N/A",
    ],
)
def test_nothing_is_said_in_many_words(line: str) -> None:
    assert read_audit(AUDIT.replace("None", line)).conflicts == ()


def test_a_sentence_that_begins_with_none_is_something() -> None:
    audit = AUDIT.replace("None", "- None of the routes checks the session")
    assert len(read_audit(audit).conflicts) == 1


def test_a_gap_without_an_id_needs_an_answer_of_its_own() -> None:
    audit = AUDIT.replace("- G2: how", "- how")
    assert failed(audit=audit) == ()
    assert failed(audit=audit, research=RESEARCH.replace("- G2: accepted risk | a", "None a"))


def test_a_blocking_question_is_settled_by_a_person() -> None:
    refined = read_refined(REFINED.replace("Q1:", "Q1 [blocking]:"))
    held = (refined, read_audit(AUDIT), read_research(RESEARCH), "")
    assert failed_checks(*held)
    assert failed_checks(*held, answered=("Q1",)) == ()


@pytest.mark.parametrize(
    ("criterion", "is_one"),
    [
        ("`make test` passes", True),
        ("a wrong key is refused", True),
        ("at most 200 ms", True),
        ("works well", False),
        ("tests pass", True),
        ("a clean checkout builds", True),
        ("the page works as expected without a network", True),
        ("an appropriate message is shown for a wrong key", True),
        ("Everything works correctly.", False),
        ("latency to be defined", False),
        ("the code is clean and robust", False),
        ("it is good", False),
        ("fast", False),
        ("", False),
        ("works as expected: `pytest` ends with 0", True),
        ("TBD", False),
    ],
)
def test_a_criterion_can_be_tested_if_it_says_something(criterion: str, is_one: bool) -> None:
    assert is_testable(criterion) is is_one


def test_a_request_without_a_testable_criterion_is_refused_at_once() -> None:
    assert refined_faults(read_refined("## Goal\nMake it nice.\n")) == (
        "no criterion can be tested",
    )
    assert refined_faults(read_refined(REFINED)) == ()


@pytest.mark.parametrize(
    ("text", "is_ok", "said"),
    [
        (f"None\n\nVERIFY {NONCE}: OK", True, ""),
        (f"- R1: no criterion\n\nVERIFY {NONCE}: FAILED", False, "R1: no criterion"),
        (f"VERIFY {NONCE}: FAILED", False, "without saying why"),
        ("VERIFY: OK", False, "did not end"),
        ("", False, "did not end"),
        (f"```\nVERIFY {NONCE}: OK", False, "did not end"),
        (f"> VERIFY {NONCE}: OK", False, "did not end"),
        (f"VERIFY {NONCE}: OK\nI hope this helps", False, "did not end"),
    ],
)
def test_the_models_own_verify_is_read_strictly(text: str, is_ok: bool, said: str) -> None:
    found = read_verify(text, NONCE)
    assert found.ok is is_ok
    assert said in " ".join(found.failed_checks)


@pytest.mark.parametrize("name", ["council_refined", "council_audit", "council_research"])
def test_the_parts_that_are_asked_for_are_the_parts_that_are_read(name: str) -> None:
    form = template(name).partition("in this order:")[2]
    read = {
        "council_refined": lambda text: read_refined(text).requirements,
        "council_audit": lambda text: read_audit(text).gaps,
        "council_research": read_research,
    }
    assert read[name](form)


@given(st.text(max_size=400))
def test_reading_never_breaks(text: str) -> None:
    held = (read_refined(text), read_audit(text), read_research(text))
    assert failed_checks(*held, text)
    assert not read_verify(text, NONCE).ok


def test_a_requirement_without_an_id_gets_one() -> None:
    found = read_refined(REFINED.replace("- R2: a", "- a"))
    assert [each.id for each in found.requirements] == ["R1", "R2"]
    assert replace(found, goal="") != found
