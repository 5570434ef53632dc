"""Phases added, inserted, removed and completed: every file of a step, in one step."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from fairlead.project.errors import (
    MilestoneShipped,
    NoPlans,
    NotVerified,
    PhaseStarted,
    PlansOpen,
    UnknownPhase,
)
from fairlead.project.health.check import compare_project
from fairlead.project.phases import Phases
from fairlead.store.files import Files
from fairlead.store.reader import Reader
from fairlead.text.errors import NoPlace
from tests.support.roadmaps import GROUPED, LIST_AND_DETAILS
from tests.support.trees import documents, read_tree

STATE = """\
---
gsd_state_version: '1.0'
milestone: v1.0
milestone_name: MVP
status: executing
mine: kept
progress:
  total_phases: 3
  completed_phases: 1
  total_plans: 3
  completed_plans: 2
  percent: 33
last_updated: "2026-01-01T00:00:00.000Z"
---

# Project State

**Current focus:** Phase 2 — Search

## Current Position

Phase: 2 of 3 (Search)
Plan: 1 of 1 in current phase
Status: In progress
Last activity: 2026-01-02 — Phase 1 complete

Progress: [███░░░░░░░] 33%
"""
REQUIREMENTS = """\
# Requirements

- [ ] **AUTH-01**: sign in
- [ ] **FIND-01**: find

| Requirement | Phase | Status |
|---|---|---|
| AUTH-01 | Phase 1 | Pending |
| FIND-01 | Phase 2 | Pending |
"""


class Noon:
    """A clock with a fixed time."""

    def now(self) -> datetime:
        return datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Phase 1 is done, phase 2 has one open plan, phase 2.1 has nothing yet."""
    planning = tmp_path / ".planning"
    for name, files in {
        "01-foundation": ("01-01-PLAN.md", "01-01-SUMMARY.md", "01-02-PLAN.md", "01-02-SUMMARY.md"),
        "02-search": ("02-01-PLAN.md", "02-CONTEXT.md"),
        "02.1-hotfix": (),
    }.items():
        folder = planning / "phases" / name
        folder.mkdir(parents=True)
        for each in files:
            (folder / each).write_text(f"{each}\n", "utf-8")
    texts = {"STATE": STATE, "ROADMAP": LIST_AND_DETAILS, "REQUIREMENTS": REQUIREMENTS}
    for name, text in texts.items():
        (planning / f"{name}.md").write_text(text, "utf-8")
    return tmp_path


def phases(project: Path) -> Phases:
    return Phases(Files(str(project)), Noon())


def read(project: Path, name: str) -> str:
    return (project / ".planning" / f"{name}.md").read_text("utf-8")


def folders(project: Path) -> list[str]:
    return sorted(path.name for path in (project / ".planning" / "phases").iterdir())


def prove(project: Path) -> None:
    (project / ".planning/phases/02-search/02-01-SUMMARY.md").write_text("done\n", "utf-8")


def snapshot(project: Path) -> dict[str, bytes]:
    return documents(read_tree(project))


def test_a_phase_is_added_in_the_roadmap_the_state_and_the_folders(project: Path) -> None:
    change = phases(project).add("Zebra", goal="Stripes")
    assert (change.phase, change.folder) == ("3", ".planning/phases/03-zebra")
    assert "- [ ] **Phase 3: Zebra** - Stripes" in read(project, "ROADMAP")
    assert "total_phases: 4" in read(project, "STATE")
    assert "Phase: 2 of 4 (Search)" in read(project, "STATE")
    assert "- Phase 3 added: Zebra" in read(project, "STATE")
    assert "03-zebra" in folders(project)


def test_after_each_change_the_documents_say_what_the_files_say(project: Path) -> None:
    prove(project)
    phases(project).complete("2")
    phases(project).add("Zebra")
    phases(project).insert("1", "Wedge")
    phases(project).remove("2.1")
    assert [str(found) for found in compare_project(Reader(str(project))).drift] == []


def test_a_phase_is_inserted_with_a_decimal_and_its_mark(project: Path) -> None:
    change = phases(project).insert("2", "Wedge")
    assert change.phase == "2.2"
    assert "**Phase 2.2: Wedge (INSERTED)**" in read(project, "ROADMAP")
    assert "- Phase 2.2 inserted after Phase 2: Wedge" in read(project, "STATE")


