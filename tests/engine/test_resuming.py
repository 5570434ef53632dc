"""Which job a run goes on with, and which it begins."""

import json
from pathlib import Path

import pytest

from fairlead.errors import NothingToExecute
from fairlead.model.job import JobStatus
from tests.support.execution import Ticking, Works, a_plan, a_project, commits_of
from tests.support.repositories import git, written

CHECKPOINT = (
    '<task type="checkpoint:human-verify" gate="blocking">\n<what-built>A page</what-built>\n'
    "<how-to-verify>Look</how-to-verify>\n<resume-signal>ok</resume-signal>\n</task>\n"
)


@pytest.fixture(autouse=True)
def _no_identity_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def test_two_jobs_that_begin_in_one_second_are_two(tmp_path: Path) -> None:
    plan = a_plan("01-01", "a.txt", extra=CHECKPOINT)
    site = Works(a_project(tmp_path / "p", plan), clock=Ticking(0))
    first = site.run().job
    assert first.status is JobStatus.BLOCKED
    site.cancel()
    second = site.run().job
    assert (second.started_at, second.id) == (first.started_at, f"{first.id}-2")
    assert site.jobs.one(first.id).job.status is JobStatus.FAILED
    assert site.run().job.id == second.id


def ended(tmp_path: Path) -> Works:
    """A project as a run leaves it that is killed before its last commit."""
    site = Works(a_project(tmp_path / "p", a_plan("01-01", "a.txt")))
    assert site.run().job.status is JobStatus.DONE
    git(site.project, "reset", "--quiet", "--soft", "HEAD~1")
    return site


def test_a_job_whose_end_is_not_committed_is_gone_on_with(tmp_path: Path) -> None:
    site = ended(tmp_path)
    job = site.jobs.one("").job.id
    report = site.run()
    assert (report.job.id, report.job.status) == (job, JobStatus.DONE)
    assert commits_of(site.project)[0] == "docs(phase-01): the record of its execution"
    assert git(site.project, "status", "--porcelain") == ""
    with pytest.raises(NothingToExecute, match="every plan is done"):
        site.run()


def test_a_job_whose_end_nobody_commits_is_over(tmp_path: Path) -> None:
    site = ended(tmp_path)
    [record] = site.project.glob(".planning/jobs/*/job.json")
    held = json.loads(record.read_text())
    del held["commits_end"]  # as an older version has written it
    written(record, json.dumps(held))
    with pytest.raises(NothingToExecute, match="every plan is done"):
        site.run()
