"""Another program edits the file between two system calls of a command."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import Sample
from tests.crash.conftest import MakeRig
from tests.support.figures import record_quick
from tests.support.gaps import STYLES, gaps, try_gap
from tests.support.strace import Call
from tests.support.trials import findings_of


def test_an_edit_by_somebody_else_in_any_gap_survives(rig_of: MakeRig, sample: Sample) -> None:
    rig = rig_of("add-decision")
    every = gaps(rig.calls_from_the_lock)
    # The two ways to save take turns; `make prove` tries both in each gap.
    turns = [gap for index, gap in enumerate(every) if index // len(STYLES) % 2 == index % 2]
    assert len(turns) > 20
    tried, found = findings_of(sample(turns, 6), lambda gap: try_gap(rig, gap))
    assert found == []
    record_quick(
        "gaps",
        "an edit by somebody else between any two calls from the lock on survives",
        {"gaps": tried, "of": len(every), "found": len(found)},
    )


def test_a_gap_is_struck_although_the_loader_makes_fewer_calls_than_it_did(
    rig_of: MakeRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = rig_of("add-decision")
    more = [replace(call, number=call.number + 3) for call in rig.calls]
    monkeypatch.setattr(rig, "calls", tuple(more))
    last = [gap for gap in gaps(rig.calls_from_the_lock) if gap.call.name == "openat"][-1]
    struck: list[str] = []
    save = STYLES[last.style]

    def saves(path: Path, content: bytes) -> None:
        struck.append(path.name)
        save(path, content)

    monkeypatch.setitem(STYLES, last.style, saves)
    assert try_gap(rig, last) == []
    assert struck == ["STATE.md"]


def test_a_call_is_found_again_although_more_memory_is_asked_for(
    rig_of: MakeRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = rig_of("add-decision")
    memory = Call("mmap", 1, "NULL, 4096", 0, "")
    monkeypatch.setattr(rig, "calls", tuple(two for call in rig.calls for two in (call, memory)))
    every = gaps(rig.calls_from_the_lock)
    assert "mmap" not in {gap.call.name for gap in every}
    assert rig.again(every[-1].call).name == every[-1].call.name
