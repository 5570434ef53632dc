"""Metrics: rows, velocity, the phase's row and the trend, in files of every age."""

from pathlib import Path

import pytest

from fairlead.core.errors import MalformedDuration
from fairlead.project.errors import UnknownPlan
from fairlead.project.state.edits import TaskOutcome, TaskResult
from fairlead.project.state.metrics import Metric, Recorded, record_metric, with_plans_completed
from fairlead.text.document import Document
from tests.support.positions import a_position, an_inventory
from tests.support.projects import Project
from tests.support.states import STATE, lost_lines
from tests.support.times import NOON

PHASES = (("1", "Core", 2, 2), ("2", "API", 3, 4))
STANDING, INVENTORY = a_position(*PHASES), an_inventory(*PHASES)


def recorded(text: str, *metrics: Metric) -> str:
    document = Document(text)
    for metric in metrics:
        document = record_metric(document, metric, Recorded(STANDING, INVENTORY), NOON)
    return document.text


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


def test_totals_without_rows_are_carried_forward() -> None:
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


def test_a_persons_remark_on_a_number_stays() -> None:
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


def test_a_malformed_duration_is_refused() -> None:
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


# --- sums ----------------------------------------------------------------------------------


def velocity(project: Project) -> tuple[str, str, str]:
    names = ("Total plans completed", "Average duration", "Total execution time")
    count, average, total = (value(project.state, name) for name in names)
    return count, average, total


def phase_row(project: Project) -> str:
    return next(line for line in project.state.splitlines() if line.startswith("| 1. Core |"))


def finish(project: Project, plan: int, duration: str) -> None:
    project.plan("1", plan)
    project.summary("1", plan)
    project.events.metric(Metric("1", str(plan), duration))


@pytest.mark.parametrize("is_pruned", [False, True])
def test_thirty_plans_of_three_minutes_take_one_and_a_half_hours(
    tmp_path: Path, is_pruned: bool
) -> None:
    project = Project(tmp_path)
    for plan in range(1, 31):
        finish(project, plan, "3m")
        if is_pruned:
            project.events.prune(target=10)

    assert velocity(project) == ("30", "3 min", "1.5 hours")
    assert phase_row(project) == "| 1. Core | 30 | 90 min | 3 min |"


def test_every_average_is_computed_from_all_recorded_durations(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for plan, minutes in enumerate((10, 10, 10, 20, 30, 5, 4, 3, 2, 1), 1):
        finish(project, plan, f"{minutes}m")
        project.events.prune(target=10)

    assert velocity(project)[1] == "9.5 min"
    assert phase_row(project) == "| 1. Core | 10 | 95 min | 9.5 min |"
    assert value(project.state, "Last 5 plans") == "5 min, 4 min, 3 min, 2 min, 1 min"


def test_seconds_do_not_get_lost(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for plan in range(1, 31):
        finish(project, plan, "3m20s")

    assert velocity(project) == ("30", "3.3 min", "1.7 hours")
    assert phase_row(project) == "| 1. Core | 30 | 100 min | 3.3 min |"


def test_the_correction_of_a_pruned_row_counts_once(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for plan in range(1, 9):
        finish(project, plan, "10m")
    project.events.prune(target=10)
    assert "Phase 1 P01" not in project.state
    project.events.metric(Metric("1", "1", "20m"))

    assert velocity(project) == ("8", "11 min", "1.5 hours")


def test_the_time_of_an_open_plan_counts_and_the_plan_does_not(tmp_path: Path) -> None:
    project = Project(tmp_path)
    finish(project, 1, "10m")
    project.plan("1", 2)
    spent = TaskResult("Task 1", TaskOutcome.SUCCESS, "1", duration="20m", plan="2")
    project.events.task_result(spent)

    assert velocity(project) == ("1", "10 min", "0.5 hours")
    assert phase_row(project) == "| 1. Core | 1 | 30 min | 10 min |"
    assert value(project.state, "Last 5 plans") == "10 min"

    project.summary("1", 2)
    project.events.plan_completed("1", plan="2")

    assert velocity(project) == ("2", "15 min", "0.5 hours")
    assert phase_row(project) == "| 1. Core | 2 | 30 min | 15 min |"


def test_a_total_from_before_the_first_row_is_kept_exactly() -> None:
    text = STATE.replace("Average duration: -", "Average duration: 10 min").replace(
        "Total execution time: 0.0 hours", "Total execution time: 1.0 hours"
    )
    times = [Metric("1", str(plan), "1m") for plan in range(1, 31)]
    after = recorded(text, *times)

    assert "| Earlier plans (6) | 60m | - | - |" in after
    assert value(after, "Total execution time") == "1.5 hours"
    assert value(after, "Average duration") == "2.5 min"


def test_tasks_shorter_than_a_second_add_up(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.plan("1", 1)
    for task in range(10):
        project.events.task_result(
            TaskResult(f"Task {task}", TaskOutcome.SUCCESS, "1", duration="400ms", plan="1")
        )

    assert "| Phase 1 P01 | 0m4s | - | - |" in project.state


def test_a_plan_that_the_phase_does_not_have_has_no_time(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.plan("1", 1)
    with pytest.raises(UnknownPlan):
        project.events.metric(Metric("1", "77", "3m"))
