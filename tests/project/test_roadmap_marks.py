"""Boxes, counts and rows are raised to what the files prove, never beyond, and rarely lowered."""

import pytest

from fairlead.core.ids import PhaseId
from fairlead.project.derive.inventory import Completion, Phase, PhaseFolder, Plan, Proof
from fairlead.project.derive.progress import reopened_of
from fairlead.project.roadmap.documents import read_roadmap
from fairlead.project.roadmap.marks import PhaseProof, marked
from fairlead.text.document import Document
from tests.support.roadmaps import BULLETS_ONLY, GROUPED, LIST_AND_DETAILS, SHAPES

DATE = "2026-06-01"


def proven(
    number: str, done: int, total: int, *, milestone: str = "", plans: str = ""
) -> PhaseProof:
    phase = PhaseId.parse(number)
    ids = frozenset(plans.split()) or frozenset(
        f"{phase.padded}-{at:02d}" for at in range(1, done + 1)
    )
    return PhaseProof(phase, milestone, done, total, 0 < done == total, ids)


def after(text: str, *phases: PhaseProof) -> str:
    return marked(Document(text), phases, DATE).document.text


def test_a_complete_phase_gets_its_box_its_counts_and_its_row() -> None:
    new = after(LIST_AND_DETAILS, proven("2", 3, 3))
    assert "- [x] **Phase 2: Search** - find things (completed 2026-06-01)" in new
    assert "**Plans:** 3/3 plans complete" in new
    assert "| 2. Search | 3/3 | Complete | 2026-06-01 |" in new


def test_a_phase_in_progress_gets_its_counts_and_no_date() -> None:
    new = after(LIST_AND_DETAILS, proven("2", 1, 3))
    assert "- [ ] **Phase 2: Search** - find things\n" in new
    assert "**Plans:** 1/3 plans complete" in new
    assert "| 2. Search | 1/3 | In progress | - |" in new


def test_a_phase_without_plans_changes_nothing() -> None:
    assert after(LIST_AND_DETAILS, proven("2", 0, 0)) == LIST_AND_DETAILS


def test_marks_that_are_right_already_change_nothing() -> None:
    assert after(LIST_AND_DETAILS, proven("1", 2, 2)) == LIST_AND_DETAILS


@pytest.mark.parametrize("text", SHAPES.values(), ids=list(SHAPES))
def test_marking_twice_changes_nothing_more(text: str) -> None:
    phases = [proven(str(number), 1, 1) for number in range(1, 7)]
    once = after(text, *phases)
    assert after(once, *phases) == once


def test_the_boxes_of_proven_plans_are_ticked() -> None:
    text = LIST_AND_DETAILS.replace("- [x] 01-0", "- [ ] 01-0")
    new = after(text, proven("1", 1, 2, plans="01-02"))
    assert "- [ ] 01-01-PLAN.md" in new
    assert "- [x] 01-02: the flesh" in new


def test_a_box_that_claims_more_stays_and_is_reported() -> None:
    outcome = marked(Document(LIST_AND_DETAILS), [proven("1", 1, 2)], DATE)
    assert outcome.document.text == LIST_AND_DETAILS
    assert outcome.claims == (
        "9: the box of phase 1 is ticked",
        "15: phase 1 counts 2/2 plans complete",
        "48: the row of phase 1 counts 2/2",
    )


def a_phase(roadmap: str, done: int, total: int) -> Phase:
    listed = read_roadmap(Document(roadmap)).phases[0]
    plans = tuple(
        Plan(
            f"01-0{at}",
            f"01-0{at}-PLAN.md",
            "",
            Proof.COMPLETE if at <= done else Proof.NONE,
            False,
            1,
        )
        for at in range(1, total + 1)
    )
    folder = PhaseFolder(listed.id, "a", "phases/01-a", "", plans, (), None, False, False)
    return Phase(listed.id, listed.name, listed, folder)


@pytest.mark.parametrize(
    ("done", "total", "goes_back"), [(2, 3, True), (2, 2, False), (1, 2, False), (0, 3, False)]
)
def test_correct_marks_are_lowered_when_plans_are_added(
    done: int, total: int, goes_back: bool
) -> None:
    proof = reopened_of(a_phase(LIST_AND_DETAILS, done, total), Completion.SUMMARISED)
    assert proof.is_reopened is goes_back
    new = after(LIST_AND_DETAILS, proof)
    assert ("- [ ] **Phase 1:" in new) is goes_back
    assert (f"| {done}/{total} | In progress | - |" in new) is goes_back


