"""Labelled cases: rules find the fault in every false "done", and honest phases pass."""

from pathlib import Path

import pytest

from tests.support.verification import cases_of, verified

FALSE = cases_of("done-false.md")
HONEST = cases_of("done-honest.md")


@pytest.mark.parametrize("name", FALSE)
def test_a_false_done_is_found_although_its_commands_succeed(name: str, tmp_path: Path):
    rule, done = FALSE[name]

    report = verified(tmp_path / "project", done)

    assert report.status == "gaps_found"
    assert rule in {finding.rule for finding in report.result.blocking}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_phase_passes(name: str, tmp_path: Path):
    _, done = HONEST[name]

    report = verified(tmp_path / "project", done)

    assert [(finding.key, finding.why) for finding in report.result.blocking] == []
    assert report.status == "passed"


def test_there_are_at_least_thirty_cases_of_each_kind():
    assert min(len(FALSE), len(HONEST)) >= 30
