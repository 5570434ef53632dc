"""An agent that damages its own worktree fails its attempt; the job continues and ends cleanly."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fairlead.agents.model import AgentCall
from fairlead.jobs.folder import JobFolder
from fairlead.jobs.model import JobStatus
from fairlead.project.state.gate_rules import FailureClass
from fairlead.store.files import Files
from fairlead.vcs.errors import GitFault
from tests.support.execution import ExecutionTrial, FakeAgent, a_plan, a_project, succeeds, task_of
from tests.support.repositories import git, written


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def _no_git_file(place: Path) -> None:
    (place / ".git").unlink()


def _no_worktree(place: Path) -> None:
    shutil.rmtree(place)


def _an_empty_repository(place: Path) -> None:
    (place / "inner").mkdir()
    git(place / "inner", "init", "-q")


def _a_repository_of_its_own(place: Path) -> None:
    (place / ".git").unlink()
    git(place, "init", "-q")


def _other_line_ends(place: Path) -> None:
    written(place / ".gitattributes", "*.txt text\n")
    (place / "a.txt").write_bytes(b"made\r\n")


def _no_folder_of_git(place: Path) -> None:
    shutil.rmtree((place / ".git").read_text().removeprefix("gitdir: ").strip())


def _the_git_file_of_another(place: Path) -> None:
    written(place / ".git", f"gitdir: {place.parent}/elsewhere\n")


Spoil = Callable[[Path], None]
SPOILT = [
    _no_git_file,
    _no_worktree,
    _an_empty_repository,
    _a_repository_of_its_own,
    _other_line_ends,
    _no_folder_of_git,
    _the_git_file_of_another,
]


def spoils(spoil: Spoil, times: int) -> Callable[[AgentCall, int], Mapping[str, object]]:
    """An executor that damages its worktree in the first attempts at `a.txt`."""

    def act(order: AgentCall, call: int) -> Mapping[str, object]:
        answer = succeeds(order, call)
        if "a.txt" in task_of(order) and not order.is_read_only and call <= times:
            spoil(Path(order.folder))
        return answer

    return act


def a_work(tmp_path: Path, spoil: Spoil, times: int) -> ExecutionTrial:
    project = a_project(tmp_path / "p", a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt"))
    git(project, "config", "core.repositoryFormatVersion", "1")
    git(project, "config", "extensions.worktreeConfig", "true")
    git(project, "config", "core.safecrlf", "true")
    return ExecutionTrial(project, FakeAgent(spoils(spoil, times)))


@pytest.mark.sweep(3)
@pytest.mark.parametrize("spoil", SPOILT)
def test_a_damaged_worktree_fails_its_attempt_and_the_next_one_is_clean(
    tmp_path: Path, spoil: Spoil
) -> None:
    works = a_work(tmp_path, spoil, 1)
    report = works.run()
    assert report.job.status is JobStatus.DONE
    gate = JobFolder(str(works.project), report.job.id).load_gate("01-01-01")
    assert gate is not None
    assert [each.kind for each in gate.gate.failures] == [FailureClass.EXECUTION]
    assert (works.project / "a.txt").read_text() == "made a.txt\n"
    assert git(works.project, "status", "--porcelain", "--", ":!.planning") == ""
    assert "worktrees/" not in git(works.project, "worktree", "list")


def test_a_repeatedly_damaged_worktree_is_asked_about_and_other_plans_land(
    tmp_path: Path,
) -> None:
    works = a_work(tmp_path, _no_git_file, 3)
    report = works.run()
    assert report.job.status is JobStatus.BLOCKED
    assert "this repository any more" in report.questions[0].text
    assert dict(report.plans) == {"01-01": False, "01-02": True}
    ledger = Files(str(works.project)).load(".planning/ledger/01-01.jsonl").text
    assert ledger.count('"verdict":"executor-failure"') == 3
    assert report.spent.tokens == 5 * 1100  # three attempts, and both calls of the other plan


def test_the_files_of_a_damaged_worktree_stay_on_its_branch(tmp_path: Path) -> None:
    works = a_work(tmp_path, _no_git_file, 1)
    report = works.run()
    assert report.kept_branches == (f"fairlead/{report.job.id}/01-01-01-r1",)
    assert git(works.project, "show", f"{report.kept_branches[0]}:a.txt") == "made a.txt"


def test_files_that_a_git_filter_refuses_stay_on_their_branch_unchanged(tmp_path: Path) -> None:
    works = a_work(tmp_path, lambda place: written(place / "b.bin", "a\r\nb\n"), 2)
    written(works.project / ".gitattributes", "*.bin filter=large\n")
    git(works.project, "add", ".gitattributes")
    git(works.project, "commit", "-qm", "large files")
    git(works.project, "config", "filter.large.clean", "no-such-program")
    git(works.project, "config", "filter.large.required", "true")
    report = works.run()
    assert report.job.status is JobStatus.DONE
    kept = [f"fairlead/{report.job.id}/01-01-01-r{number}" for number in (1, 2)]
    assert sorted(report.kept_branches) == kept
    for branch in kept:
        assert git(works.project, "show", f"{branch}:a.txt") == "made a.txt"
        assert git(works.project, "cat-file", "-s", f"{branch}:b.bin") == "5"


def test_an_attempt_without_changes_leaves_no_branch(tmp_path: Path) -> None:
    works = a_work(tmp_path, _no_worktree, 1)
    works.run()
    assert git(works.project, "branch", "--list", "fairlead/*") == ""


@pytest.mark.parametrize("way", ["rm .git", 'rm -rf "$PWD"', "rm -rf $(git rev-parse --git-dir)"])
def test_a_worktree_damaged_by_a_verify_command_is_made_again(tmp_path: Path, way: str) -> None:
    plan = a_plan("01-01", "a.txt")
    project = a_project(tmp_path / "p", plan)
    path = project / ".planning/phases/01-work/01-01-PLAN.md"
    written(path, plan.text.replace("test -f a.txt", f"test -f a.txt &amp;&amp; {way}"))
    git(project, "commit", "-qam", "another command")
    assert ExecutionTrial(project).run().job.status is JobStatus.DONE
    assert (project / "a.txt").exists()


def test_a_stale_git_lock_of_an_agent_does_not_fail_the_attempt(tmp_path: Path) -> None:
    def locks(place: Path) -> None:
        own = Path((place / ".git").read_text().removeprefix("gitdir: ").strip())
        (own / "index.lock").touch()
        branch = (own / "HEAD").read_text().removeprefix("ref: ").strip()
        (own.parent.parent / f"{branch}.lock").touch()

    works = a_work(tmp_path, locks, 1)
    report = works.run()
    gate = JobFolder(str(works.project), report.job.id).load_gate("01-01-01")
    assert gate is not None
    assert (report.job.status, gate.gate.failures) == (JobStatus.DONE, ())


def test_a_repository_that_cannot_be_used_ends_the_run(tmp_path: Path) -> None:
    def breaks(place: Path) -> None:
        (tmp_path / "p/.git/objects").rename(tmp_path / "objects")

    with pytest.raises(GitFault):
        a_work(tmp_path, breaks, 1).run()


def test_an_agent_in_a_reused_worktree_finds_nothing_that_an_earlier_one_left(
    tmp_path: Path,
) -> None:
    found, first_files = list[set[str]](), set[int]()

    def litters(order: AgentCall, call: int) -> Mapping[str, object]:
        place = Path(order.folder)
        if not order.is_read_only:
            found.append({path.name for path in place.iterdir()})
            first_files.add((place / ".gitignore").stat().st_ino)
            for name in ("node_modules/of.js", "left.pyc", "left.txt"):
                written(place / name, "left\n")
        return succeeds(order, call)

    plans = [a_plan(f"01-{at:02d}", f"f{at}.txt") for at in range(1, 12)]
    project = a_project(tmp_path / "project", *plans)
    written(project / ".gitignore", "node_modules/\n*.pyc\n")
    git(project, "add", ".gitignore")
    git(project, "commit", "-qm", "ignore")
    report = ExecutionTrial(project, FakeAgent(litters), slots=1).run()
    assert report.job.status is JobStatus.DONE
    assert len(first_files) < len(plans) == len(found)  # worktrees were reused
    landed = {f"f{at}.txt" for at in range(1, 12)}
    assert {name for names in found for name in names} <= landed | {
        ".git",
        ".gitignore",
        ".planning",
        "README.md",
    }
    assert git(project, "worktree", "list", "--porcelain").count("worktree ") == 1
