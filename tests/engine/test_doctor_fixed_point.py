"""One repair is enough: whatever STATE.md says, a second look finds nothing and changes nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fairlead.engine.doctor import Claims
from fairlead.engine.events import Events
from fairlead.model.divergence import Kind
from fairlead.records import repair
from fairlead.records.digest import Words
from fairlead.records.truths import untrue_words
from fairlead.store.files import Files
from tests.engine.test_doctor import Still, changed_lines, doctor_of, truth
from tests.support.odd_states import make_odd_state


def wrong_lines(folder: Path) -> Iterator[tuple[str, int]]:
    """The lines that a repair may change; a section, which stands last here, to its end."""
    for finding in truth(folder).drift:
        yield finding.path, finding.line
        if finding.kind is Kind.SECTION:
            count = (folder / finding.path).read_text("utf-8").count("\n")
            yield from ((finding.path, line) for line in range(finding.line - 1, count + 1))


def fault(folder: Path) -> str:
    """What is wrong after a repair; empty if nothing is."""
    doctor = doctor_of(folder)
    for claims in (None, Claims.CORRECT):
        wrong = set(wrong_lines(folder))
        beside = changed_lines(doctor.fix(claims)) - wrong
        if beside:
            return f"{claims}: changed what was right: {beside}"
        left = [each for each in truth(folder).drift if claims or each.kind is not Kind.CLAIM]
        if left:
            return f"{claims}: left {'; '.join(map(str, left))}"
        if doctor.fix(claims).changes:
            return f"{claims}: a second run changes something"
    if Events(Files(str(folder)), Still()).sync(dry_run=True).changes:
        return "a sync changes something"
    return ""


@pytest.mark.parametrize("first", range(0, 200, 25))
def test_one_repair_leaves_nothing_wrong_and_a_second_changes_nothing(tmp_path, first):
    found = {
        seed: fault(make_odd_state(tmp_path / str(seed), seed)) for seed in range(first, first + 25)
    }

    assert {seed: each for seed, each in found.items() if each} == {}


def test_a_planted_repair_that_forgets_a_line_is_found(tmp_path, monkeypatch):
    def careless(*told: Any) -> Words:
        return {name: each for name, each in untrue_words(*told).items() if name != "active_phase"}

    monkeypatch.setattr(repair, "untrue_words", careless)

    assert any(fault(make_odd_state(tmp_path / str(seed), seed)) for seed in range(10))
