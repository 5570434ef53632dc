"""One repair is enough: for any STATE.md, a second run finds and changes nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fairlead.project.events import Events
from fairlead.project.health import repair
from fairlead.project.health.doctor import ClaimPolicy
from fairlead.project.health.findings import FindingKind
from fairlead.project.state.contradictions import contradicted_fields
from fairlead.project.state.digest import FieldTexts
from fairlead.store.files import Files
from tests.project.test_doctor import Still, changed_lines, comparison, doctor_of
from tests.support.odd_states import make_odd_state


def wrong_lines(folder: Path) -> Iterator[tuple[str, int]]:
    """The lines that a repair may change; a section, which stands last here, to its end."""
    for finding in comparison(folder).drift:
        yield finding.path, finding.line
        if finding.kind is FindingKind.SECTION:
            count = (folder / finding.path).read_text("utf-8").count("\n")
            yield from ((finding.path, line) for line in range(finding.line - 1, count + 1))


def fault(folder: Path) -> str:
    """What is wrong after a repair; empty if nothing is."""
    doctor = doctor_of(folder)
    for claims in (None, ClaimPolicy.CORRECT):
        wrong = set(wrong_lines(folder))
        beside = changed_lines(doctor.fix(claims)) - wrong
        if beside:
            return f"{claims}: changed what was right: {beside}"
        left = [
            each
            for each in comparison(folder).drift
            if claims or each.kind is not FindingKind.CLAIM
        ]
        if left:
            return f"{claims}: left {'; '.join(map(str, left))}"
        if doctor.fix(claims).changes:
            return f"{claims}: a second run changes something"
    # A sync also replaces what may stand as it is, such as the count of a phase not yet verified.
    events = Events(Files(str(folder)), Still())
    events.sync()
    if comparison(folder).drift:
        return "a sync makes something wrong"
    return "a second sync changes something" if events.sync(dry_run=True).changes else ""


@pytest.mark.sweep(1)
@pytest.mark.parametrize("first", range(0, 200, 25))
def test_one_repair_leaves_nothing_wrong_and_a_second_changes_nothing(tmp_path, first):
    found = {
        seed: fault(make_odd_state(tmp_path / str(seed), seed)) for seed in range(first, first + 25)
    }

    assert {seed: each for seed, each in found.items() if each} == {}


def test_a_planted_incomplete_repair_is_found(tmp_path, monkeypatch):
    def careless(*arguments: Any) -> FieldTexts:
        return {
            name: each
            for name, each in contradicted_fields(*arguments).items()
            if name != "active_phase"
        }

    monkeypatch.setattr(repair, "contradicted_fields", careless)

    assert any(fault(make_odd_state(tmp_path / str(seed), seed)) for seed in range(10))
