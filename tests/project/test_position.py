"""Scope, progress and next action, derived from literal inventories."""

from dataclasses import replace

import pytest

from fairlead.core.ids import PhaseId
from fairlead.project.derive.inventory import Completion, Inventory, Verification
from fairlead.project.derive.position import Position, position_of
from fairlead.project.derive.state_claims import StateClaims
from fairlead.project.state.digest import awaiting_verification
from fairlead.project.status_words import Status
from tests.support import positions
from tests.support.roadmaps import (
    BULLETS_ONLY,
    GROUPED,
    HEADINGS_ONLY,
    LIST_AND_DETAILS,
    TABLE_ONLY,
    a_folder,
    an_inventory,
)


def position(*parts: object, **options: object) -> Position:
    return position_of(an_inventory(*parts, **options))  # type: ignore[arg-type]


def counts(of: Position) -> tuple[str, str, int]:
    progress = of.progress
    phases = f"{progress.total_phases}/{progress.completed_phases}"
    return phases, f"{progress.total_plans}/{progress.completed_plans}", progress.percent


VERIFIED = Completion.VERIFIED


@pytest.mark.parametrize(
    ("inventory", "expected"),
    [
        (
            an_inventory(HEADINGS_ONLY, a_folder("1", 1, 1), a_folder("2", 1), policy=VERIFIED),
            ("2/0", "2/1", 0),
        ),
        (
            an_inventory(
                HEADINGS_ONLY, a_folder("1", 1, 1, verified="passed"), a_folder("2", 1), policy=VERIFIED
            ),
            ("2/1", "2/1", 50),
        ),
        (
            an_inventory(
                HEADINGS_ONLY,
                a_folder("1", 1, 1, verified="gaps_found"),
                a_folder("2", 1),
                policy=VERIFIED,
            ),
            ("2/0", "2/1", 0),
        ),
        (an_inventory(HEADINGS_ONLY, a_folder("1", 1, 1), a_folder("2", 1)), ("2/1", "2/1", 50)),
        (an_inventory(LIST_AND_DETAILS, a_folder("2.1", 1, 1)), ("3/1", "1/1", 33)),
        (an_inventory("# Roadmap\n", a_folder("1", 1, 1), a_folder("2", 1)), ("2/1", "2/1", 50)),
        (
            an_inventory("## Phase 1: A\n\n## Phase 999.1: B\n\n## Phase 0: C\n", a_folder("0")),
            ("1/0", "0/0", 0),
        ),
        (an_inventory(BULLETS_ONLY, a_folder("1", 1, 1)), ("4/1", "1/1", 25)),
        (an_inventory(TABLE_ONLY, a_folder("1", 1, 1)), ("4/1", "1/1", 25)),
        (an_inventory(HEADINGS_ONLY, a_folder("1", 1, 1, superseded=1)), ("2/1", "1/1", 50)),
        (an_inventory("", a_folder("1", 2, 2)), ("1/1", "2/2", 100)),
        (an_inventory(""), ("0/0", "0/0", 0)),
    ],
    ids=[
        "summarised and not verified under the newer policy",
        "verified",
        "verification with gaps",
        "summarised under the seeds' policy",
        "a decimal phase counts once",
        "a roadmap without phases: every folder counts",
        "sentinels never count",
        "defect 4: a list of bullets counts in full",
        "defect 4: a table counts in full",
        "a superseded plan does not count",
        "no roadmap at all",
        "nothing of nothing",
    ],
)  # fmt: skip
def test_phases_plans_and_percent(inventory: Inventory, expected: tuple[str, str, int]) -> None:
    assert counts(position_of(inventory)) == expected


def test_two_folders_with_one_number_are_one_phase_and_a_duplicate() -> None:
    found = position("", a_folder("12A", 1, 1), a_folder("12a", 5))
    assert counts(found) == ("1/1", "1/1", 100)
    assert len(found.scope.duplicates) == 1


def test_a_retired_phase_is_not_counted() -> None:
    text = BULLETS_ONLY.replace("**Phase 2: Two**", "~~**Phase 2: Two**~~")
    assert counts(position(text, a_folder("1", 1, 1), a_folder("2", 3)))[:2] == ("3/1", "1/1")


def test_defect_3_rows_of_other_milestones_complete_nothing_here() -> None:
    found = position(GROUPED, milestone="v1.1")
    assert counts(found) == ("2/0", "0/0", 0)
    assert found.status is Status.PLANNING
    assert found.scope.words == "milestone v1.1, phases 3-4"


def test_defect_18_one_phase_of_four_completes_no_milestone() -> None:
    found = position(BULLETS_ONLY, a_folder("1", 1, 1, verified="passed"), milestone="v7.7")
    assert (found.status, found.is_complete) == (Status.PLANNING, False)


