"""REQUIREMENTS.md: a requirement is complete when every phase that has it is."""

import pytest

from fairlead.core.ids import PhaseId
from fairlead.project.requirements import completed, ids_in
from fairlead.text.document import Document

TEXT = """\
# Requirements: Sample

## v1 Requirements

### Authentication

- [ ] **AUTH-01**: People sign in
- [ ] **AUTH-02**: People sign out
- [ ] **FIND-01**: People find things, see AUTH-01

## Traceability

| Requirement | Phase | Status |
|-------------|-------|--------|
| AUTH-01 | Phase 1 | Pending |
| AUTH-02 | Phase 1, Phase 2 | In Progress |
| FIND-01 | Phase 2 | Pending |
"""


def after(text: str, *phases: str, ids: tuple[str, ...] = ()) -> str:
    return completed(Document(text), ids, {PhaseId.parse(phase) for phase in phases}).text


def test_the_requirements_of_a_complete_phase_are_ticked_in_both_places() -> None:
    new = after(TEXT, "1")
    assert "- [x] **AUTH-01**: People sign in" in new
    assert "| AUTH-01 | Phase 1 | Complete |" in new


def test_a_requirement_of_two_phases_waits_for_the_second() -> None:
    assert "- [ ] **AUTH-02**" in after(TEXT, "1")
    assert "| AUTH-02 | Phase 1, Phase 2 | Complete |" in after(TEXT, "1", "2")


def test_a_mention_of_another_requirement_is_not_a_box_of_it() -> None:
    assert "- [ ] **FIND-01**: People find things, see AUTH-01" in after(TEXT, "1")


@pytest.mark.parametrize("status", ["Blocked", "Dropped", "waits for legal"])
def test_a_row_of_a_person_s_own_keeps_its_word_and_its_box(status: str) -> None:
    text = TEXT.replace("| AUTH-01 | Phase 1 | Pending |", f"| AUTH-01 | Phase 1 | {status} |")
    assert after(text, "1") == text


def test_a_requirement_without_a_row_is_ticked_when_the_roadmap_names_it() -> None:
    text = TEXT.partition("## Traceability")[0]
    assert "- [x] **AUTH-01**" in after(text, "1", ids=("AUTH-01",))
    assert "- [ ] **AUTH-02**" in after(text, "1", ids=("AUTH-01",))


def test_a_repeated_call_changes_nothing() -> None:
    once = after(TEXT, "1", "2")
    assert after(once, "1", "2") == once


def test_padded_numbers_are_the_same_phase() -> None:
    assert "| AUTH-01 | Phase 01 | Complete |" in after(
        TEXT.replace("Phase 1 |", "Phase 01 |"), "1"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[AUTH-01, AUTH-02]", ("AUTH-01", "AUTH-02")),
        ("AUTH-01", ("AUTH-01",)),
        ("None yet.", ()),
        ("TOUR2-01, AUTH-01, AUTH-01", ("TOUR2-01", "AUTH-01")),
    ],
)
def test_a_line_names_its_requirements(text: str, expected: tuple[str, ...]) -> None:
    assert ids_in(text) == expected
