"""The views of the headline, their order, and the short status words."""

import pytest

from fairlead.project.derive.headline import (
    Headline,
    compact_text,
    full_text,
    short_status,
    stale_text,
    view_of,
)


def a_headline(**fields: object) -> Headline:
    headline = Headline()
    for name, value in fields.items():
        setattr(headline, name, value)
    return headline


NEXT = {"next_action": "execute-phase", "next_phases": ("4.5",)}


@pytest.mark.parametrize(
    ("fields", "view"),
    [
        ({}, "default"),
        ({"active_phase": "4.5"}, "active"),
        ({"active_phase": "4.5", **NEXT}, "active"),
        ({"active_phase": "4.5", "percent": "100"}, "active"),
        (NEXT, "next"),
        ({**NEXT, "percent": "100"}, "next"),
        ({"next_action": "execute-phase"}, "default"),
        ({"next_phases": ("4.5",)}, "default"),
        ({"percent": "100"}, "complete"),
        ({"percent": "99"}, "default"),
        ({"completed_phases": "5", "total_phases": "5"}, "complete"),
        ({"completed_phases": "5", "total_phases": "05"}, "complete"),
        ({"completed_phases": "4", "total_phases": "5"}, "default"),
        ({"completed_phases": "0", "total_phases": "0"}, "default"),
        ({"completed_phases": "5"}, "default"),
        ({"completed_phases": "9" * 5000, "total_phases": "8"}, "default"),
    ],
)
def test_the_first_view_that_applies_is_shown(fields: dict[str, object], view: str):
    assert view_of(a_headline(**fields)) == view


def test_an_empty_document_shows_nothing():
    assert full_text(Headline()) == compact_text(Headline()) == ""


@pytest.mark.parametrize("text_of", [full_text, compact_text])
def test_a_remark_comes_last(text_of):
    headline = a_headline(milestone="v2.0", active_phase="4")

    assert text_of(headline, "state ~20 commits back").endswith(" · state ~20 commits back")


@pytest.mark.parametrize(("commits", "said"), [(0, False), (19, False), (20, True), (431, True)])
def test_commits_are_reported_from_twenty_on(commits: int, said: bool):
    assert stale_text(commits) == (f"state ~{commits} commits back" if said else "")


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ("", ""),
        ("paused", "PAUSED"),
        ("  Stopped ", "PAUSED"),
        ("executing", "executing"),
        ("In   progress", "executing"),
        ("Ready to execute", "executing"),
        ("EXECUTING PHASE 5", "executing"),
        ("planning", "planning"),
        ("Ready to plan", "planning"),
        ("Planning complete", "planning"),
        ("Planning Phase 4.5", "planning"),
        ("discussing", "discussing"),
        ("verifying", "verifying"),
        ("Verifying Phase 2", "verifying"),
        ("Phase complete — ready for verification", "verifying"),
        ("completed", "completed"),
        ("Done", "completed"),
        ("Complete", "completed"),
        ("Complete ✓", "completed"),
        ("complete✅", "completed"),
        ("Phase complete", "completed"),
        ("Phase 3 complete", "completed"),
        ("All phases complete", "completed"),
        ("Milestone complete", "completed"),
        ("v2.0 milestone complete", "completed"),
        ("unknown", "unknown"),
        ("ready_to_plan", "ready_to_plan"),
        ("in-progress", "in"),
        ("Executing Phase 5 — final stretch", "Executing"),
        ("Complete but needs manual QA", "Complete"),
        ("— dash first", ""),
        ("incomprehensibilities", "incomprehensibil"),
    ],
)
def test_a_status_becomes_one_word(status: str, word: str):
    assert short_status(status) == word
