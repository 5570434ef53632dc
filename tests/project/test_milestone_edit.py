"""Milestones are closed and opened in every form of roadmap, and their phases stay listed."""

import pytest

from fairlead.project.roadmap.milestone_edit import (
    Closing,
    Shipped,
    closed,
    is_recorded,
    opened,
    with_shipped,
)
from fairlead.text.document import Document
from tests.support.roadmaps import GROUPED, LIST_AND_DETAILS, SHAPES, roadmap


def mine(text: str, version: str) -> list[tuple[str, str]]:
    """The phases of a milestone, or of none."""
    phases = roadmap(text).phases
    return [(each.id.short, each.name) for each in phases if each.milestone in ("", version)]


def shut(text: str, version: str = "v1.0", name: str = "MVP") -> str:
    phases = tuple((number, name, True) for number, name in mine(text, version))
    return closed(Document(text), Closing(version, name, "2026-06-01", phases, "1-2")).text


def home(text: str) -> str:
    if "Onboarding" in text or text == GROUPED:
        return "v1.1"
    return "v0.5.0" if "v0.5.0" in text else "v1.0"


@pytest.mark.parametrize("text", SHAPES.values(), ids=list(SHAPES))
def test_a_closed_milestone_is_read_as_closed_in_every_shape(text: str) -> None:
    read = roadmap(shut(text, home(text)))
    assert [each.is_closed for each in read.milestones if each.version == home(text)] == [True]


@pytest.mark.parametrize("text", SHAPES.values(), ids=list(SHAPES))
def test_the_phases_of_a_closed_milestone_stay_listed_under_it(text: str) -> None:
    after = roadmap(shut(text, home(text)))
    kept = [(each.id.short, each.name) for each in after.phases if each.milestone == home(text)]
    assert sorted(kept) == sorted(mine(text, home(text)))


def test_the_checklist_is_collapsed_and_the_details_are_removed() -> None:
    after = shut(LIST_AND_DETAILS)
    assert "<summary>✅ v1.0 MVP (Phases 1-2) — SHIPPED 2026-06-01</summary>" in after
    assert "- ✅ **v1.0 MVP** — Phases 1-2 (shipped 2026-06-01)" in after
    assert "### Phase" not in after
    assert "| 1. Foundation | 2/2 | Complete | 2026-01-02 |" in after
    assert "From nothing to something." in after


def test_a_grouped_roadmap_keeps_its_other_milestones_byte_for_byte() -> None:
    after = shut(GROUPED, "v1.1", "Security")
    assert "### ✅ v1.1 Security — SHIPPED 2026-06-01" in after
    assert "- ✅ **v1.1 Security** - Phases 3-4 (shipped 2026-06-01)" in after
    assert after[after.index("### 📋 v2.0") :] == GROUPED[GROUPED.index("### 📋 v2.0") :]


@pytest.mark.parametrize("text", SHAPES.values(), ids=list(SHAPES))
def test_closing_twice_changes_nothing_more(text: str) -> None:
    once = shut(text, home(text))
    assert shut(once, home(text)) == once


@pytest.mark.parametrize("text", SHAPES.values(), ids=list(SHAPES))
def test_the_milestone_opened_next_is_the_marked_one(text: str) -> None:
    after = opened(Document(shut(text, home(text))), "v3.0", "Next").text
    marked = [each for each in roadmap(after).milestones if each.is_marked_open]
    assert [(each.version, each.name) for each in marked] == [("v3.0", "Next")]


def test_a_planned_milestone_is_started_in_its_place() -> None:
    after = opened(Document(GROUPED), "v2.0", "Scale").text
    assert "### 🚧 v2.0 Scale (In Progress)" in after
    assert after.count("v2.0") == GROUPED.count("v2.0")


SHIPPED = Shipped("v1.0", "MVP", "2026-06-01", "1-2", 2, 5, 11, ("Phase 1: a base",))


def test_the_log_begins_with_a_title() -> None:
    text = with_shipped(Document(""), SHIPPED).text
    assert text.startswith("# Milestones\n\n## v1.0 MVP (Shipped: 2026-06-01)\n")
    assert "**Phases completed:** 1-2 (2 phases, 5 plans, 11 tasks)" in text


def test_the_newest_milestone_comes_first() -> None:
    first = with_shipped(Document(""), SHIPPED)
    newer = Shipped("v1.1", "Security", "2026-07-01", "3", 1, 1, 1)
    text = with_shipped(first, newer).text
    assert text.index("## v1.1 Security") < text.index("## v1.0 MVP")
    assert text.endswith(first.text.partition("# Milestones\n\n")[2])


def test_a_milestone_is_recorded_once() -> None:
    once = with_shipped(Document(""), SHIPPED)
    assert with_shipped(once, SHIPPED).text == once.text
    assert is_recorded(once, "v1.0")
    assert not is_recorded(once, "v1")


def test_an_override_records_its_reason() -> None:
    text = with_shipped(Document(""), Shipped("v1.0", "", "d", "1", 0, 0, 0, (), 1, "no time")).text
    assert "override_closeout" in text
    assert "- no time" in text
