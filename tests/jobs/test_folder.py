"""Job folders: each kind of record is read into its own class."""

from dataclasses import replace
from pathlib import Path

import pytest

from fairlead.core.clock import SystemClock
from fairlead.core.errors import MalformedRecord
from fairlead.council.model import CouncilJob
from fairlead.council.report import plan_versions
from fairlead.jobs.errors import OtherJob
from fairlead.jobs.folder import JobFolder
from fairlead.jobs.model import Job, JobStatus
from fairlead.store.files import Files
from fairlead.store.staging import USER_STAGING
from tests.support.council import NOW, a_full_job
from tests.support.execution import jobs_of


def _files(tmp_path: Path, job: str) -> JobFolder:
    (tmp_path / ".planning/jobs" / job).mkdir(parents=True)
    return JobFolder(str(tmp_path), job)


def test_a_council_job_is_read_back_as_it_was_saved(tmp_path: Path) -> None:
    files = _files(tmp_path, a_full_job().id)
    files.save_record(a_full_job())
    assert files.load(CouncilJob) == a_full_job()


def test_a_council_record_is_not_read_as_an_execution(tmp_path: Path) -> None:
    files = _files(tmp_path, a_full_job().id)
    files.save_record(a_full_job())
    with pytest.raises(OtherJob):
        files.load(Job)


def test_an_execution_record_is_not_read_as_a_council(tmp_path: Path) -> None:
    files = _files(tmp_path, "execute-01")
    files.save_record(Job("execute-01", "01", JobStatus.EXECUTING, NOW, "claude"))
    with pytest.raises(OtherJob):
        files.load(CouncilJob)


DAMAGED = {
    "an empty file": ("", 1),
    "half of it": ('{\n  "version": 1,\n  "id": "exec', 3),
    "a list": ("[]", 1),
    "nesting without end": ("[" * 200_000, 1),
    "a version of the future": ('{"version": 99}', 1),
    "a number that no machine holds": ('{"estimate": {"usd": 1' + "0" * 400 + "}}", 1),
    "a number longer than is read": ('{"slots": 1' + "0" * 5000 + "}", 1),
    "a text of a megabyte for a number": ('{"slots": "' + "x" * 1_000_000 + '"}', 1),
}


@pytest.mark.parametrize("row", DAMAGED)
def test_a_damaged_record_is_refused_with_its_place_and_a_hint(tmp_path: Path, row: str) -> None:
    files = _files(tmp_path, "execute-01")
    path = ".planning/jobs/execute-01/job.json"
    text, line = DAMAGED[row]
    (tmp_path / path).write_text(text, "utf-8")
    with pytest.raises(MalformedRecord) as refused:
        files.load(Job)
    assert str(refused.value).startswith(f"{path}:{line}:")
    assert len(str(refused.value)) < 300
    assert f"git restore {path}" in refused.value.hint


def test_a_nested_journal_and_a_forged_version_count_do_no_harm(
    tmp_path: Path,
) -> None:
    full = a_full_job(JobStatus.DONE)
    assert full.master_plan is not None
    job = replace(full, master_plan=replace(full.master_plan, version=10**12))
    files = _files(tmp_path, job.id)
    files.save_record(job)
    home = tmp_path / ".planning/jobs" / job.id
    (home / "master_plan.v1.md").write_text("one", "utf-8")
    (home / "events.jsonl").write_text("[" * 200_000 + "\n", "utf-8")
    state = Files(str(tmp_path / "state"), staging=USER_STAGING)
    jobs = jobs_of(Files(str(tmp_path)), state, SystemClock())
    assert plan_versions(jobs, job) == ("one",)
    assert len(list(jobs.follow(job.id))) == 1
