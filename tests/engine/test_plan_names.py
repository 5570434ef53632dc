"""Plans by whatever name real projects give them: carried out and proven, or refused beforehand."""

from pathlib import Path

import pytest

from fairlead.engine.evidence import check_ledgers
from fairlead.engine.sessions import Sessions
from fairlead.errors import PlansUnfit
from fairlead.model.job import JobStatus
from fairlead.store.files import Files
from fairlead.store.scan import scan
from tests.support.execution import Works, a_plan, a_project
from tests.support.repositories import git, written

METRICS = (
    "\n## Performance Metrics\n\n- Total plans completed: 0\n- Average duration: -\n"
    "- Total execution time: 0.0 hours\n"
)


@pytest.fixture(autouse=True)
def _no_identity_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def works(tmp_path: Path, *names: str, folder: str = "01-work", phase: str = "1") -> Works:
    """A project that keeps figures, with a plan by each of these names."""
    project = a_project(tmp_path / "p")
    state, roadmap = (project / f".planning/{name}" for name in ("STATE.md", "ROADMAP.md"))
    written(state, state.read_text() + METRICS)
    written(roadmap, roadmap.read_text().replace("Phase 1:", f"Phase {phase}:"))
    for at, name in enumerate(names):
        text = a_plan("01-01", f"{at}.txt").text.replace("phase: 01-work", f"phase: {folder}")
        written(project / f".planning/phases/{folder}/{name}", text)
    git(project, "add", "-A")
    git(project, "commit", "-qm", "plans")
    return Works(project, phase=phase)


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
def test_a_plan_of_every_name_is_carried_out_and_proven(
    tmp_path: Path, name: str, summary: str
) -> None:
    site = works(tmp_path, name)
    report = site.run()
    assert (report.job.status, [done for _, done in report.plans]) == (JobStatus.DONE, [True])
    [folder] = scan(str(site.project)).folders
    assert [plan.summary for plan in folder.plans] == [f"{folder.path}/{summary}"]
    assert folder.is_implemented
    assert not folder.orphans
    assert git(site.project, "status", "--porcelain") == ""
    assert "Average duration: 0" in (site.project / ".planning/STATE.md").read_text()


@pytest.mark.parametrize(
    ("phase", "folder", "plan"),
    [
        ("1.1", "01.1-urgent-fix", "01.1-01"),
        ("4.10", "04.10-later", "04.10-01"),
        ("12A", "12A-letters", "12A-01"),
    ],
)
def test_a_phase_with_decimals_or_a_letter_is_carried_out(
    tmp_path: Path, phase: str, folder: str, plan: str
) -> None:
    site = works(tmp_path, f"{plan}-PLAN.md", folder=folder, phase=phase)
    report = site.run()
    assert (report.job.status, report.plans) == (JobStatus.DONE, ((plan, True),))
    files = Files(str(site.project))
    assert not Sessions(files, site.clock).offers()
    assert check_ledgers(files, scan(str(site.project))).is_clean
    assert git(site.project, "branch", "--list", "fairlead/*") == ""
    assert [gate.task for gate in site.jobs.one("").gates] == [f"{plan}-01"]


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
def test_a_plan_whose_name_would_be_no_branch_or_another_s_is_refused_before_any_call(
    tmp_path: Path, names: list[str], refused: str, other: str
) -> None:
    site = works(tmp_path, *names)
    with pytest.raises(PlansUnfit) as caught:
        site.run()
    assert f"/01-work/{refused}: " in str(caught.value)
    assert f"call it {other}" in str(caught.value)
    assert not site.agent.orders


def test_plans_that_begin_with_their_phase_may_be_called_alike_otherwise(tmp_path: Path) -> None:
    site = works(tmp_path, "01-login-PLAN.md", "../02-more/02-login-PLAN.md")
    assert site.run().job.status is JobStatus.DONE
