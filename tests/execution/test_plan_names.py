"""Plan names of real projects: plans are executed and proven, or refused beforehand."""

from pathlib import Path

import pytest

from fairlead.execution.errors import PlansUnfit
from fairlead.jobs.ledger import check_ledgers
from fairlead.jobs.model import JobStatus
from fairlead.project.derive.scan import scan
from fairlead.project.sessions import Sessions
from fairlead.store.files import Files
from tests.support.execution import ExecutionTrial, a_plan, a_project
from tests.support.repositories import git, written

METRICS = (
    "\n## Performance Metrics\n\n- Total plans completed: 0\n- Average duration: -\n"
    "- Total execution time: 0.0 hours\n"
)


@pytest.fixture(autouse=True)
def _no_identity_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def a_trial(
    tmp_path: Path, *names: str, folder: str = "01-work", phase: str = "1"
) -> ExecutionTrial:
    """A project with STATE.md figures and one plan per name."""
    project = a_project(tmp_path / "p")
    state, roadmap = (project / f".planning/{name}" for name in ("STATE.md", "ROADMAP.md"))
    written(state, state.read_text() + METRICS)
    written(roadmap, roadmap.read_text().replace("Phase 1:", f"Phase {phase}:"))
    for at, name in enumerate(names):
        text = a_plan("01-01", f"{at}.txt").text.replace("phase: 01-work", f"phase: {folder}")
        written(project / f".planning/phases/{folder}/{name}", text)
    git(project, "add", "-A")
    git(project, "commit", "-qm", "plans")
    return ExecutionTrial(project, phase=phase)


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("name", "summary"),
    [
        ("01-PLAN.md", "01-SUMMARY.md"),
        ("01-login-PLAN.md", "01-login-SUMMARY.md"),
        ("01-02-login-PLAN.md", "01-02-login-SUMMARY.md"),
        ("01-PLAN-02.md", "01-SUMMARY-02.md"),
        ("PLAN-01-02.md", "SUMMARY-01-02.md"),
        ("PLAN-01.md", "SUMMARY-01.md"),
        ("PLAN-02-login.md", "SUMMARY-02-login.md"),
        ("01-P02-PLAN.md", "01-P02-SUMMARY.md"),
        ("PLAN.md", "SUMMARY.md"),
        ("login-PLAN.md", "login-SUMMARY.md"),
        ("01-02-plan.md", "01-02-plan-SUMMARY.md"),
        ("01-登录-PLAN.md", "01-登录-SUMMARY.md"),
        (f"01-{'long-' * 12}name-PLAN.md", f"01-{'long-' * 12}name-SUMMARY.md"),
        ("plans/01-02-PLAN.md", "plans/01-02-SUMMARY.md"),
    ],
)
def test_plans_of_every_file_name_are_executed_and_proven(
    tmp_path: Path, name: str, summary: str
) -> None:
    trial = a_trial(tmp_path, name)
    report = trial.run()
    assert (report.job.status, [done for _, done in report.plans]) == (JobStatus.DONE, [True])
    [folder] = scan(str(trial.project)).folders
    assert [plan.summary for plan in folder.plans] == [f"{folder.path}/{summary}"]
    assert folder.is_implemented
    assert not folder.orphans
    assert git(trial.project, "status", "--porcelain") == ""
    assert "Average duration: 0" in (trial.project / ".planning/STATE.md").read_text()


@pytest.mark.parametrize(
    ("phase", "folder", "plan"),
    [
        ("1.1", "01.1-urgent-fix", "01.1-01"),
        ("4.10", "04.10-later", "04.10-01"),
        ("12A", "12A-letters", "12A-01"),
    ],
)
def test_a_phase_with_decimals_or_a_letter_is_executed(
    tmp_path: Path, phase: str, folder: str, plan: str
) -> None:
    trial = a_trial(tmp_path, f"{plan}-PLAN.md", folder=folder, phase=phase)
    report = trial.run()
    assert (report.job.status, report.plans) == (JobStatus.DONE, ((plan, True),))
    files = Files(str(trial.project))
    assert not Sessions(files, trial.clock).offers()
    assert check_ledgers(files, scan(str(trial.project))).is_clean
    assert git(trial.project, "branch", "--list", "fairlead/*") == ""
    assert [gate.task for gate in trial.jobs.report("").gates] == [f"{plan}-01"]


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("names", "refused", "other"),
    [
        (["01-01 login-PLAN.md"], "01-01 login-PLAN.md", "01-01-PLAN.md"),
        (["01-01-PLAN.md", "a..b-PLAN.md"], "a..b-PLAN.md", "01-02-PLAN.md"),
        ([f"01-{'x' * 130}-PLAN.md"], f"01-{'x' * 130}-PLAN.md", "01-01-PLAN.md"),
        (["01-01-PLAN.md", "01-P01-PLAN.md"], "01-P01-PLAN.md", "01-02-PLAN.md"),
        (["login-PLAN.md", "../02-more/login-PLAN.md"], "login-PLAN.md", "01-01-PLAN.md"),
    ],
)
def test_a_plan_name_without_a_valid_or_unique_branch_is_refused_before_any_call(
    tmp_path: Path, names: list[str], refused: str, other: str
) -> None:
    trial = a_trial(tmp_path, *names)
    with pytest.raises(PlansUnfit) as caught:
        trial.run()
    assert f"/01-work/{refused}: " in str(caught.value)
    assert f"call it {other}" in str(caught.value)
    assert not trial.agent.orders


def test_plan_names_may_agree_apart_from_their_phase(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, "01-login-PLAN.md", "../02-more/02-login-PLAN.md")
    assert trial.run().job.status is JobStatus.DONE
