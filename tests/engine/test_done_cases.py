"""Phases that say they are done: the false ones are caught by code, the honest ones pass."""

from pathlib import Path

import pytest

from tests.support.verification import cases_of, verified

FALSE = cases_of("done-false.md")
HONEST = cases_of("done-honest.md")


@pytest.mark.parametrize("name", FALSE)
def test_a_false_done_is_caught_though_its_commands_succeed(name: str, tmp_path: Path):
    rule, done = FALSE[name]

    report = verified(tmp_path / "project", done)

    assert report.status == "gaps_found"
    assert rule in {each.rule for each in report.found.blocking}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_phase_in_few_words_passes(name: str, tmp_path: Path):
    _, done = HONEST[name]

    report = verified(tmp_path / "project", done)

    assert [(each.key, each.why) for each in report.found.blocking] == []
    assert report.status == "passed"


def test_there_are_thirty_cases_of_each_kind_at_least():
    assert min(len(FALSE), len(HONEST)) >= 30