def test_defect_20_a_milestone_listed_as_a_bullet_has_a_percentage() -> None:
    text = "# R\n\n- ✅ **v1.0 One**\n- 🚧 **v1.1 Two**\n\n### Phase 3: C\n\n### Phase 4: D\n"
    assert counts(position(text, a_folder("3", 2, 2), milestone="v1.1"))[2] == 50


@pytest.mark.parametrize("milestone", ["v1.1", ""])
def test_issue_3578_the_current_milestone_is_the_marked_one_when_none_is_named(
    milestone: str,
) -> None:
    assert position(GROUPED, milestone=milestone).scope.milestone == "v1.1"


def test_a_marked_milestone_wins_over_a_named_closed_one() -> None:
    assert position(GROUPED, milestone="v1.0").scope.milestone == "v1.1"


def test_issue_3354_an_unknown_milestone_does_not_shrink_the_total() -> None:
    assert counts(position(BULLETS_ONLY, a_folder("1"), milestone="v9.0"))[0] == "4/0"


def test_issue_4884_a_decimal_does_not_overtake_the_phase_before_it() -> None:
    found = position(LIST_AND_DETAILS, a_folder("1", 1, 1), a_folder("2.1", 1))
    assert found.current is not None
    assert found.current.id.short == "2"


def test_issue_4824_an_executed_phase_is_not_ready_to_plan() -> None:
    found = position(HEADINGS_ONLY, a_folder("1", 2, 1), a_folder("2"))
    assert (found.words, found.next.command) == ("In progress", "fairlead phase execute 1")


def test_issue_4210_plans_that_are_added_move_no_finished_phase_back() -> None:
    before = position(HEADINGS_ONLY, a_folder("1", 1, 1))
    after = position(HEADINGS_ONLY, a_folder("1", 1, 1), a_folder("2", 9))
    assert before.progress.completed_phases == after.progress.completed_phases == 1


def test_a_folder_before_the_first_phase_belongs_to_an_earlier_milestone() -> None:
    text = GROUPED.partition("## Progress")[0]
    found = position(text, a_folder("2", 1, 1), a_folder("3", 1), milestone="v1.1")
    assert [each.id.short for each in found.scope.phases] == ["3", "4"]


def test_a_milestone_without_phases_counts_no_earlier_folder() -> None:
    text = GROUPED.partition("### 📋")[0].replace("v1.1 Security", "v1.1 Security ✅")
    text = text.replace("🚧 ", "").replace("(In Progress)", "").replace("(in progress)", "")
    text += "\n### 🚧 v3.0 Next\n\nNo phases yet.\n"
    found = position(text, a_folder("2", 1, 1), milestone="v3.0")
    assert found.scope.phases == ()


def test_an_archived_milestone_is_current_until_the_next_one_is_opened() -> None:
    text = GROUPED.partition("### 🚧")[0].partition("- 🚧")[0]
    folder = a_folder("1", 2, 2, milestone="v1.0")
    found = position(text, milestone="v1.0", archived=(folder,))
    assert found.scope.words == "milestone v1.0 (archived), phase 1"
    assert (found.next.action, found.status) == ("new-milestone", Status.COMPLETED)


@pytest.mark.parametrize(
    ("folder", "action"),
    [
        (a_folder("1"), "discuss-phase"),
        (a_folder("1", 2), "execute-phase"),
        (a_folder("1", 2, 1), "execute-phase"),
        (a_folder("1", 2, 2), "verify-phase"),
        (a_folder("1", 2, 2, verified="gaps_found"), "plan-phase"),
        (a_folder("1", 2, 2, verified="passed"), "complete-milestone"),
    ],
)
def test_the_next_action_follows_from_the_files(folder: object, action: str) -> None:
    assert position("## Phase 1: A\n", folder).next.action == action


def test_gaps_that_later_plans_closed_are_verified_again() -> None:
    folder = a_folder("1", 2, 2, verified="gaps_found")
    assert folder.verification
    after = replace(folder, verification=folder.verification._replace(is_stale=True))
    found = position("## Phase 1: A\n", after).next
    assert (found.action, found.command) == ("verify-phase", "fairlead phase verify 1")


ONE = "## 🚧 v1.1 Next\n\n- [ ] **Phase 1: A**\n- [ ] **Phase 2: B**\n"
LATER = "- [ ] **Phase 5: A**\n- [ ] **Phase 6: B**\n"
BEFORE = "- ✅ **v1.0 MVP** — Phases 1-4 (shipped)\n"
NEXT = "- 🚧 **v1.1 Next** — Phases 5-6 (in progress)\n"


