"""Declared files that cannot reach the project are refused before the first call."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fairlead.agents.model import AgentCall
from fairlead.execution.errors import PlansUnfit
from fairlead.jobs.folder import JobFolder
from fairlead.jobs.model import JobStatus
from tests.support.execution import ExecutionTrial, FakeAgent, PlanText, a_plan, a_project, succeeds
from tests.support.repositories import a_repository, commands_of_git, git, written

PLAN = ".planning/phases/01-work/01-01-PLAN.md"


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")


def a_trial(
    tmp_path: Path, *plans: PlanText, ignores: str = "dist/\n*.log\n!kept.log\n"
) -> ExecutionTrial:
    project = a_project(tmp_path / "p", *plans)
    written(project / ".gitignore", ignores)
    git(project, "add", "--all")
    git(project, "commit", "-qm", "what is ignored")
    return ExecutionTrial(project)


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("dist/out.js", ".gitignore:1 ignores it (dist/)"),
        ("deep/er/a.log", ".gitignore:2 ignores it (*.log)"),
        ("dist/*.js", ".gitignore:1 ignores it (dist/)"),
        (".planning/notes.md", "below .planning"),
        ("src/../.planning/notes.md", "below .planning"),
        ("../other/x.txt", "outside the project"),
        ("src/../../x.txt", "outside the project"),
        ("/etc/motd", "outside the project"),
        ("~/notes.md", "outside the project"),
    ],
)
def test_a_declared_file_that_cannot_land_is_refused_before_any_call(
    tmp_path: Path, path: str, why: str
) -> None:
    trial = a_trial(tmp_path, PlanText("01-01", [(path, "test -d .")]))
    with pytest.raises(PlansUnfit) as refused:
        trial.run()
    assert f"{PLAN}:18: " in str(refused.value)
    assert "could not land" in str(refused.value)
    assert why in str(refused.value)
    assert trial.agent.orders == []


def test_a_preview_shows_a_file_of_the_plan_that_cannot_land(
    tmp_path: Path,
) -> None:
    trial = a_trial(tmp_path, PlanText("01-01", [("a.txt", "true")], files=["dist/out.js"]))
    [problem] = trial.execution.preview("1").problems
    assert problem.startswith(f"{PLAN}:1: dist/out.js could not land: .gitignore:1 ignores it")


def test_a_file_that_git_tracks_is_not_refused(tmp_path: Path) -> None:
    paths = ("src/a.txt", "kept.log", "dist/old.js", "link/b.txt")
    trial = a_trial(tmp_path, a_plan("01-01", *paths), ignores="/dist/\n*.log\n!kept.log\nreal/\n")
    written(trial.project / "dist/old.js", "kept by git although it is ignored\n")
    (trial.project / "link").symlink_to("src")
    git(trial.project, "add", "--force", "dist/old.js", "link")
    assert trial.execution.preview("1").problems == ()


def test_a_file_in_a_submodule_is_refused_together_with_other_faults(
    tmp_path: Path,
) -> None:
    trial = a_trial(tmp_path, a_plan("01-01", "sub/x.txt", "dist/y.txt", "z.txt"))
    _with_a_submodule(trial.project, tmp_path)
    first, second = trial.execution.preview("1").problems
    assert "sub/x.txt could not land: " in first
    assert "submodule 'sub'" in first
    assert "dist/y.txt could not land: .gitignore:1" in second


def test_git_runs_once_for_all_plans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans = [a_plan(f"01-0{number}", f"{number}.txt", f"{number}.md") for number in range(1, 6)]
    execution = a_trial(tmp_path, *plans).execution
    asked = commands_of_git(monkeypatch)
    execution.preview("1")
    assert [words[0] for words in asked] == ["check-ignore"]


def test_without_git_nothing_is_ignored(tmp_path: Path) -> None:
    project = a_project(tmp_path / "p", a_plan("01-01", "dist/a.txt"), is_git=False)
    written(project / ".gitignore", "dist/\n")
    assert ExecutionTrial(project).execution.preview("1").problems == ()


# -- repositories in repositories ------------------------------------------------------------


def _inits(order: AgentCall, call: int) -> Mapping[str, object]:
    answer = succeeds(order, call)
    if not order.is_read_only and call == 1:
        inner = Path(order.folder) / "lib"
        git(inner, "init", "-q")
        git(inner, "add", "--all")
        git(inner, "-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "mine")
    return answer


def test_a_repository_created_inside_the_work_fails_the_attempt(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, a_plan("01-01", "lib/g.txt"))
    trial.agent = FakeAgent(_inits)
    report = trial.run()
    gate = JobFolder(str(trial.project), report.job.id).load_gate("01-01-01")
    assert report.job.status is JobStatus.DONE
    assert gate is not None
    [failure] = gate.gate.failures
    assert "lib became a repository of its own" in failure.summary
    assert git(trial.project, "ls-tree", "-r", "--name-only", "HEAD", "lib") == "lib/g.txt"
    [kept] = report.kept_branches
    assert git(trial.project, "show", f"{kept}:lib/g.txt") == "made lib/g.txt"


@pytest.mark.parametrize(
    ("ignores", "rule"),
    [(".gitignore", "*.txt"), ("out/.gitignore", "*"), ("out/.gitignore", "g*")],
)
def test_a_declared_file_that_the_agent_ignores_fails_the_attempt(
    tmp_path: Path, ignores: str, rule: str
) -> None:
    def hides(order: AgentCall, call: int) -> Mapping[str, object]:
        answer = succeeds(order, call)
        if call == 1 and not order.is_read_only:
            written(Path(order.folder) / "out/g.txt", "hidden\n")
            written(Path(order.folder) / ignores, f"{rule}\n")
        return answer

    trial = a_trial(tmp_path, a_plan("01-01", "out/g.txt"))
    trial.agent = FakeAgent(hides)
    report = trial.run()
    gate = JobFolder(str(trial.project), report.job.id).load_gate("01-01-01")
    assert gate is not None
    [failure] = gate.gate.failures
    assert f"out/g.txt could not land: {ignores}:1 ignores it ({rule})" in failure.summary
    assert report.job.status is JobStatus.DONE
    assert (trial.project / "out/g.txt").read_text() == "made out/g.txt\n"
    [kept] = report.kept_branches
    assert git(trial.project, "show", f"{kept}:out/g.txt") == "hidden"


def test_an_existing_submodule_is_no_fault(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, a_plan("01-01", "a.txt"))
    _with_a_submodule(trial.project, tmp_path)

    def moves(order: AgentCall, call: int) -> Mapping[str, object]:
        if not order.is_read_only:
            place = Path(order.folder)
            other = git(tmp_path / "other", "rev-parse", "HEAD~1")
            git(place, "update-index", "--cacheinfo", f"160000,{other},sub")
        return succeeds(order, call)

    trial.agent = FakeAgent(moves)
    assert trial.run().job.status is JobStatus.DONE


@pytest.mark.parametrize("inside", ["", "app"])
def test_missing_submodules_are_a_warning_before_the_first_call(
    tmp_path: Path, inside: str
) -> None:
    top = a_repository(tmp_path / "top", {".gitignore": "state/\n"})
    project = a_project(top / inside, a_plan("01-01", "a.txt"), is_git=False)
    git(top, "add", "--all")
    git(top, "commit", "-qm", "a project")
    trial = ExecutionTrial(project)
    assert "submodules" not in " ".join(trial.execution.preview("1").warnings)
    _with_a_submodule(top, tmp_path)
    warning = f"submodules are not checked out for the agents: {'../' * bool(inside)}sub"
    assert warning in trial.execution.preview("1").warnings
    trial.run()
    [events] = project.glob(".planning/jobs/*/events.jsonl")
    kinds = [each["text"] if each["kind"] == "note" else each["kind"] for each in read(events)]
    assert kinds.index(warning) < kinds.index("call")


def read(events: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in events.read_text().splitlines()]


def _with_a_submodule(project: Path, tmp_path: Path) -> None:
    other = a_repository(tmp_path / "other", {"x.txt": "one\n"})
    git(other, "commit", "-q", "--allow-empty", "-m", "two")
    words = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    git(project, *words)
    git(project, "commit", "-qm", "a submodule")
