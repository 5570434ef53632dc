"""Metrics: rows, velocity, the phase's row and the trend, in files of every age."""

import pytest

from fairlead.errors import MalformedDuration
from fairlead.records.metrics import Metric, record_metric, with_plans_completed
from fairlead.text.document import Document
from tests.support.moments import NOON
from tests.support.standings import a_standing, an_inventory
from tests.support.states import STATE, lost_lines

PHASES = (("1", "Core", 2, 2), ("2", "API", 3, 4))
STANDING, INVENTORY = a_standing(*PHASES), an_inventory(*PHASES)


def recorded(text: str, *metrics: Metric) -> str:
    held = Document(text)
    for metric in metrics:
        held = record_metric(held, metric, STANDING, INVENTORY, NOON)
    return held.text


def value(text: str, name: str) -> str:
    found = Document(text).field(name)
    assert found is not None
    return found.value


def test_five_plans_make_a_trend() -> None:
    plans = (
        ("1", "1", "10m"),
        ("1", "2", "10m"),
        ("2", "1", "10m"),
        ("2", "2", "4m"),
        ("2", "3", "4m"),
    )
    text = recorded(STATE, *(Metric(*plan) for plan in plans))

    assert value(text, "Last 5 plans") == "10 min, 10 min, 10 min, 4 min, 4 min"
    assert value(text, "Trend") == "Improving"
    assert value(text, "Average duration") == "7.6 min"
    assert value(text, "Total execution time") == "0.6 hours"
    assert value(text, "Total plans completed") == "5"
    assert "| 1. Core | 2 | 20 min | 10 min |" in text
    assert "| 2. API | 3 | 18 min | 6 min |" in text


def test_the_same_plan_again_corrects_its_row() -> None:
    text = recorded(STATE, Metric("1", "1", "10m"), Metric("01", "01-01", "20m", 3, 4))

    assert text.count("Phase 1 P01") == 1
    assert "| Phase 1 P01 | 20m | 3 tasks | 4 files |" in text
    assert value(text, "Average duration") == "20 min"


def test_the_same_metric_again_changes_nothing() -> None:
    once = recorded(STATE, Metric("1", "1", "10m"))

    assert recorded(once, Metric("1", "1", "10m")) == once


def test_totals_without_rows_are_carried_on() -> None:
    text = STATE.replace("Average duration: -", "Average duration: 10 min").replace(
        "Total execution time: 0.0 hours", "Total execution time: 1.0 hours"
    )
    after = recorded(text, Metric("2", "3", "24m"))

    assert value(after, "Total execution time") == "1.4 hours"
    assert value(after, "Average duration") == "12 min"


def test_the_counts_of_a_row_keep_their_form() -> None:
    text = STATE.replace("| - | - | - | - |", "| 02-api | 2/4 (one late) | 9 min | 4.5 min |")
    after = recorded(text, Metric("2", "3", "6m"))

    assert "| 02-api | 3/4 (one late) | 15 min | 5 min |" in after


def test_a_document_without_metrics_gets_the_rows_only() -> None:
    after = recorded("# State\n", Metric("1", "1", "5m"))

    assert after == (
        "# State\n\n## Performance Metrics\n\n**Per-Plan Metrics:**\n\n"
        "| Plan | Duration | Tasks | Files |\n|------|----------|-------|-------|\n"
        "| Phase 1 P01 | 5m | - | - |\n"
    )


def test_what_a_person_says_of_a_number_stays() -> None:
    text = STATE.replace("Trend: Stable", "Trend: getting there").replace(
        "Total plans completed: 0", "Total plans completed: 2 (+1 by hand)"
    )
    after = recorded(text, Metric("1", "1", "5m"))

    assert value(after, "Trend") == "getting there"
    assert value(after, "Total plans completed") == "5 (+1 by hand)"


def test_a_count_over_all_milestones_goes_on_counting_over_all() -> None:
    text = STATE.replace("Total plans completed: 0", "Total plans completed: 7")
    older = an_inventory(*PHASES)
    archived = an_inventory(("9", "Old", 3, 3)).folders
    inventory = type(older)(
        folders=older.folders,
        archived=archived,
        roadmap=older.roadmap,
        milestone="",
        policy=older.policy,
    )
    after = with_plans_completed(Document(text), STANDING, inventory)

    assert value(after.text, "Total plans completed") == "8"


def test_a_duration_that_is_none_is_refused() -> None:
    with pytest.raises(MalformedDuration):
        recorded(STATE, Metric("1", "1", "soon"))


def test_nothing_but_figures_is_replaced() -> None:
    gone = lost_lines(STATE, recorded(STATE, Metric("1", "1", "5m")))

    assert gone == [
        'last_updated: "2026-05-01T00:00:00.000Z"',
        "- Total plans completed: 0",
        "- Average duration: -",
        "- Total execution time: 0.0 hours",
        "| - | - | - | - |",
        "- Last 5 plans: -",
    ]


@pytest.mark.parametrize(
    ("plan", "row"),
    [
        ("PLAN", "Phase 1 PLAN"),
        ("login", "Phase 1 login"),
        ("01-login-v2", "Phase 1 01-login-v2"),
        ("01", "Phase 1 P01"),
        ("01-P03", "Phase 1 P03"),
        ("Plan 3", "Phase 1 P03"),
    ],
)
def test_a_plan_without_a_number_has_a_row_of_its_own_and_counts(plan: str, row: str) -> None:
    text = recorded(STATE, Metric("1", plan, "10m"), Metric("2", "02", "20m"))

    assert f"| {row} | 10m | - | - |" in text
    assert value(text, "Average duration") == "15 min"
    assert recorded(text, Metric("1", plan, "10m")) == text
