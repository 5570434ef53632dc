"""Jobs of both kinds in one place: each is read as what it is."""

from dataclasses import replace
from pathlib import Path

import pytest

from fairlead.adapters.clock import SystemClock
from fairlead.engine.jobs import Jobs
from fairlead.errors import MalformedRecord, OtherJob
from fairlead.model.job import Job, JobStatus
from fairlead.store import layout
from fairlead.store.files import Files
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
def test_a_damaged_record_is_refused_with_its_place_and_a_way_out(tmp_path: Path, row: str) -> None:
    files = _files(tmp_path, "execute-01")
    path = ".planning/jobs/execute-01/job.json"
    text, line = DAMAGED[row]
    (tmp_path / path).write_text(text, "utf-8")
    with pytest.raises(MalformedRecord) as refused:
        files.load_record()
    assert str(refused.value).startswith(f"{path}:{line}:")
    assert len(str(refused.value)) < 300
    assert f"git restore {path}" in refused.value.hint


def test_a_journal_and_a_count_of_versions_that_nobody_wrote_keep_nobody_waiting(
    tmp_path: Path,
) -> None:
    held = a_full_job(JobStatus.DONE)
    assert held.master_plan is not None
    job = replace(held, master_plan=replace(held.master_plan, version=10**12))
    files = _files(tmp_path, job.id)
    files.save_job(job)
    home = tmp_path / ".planning/jobs" / job.id
    (home / "master_plan.v1.md").write_text("one", "utf-8")
    (home / "events.jsonl").write_text("[" * 200_000 + "\n", "utf-8")
    state = Files(str(tmp_path / "state"), desk=layout.USER_DESK)
    jobs = Jobs(Files(str(tmp_path)), state, SystemClock(), lambda: pytest.fail("it waits"))
    assert jobs.plans_of(job) == ("one",)
    assert len(list(jobs.follow(job.id))) == 1
