"""Taking back landed work: new commits revert it, and a conflict changes nothing."""

import json
from pathlib import Path

import pytest

from tests.conftest import Fairlead
from tests.support.execution import ExecutionTrial, a_plan, a_project
from tests.support.repositories import git, written

PLANS = (a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt", depends_on=["01-01"]))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = a_project(tmp_path / "p", *PLANS)
    ExecutionTrial(place).run()
    assert (place / "b.txt").is_file()
    return place


def test_a_plan_is_reverted_by_a_new_commit_and_is_open_again(
    fairlead: Fairlead, project: Path
) -> None:
    head = git(project, "rev-parse", "HEAD").strip()
    preview = fairlead("undo", "--plan", "01-02", "--dry-run", "--json", cwd=project)
    assert json.loads(preview.stdout)["files"] == ["b.txt"]
    assert git(project, "rev-parse", "HEAD").strip() == head

    done = fairlead("undo", "--plan", "01-02", "--json", cwd=project)
    assert done.exit_code == 0, done.stderr
    assert not (project / "b.txt").exists()
    assert (project / "a.txt").is_file()
    assert git(project, "rev-parse", "HEAD^").strip() == head, "history is not rewritten"
    assert not (project / ".planning/phases/01-work/01-02-SUMMARY.md").exists()
    status = json.loads(fairlead("status", "--json", cwd=project).stdout)
    assert (status["progress"]["completed_plans"], status["plan"]) == (1, "01-02")
    again = fairlead("undo", "--plan", "01-02", "--json", cwd=project)
    assert json.loads(again.stdout)["error"]["code"] == "nothing-landed"


def test_a_phase_is_reverted_as_a_whole(fairlead: Fairlead, project: Path) -> None:
    done = json.loads(fairlead("undo", "--phase", "1", "--json", cwd=project).stdout)
    assert (done["plans"], sorted(done["files"])) == (["01-02", "01-01"], ["a.txt", "b.txt"])
    assert not (project / "a.txt").exists()


def test_a_conflict_with_later_work_changes_nothing(fairlead: Fairlead, project: Path) -> None:
    written(project / "b.txt", "changed later\n")
    git(project, "commit", "-qam", "later")
    head = git(project, "rev-parse", "HEAD")
    refused = fairlead("undo", "--plan", "01-02", "--json", cwd=project)
    assert json.loads(refused.stdout)["error"]["code"] == "revert-conflict"
    assert "b.txt" in refused.stdout
    assert git(project, "rev-parse", "HEAD") == head
    assert (project / ".planning/phases/01-work/01-02-SUMMARY.md").is_file()
