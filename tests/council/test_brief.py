"""Reading and checking the passes of the PM."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.council.brief import (
    failed_checks,
    is_testable,
    new_brief,
    read_audit,
    read_refined,
    read_research,
    read_verify,
    refined_faults,
)
from fairlead.jobs.prompts import template
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


def test_an_answer_inside_one_fence_is_read() -> None:
    assert read_refined(f"```markdown\n{REFINED}\n```\n") == read_refined(REFINED)


def test_a_good_brief_passes() -> None:
    assert failed() == ()


@pytest.mark.parametrize(
    ("change", "fault"),
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
def test_each_fault_is_reported(change: dict[str, str], fault: str) -> None:
    assert [each for each in failed(**change) if fault in each]


def test_a_conflict_is_settled_by_research_or_by_the_audit() -> None:
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
def test_variants_of_none_are_no_entries(line: str) -> None:
    assert read_audit(AUDIT.replace("None", line)).conflicts == ()


def test_a_sentence_that_begins_with_none_is_an_entry() -> None:
    audit = AUDIT.replace("None", "- None of the routes checks the session")
    assert len(read_audit(audit).conflicts) == 1


def test_a_gap_without_an_id_needs_one_more_answer() -> None:
    audit = AUDIT.replace("- G2: how", "- how")
    assert failed(audit=audit) == ()
    assert failed(audit=audit, research=RESEARCH.replace("- G2: accepted risk | a", "None a"))


def test_a_ruling_settles_a_blocking_question() -> None:
    refined = read_refined(REFINED.replace("Q1:", "Q1 [blocking]:"))
    passes = (refined, read_audit(AUDIT), read_research(RESEARCH), "")
    assert failed_checks(*passes)
    assert failed_checks(*passes, answered=("Q1",)) == ()


@pytest.mark.parametrize(
    ("criterion", "expected"),
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
def test_a_criterion_of_praise_alone_is_not_testable(criterion: str, expected: bool) -> None:
    assert is_testable(criterion) is expected


def test_a_request_needs_a_testable_criterion() -> None:
    assert refined_faults(read_refined("## Goal\nMake it nice.\n")) == (
        "no criterion can be tested",
    )
    assert refined_faults(read_refined(REFINED)) == ()


@pytest.mark.parametrize(
    ("text", "is_ok", "fault"),
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
def test_the_verdict_of_the_verify_pass_is_read_strictly(
    text: str, is_ok: bool, fault: str
) -> None:
    found = read_verify(text, NONCE)
    assert found.ok is is_ok
    assert fault in " ".join(found.failed_checks)


@pytest.mark.parametrize("name", ["council_refined", "council_audit", "council_research"])
def test_the_parts_of_the_prompt_can_be_read(name: str) -> None:
    form = template(name).partition("in this order:")[2]
    read = {
        "council_refined": lambda text: read_refined(text).requirements,
        "council_audit": lambda text: read_audit(text).gaps,
        "council_research": read_research,
    }
    assert read[name](form)


@given(st.text(max_size=400))
def test_reading_never_raises(text: str) -> None:
    passes = (read_refined(text), read_audit(text), read_research(text))
    assert failed_checks(*passes, text)
    assert not read_verify(text, NONCE).ok


def test_a_requirement_without_an_id_gets_one() -> None:
    found = read_refined(REFINED.replace("- R2: a", "- a"))
    assert [each.id for each in found.requirements] == ["R1", "R2"]
    assert replace(found, goal="") != found
