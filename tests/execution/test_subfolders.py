"""A project in a subfolder of its repository: all paths are relative to the project."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fairlead.agents.model import AgentCall
from fairlead.jobs.model import JobStatus
from fairlead.store import layout
from fairlead.vcs.copies import RehearsalCopies, workspace_of
from fairlead.vcs.errors import TreeDirty
from fairlead.vcs.git import Git
from tests.support.execution import ExecutionTrial, FakeAgent, PlanText, a_plan, a_project, succeeds
from tests.support.repositories import git, written

SUMMARY = ".planning/phases/01-work/01-01-SUMMARY.md"


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def a_trial(tmp_path: Path, *plans: PlanText) -> ExecutionTrial:
    """A project in `apps/one` of a repository with other content."""
    top = tmp_path / "r"
    project = a_project(top / "apps" / "one", *plans, is_git=False)
    written(top / "lib" / "l.txt", "somebody else's\n")
    written(top / ".gitignore", "/apps/state/\n")  # where the tests keep their worktrees
    git(top, "init", "-q", "-b", "main")
    git(top, "config", "user.name", "Somebody")
    git(top, "config", "user.email", "somebody@example.org")
    git(top, "add", "--all")
    git(top, "commit", "-qm", "first")
    return ExecutionTrial(project)


def also(act: Callable[[Path], None], *named: str) -> FakeAgent:
    """An executor that does its task and one thing more in its folder."""

    def does_more(order: AgentCall, call: int) -> Mapping[str, object]:
        answer = succeeds(order, call)
        if not order.is_read_only:
            act(Path(order.folder))
        return {**answer, "files_modified": list(named)}

    return FakeAgent(does_more)


def landed(trial: ExecutionTrial) -> list[str]:
    """The files of the repository, without planning documents."""
    paths = git(trial.project.parents[1], "ls-files").splitlines()
    return [each for each in paths if "/.planning/" not in each]


def test_work_lands_in_the_folder_of_the_project(tmp_path: Path) -> None:
    trial = a_trial(
        tmp_path, PlanText("01-01", [("src/a.txt", "test -f src/a.txt -a -f README.md")])
    )
    assert trial.run().job.status is JobStatus.DONE
    assert landed(trial) == [
        ".gitignore",
        "apps/one/README.md",
        "apps/one/src/a.txt",
        "lib/l.txt",
    ]
    folders = {order.folder.removeprefix(str(tmp_path)) for order in trial.agent.orders}
    assert all(each.endswith("/worktrees/01-01-01-r1/apps/one") for each in folders)
    summary = (trial.project / SUMMARY).read_text()
    assert "created: [src/a.txt]" in summary
    assert "is not among the files of the task" not in summary


def test_the_project_documents_are_committed_and_never_block_a_landing(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"))
    state = trial.project / ".planning/STATE.md"
    written(state, state.read_text() + "\nA line that is not committed.\n")
    assert trial.run().job.status is JobStatus.DONE
    assert git(trial.project, "status", "--porcelain") == ""
    assert f"apps/one/{SUMMARY}" in git(trial.project, "ls-files", "--full-name")


def test_planning_files_written_by_an_agent_do_not_land(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"))
    trial.agent = also(lambda place: written(place / ".planning/STATE.md", "believe me\n"))
    assert trial.run().job.status is JobStatus.DONE
    assert "believe me" not in (trial.project / ".planning/STATE.md").read_text()
    [kept] = git(
        trial.project, "branch", "--list", "--format=%(refname)", "fairlead/*"
    ).splitlines()
    assert git(trial.project, "show", f"{kept}:apps/one/.planning/STATE.md") == "believe me"


def test_uncommitted_work_elsewhere_in_the_repository_is_refused(
    tmp_path: Path,
) -> None:
    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"))
    written(trial.project.parents[1] / "lib/l.txt", "changed\n")
    written(trial.project.parents[1] / ".planning/STATE.md", "of another project\n")
    with pytest.raises(TreeDirty) as refused:
        trial.run()
    assert "../../.planning/" in str(refused.value)
    assert "../../lib/l.txt" in str(refused.value)


def test_an_undeclared_deletion_elsewhere_stops_the_merge(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"))
    trial.agent = also(lambda place: (place / "../../lib/l.txt").unlink(), "../../lib/l.txt")
    report = trial.run()
    assert report.job.status is JobStatus.BLOCKED
    assert report.questions[0].text == "01-01 deletes files it did not declare: ../../lib/l.txt"


def test_a_file_that_the_repository_ignores_is_refused_by_its_name_in_the_project(
    tmp_path: Path,
) -> None:
    trial = a_trial(tmp_path, a_plan("01-01", "dist/a.txt"))
    written(trial.project.parents[1] / ".gitignore", "dist/\n")
    [problem] = trial.execution.preview("1").problems
    assert ": dist/a.txt could not land: " in problem


@pytest.mark.parametrize("half", ["apps/one/a.txt", "lib/l.txt", "lib/new/n.txt"])
def test_an_interrupted_landing_in_a_subfolder_is_completed(tmp_path: Path, half: str) -> None:
    trial = a_trial(tmp_path)
    top, place = trial.project.parents[1], tmp_path / "w/a1"
    written(top / ".gitattributes", "*.txt text eol=crlf\n")
    git(top, "add", "--all")
    git(top, "commit", "-qm", "line ends")
    workspace = Git(str(trial.project))
    old = workspace.commit_of("HEAD")
    workspace.prepare(str(place), old, "fairlead/j/a1")
    for name in ("apps/one/a.txt", "lib/l.txt", "lib/new/n.txt"):
        written(place / name, "new\n")
    tree = workspace.tree_of(str(place), old, layout.PLANNING)
    new = workspace.merged(old, workspace.keep(tree, old, "fairlead/j/a1", "feat"), "merge").commit
    written(top / half, "new\r\n")
    (top / ".git/index.lock").touch()  # of a git that was killed
    workspace.land("main", old, new, layout.PLANNING)
    assert git(top, "rev-parse", "HEAD") == new
    assert git(top, "status", "--porcelain") == ""


def test_a_merge_conflict_names_its_file_relative_to_the_project(tmp_path: Path) -> None:
    trial = a_trial(tmp_path)
    workspace, place = Git(str(trial.project)), tmp_path / "w/a1"
    base = workspace.commit_of("HEAD")
    workspace.prepare(str(place), base, "fairlead/j/a1")
    written(place / "apps/one/README.md", "theirs\n")
    tree = workspace.tree_of(str(place), base, layout.PLANNING)
    commit = workspace.keep(tree, base, "fairlead/j/a1", "feat")
    written(trial.project / "README.md", "ours\n")
    git(trial.project, "commit", "-qam", "ours")
    [clash] = workspace.merged(workspace.commit_of("HEAD"), commit, "merge").clashes
    assert (clash.path, clash.ours, clash.theirs) == ("README.md", "ours\n", "theirs\n")


def test_a_private_copy_contains_the_repository_and_is_removed_with_it(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"))
    written(trial.project / ".planning/STATE.md", "as it is now\n")
    above = tmp_path / "copies"
    copies = RehearsalCopies(str(above), layout.PLANNING)
    assert copies.find("p") == ""
    place = Path(copies.new(str(trial.project), "p", "{}"))
    assert (copies.find("p"), copies.origin("p")) == (str(place), "{}")
    assert (place / "../../lib/l.txt").exists()
    assert (place / ".planning/STATE.md").read_text() == "as it is now\n"
    assert workspace_of(str(place)).dirty_paths(layout.PLANNING) == ()
    assert copies.old(0) == (str(place),)
    copies.remove(str(place), ())
    assert list(above.iterdir()) == []
