"""The Python door."""

from pathlib import Path

import pytest

import fairlead
from fairlead.engine.templates import NewProject
from fairlead.errors import NoProject
from fairlead.wiring import App


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    App(str(tmp_path)).new_memory().init(NewProject("Desk", first_phase="Start"))
    phase = tmp_path / ".planning/phases/01-start"
    (phase / "01-01-PLAN.md").write_text(
        "---\nphase: 1\n---\n<tasks><task type='auto'></task></tasks>\n"
    )
    (phase / "01-02-PLAN.md").write_text("---\nphase: 1\n---\n")
    (phase / "01-01-SUMMARY.md").write_text("done\n")
    return tmp_path


def test_a_project_is_opened_from_any_folder_below(folder: Path) -> None:
    project = fairlead.open_project(str(folder / ".planning" / "phases"))
    assert project.status.title == "Desk"
    assert (project.progress.completed_plans, project.progress.total_plans) == (1, 2)
    assert project.standing.next.command == "fairlead phase execute 1"


def test_every_look_reads_the_files_anew(folder: Path) -> None:
    project = fairlead.open_project(str(folder))
    (folder / ".planning/phases/01-start/01-02-SUMMARY.md").write_text("done\n")
    assert project.progress.percent == 100
    assert [finding.what for finding in project.drift if "percent" in finding.what] == [
        "progress.percent"
    ]


def test_a_decision_is_recorded(folder: Path) -> None:
    project = fairlead.open_project(str(folder))
    assert project.add_decision("1", "Use UTC").paths == (".planning/STATE.md",)
    assert project.status.decisions == ("[Phase 1]: Use UTC",)


def test_no_project_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(NoProject):
        fairlead.open_project(str(tmp_path))


def test_unknown_names_are_unknown() -> None:
    with pytest.raises(AttributeError):
        fairlead.nothing  # noqa: B018