def test_keys_of_a_person_are_kept(project: Path) -> None:
    phases(project).add("Zebra")
    assert "\nmine: kept\n" in read(project, "STATE")


def test_a_phase_with_work_is_not_removed(project: Path) -> None:
    before = snapshot(project)
    with pytest.raises(PhaseStarted):
        phases(project).remove("2")
    assert snapshot(project) == before


def test_with_force_its_folder_is_moved_and_nothing_is_deleted(project: Path) -> None:
    phases(project).remove("2", force=True)
    shelf = project / ".planning" / ".fairlead" / "removed"
    (kept,) = shelf.iterdir()
    assert sorted(path.name for path in kept.iterdir()) == ["02-01-PLAN.md", "02-CONTEXT.md"]
    assert folders(project) == ["01-foundation", "02.1-hotfix"]
    assert "Phase 2: Search" not in read(project, "ROADMAP")


def test_after_the_only_phase_with_plans_is_removed_nothing_claims_its_work(project: Path) -> None:
    (project / ".planning/phases/02-search/02-01-PLAN.md").unlink()
    phases(project).remove("1", force=True)
    state = read(project, "STATE")
    assert "completed_plans: 0" in state
    assert "Phase: 2 of" in state
    assert compare_project(Reader(str(project))).drift == ()


@pytest.mark.parametrize("renumber", [True, False])
def test_lines_that_still_name_a_removed_phase_are_reported(project: Path, renumber: bool) -> None:
    change = phases(project).remove("1", force=True, renumber=renumber)
    lines = read(project, "ROADMAP").splitlines()
    at = next(at for at, line in enumerate(lines, 1) if line.startswith("**Depends on:** Phase 1"))
    (note,) = change.notes
    assert note.startswith(f".planning/ROADMAP.md:{at}: phase 1 was removed")
    assert note.endswith("**Depends on:** Phase 1")


def test_other_phases_keep_their_numbers(project: Path) -> None:
    phases(project).remove("1", force=True)
    assert folders(project) == ["02-search", "02.1-hotfix"]
    assert "### Phase 2: Search" in read(project, "ROADMAP")


def test_renumbering_renames_folders_files_roadmap_and_requirements(project: Path) -> None:
    phases(project).update_progress()
    phases(project).remove("1", force=True, renumber=True)
    assert folders(project) == ["01-search", "01.1-hotfix"]
    files = sorted(path.name for path in (project / ".planning/phases/01-search").iterdir())
    assert files == ["01-01-PLAN.md", "01-CONTEXT.md"]
    assert "- [ ] **Phase 1: Search** - find things" in read(project, "ROADMAP")
    assert "| FIND-01 | Phase 1 | Pending |" in read(project, "REQUIREMENTS")
    assert "| AUTH-01 | Phase 1 (removed) | Pending |" in read(project, "REQUIREMENTS")
    assert "Phase: 1 of 2 (Search)" in read(project, "STATE")
    assert [str(found) for found in compare_project(Reader(str(project))).drift] == []


def test_a_phase_is_completed_in_all_files_at_once(project: Path) -> None:
    prove(project)
    todo = project / ".planning/todos/pending/a.md"
    todo.parent.mkdir(parents=True)
    todo.write_text("---\nresolves_phase: 02\n---\nx\n", "utf-8")
    change = phases(project).complete("2")
    roadmap = read(project, "ROADMAP")
    assert "- [x] **Phase 2: Search** - find things (completed 2026-06-01)" in roadmap
    assert "| 2. Search | 1/1 | Complete | 2026-06-01 |" in roadmap
    assert "- [x] **FIND-01**: find" in read(project, "REQUIREMENTS")
    assert "| AUTH-01 | Phase 1 | Complete |" in read(project, "REQUIREMENTS")
    assert "completed_phases: 2" in read(project, "STATE")
    assert "Phase: 2.1 of 3 (Hotfix)" in read(project, "STATE")
    assert (project / ".planning/todos/completed/a.md").exists()
    assert len(change.outcome.changes) == 3


def test_completing_a_phase_twice_changes_nothing(project: Path) -> None:
    prove(project)
    phases(project).complete("2")
    before = snapshot(project)
    assert phases(project).complete("2").outcome.changes == ()
    assert snapshot(project) == before


