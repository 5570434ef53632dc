"""Numbers of new phases, and of the phases after a removed one."""

import pytest

from fairlead.core.ids import PhaseId
from fairlead.project.derive.position import position_of
from fairlead.project.errors import NotRenumbered
from fairlead.project.phases import decimal_after, next_number, shifted
from tests.support.roadmaps import BULLETS_ONLY, GROUPED, LIST_AND_DETAILS, a_folder, an_inventory


@pytest.mark.parametrize(
    ("text", "milestone", "expected"),
    [("", "", "1"), (BULLETS_ONLY, "", "5"), (LIST_AND_DETAILS, "", "3"), (GROUPED, "v1.1", "7")],
    ids=["none yet", "after the last", "after a decimal", "not one that a later milestone has"],
)
def test_the_next_number_is_free(text: str, milestone: str, expected: str) -> None:
    inventory = an_inventory(text, milestone=milestone)
    assert next_number(inventory, position_of(inventory)).short == expected


def test_a_folder_that_the_roadmap_does_not_list_keeps_its_number() -> None:
    inventory = an_inventory(BULLETS_ONLY, a_folder("5"))
    assert next_number(inventory, position_of(inventory)).short == "6"


def test_numbers_continue_from_one_milestone_to_the_next() -> None:
    text = "# R\n\n- ✅ **v1.0 A**\n- 🚧 **v1.1 B**\n\n<details>\n<summary>✅ v1.0 A</summary>\n\n"
    text += "- [x] Phase 4: D\n\n</details>\n\n### 🚧 v1.1 B\n\nNo phases yet.\n"
    inventory = an_inventory(text, milestone="v1.1")
    assert next_number(inventory, position_of(inventory)).short == "5"


def test_the_number_of_the_backlog_is_never_used() -> None:
    inventory = an_inventory("### Phase 998: last\n")
    assert next_number(inventory, position_of(inventory)).short == "1000"


@pytest.mark.parametrize(
    ("after", "taken", "expected"),
    [
        ("4", "4", "4.1"),
        ("4", "4 4.1", "4.2"),
        ("4", "4 4.9", "4.10"),
        ("4.1", "4 4.1", "4.2"),
        ("4.1", "4 4.1 4.2", "4.1.1"),
        ("12A", "12A", "12A.1"),
    ],
)
def test_an_inserted_phase_gets_the_next_free_decimal(
    after: str, taken: str, expected: str
) -> None:
    used = {PhaseId.parse(each) for each in taken.split()}
    assert decimal_after(PhaseId.parse(after), used).short == expected


def shifts(phases: str, gone: str) -> dict[str, str]:
    text = "".join(f"### Phase {each}: x\n\n" for each in phases.split())
    found = shifted(position_of(an_inventory(text)), PhaseId.parse(gone))
    return {old.short: new.short for old, new in found.items()}


@pytest.mark.parametrize(
    ("phases", "gone", "expected"),
    [
        ("1 2 3", "2", {"3": "2"}),
        ("1 2 3 3.1 4", "2", {"3": "2", "3.1": "2.1", "4": "3"}),
        ("1 2", "2", {}),
        ("1 2 2.1 2.2 2.10 3", "2.1", {"2.2": "2.1", "2.10": "2.9"}),
    ],
)
def test_later_phases_move_up(phases: str, gone: str, expected: dict[str, str]) -> None:
    assert shifts(phases, gone) == expected


@pytest.mark.parametrize(("phases", "gone"), [("1 2 2.1 3", "2"), ("1 2 2A 3", "2")])
def test_a_phase_with_decimal_phases_is_not_renumbered(phases: str, gone: str) -> None:
    with pytest.raises(NotRenumbered):
        shifts(phases, gone)
