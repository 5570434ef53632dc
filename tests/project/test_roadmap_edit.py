"""Adding, removing and renumbering phases in the style of their neighbours."""

import difflib

import pytest

from fairlead.core.ids import PhaseId
from fairlead.project.roadmap.edit import NewPhase, with_phase, without_phase
from fairlead.project.roadmap.renumber import renamed, renumbered_roadmap, renumbered_table
from fairlead.text.document import Document
from fairlead.text.errors import ConflictMarkers, NoPlace, UnwritableValue
from tests.support.roadmaps import (
    BULLETS_ONLY,
    COLLAPSED_HEADINGS,
    GROUPED,
    HEADINGS_ONLY,
    LIST_AND_DETAILS,
    SHAPES,
    TABLE_ONLY,
    numbers,
    roadmap,
)


def added(text: str, number: str, name: str = "Zebra", milestone: str = "", goal: str = "") -> str:
    phase = NewPhase(PhaseId.parse(number), name, milestone, goal)
    return with_phase(Document(text), phase).text


def home(text: str) -> str:
    """The milestone that a new phase of a sample belongs to."""
    return {GROUPED: "v1.1", COLLAPSED_HEADINGS: "v0.5.0"}.get(
        text, "v1.1" if "Onboarding" in text else ""
    )


def gone(before: str, after: str) -> list[str]:
    """The lines that an edit took away."""
    return [
        line[2:]
        for line in difflib.ndiff(before.splitlines(), after.splitlines())
        if line.startswith("- ")
    ]


def come(before: str, after: str) -> list[str]:
    """The lines that an edit brought."""
    return gone(after, before)


@pytest.mark.parametrize("text", SHAPES.values(), ids=list(SHAPES))
def test_a_new_phase_is_found_again_in_every_shape(text: str) -> None:
    after = added(text, "7", milestone=home(text), goal="Run")
    found = [phase for phase in roadmap(after).phases if phase.id.short == "7"]
    assert [(phase.name, phase.milestone) for phase in found] == [("Zebra", home(text))]


@pytest.mark.parametrize("text", SHAPES.values(), ids=list(SHAPES))
def test_a_new_phase_removes_no_line_and_moves_no_other_phase(text: str) -> None:
    after = added(text, "7", milestone=home(text))
    assert gone(text, after) == []
    assert [each for each in roadmap(after).phases if each.id.short != "7"] != []
    before = {(each.id, each.milestone): each.name for each in roadmap(text).phases}
    now = {(each.id, each.milestone): each.name for each in roadmap(after).phases}
    assert {key: now.get(key) for key in before} == before


@pytest.mark.parametrize("text", SHAPES.values(), ids=list(SHAPES))
def test_a_phase_that_was_added_and_removed_leaves_the_roadmap_as_it_was(text: str) -> None:
    after = added(text, "7", milestone=home(text))
    back = without_phase(Document(after), PhaseId.parse("7"), home(text)).text
    assert [line for line in back.splitlines() if line] == [
        line for line in text.splitlines() if line
    ]


@pytest.mark.parametrize("text", SHAPES.values(), ids=list(SHAPES))
def test_line_endings_of_the_document_are_kept(text: str) -> None:
    crlf = text.replace("\n", "\r\n")
    after = added(crlf, "7", milestone=home(text))
    assert "\n" not in after.replace("\r\n", "")


def test_list_details_and_table_each_get_their_entry() -> None:
    after = added(LIST_AND_DETAILS, "3", goal="Stripes")
    assert come(LIST_AND_DETAILS, after) == [
        "- [ ] **Phase 3: Zebra** - Stripes",
        "### Phase 3: Zebra",
        "",
        "**Goal**: Stripes",
        "**Depends on**: Nothing (first phase)",
        "**Requirements**: None yet.",
        "**Success Criteria** (what must be TRUE):",
        "",
        "  1. Not decided yet.",
        "",
        "**Plans**: TBD",
        "",
        "| 3. Zebra | 0/TBD | Not started | - |",
    ]