@pytest.mark.parametrize("spelled", ["2", "02", "002"])
def test_defect_17_a_phase_is_the_same_however_it_is_spelled(project: Path, spelled: str) -> None:
    prove(project)
    assert phases(project).complete(spelled).phase == "2"
    assert "completed_phases: 2" in read(project, "STATE")


@pytest.mark.parametrize(
    ("number", "problem"),
    [("7", UnknownPhase), ("2", PlansOpen), ("2.1", NoPlans)],
    ids=["defect 17: it does not exist", "open plans", "no plans"],
)
def test_an_open_phase_is_not_completed(
    project: Path, number: str, problem: type[Exception]
) -> None:
    before = snapshot(project)
    with pytest.raises(problem):
        phases(project).complete(number)
    assert snapshot(project) == before


def test_under_the_newer_policy_a_verification_must_have_passed(project: Path) -> None:
    (project / ".planning/config.json").write_text('{"fairlead": {"completion": "verified"}}')
    with pytest.raises(NotVerified):
        phases(project).complete("1")
    (project / ".planning/phases/01-foundation/01-VERIFICATION.md").write_text(
        "---\nstatus: passed\n---\n", "utf-8"
    )
    phases(project).complete("1")
    assert "completed_phases: 1" in read(project, "STATE")


def test_defect_18_the_milestone_is_not_completed_with_its_first_phase(project: Path) -> None:
    phases(project).complete("1")
    assert "\nstatus: completed\n" not in read(project, "STATE")


def test_issue_4078_completing_moves_on_to_the_next_phase_and_not_to_the_last(
    project: Path,
) -> None:
    for name in ("03-late", "04-later"):
        (project / ".planning/phases" / name).mkdir()
    prove(project)
    phases(project).complete("2")
    assert "Phase: 2.1 of" in read(project, "STATE")


def test_issue_464_a_state_that_cannot_be_written_leaves_the_roadmap_alone(project: Path) -> None:
    prove(project)
    (project / ".planning/STATE.md").write_text("<<<<<<< ours\n" + STATE, "utf-8")
    before = snapshot(project)
    with pytest.raises(Exception, match="unresolved merge conflict"):
        phases(project).complete("2")
    assert snapshot(project) == before


def test_defect_10_dollar_signs_in_a_name_stay_what_they_are(project: Path) -> None:
    phases(project).remove("2", force=True)
    phases(project).remove("2.1")
    phases(project).add("Save $& and $$ $1")
    assert "**Phase 2: Save $& and $$ $1**" in read(project, "ROADMAP")
    assert "(Save $& and $$ $1)" in read(project, "STATE")


def test_a_roadmap_without_a_place_is_refused_with_file_and_line(project: Path) -> None:
    (project / ".planning/ROADMAP.md").write_text("# Only words\n", "utf-8")
    with pytest.raises(NoPlace) as refused:
        phases(project).add("Zebra")
    assert str(refused.value).startswith(".planning/ROADMAP.md:1:1: ")


def test_a_shipped_milestone_gets_no_phase(project: Path) -> None:
    shipped = GROUPED.replace("🚧", "✅").replace("(In Progress)", "").replace("(in progress)", "")
    (project / ".planning/ROADMAP.md").write_text(shipped, "utf-8")
    state = STATE.replace("milestone: v1.0", "milestone: v1.1")
    (project / ".planning/STATE.md").write_text(state, "utf-8")
    with pytest.raises(MilestoneShipped):
        phases(project).add("Zebra")


def test_update_progress_names_the_claims_that_it_leaves(project: Path) -> None:
    (project / ".planning/phases/01-foundation/01-02-SUMMARY.md").unlink()
    change = phases(project).update_progress("1")
    assert change.outcome.changes == ()
    assert change.notes[0] == ".planning/ROADMAP.md:9: the box of phase 1 is ticked"


def test_a_dry_run_changes_nothing(project: Path) -> None:
    before = snapshot(project)
    outcome = phases(project).remove("1", force=True, renumber=True, dry_run=True).outcome
    assert outcome.places.moves
    assert snapshot(project) == before


def test_every_change_can_be_taken_back_byte_for_byte(project: Path) -> None:
    prove(project)
    before = snapshot(project)
    for change in (
        lambda: phases(project).add("Zebra"),
        lambda: phases(project).insert("1", "Wedge"),
        lambda: phases(project).remove("1", force=True, renumber=True),
        lambda: phases(project).complete("2"),
    ):
        change()
        Files(str(project)).undo()
        assert snapshot(project) == before
