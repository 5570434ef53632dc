"""job.json is a record, not an authority: a changed one is shown as saved, named, and refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairlead.core.errors import DocumentError, MalformedRecord
from fairlead.jobs.errors import RecordEdited
from fairlead.jobs.model import JobStatus
from fairlead.project.open_jobs import JobState
from tests.support.council_runs import a_council
from tests.support.execution import LOOK, ExecutionTrial, SteppingClock, a_plan, a_project
from tests.support.repositories import written

_ENDED = {"status": "DONE", "ended_at": "2026-01-02T03:04:05Z"}
_HUGE = "1" + "0" * 400
FORGERIES: dict[str, Callable[[dict[str, Any]], str]] = {
    "ended": lambda record: json.dumps({**record, **_ENDED}),
    "unknown keys": lambda record: json.dumps({**record, "granted": {"by": ["me"]}}),
    "another id": lambda record: json.dumps({**record, "id": "execute-09-20200101-000000"}),
    "another phase": lambda record: json.dumps({**record, "phase": "02"}),
    "another kind": lambda record: json.dumps({**record, "kind": "council"}),
    "a huge number": lambda record: json.dumps({**record, "slots": 0}).replace(": 0", f": {_HUGE}"),
    "a word": lambda record: json.dumps({**record, "slots": "many"}),
    "a list": lambda _: "[]",
    "no JSON": lambda _: '{"version": 1,',
    "nested": lambda _: "[" * 100_000,
    "empty": lambda _: "",
}


@pytest.fixture
def waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ExecutionTrial:
    """An execution that waits for a person."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    plan = a_plan("01-01", "a.txt", extra=LOOK)
    trial = ExecutionTrial(a_project(tmp_path / "p", plan), clock=SteppingClock(60))
    assert trial.run().job.status is JobStatus.BLOCKED
    return trial


def _record(trial: ExecutionTrial) -> Path:
    [path] = trial.project.glob(".planning/jobs/*/job.json")
    return path


@pytest.mark.sweep(4)
@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_record_is_shown_as_saved_and_refused_by_name(
    waiting: ExecutionTrial, forge: Callable[[dict[str, Any]], str]
) -> None:
    path = _record(waiting)
    saved = path.read_text()
    written(path, forge(json.loads(saved)))
    [job] = waiting.jobs.all()
    assert (job.id, job.status, job.is_open) == (path.parent.name, JobStatus.BLOCKED, True)
    assert [each.state for each in waiting.jobs.open_jobs()] == [JobState.WAITS]
    name = str(path.relative_to(waiting.project))
    report = waiting.jobs.report(job.id)
    assert (report.job.status, name in report.fault) == (JobStatus.BLOCKED, True)
    [problem] = waiting.jobs.damaged()
    assert name in str(problem)
    preview = waiting.execution.preview("1")
    assert preview.resumes == job.id
    assert [each for each in preview.warnings if name in each]
    with pytest.raises(RecordEdited) as refused:
        waiting.run()
    assert "job.json" in str(refused.value)
    assert path.read_text() == saved
    assert waiting.jobs.damaged() == ()
    waiting.answer("approved")
    assert waiting.run().job.status is JobStatus.DONE


def test_a_record_that_no_process_saved_must_have_the_id_of_its_folder(
    waiting: ExecutionTrial,
) -> None:
    path = _record(waiting)
    [proof] = Path(waiting.state.folder).glob("runs/*/*/proofs/job.json")
    proof.unlink()
    assert [each.id for each in waiting.jobs.all()] == [path.parent.name]
    written(path, json.dumps({**json.loads(path.read_text()), "id": "execute-09-20200101-000000"}))
    assert waiting.jobs.all() == ()
    [problem] = waiting.jobs.damaged()
    assert isinstance(problem, MalformedRecord)


def test_an_edited_council_is_listed_as_saved(tmp_path: Path) -> None:
    council = a_council(tmp_path)
    job = council.run()
    path = council.project / f".planning/jobs/{job.id}/job.json"
    written(path, json.dumps({**json.loads(path.read_text()), "status": "DONE"}))
    [listed] = council.jobs.all()
    assert listed.status is JobStatus.APPROVED
    problems: tuple[DocumentError, ...] = council.jobs.damaged()
    assert [job.id in str(each) for each in problems] == [True]