STAGED = """\
# Roadmap

- [x] **Phase 1: Auth** (completed 2026-02-01)

### Phase 1: Auth

- [x] 01-01-PLAN.md
- [{second}] 01-02-PLAN.md
- [{second}] 01-03-PLAN.md

| Phase | Status | Completed |
|---|---|---|
| 1. Auth | {status} | 2026-02-01 |
"""


def test_ticked_plans_without_proof_stay_and_are_reported() -> None:
    text = STAGED.format(second="x", status="Complete")
    outcome = marked(
        Document(text), [reopened_of(a_phase(text, 1, 3), Completion.SUMMARISED)], DATE
    )
    assert outcome.document.text == text
    assert outcome.claims == (
        "3: the box of phase 1 is ticked",
        "13: the row of phase 1 says Complete",
    )


@pytest.mark.parametrize(
    ("status", "row"),
    [
        ("Complete", "| 1. Auth | In progress | - |"),
        ("✅ Shipped to staging", "| 1. Auth | ✅ Shipped to staging | 2026-02-01 |"),
    ],
)
def test_the_date_of_a_row_is_removed_only_with_its_status(status: str, row: str) -> None:
    text = STAGED.format(second=" ", status=status)
    new = after(text, reopened_of(a_phase(text, 1, 3), Completion.SUMMARISED))
    assert "- [ ] **Phase 1: Auth**\n" in new
    assert row in new


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("TBD", "2/3 plans complete"),
        ("3 plans", "2/3 plans complete"),
        ("0/3 plans executed", "2/3 plans complete"),
        ("1/3", "2/3 plans complete"),
        ("3 plans (2 waves)", "2/3 plans complete (2 waves)"),
        ("as many as it takes", "as many as it takes"),
    ],
)
def test_the_plans_line_keeps_what_a_person_added(value: str, expected: str) -> None:
    text = LIST_AND_DETAILS.replace("**Plans:** TBD", f"**Plans:** {value}")
    assert f"**Plans:** {expected}\n" in after(text, proven("2", 2, 3))


@pytest.mark.parametrize("status", ["Deferred", "Blocked by legal", "In review"])
def test_a_status_in_a_person_s_words_is_kept(status: str) -> None:
    text = LIST_AND_DETAILS.replace(
        "| 2. Search | 0/TBD | Not started |", f"| 2. Search | 0/TBD | {status} |"
    )
    assert f"| 2. Search | 3/3 | {status} | 2026-06-01 |" in after(text, proven("2", 3, 3))


def test_an_existing_date_is_kept() -> None:
    text = LIST_AND_DETAILS.replace("find things", "find things (completed 2026-03-03)")
    new = after(text, proven("2", 1, 1))
    assert "- [x] **Phase 2: Search** - find things (completed 2026-03-03)\n" in new


@pytest.mark.parametrize(
    ("box", "status"), [("x", "Complete"), ("x", "In progress"), (" ", "✅ Complete")]
)
def test_a_phase_that_was_marked_complete_before_gets_no_date(box: str, status: str) -> None:
    text = LIST_AND_DETAILS.replace(
        "- [ ] **Phase 2: Search**", f"- [{box}] **Phase 2: Search**"
    ).replace("| 2. Search | 0/TBD | Not started |", f"| 2. Search | 3/3 | {status} |")
    new = after(text, proven("2", 3, 3))
    assert "- [x] **Phase 2: Search**" in new
    assert DATE not in new


def test_defect_3_rows_of_other_milestones_are_not_touched() -> None:
    new = after(GROUPED, proven("3", 2, 2, milestone="v1.1"))
    assert "| 3. Locks | v1.1 | 2/2 | Complete | 2026-06-01 |" in new
    assert "| 1. Foundation | v1.0 | 3/3 | Complete | 2026-01-02 |" in new
    assert "- [x] **Phase 3: Locks** - gates (completed 2026-06-01)" in new


def test_counts_beside_a_box_follow_the_files() -> None:
    text = BULLETS_ONLY.replace("**Phase 2: Two** - b", "**Phase 2: Two** (0/3 plans) - b")
    assert "- [ ] **Phase 2: Two** (1/3 plans) - b\n" in after(text, proven("2", 1, 3))


def test_a_retired_phase_is_left_alone() -> None:
    text = LIST_AND_DETAILS.replace("**Phase 2: Search**", "~~**Phase 2: Search**~~")
    assert "- [ ] ~~**Phase 2: Search**~~" in after(text, proven("2", 1, 1))


def test_examples_in_fences_are_left_alone() -> None:
    text = LIST_AND_DETAILS + "\n```\n- [ ] **Phase 2: Search** - find things\n```\n"
    assert "```\n- [ ] **Phase 2: Search**" in after(text, proven("2", 1, 1))
