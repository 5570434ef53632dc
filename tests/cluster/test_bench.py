"""The cluster bench: the agent's sleep follows from a probe, and finished runs are not repeated."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench import cluster_runs
from bench.cluster import speed_lines
from bench.cluster_runs import PhaseRun, RunStore, estimated_seconds, needed_sleep
from tests.support.cluster_results import LEDGER

_LOCAL = PhaseRun(4, 5.0, 0, 48.0, 0.0, 2.0, 0.0, 0.1, ("01-02",), {LEDGER: ["a"]})
_ONE = PhaseRun(4, 5.0, 1, 50.0, 2.0, 1.0, 0.5, 0.1, ("01-02",), {LEDGER: ["a"]})


def _nothing(_: str) -> None: ...


def test_the_sleep_leaves_the_processors_idle() -> None:
    sleep = needed_sleep(_ONE, 8)

    per_plan = (2.0 + 1.0 + 0.5) / 4
    busy = 8 * per_plan / (2 * sleep) / cluster_runs.CORES
    assert busy <= cluster_runs.WANTED_SHARE
    assert estimated_seconds(_ONE, 40, 8, sleep) < estimated_seconds(_ONE, 40, 1, sleep) / 4


def test_a_finished_run_survives_an_interruption(tmp_path: Path) -> None:
    store = RunStore("x", _nothing, tmp_path)
    store.add("one", _ONE)
    store.save_sleep(5.0)

    again = RunStore("x", _nothing, tmp_path)

    assert again.get("one") == _ONE
    assert again.sleep == 5.0
    again.forget()
    assert RunStore("x", _nothing, tmp_path).get("one") is None


@pytest.mark.parametrize(("result", "word"), [(["a"], ": yes."), (["a", "lost"], ": NO.")])
def test_the_page_names_every_difference(result: list[str], word: str) -> None:
    lines = speed_lines([_LOCAL, replace(_ONE, result={LEDGER: result})])

    assert any(line.endswith(word) for line in lines)
    assert any("only on workers: lost" in line for line in lines) == ("lost" in result)
