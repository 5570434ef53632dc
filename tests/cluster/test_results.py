"""What the tests of a cluster look at: equal results, and attempts that the ledger leaves out."""

from pathlib import Path

import pytest

from fairlead.cluster.model import CallAddress
from fairlead.core.values import replace
from fairlead.jobs.calls import LOST
from fairlead.jobs.ledger import EntryKind, LedgerEntry, appended
from tests.support.cluster import STARTS, Machine
from tests.support.cluster_chaos import unrecorded
from tests.support.cluster_results import LEDGER, differences, ledger_lines, without_times

_ENTRY = LedgerEntry(EntryKind.VERIFY, "01-02-01", 1, "2026-11-18T10:00:00Z", "fairlead")


def _ledger(*entries: LedgerEntry) -> str:
    text = ""
    for each in entries:
        text += appended(text, each)
    return text


def test_times_ids_and_the_worker_are_left_out() -> None:
    other = replace(
        _ENTRY, at="2026-11-19T11:11:11Z", seconds=3.0, job="x", tree="a" * 40, cost_usd=0.0
    )
    here, there = replace(_ENTRY, cost_usd=0), replace(other, note="on the worker vm:12")

    assert ledger_lines(_ledger(here)) == ledger_lines(_ledger(there))


@pytest.mark.parametrize(
    "other",
    [
        replace(_ENTRY, verdict="lost"),
        replace(_ENTRY, exit_code=1),
        replace(_ENTRY, output_sha256="b" * 64),
        replace(_ENTRY, tokens_in=7),
    ],
)
def test_another_value_is_a_difference(other: LedgerEntry) -> None:
    mine, theirs = (ledger_lines(_ledger(each)) for each in (_ENTRY, other))

    assert len(differences({LEDGER: mine}, {LEDGER: theirs})) == 2


def test_a_repeated_entry_and_another_order_are_differences() -> None:
    assert differences({LEDGER: ["a"]}, {LEDGER: ["a", "a"]}) == ["ledger: only on workers: a"]
    assert differences({LEDGER: ["a", "b"]}, {LEDGER: ["b", "a"]}) == [
        "ledger: the same entries in another order"
    ]
    assert differences({LEDGER: ["a"]}, {LEDGER: ["a"]}) == []


def test_only_times_and_ids_are_replaced_in_a_text() -> None:
    text = "2026-11-18T10:00:00Z execute-01-20261118-195728 0a1b2c3d4e 12 min f12.txt 1200"

    assert without_times(text) == "# # # # f12.txt 1200"


def a_worker(home: Path, *attempts: str) -> Machine:
    addresses = (each.rsplit("-", 1) for each in attempts)
    names = (f"{CallAddress('p', 'j', call).folder}-{number}" for call, number in addresses)
    (home / STARTS).write_text("".join(f"/cache/{name}\n" for name in names))
    return Machine(home, (), home, {})


def test_each_agent_that_was_started_must_be_in_the_ledger(tmp_path: Path) -> None:
    worker = a_worker(tmp_path, "call-1", "call-2", "other-1")
    last, other = (replace(_ENTRY, job="j", call=call) for call in ("call", "other"))
    lost = replace(last, call="call.1", verdict=LOST)

    assert unrecorded([lost, last, other], [worker], "p") == []
    assert len(unrecorded([last, other], [worker], "p")) == 1
    assert len(unrecorded([lost, last], [worker], "p")) == 1
    assert unrecorded([], [a_worker(tmp_path)], "p") == ["no agent was started"]
