"""Which job a run resumes, and when it begins a new one."""

import json
from pathlib import Path

import pytest

from fairlead.execution.errors import NothingToExecute
from fairlead.jobs.folder import JobFolder
from fairlead.jobs.ledger import EntryKind
from fairlead.jobs.model import JobStatus
from fairlead.vcs.git import Git
from tests.support.cluster import ledger_entries
from tests.support.execution import ExecutionTrial, SteppingClock, a_plan, a_project, commits_of
from tests.support.repositories import git, written

CHECKPOINT = (
    '<task type="checkpoint:human-verify" gate="blocking">\n<what-built>A page</what-built>\n'
    "<how-to-verify>Look</how-to-verify>\n<resume-signal>ok</resume-signal>\n</task>\n"
)


@pytest.fixture(autouse=True)
def _no_identity_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def test_jobs_that_begin_in_the_same_second_have_different_ids(tmp_path: Path) -> None:
    plan = a_plan("01-01", "a.txt", extra=CHECKPOINT)
    trial = ExecutionTrial(a_project(tmp_path / "p", plan), clock=SteppingClock(0))
    first = trial.run().job
    assert first.status is JobStatus.BLOCKED
    trial.cancel()
    second = trial.run().job
    assert (second.started_at, second.id) == (first.started_at, f"{first.id}-2")
    assert trial.jobs.report(first.id).job.status is JobStatus.FAILED
    assert trial.run().job.id == second.id


class Killed(BaseException):
    """Stands for SIGKILL: nothing in the product may handle it."""


def ended(tmp_path: Path) -> ExecutionTrial:
    """A project after a run that was killed before its last commit."""
    trial = ExecutionTrial(a_project(tmp_path / "p", a_plan("01-01", "a.txt")))
    assert trial.run().job.status is JobStatus.DONE
    git(trial.project, "reset", "--quiet", "--soft", "HEAD~1")
    return trial


def test_a_job_whose_end_is_not_committed_is_resumed(tmp_path: Path) -> None:
    trial = ended(tmp_path)
    job = trial.jobs.report("").job.id
    report = trial.run()
    assert (report.job.id, report.job.status) == (job, JobStatus.DONE)
    assert commits_of(trial.project)[0] == "docs(phase-01): record the execution"
    assert git(trial.project, "status", "--porcelain") == ""
    with pytest.raises(NothingToExecute, match="every plan is done"):
        trial.run()


def test_a_job_that_is_killed_while_its_end_is_written_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = ExecutionTrial(a_project(tmp_path / "p", a_plan("01-01", "a.txt")))
    note_write = JobFolder.note_write

    def killed(self: JobFolder, path: str, text: str) -> None:
        if path.endswith("job.json") and '"DONE"' in text:
            raise Killed
        note_write(self, path, text)

    with monkeypatch.context() as patch:
        patch.setattr(JobFolder, "note_write", killed)
        with pytest.raises(Killed):
            trial.run()
    assert git(trial.project, "status", "--porcelain") == ""  # so git does not show the gap

    assert trial.run().job.status is JobStatus.DONE

    [record] = trial.project.glob(".planning/jobs/*/job.json")
    assert json.loads(record.read_text())["status"] == "DONE"
    assert git(trial.project, "status", "--porcelain") == ""
    with pytest.raises(NothingToExecute, match="every plan is done"):
        trial.run()


def test_an_ended_job_of_an_older_version_is_over(tmp_path: Path) -> None:
    trial = ended(tmp_path)
    [record] = trial.project.glob(".planning/jobs/*/job.json")
    stored = json.loads(record.read_text())
    del stored["commits_end"]  # as an older version has written it, which kept no proof
    written(record, json.dumps(stored))
    [proof] = Path(trial.state.folder).glob("runs/*/*/proofs/job.json")
    proof.unlink()
    with pytest.raises(NothingToExecute, match="every plan is done"):
        trial.run()


def test_a_merge_that_a_killed_run_did_not_record_is_recorded_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = ExecutionTrial(a_project(tmp_path / "p", a_plan("01-01", "a.txt")))
    land = Git.land

    def killed(self: Git, *words: str) -> None:
        land(self, *words)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Git, "land", killed)
        with pytest.raises(Killed):
            trial.run()

    assert trial.run().job.status is JobStatus.DONE

    [merge] = [each for each in ledger_entries(trial.project) if each.kind is EntryKind.MERGE]
    assert merge.task == "01-01"
    assert git(trial.project, "show", "-s", "--format=%s", merge.tail).startswith("merge(01-01)")
