"""Files that an agent changed and its plan does not declare."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from fairlead.agents.model import AgentCall
from fairlead.execution.undeclared import extra_files, is_sensitive
from fairlead.jobs.context import RunOptions
from fairlead.jobs.model import JobStatus
from fairlead.plans.documents import read_plan
from fairlead.vcs.model import FileChange, is_dropping
from tests.support.execution import (
    ExecutionTrial,
    FakeAgent,
    PlanText,
    SteppingClock,
    a_plan,
    a_project,
    succeeds,
)
from tests.support.repositories import git, written

SUMMARY = ".planning/phases/01-work/01-01-SUMMARY.md"


def a_trial(
    tmp_path: Path, paths: Sequence[str], named: Sequence[str] = (), policy: str = "review"
) -> ExecutionTrial:
    """An executor that also writes these paths and names some of them."""

    def act(order: AgentCall, call: int) -> Mapping[str, object]:
        if not order.is_read_only:
            for path in paths:
                written(Path(order.folder) / path, "extra\n")
            return {**succeeds(order, call), "files_modified": list(named)}
        return succeeds(order, call)

    project = a_project(tmp_path / "p", a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt"))
    trial = ExecutionTrial(project, FakeAgent(act), SteppingClock(60))
    trial.options = RunOptions(undeclared=policy)
    return trial


def tracked(project: Path) -> set[str]:
    paths = git(project, "ls-files").splitlines()
    return {path for path in paths if not path.startswith(".planning")}


def test_a_named_file_that_the_reviewer_approves_lands_and_is_mentioned(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, ["notes.txt"], ["notes.txt"])
    assert trial.run().job.status is JobStatus.DONE
    assert "notes.txt" in tracked(trial.project)
    assert "notes.txt: not declared by the plan" in (trial.project / SUMMARY).read_text()
    ledger = (trial.project / ".planning/ledger/01-01.jsonl").read_text().splitlines()
    notes = [json.loads(line).get("note", "") for line in ledger]
    assert "notes.txt: not declared by the plan; it lands because the executor named it" in notes
    shown = [order.prompt for order in trial.agent.orders if order.is_read_only]
    assert all("notes.txt (not declared by the plan)" in prompt for prompt in shown)


def test_the_reviewer_learns_that_verify_uses_a_named_file(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, ["check.sh"], ["check.sh"])
    path = trial.project / ".planning/phases/01-work/01-01-PLAN.md"
    written(path, path.read_text().replace("test -f a.txt", "test -f ./check.sh"))
    assert trial.run().job.status is JobStatus.DONE
    assert "check.sh" in tracked(trial.project)
    assert "check.sh: the verify command uses" in (trial.project / SUMMARY).read_text()
    shown = [order.prompt for order in trial.agent.orders if order.is_read_only]
    marked = [
        each for each in shown if "check.sh (not declared by the plan; verify uses it)" in each
    ]
    assert len(marked) == 1  # the other plan's verify command does not use the file


def test_a_file_that_was_not_named_is_left_out_and_kept_on_the_branch(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, ["notes.txt", "src/other.py"])
    report = trial.run()
    assert report.job.status is JobStatus.DONE
    assert tracked(trial.project) == {"README.md", "a.txt", "b.txt"}
    assert (
        "notes.txt, src/other.py: not declared by the plan, and left out"
        in (trial.project / SUMMARY).read_text()
    )
    [branch] = [each for each in report.kept_branches if "01-01" in each]
    assert git(trial.project, "show", f"{branch}:notes.txt") == "extra"


def test_verify_runs_without_files_that_are_left_out(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, ["notes.txt"])
    path = trial.project / ".planning/phases/01-work/01-01-PLAN.md"
    written(path, path.read_text().replace("test -f a.txt", "test -f notes.txt"))
    git(trial.project, "commit", "-qam", "another command")
    assert trial.run().job.status is JobStatus.BLOCKED


def test_a_file_of_another_plan_is_left_out_even_if_it_is_named(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, [], [])

    def act(order: AgentCall, call: int) -> Mapping[str, object]:
        if not order.is_read_only and "Write a.txt" in order.prompt:
            written(Path(order.folder) / "b.txt", "not mine\n")
            return {**succeeds(order, call), "files_modified": ["a.txt", "b.txt"]}
        return succeeds(order, call)

    trial.agent = FakeAgent(act)
    assert trial.run().job.status is JobStatus.DONE
    assert (trial.project / "b.txt").read_text() == "made b.txt\n"


@pytest.mark.parametrize("answer", ["accept", "reject", "abort"])
def test_a_person_decides_about_a_sensitive_file(tmp_path: Path, answer: str) -> None:
    path = ".github/workflows/x.yml"
    trial = a_trial(tmp_path, [path], [path])
    report = trial.run()
    assert report.job.status is JobStatus.BLOCKED
    asked = [each for each in report.questions if not each.answer]
    assert len(asked) == 2
    for question in asked:
        assert path in question.text
        assert "+extra" in question.details
        trial.jobs.answer(report.job.id, answer, question.id)
    again = trial.run()
    is_landed = answer == "accept"
    assert (path in tracked(trial.project)) is is_landed
    assert again.job.status is (JobStatus.FAILED if answer == "abort" else JobStatus.DONE)


@pytest.mark.parametrize(
    ("policy", "status", "lands"),
    [("ask", JobStatus.BLOCKED, False), ("never", JobStatus.DONE, False)],
)
def test_the_setting_decides(tmp_path: Path, policy: str, status: JobStatus, lands: bool) -> None:
    trial = a_trial(tmp_path, ["notes.txt"], ["notes.txt"], policy)
    assert trial.run().job.status is status
    assert ("notes.txt" in tracked(trial.project)) is lands


def test_droppings_neither_land_nor_block_nor_are_mentioned(tmp_path: Path) -> None:
    left = ["pkg/__pycache__/a.cpython-311.pyc", ".pytest_cache/x", "b.pyc"]
    trial = a_trial(tmp_path, left)
    assert trial.run().job.status is JobStatus.DONE
    assert tracked(trial.project) == {"README.md", "a.txt", "b.txt"}
    assert "pyc" not in (trial.project / SUMMARY).read_text()


def test_droppings_in_the_main_tree_do_not_stop_the_next_run(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, [])
    for path in ("pkg/__pycache__/a.pyc", "__pycache__/b.pyc", ".coverage"):
        written(trial.project / path, "x")
    assert trial.run().job.status is JobStatus.DONE


@pytest.mark.parametrize(
    "path",
    [
        ".claude/settings.json",
        ".Claude/settings.json",
        ".github/workflows/x.yml",
        ".gitattributes",
        "sub/.gitmodules",
        ".gitlab-ci.yml",
        ".githooks/pre-commit",
        "hooks/pre-push",
        ".husky/pre-commit",
        ".circleci/config.yml",
        "Jenkinsfile",
        "package.json",
        "web/package-lock.json",
        "pyproject.toml",
        "requirements-dev.txt",
        "Cargo.toml",
        "go.mod",
        ".mcp.json",
        ".g\u200cithub/workflows/x.yml",
        ".github /workflows/x.yml",
    ],
)
def test_files_that_control_agents_git_and_builds_are_sensitive(path: str) -> None:
    assert is_sensitive(path)


@pytest.mark.parametrize("path", ["src/hooks/use.ts", "docs/github.md", "a.json", "src/go.py"])
def test_ordinary_files_are_not_sensitive(path: str) -> None:
    assert not is_sensitive(path)
    assert not is_dropping(path)


@pytest.mark.parametrize("path", [".planning/x.md", ".Planning/x.md", ".PLANNING/phases/y"])
def test_nothing_lands_that_a_file_system_takes_for_the_planning_folder(path: str) -> None:
    plan = read_plan("01-01-PLAN.md", a_plan("01-01", "a.txt").text)
    assert extra_files([FileChange(path, "A")], plan, [plan], [path], "review").left_out == (path,)


def test_a_wide_pattern_does_not_declare_a_sensitive_file() -> None:
    plan = read_plan("01-01-PLAN.md", a_plan("01-01", "src/**").text)
    changes = [FileChange("src/a.py", "A"), FileChange("src/package.json", "A")]
    assert extra_files(changes, plan, [plan], [], "review").asked == ("src/package.json",)


@pytest.mark.parametrize(("left", "said"), [("__pycache__/a.pyc", False), ("log.txt", True)])
def test_what_a_verify_command_leaves_is_named_unless_tools_leave_it(
    tmp_path: Path, left: str, said: bool
) -> None:
    verify = f"mkdir -p __pycache__; touch {left}; test -f a.txt"
    project = a_project(tmp_path / "p", PlanText("01-01", [("a.txt", verify)]))
    trial = ExecutionTrial(project, FakeAgent(with_notes), SteppingClock(60))
    assert trial.run().job.status is JobStatus.DONE
    text = (project / SUMMARY).read_text()
    assert (f"the verify command changed files of the work tree: {left}" in text) == said


def test_a_kept_branch_has_what_did_not_land_and_nothing_that_tools_left(tmp_path: Path) -> None:
    verify = "mkdir -p __pycache__; touch __pycache__/a.pyc; test -f a.txt"
    project = a_project(tmp_path / "p", PlanText("01-01", [("a.txt", verify)]))
    trial = ExecutionTrial(project, FakeAgent(with_notes), SteppingClock(60))
    (branch,) = trial.run().kept_branches
    names = git(project, "ls-tree", "-r", "--name-only", branch).splitlines()
    assert "notes.txt" in names
    assert "__pycache__/a.pyc" not in names


def with_notes(order: AgentCall, call: int) -> Mapping[str, object]:
    """An executor that leaves a file and does not name it."""
    if not order.is_read_only:
        written(Path(order.folder) / "notes.txt", "x\n")
    return succeeds(order, call)
