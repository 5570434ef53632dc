"""What a call took whose run was killed: it stands in the ledger, and once."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from fairlead.engine.landing import Landing
from fairlead.model.agent_events import Ending, EndKind, Usage
from fairlead.model.agent_orders import Order
from fairlead.model.job import JobStatus
from fairlead.records.ledger import Entry, EntryKind, read_ledger
from fairlead.store.witness import Witness
from tests.support.execution import Ticking, Told, Works, a_plan, a_project, does_it

CUT_OFF = Ending(EndKind.KILLED, usage=Usage(500_000, 0, 10_000))


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture(autouse=True)
def _no_identity_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def killed_in_a_call(tmp_path: Path, *, is_review: bool, call: int = 1) -> Works:
    """A run that died in such a call, and an agent that does as it should from now on."""

    def dies(order: Order, number: int) -> Mapping[str, object] | Ending:
        if order.is_read_only is is_review:
            if number == call:
                raise Killed
            return Ending(EndKind.FAILED)
        return does_it(order, number)

    site = Works(a_project(tmp_path / "p", a_plan("01-01", "a.txt")), Told(dies), Ticking(60))
    site.recall = lambda _name, _role, _raw: CUT_OFF
    with pytest.raises(Killed):
        site.run()
    site.agent = Told()
    return site


def calls_of(site: Works) -> list[Entry]:
    entries = read_ledger((site.project / ".planning/ledger/01-01.jsonl").read_text())
    return [each for each in entries if each.kind in (EntryKind.EXECUTE, EntryKind.REVIEW)]


@pytest.mark.parametrize("is_review", [False, True])
def test_a_call_that_was_cut_off_is_counted(tmp_path: Path, is_review: bool) -> None:
    site = killed_in_a_call(tmp_path, is_review=is_review)
    report = site.run()
    assert report.job.status is JobStatus.DONE
    [killed] = [each for each in calls_of(site) if each.verdict == "killed"]
    assert killed.kind is (EntryKind.REVIEW if is_review else EntryKind.EXECUTE)
    assert (killed.tokens_in, killed.tokens_out) == (500_000, 10_000)
    assert report.spent.tokens == sum(each.tokens_in + each.tokens_out for each in calls_of(site))
    assert len({each.call for each in calls_of(site)}) == 3
    assert "01-01-01 note" in site.happened


def test_a_call_of_a_job_that_was_ended_since_is_counted_by_the_next_one(tmp_path: Path) -> None:
    site = killed_in_a_call(tmp_path, is_review=False)
    site.cancel()
    report = site.run()
    assert report.job.status is JobStatus.DONE
    [killed] = [each for each in calls_of(site) if each.verdict == "killed"]
    assert killed.job != report.job.id
    site.project.joinpath(".planning/phases/01-work/01-01-SUMMARY.md").unlink()
    site.run()
    assert [each.verdict for each in calls_of(site)].count("killed") == 1


def test_each_call_keeps_what_it_said_in_a_place_of_its_own(tmp_path: Path) -> None:
    site = killed_in_a_call(tmp_path, is_review=True, call=2)
    heard: list[str] = []

    def recall(name: str, role: str, raw: str) -> Ending:
        heard.append(raw)
        return CUT_OFF

    site.recall = recall
    site.run()
    entries = calls_of(site)
    assert [each.verdict for each in entries].count("killed") == 1
    assert [Path(raw).name for raw in heard] == [e.call for e in entries if e.verdict == "killed"]


def test_a_call_that_never_began_is_not_counted(tmp_path: Path) -> None:
    site = killed_in_a_call(tmp_path, is_review=False)
    site.recall = lambda _name, _role, _raw: None
    site.run()
    assert [each.verdict for each in calls_of(site)] == ["executor-success", "approved"]


@pytest.mark.parametrize("name", ["record", "recorded", "begin"])
def test_a_kill_while_it_is_counted_counts_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    site = killed_in_a_call(tmp_path, is_review=False)
    owner = Landing if name == "record" else Witness
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, dying)
        with pytest.raises(Killed):
            site.run()
    report = site.run()
    assert (report.job.status, report.questions) == (JobStatus.DONE, ())
    assert [each.verdict for each in calls_of(site)].count("killed") == 1


def test_a_kill_between_a_record_and_what_follows_counts_no_call_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Works(a_project(tmp_path / "p", a_plan("01-01", "a.txt")), Told(), Ticking(60))
    site.recall = lambda _name, _role, _raw: CUT_OFF
    with monkeypatch.context() as patched:
        patched.setattr(Witness, "recorded", dying)
        with pytest.raises(Killed):
            site.run()
    site.run()
    calls = calls_of(site)
    assert len({each.call for each in calls}) == len(calls)
    assert not [each for each in calls if each.verdict == "killed"]


def test_what_cannot_be_read_of_a_call_stops_nobody(tmp_path: Path) -> None:
    site = killed_in_a_call(tmp_path, is_review=False)
    [kept] = Path(site.state.folder).glob("runs/*/*/seen/*.call")
    kept.write_text("{")
    assert site.run().job.status is JobStatus.DONE


def dying(*_: object, **__: object) -> None:
    raise Killed