@pytest.mark.parametrize(
    ("inventory", "is_whole"),
    [
        (an_inventory(ONE), True),
        (an_inventory(BULLETS_ONLY), True),
        (an_inventory(LATER), False),
        (an_inventory(f"## Milestones\n\n{BEFORE}{NEXT}\n## Phases\n\n{LATER}"), False),
        (an_inventory(f"## Milestones\n\n{BEFORE}\n{ONE}"), False),
        (an_inventory(ONE, archived=(a_folder("1", 1, 1, milestone="v1.0"),)), False),
    ],
)
def test_a_scope_is_whole_if_there_is_no_other_milestone(
    inventory: Inventory, is_whole: bool
) -> None:
    assert position_of(inventory).scope.is_whole is is_whole


def test_a_scope_has_a_text() -> None:
    assert position("").scope.words == "all phases"
    assert position(BULLETS_ONLY).scope.words == "all phases, phases 1-4"


@pytest.mark.parametrize(
    ("status", "is_stale", "reason"),
    [
        ("human_needed", False, "its verification waits for a person"),
        ("passed", True, "work was done after its verification"),
        ("odd", False, "its verification says odd"),
    ],
)
def test_the_reason_for_a_verification_is_given(status: str, is_stale: bool, reason: str) -> None:
    inventory = positions.an_inventory(("1", "Core", 1, 1))
    folder = replace(inventory.folders[0], verification=Verification("v.md", status, is_stale))
    ahead = position_of(replace(inventory, folders=(folder,))).next

    assert (ahead.action, ahead.reason) == ("verify-phase", f"phase 1: {reason}")


# -- phases that the roadmap calls finished and no summary proves ----------------------------------

_ONE_TICKED = "# Roadmap\n\n- [x] **Phase 1: A**\n- [ ] **Phase 2: B**\n- [ ] **Phase 3: C**\n"
_ALL_TICKED = _ONE_TICKED.replace("[ ]", "[x]")


@pytest.mark.parametrize(
    ("inventory", "phase", "action", "command"),
    [
        (
            an_inventory(_ONE_TICKED, a_folder("1", 2), a_folder("2", 1)),
            *("2", "execute-phase", "fairlead phase execute 2"),
        ),
        (
            an_inventory(_ONE_TICKED, a_folder("1", 2, 1), a_folder("2")),
            *("2", "discuss-phase", "fairlead phase discuss 2"),
        ),
        (
            an_inventory(_ALL_TICKED, a_folder("1", 2), a_folder("2", 1), a_folder("3", 1)),
            *("3", "verify-phase", "fairlead doctor"),
        ),
        (
            an_inventory(_ONE_TICKED, a_folder("1", 2, 1, verified="gaps_found"), a_folder("2", 1)),
            *("1", "execute-phase", "fairlead phase execute 1"),
        ),
        (
            an_inventory(_ONE_TICKED, a_folder("1", 1, 1), a_folder("2"), policy=VERIFIED),
            *("1", "verify-phase", "fairlead phase verify 1"),
        ),
    ],
    ids=[
        "the next open phase follows",
        "a phase with one summary of two is passed over too",
        "all are called finished: settle the claim before the last one is verified",
        "a verification that found gaps keeps the phase open",
        "a phase whose summaries are all there waits for its verification",
    ],
)
def test_next_passes_over_what_the_roadmap_calls_finished(
    inventory: Inventory, phase: str, action: str, command: str
) -> None:
    at = position_of(inventory)

    assert at.current is not None
    assert at.current.id.short == phase
    assert (at.next.action, at.next.command) == (action, command)
    assert at.is_claimed is (command == "fairlead doctor")


def test_a_ticked_box_beside_a_row_that_says_not_started_calls_nothing_finished() -> None:
    row = "\n| Phase | Plans | Status | Completed |\n|---|---|---|---|\n| 1. A | 0/2 | Not started | - |\n"
    at = position_of(an_inventory(_ONE_TICKED + row, a_folder("1", 2), a_folder("2", 1)))

    assert (at.next.action, at.next.phase) == ("execute-phase", "1")


def test_a_claimed_phase_at_which_state_stands_is_settled_first() -> None:
    inventory = an_inventory(_ONE_TICKED, a_folder("1", 2), a_folder("2", 1))
    at = position_of(replace(inventory, claims=StateClaims(phase=PhaseId.parse("1"))))

    assert at.current is not None
    assert at.current.id.short == "1"
    assert (at.next.action, at.next.command) == ("verify-phase", "fairlead doctor")


def test_a_claimed_phase_is_not_called_ready_for_verification() -> None:
    at = position_of(
        an_inventory(_ALL_TICKED, a_folder("1", 1), a_folder("2", 1), a_folder("3", 1))
    )

    assert awaiting_verification(at).status is Status.EXECUTING
    assert at.progress.completed_plans == 0