def test_an_inserted_phase_is_between_its_neighbours() -> None:
    text = LIST_AND_DETAILS.replace("2.1", "2.2")
    phase = NewPhase(PhaseId.parse("2.1"), "Zebra", is_inserted=True)
    after = with_phase(Document(text), phase).text
    assert numbers(after) == ["1", "2", "2.1", "2.2"]
    assert "**Phase 2.1: Zebra (INSERTED)**" in after
    lines = after.splitlines()
    at = lines.index("- [ ] **Phase 2.1: Zebra (INSERTED)** - Not decided yet.")
    assert lines[at - 1].startswith("- [ ] **Phase 2: ")
    assert lines[at + 1].startswith("- [ ] **Phase 2.2: ")


def test_a_phase_before_all_others_becomes_the_first_line_of_the_list() -> None:
    after = added(BULLETS_ONLY.replace("Phase 1:", "Phase 5:"), "1")
    assert numbers(after)[0] == "1"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("* [ ] **Phase 1: One** — text", "* [ ] **Phase 2: Zebra** — Run"),
        ("- [x] Phase 1: One (3/3 plans) — done", "- [ ] Phase 2: Zebra — Run"),
        ("- Phase 1: One", "- Phase 2: Zebra - Run"),
        ("  - [ ] **Phase 01: One** - text", "  - [ ] **Phase 02: Zebra** - Run"),
    ],
)
def test_a_bullet_looks_like_its_neighbour(line: str, expected: str) -> None:
    after = added(f"# Roadmap\n\n## Phases\n\n{line}\n", "2", goal="Run")
    assert after.splitlines()[-1] == expected


@pytest.mark.parametrize(
    ("head", "row", "expected"),
    [
        ("| Phase | Name | Status |", "| 1 | One | Done |", "| 2 | Zebra | Not started |"),
        ("| Phase | Status |", "| Phase 1: One | Done |", "| Phase 2: Zebra | Not started |"),
        (
            "| Phase | Plans | Status | Date |",
            "| 01. One | 1/1 | x | - |",
            "| 02. Zebra | 0/TBD | Not started | - |",
        ),
        ("| # | Phase | Status |", "| 1 | One | Done |", "| 2 | Zebra | Not started |"),
    ],
)  # fmt: skip
def test_a_row_looks_like_its_neighbour(head: str, row: str, expected: str) -> None:
    rule = "|" + "---|" * (head.count("|") - 1)
    after = added(f"# Roadmap\n\n{head}\n{rule}\n{row}\n", "2")
    assert after.splitlines()[-1] == expected


def test_nested_lines_stay_with_their_own_phase() -> None:
    text = "# R\n\n- [ ] **Phase 1: One** - a\n  - [ ] 01-01\n\n  more of it\n\n## Next\n"
    after = added(text, "2")
    assert after.index("more of it") < after.index("Phase 2: Zebra") < after.index("## Next")


def test_a_phase_in_a_collapsed_block_stays_inside_it() -> None:
    after = added(COLLAPSED_HEADINGS, "3", milestone="v0.5.0")
    assert after.index("### Phase 3: Zebra") < after.index("</details>")


def test_a_new_phase_replaces_the_placeholder() -> None:
    text = "# R\n\n## Phases\n\nNo phases yet.\n\n## Phase Details\n\nNo phases yet.\n\n## Progress\n\n"
    text += "| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n"
    after = added(text, "1")
    assert "No phases yet." not in after
    assert after.count("Phase 1: Zebra") == 2
    assert after.endswith("| 1. Zebra | 0/TBD | Not started | - |\n")


def test_a_name_cannot_become_structure() -> None:
    after = added(LIST_AND_DETAILS, "3", name="a | b\n## c <script> $& \\1")
    (phase,) = [each for each in roadmap(after).phases if each.id.short == "3"]
    assert phase.name == "a | b ## c <script> $& \\1"
    assert len(Document(after).sections) == len(Document(LIST_AND_DETAILS).sections) + 1


def test_a_name_with_control_characters_is_refused() -> None:
    with pytest.raises(UnwritableValue):
        added(LIST_AND_DETAILS, "3", name="a\x1b[31mb")


@pytest.mark.parametrize("text", ["# Roadmap\n\nOnly words.\n", "", "# R\n\n```\n## Phases\n```\n"])
def test_a_roadmap_without_a_place_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(NoPlace) as refused:
        added(text, "1")
    assert refused.value.line >= 1


def test_a_roadmap_with_a_conflict_is_refused() -> None:
    with pytest.raises(ConflictMarkers):
        added(LIST_AND_DETAILS + "<<<<<<< ours\n", "3")


