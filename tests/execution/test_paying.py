"""Calls of killed runs: the ledger records the cost of each exactly once."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from fairlead.agents.model import AgentCall, CallResult, EndKind, TokenUsage
from fairlead.jobs.baseline import Baselines
from fairlead.jobs.calls import CallLedger
from fairlead.jobs.ledger import EntryKind, LedgerEntry, read_ledger
from fairlead.jobs.model import JobStatus
from tests.support.execution import (
    ExecutionTrial,
    FakeAgent,
    SteppingClock,
    a_plan,
    a_project,
    succeeds,
)

CUT_OFF = CallResult(EndKind.KILLED, usage=TokenUsage(500_000, 0, 10_000))


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture(autouse=True)
def _no_identity_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def killed_in_a_call(tmp_path: Path, *, is_review: bool, call: int = 1) -> ExecutionTrial:
    """A trial whose run died in such a call; its agent behaves from now on."""

    def dies(order: AgentCall, number: int) -> Mapping[str, object] | CallResult:
        if order.is_read_only is is_review:
            if number == call:
                raise Killed
            return CallResult(EndKind.FAILED)
        return succeeds(order, number)

    trial = ExecutionTrial(
        a_project(tmp_path / "p", a_plan("01-01", "a.txt")), FakeAgent(dies), SteppingClock(60)
    )
    trial.recall = lambda _name, _role, _raw: CUT_OFF
    with pytest.raises(Killed):
        trial.run()
    trial.agent = FakeAgent()
    return trial


def calls_of(trial: ExecutionTrial) -> list[LedgerEntry]:
    entries = read_ledger((trial.project / ".planning/ledger/01-01.jsonl").read_text())
    return [each for each in entries if each.kind in (EntryKind.EXECUTE, EntryKind.REVIEW)]


@pytest.mark.parametrize("is_review", [False, True])
def test_an_interrupted_call_is_counted(tmp_path: Path, is_review: bool) -> None:
    trial = killed_in_a_call(tmp_path, is_review=is_review)
    report = trial.run()
    assert report.job.status is JobStatus.DONE
    [killed] = [each for each in calls_of(trial) if each.verdict == "killed"]
    assert killed.kind is (EntryKind.REVIEW if is_review else EntryKind.EXECUTE)
    assert (killed.tokens_in, killed.tokens_out) == (500_000, 10_000)
    assert report.spent.tokens == sum(each.tokens_in + each.tokens_out for each in calls_of(trial))
    assert len({each.call for each in calls_of(trial)}) == 3
    assert "01-01-01 note" in trial.happened


def test_an_interrupted_call_of_an_ended_job_is_counted_by_the_next_job(tmp_path: Path) -> None:
    trial = killed_in_a_call(tmp_path, is_review=False)
    trial.cancel()
    report = trial.run()
    assert report.job.status is JobStatus.DONE
    [killed] = [each for each in calls_of(trial) if each.verdict == "killed"]
    assert killed.job != report.job.id
    trial.project.joinpath(".planning/phases/01-work/01-01-SUMMARY.md").unlink()
    trial.run()
    assert [each.verdict for each in calls_of(trial)].count("killed") == 1


def test_each_call_stores_its_raw_output_separately(tmp_path: Path) -> None:
    trial = killed_in_a_call(tmp_path, is_review=True, call=2)
    heard: list[str] = []

    def recall(name: str, role: str, raw: str) -> CallResult:
        heard.append(raw)
        return CUT_OFF

    trial.recall = recall
    trial.run()
    entries = calls_of(trial)
    assert [each.verdict for each in entries].count("killed") == 1
    assert [Path(raw).name for raw in heard] == [e.call for e in entries if e.verdict == "killed"]


def test_a_call_that_never_began_is_not_counted(tmp_path: Path) -> None:
    trial = killed_in_a_call(tmp_path, is_review=False)
    trial.recall = lambda _name, _role, _raw: None
    trial.run()
    assert [each.verdict for each in calls_of(trial)] == ["executor-success", "approved"]


@pytest.mark.parametrize("name", ["record", "recorded", "begin"])
def test_a_kill_while_counting_counts_the_call_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    trial = killed_in_a_call(tmp_path, is_review=False)
    owner = CallLedger if name == "record" else Baselines
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, dying)
        with pytest.raises(Killed):
            trial.run()
    report = trial.run()
    assert (report.job.status, report.questions) == (JobStatus.DONE, ())
    assert [each.verdict for each in calls_of(trial)].count("killed") == 1


def test_a_kill_after_recording_counts_no_call_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = ExecutionTrial(
        a_project(tmp_path / "p", a_plan("01-01", "a.txt")), FakeAgent(), SteppingClock(60)
    )
    trial.recall = lambda _name, _role, _raw: CUT_OFF
    with monkeypatch.context() as patched:
        patched.setattr(Baselines, "recorded", dying)
        with pytest.raises(Killed):
            trial.run()
    trial.run()
    calls = calls_of(trial)
    assert len({each.call for each in calls}) == len(calls)
    assert not [each for each in calls if each.verdict == "killed"]


def test_an_unreadable_call_does_not_stop_the_run(tmp_path: Path) -> None:
    trial = killed_in_a_call(tmp_path, is_review=False)
    [kept] = Path(trial.state.folder).glob("runs/*/*/seen/*.call")
    kept.write_text("{")
    assert trial.run().job.status is JobStatus.DONE


def dying(*_: object, **__: object) -> None:
    raise Killed
