"""The public Python API."""

from pathlib import Path

import pytest

import fairlead
from fairlead.app import App
from fairlead.project.first_documents import NewProject
from fairlead.store.errors import NoProject


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    App(str(tmp_path)).new_memory().init(NewProject("Tracker", first_phase="Start"))
    phase = tmp_path / ".planning/phases/01-start"
    (phase / "01-01-PLAN.md").write_text(
        "---\nphase: 1\n---\n<tasks><task type='auto'></task></tasks>\n"
    )
    (phase / "01-02-PLAN.md").write_text("---\nphase: 1\n---\n")
    (phase / "01-01-SUMMARY.md").write_text("done\n")
    return tmp_path


def test_a_project_is_opened_from_any_folder_below(folder: Path) -> None:
    project = fairlead.open_project(str(folder / ".planning" / "phases"))
    assert project.status.title == "Tracker"
    assert (project.progress.completed_plans, project.progress.total_plans) == (1, 2)
    assert project.standing.next.command == "fairlead phase execute 1"


def test_every_property_reads_the_files_again(folder: Path) -> None:
    project = fairlead.open_project(str(folder))
    phase = folder / ".planning/phases/01-start"
    (phase / "01-02-SUMMARY.md").write_text("done\n")
    # A finished phase that nobody verified may still be called open.
    (phase / "01-VERIFICATION.md").write_text("---\nstatus: passed\n---\n")
    assert project.progress.percent == 100
    assert [finding.what for finding in project.drift if "percent" in finding.what] == [
        "progress.percent"
    ]


def test_a_decision_is_recorded(folder: Path) -> None:
    project = fairlead.open_project(str(folder))
    assert project.add_decision("1", "Use UTC").paths == (
        ".planning/STATE.md",
        ".planning/PROJECT.md",  # its table of decisions
    )
    assert project.status.decisions == ("[Phase 1]: Use UTC",)


def test_a_missing_project_is_reported_on_opening(tmp_path: Path) -> None:
    with pytest.raises(NoProject):
        fairlead.open_project(str(tmp_path))


def test_unknown_attributes_raise_an_error() -> None:
    with pytest.raises(AttributeError):
        fairlead.nothing  # noqa: B018