def test_removing_a_phase_removes_only_its_own_lines() -> None:
    after = without_phase(Document(LIST_AND_DETAILS), PhaseId.parse("2"), "").text
    assert come(LIST_AND_DETAILS, after) == []
    assert [line for line in gone(LIST_AND_DETAILS, after) if line] == [
        "- [ ] **Phase 2: Search** - find things",
        "### Phase 2: Search",
        "**Goal:** People find things",
        "**Depends on:** Phase 1",
        "**Requirements:** FIND-01",
        "**Plans:** TBD",
        "| 2. Search | 0/TBD | Not started | - |",
    ]


def test_removing_leaves_a_phase_of_the_same_number_in_another_milestone() -> None:
    text = GROUPED.replace("Phase 3: Locks", "Phase 1: Locks").replace("3. Locks", "1. Locks")
    after = without_phase(Document(text), PhaseId.parse("1"), "v1.1").text
    assert [each.milestone for each in roadmap(after).phases if each.id.short == "1"] == ["v1.0"]


NUMBERS = {PhaseId.parse("2"): PhaseId.parse("1"), PhaseId.parse("2.1"): PhaseId.parse("1.1")}
ONE = PhaseId.parse("1")


def test_renumbering_changes_headings_bullets_rows_ranges_and_references() -> None:
    text = LIST_AND_DETAILS + "\nPhases 1-2 come first; see Phase 2.1 and 02-01-PLAN.md.\n"
    shorter = without_phase(Document(text), ONE, "")
    after = renumbered_roadmap(shorter, NUMBERS, {""}, removed=ONE).text
    assert numbers(after) == ["1", "1.1"]
    assert "- [ ] **Phase 1: Search** - find things" in after
    assert "| 1. Search | 0/TBD |" in after
    assert "| 1.1. Hotfix |" in after
    assert "Phases 1-1 come first; see Phase 1.1" in after
    assert "**Depends on:** Phase 1 (removed)" in after


def test_renumbering_changes_the_names_of_plans_in_lists() -> None:
    text = "# R\n\n### Phase 2: B\n\n- [ ] 02-01-PLAN.md — x\n- [ ] 02-02: y\n\nIn 2026-02-01.\n"
    after = renumbered_roadmap(Document(text), NUMBERS, {""}, removed=ONE).text
    assert "- [ ] 01-01-PLAN.md — x\n- [ ] 01-02: y\n\nIn 2026-02-01.\n" in after


def test_renumbering_leaves_other_milestones_and_examples_alone() -> None:
    text = GROUPED + "\n```\n### Phase 3: Example\n```\n"
    mapped = {PhaseId.parse("4"): PhaseId.parse("3")}
    after = renumbered_roadmap(Document(text), mapped, {"v1.1"}, removed=PhaseId.parse("3")).text
    assert "- [ ] **Phase 5: Shards** - more" in after
    assert "### Phase 3: Example" in after


def test_the_requirements_follow_the_numbers() -> None:
    text = "| Requirement | Phase | Status |\n|---|---|---|\n| A-1 | Phase 2 | Pending |\n| A-2 | 1 | x |\n"
    after = renumbered_table(Document(text), NUMBERS, removed=ONE).text
    assert "| A-1 | Phase 1 | Pending |" in after
    assert "| A-2 | 1 (removed) | x |" in after


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        ("05-feed", "5", "4", "04-feed"),
        ("5-feed", "5", "4", "4-feed"),
        ("10-feed", "10", "9", "09-feed"),
        ("CK-05-feed", "5", "4", "CK-04-feed"),
        ("05.1-feed", "5.1", "4.1", "04.1-feed"),
        ("05-01-PLAN.md", "5", "4", "04-01-PLAN.md"),
        ("05-CONTEXT.md", "5", "4", "04-CONTEXT.md"),
        ("PLAN.md", "5", "4", "PLAN.md"),
        ("06-feed", "5", "4", "06-feed"),
    ],
)
def test_file_names_get_the_new_number(name: str, old: str, new: str, expected: str) -> None:
    assert renamed(name, PhaseId.parse(old), PhaseId.parse(new)) == expected


def test_tables_only_and_headings_only_get_no_other_form() -> None:
    assert "- [ ]" not in added(TABLE_ONLY, "5")
    assert "|" not in added(HEADINGS_ONLY, "3")
