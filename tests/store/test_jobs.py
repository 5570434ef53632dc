"""Jobs of both kinds in one place: each is read as what it is."""

from pathlib import Path

import pytest

from fairlead.errors import OtherJob
from fairlead.model.job import Job, JobStatus
from fairlead.store.jobs import JobFiles
from tests.support.council import NOW, a_full_job


def _files(tmp_path: Path, job: str) -> JobFiles:
    (tmp_path / ".planning/jobs" / job).mkdir(parents=True)
    return JobFiles(str(tmp_path), job)


def test_a_council_job_is_read_back_as_it_was_saved(tmp_path: Path) -> None:
    files = _files(tmp_path, a_full_job().id)
    files.save_job(a_full_job())
    assert files.load_record() == files.load_council() == a_full_job()


def test_a_council_job_is_not_taken_for_one_that_carries_out_a_phase(tmp_path: Path) -> None:
    files = _files(tmp_path, a_full_job().id)
    files.save_job(a_full_job())
    with pytest.raises(OtherJob):
        files.load_job()


def test_a_job_that_carries_out_a_phase_is_not_taken_for_a_council(tmp_path: Path) -> None:
    files = _files(tmp_path, "execute-01")
    files.save_job(Job("execute-01", "01", JobStatus.EXECUTING, NOW, "claude"))
    with pytest.raises(OtherJob):
        files.load_council()
