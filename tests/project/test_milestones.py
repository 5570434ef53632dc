"""Milestones closed and opened: the archive has everything, and nothing of a person's is lost."""

from pathlib import Path

import pytest

from fairlead.core.errors import MalformedId
from fairlead.plans.roadmap_report import Roadmaps
from fairlead.project.errors import (
    MilestoneNotClosed,
    MilestoneOpen,
    MilestoneShipped,
    UnknownMilestone,
)
from fairlead.project.health.check import compare_project
from fairlead.project.milestones import Milestones
from fairlead.project.phases import Phases
from fairlead.store.files import Files
from fairlead.store.reader import Reader
from fairlead.text.errors import UnwritableValue
from tests.project.test_phases import REQUIREMENTS, STATE, Noon
from tests.support.roadmaps import LIST_AND_DETAILS
from tests.support.trees import documents, read_tree


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A milestone whose three phases are done."""
    planning = tmp_path / ".planning"
    for number, name in (("01", "foundation"), ("02", "search"), ("02.1", "hotfix")):
        folder = planning / "phases" / f"{number}-{name}"
        folder.mkdir(parents=True)
        (folder / f"{number}-01-PLAN.md").write_text("<task >x", "utf-8")
        (folder / f"{number}-01-SUMMARY.md").write_text("done\n", "utf-8")
    for kind in ("PLAN", "SUMMARY"):
        (planning / f"phases/01-foundation/01-02-{kind}.md").write_text("done\n", "utf-8")
    texts = {"STATE": STATE, "ROADMAP": LIST_AND_DETAILS, "REQUIREMENTS": REQUIREMENTS}
    for name, text in texts.items():
        (planning / f"{name}.md").write_text(text, "utf-8")
    (planning / "v1.0-MILESTONE-AUDIT.md").write_text("audit\n", "utf-8")
    return tmp_path


def milestones(project: Path) -> Milestones:
    return Milestones(Files(str(project)), Noon())


def read(project: Path, name: str) -> str:
    return (project / ".planning" / name).read_text("utf-8")


def drift(project: Path) -> list[str]:
    return [str(found) for found in compare_project(Reader(str(project))).drift]


def test_the_archive_holds_phases_requirements_audit_and_the_roadmap_as_it_stood(
    project: Path,
) -> None:
    milestones(project).complete("v1.0")
    archive = project / ".planning" / "milestones"
    assert sorted(path.name for path in archive.iterdir()) == [
        "v1.0-MILESTONE-AUDIT.md",
        "v1.0-REQUIREMENTS.md",
        "v1.0-ROADMAP.md",
        "v1.0-phases",
    ]
    assert len(list((archive / "v1.0-phases").iterdir())) == 3
    assert (archive / "v1.0-ROADMAP.md").read_text("utf-8").endswith(LIST_AND_DETAILS)
    assert (archive / "v1.0-REQUIREMENTS.md").read_text("utf-8") == REQUIREMENTS
    assert list((project / ".planning" / "phases").iterdir()) == []


def test_state_and_log_say_that_it_is_shipped(project: Path) -> None:
    milestones(project).complete("v1.0")
    state = read(project, "STATE.md")
    assert "Phase: Milestone v1.0 complete" in state
    assert "status: completed" in state
    assert "percent: 100" in state
    assert "## v1.0 MVP (Shipped: 2026-06-01)" in read(project, "MILESTONES.md")
    assert drift(project) == []


def test_defect_12_keys_of_a_person_survive_the_change_of_milestones(project: Path) -> None:
    milestones(project).complete("v1.0")
    milestones(project).new("v1.1", "Security")
    assert "\nmine: kept\n" in read(project, "STATE.md")
    assert "milestone: v1.1\nmilestone_name: Security\n" in read(project, "STATE.md")


def test_completing_a_milestone_twice_changes_nothing(project: Path) -> None:
    milestones(project).complete("v1.0")
    before = documents(read_tree(project))
    assert milestones(project).complete("1.0").outcome.changes == ()
    assert documents(read_tree(project)) == before


def test_open_phases_hold_a_milestone_open(project: Path) -> None:
    (project / ".planning/phases/02-search/02-01-SUMMARY.md").unlink()
    before = documents(read_tree(project))
    with pytest.raises(MilestoneOpen, match="open phases: 2"):
        milestones(project).complete("v1.0")
    assert documents(read_tree(project)) == before


def test_force_needs_a_reason_which_is_recorded(project: Path) -> None:
    (project / ".planning/phases/02-search/02-01-SUMMARY.md").unlink()
    with pytest.raises(UnwritableValue):
        milestones(project).complete("v1.0", force=True)
    milestones(project).complete("v1.0", force=True, reason="no time left")
    assert "- no time left" in read(project, "MILESTONES.md")
    assert "override_closeout" in read(project, "MILESTONES.md")


@pytest.mark.parametrize("version", ["v2.0", "v1.00"])
def test_another_milestone_than_the_current_one_is_refused(project: Path, version: str) -> None:
    with pytest.raises(UnknownMilestone):
        milestones(project).complete(version)


@pytest.mark.parametrize("version", ["../x", "v1", "one", "v1.0/..", ""])
def test_a_version_that_could_be_a_path_is_refused(project: Path, version: str) -> None:
    milestones(project).complete("v1.0")
    with pytest.raises(MalformedId):
        milestones(project).new(version, "X")


def test_a_milestone_is_opened_only_when_the_one_before_is_closed(project: Path) -> None:
    with pytest.raises(MilestoneNotClosed):
        milestones(project).new("v1.1", "Security")


def test_a_shipped_milestone_is_not_opened_again(project: Path) -> None:
    milestones(project).complete("v1.0")
    with pytest.raises(MilestoneShipped):
        milestones(project).new("v1.0", "MVP")


def test_the_new_milestone_begins_empty_and_numbers_go_on(project: Path) -> None:
    milestones(project).complete("v1.0")
    milestones(project).new("v1.1", "Security")
    assert "percent: 0" in read(project, "STATE.md")
    assert "Phase: Not started" in read(project, "STATE.md")
    assert (project / ".planning/REQUIREMENTS.md").exists()
    change = Phases(Files(str(project)), Noon()).add("Locks")
    assert change.phase == "3"
    report = Roadmaps(Reader(str(project))).report()
    assert report.scope == "milestone v1.1, phase 3"
    assert drift(project) == []


def test_the_list_of_milestones_tells_shipped_from_current(project: Path) -> None:
    milestones(project).complete("v1.0")
    milestones(project).new("v1.1", "Security")
    found = Roadmaps(Reader(str(project))).milestones()
    assert [(each.version, each.is_closed, each.is_current, each.plans) for each in found] == [
        ("v1.0", True, False, 4),
        ("v1.1", False, True, 0),
    ]


def test_an_archive_that_has_this_phase_already_is_refused_and_nothing_moves(project: Path) -> None:
    (project / ".planning/milestones/v1.0-phases/02-search").mkdir(parents=True)
    before = documents(read_tree(project))
    with pytest.raises(Exception, match="exists already"):
        milestones(project).complete("v1.0")
    assert documents(read_tree(project)) == before


def test_closing_can_be_taken_back_byte_for_byte(project: Path) -> None:
    before = documents(read_tree(project))
    milestones(project).complete("v1.0")
    Files(str(project)).undo()
    assert documents(read_tree(project)) == before


def test_a_dry_run_changes_nothing(project: Path) -> None:
    before = documents(read_tree(project))
    outcome = milestones(project).complete("v1.0", dry_run=True).outcome
    assert len(outcome.places.moves) == 5
    assert documents(read_tree(project)) == before


def test_the_next_milestone_archives_one_that_is_done_and_counts_on(project: Path) -> None:
    milestones = Milestones(Files(str(project)), Noon())
    archived, opened = milestones.follow("Search")
    assert (archived.version, opened.version) == ("v1.0", "v1.1")
    assert (project / ".planning/milestones/v1.0-phases/01-foundation").is_dir()
    assert Phases(Files(str(project)), Noon()).add("Index").phase == "3"


def test_the_next_milestone_does_not_begin_over_open_phases(project: Path) -> None:
    (project / ".planning/phases/02-search/02-01-SUMMARY.md").unlink()
    before = read_tree(project)
    with pytest.raises(MilestoneNotClosed):
        Milestones(Files(str(project)), Noon()).follow("Search")
    assert documents(read_tree(project)) == documents(before)
