"""Seed 003, table by table: what STATE.md says after each event, row by row."""

from pathlib import Path

import pytest

from fairlead.app import App
from fairlead.project.derive.inventory import Completion
from fairlead.project.derive.position import position_of
from fairlead.project.derive.progress import Progress, bar_rounded_down
from fairlead.project.derive.scan import scan
from fairlead.project.errors import (
    NoPlans,
    NotVerified,
    PhaseFinished,
    PlansOpen,
    UnknownPhase,
    UnknownPlan,
)
from fairlead.project.health.check import compare_project
from fairlead.project.overview import Overview
from fairlead.project.state.bars import redrawn
from fairlead.project.state.documents import Decision, add_blocker, add_decision
from fairlead.project.state.edits import (
    TaskOutcome,
    TaskResult,
    execution_started,
    phase_completed,
    plan_completed,
    planning_started,
    plans_ready,
    synced,
    task_result,
)
from fairlead.project.state.gate import OpenTask, after_event, read_task, with_task
from fairlead.project.state.gate_rules import GateEvent, GateStatus
from fairlead.project.state.metrics import Metric, Recorded, record_metric, with_plans_completed
from fairlead.project.state.session import Stop, record_session
from fairlead.store.reader import Reader
from fairlead.text.document import Document
from tests.support.positions import a_position, an_inventory
from tests.support.projects import Project
from tests.support.states import STATE, ULTRAPLAN, changed_lines
from tests.support.times import NOON

FRESH = a_position(("1", "Core", 0, 0), ("2", "API", 0, 0), ("3", "UI", 0, 0))
PLANNED = a_position(("1", "Core", 0, 2), ("2", "API", 0, 0), ("3", "UI", 0, 0))
HALF = a_position(("1", "Core", 1, 2), ("2", "API", 0, 0), ("3", "UI", 0, 0))
DONE = a_position(("1", "Core", 2, 2), ("2", "API", 0, 0), ("3", "UI", 0, 0))
AHEAD = a_position(("1", "Core", 2, 2), ("2", "API", 0, 1), ("3", "UI", 0, 0))
ALL = a_position(("1", "Core", 2, 2), ("2", "API", 1, 1), ("3", "UI", 1, 1))


def document(text: str = STATE) -> Document:
    return Document(text)


def field(document: Document, name: str) -> str:
    line = document.field(name)
    assert line is not None
    return line.value


def begun() -> Document:
    return execution_started(document(), PLANNED, "1", NOON)


# --- When to update ------------------------------------------------------------------------


def test_planning_started_sets_the_status_and_the_focus() -> None:
    after = planning_started(document(), FRESH, "2", NOON)

    assert field(after, "Status") == "Planning"
    assert field(after, "Current focus") == "Phase 2 — API"
    assert after.value("active_phase") == "2"
    assert after.value("next_action") == "null"


def test_plans_ready_recommends_the_execution() -> None:
    after = plans_ready(document(), PLANNED, "1", NOON)

    assert field(after, "Status") == "Ready to execute"
    assert field(after, "Plan") == "1 of 2 in current phase"
    assert (after.value("next_action"), after.value("next_phases")) == ("execute-phase", ["1"])
    assert after.value("progress", "total_plans") == "2"


def test_execution_started_sets_the_status_and_the_current_plan() -> None:
    after = begun()

    assert field(after, "Status") == "In progress"
    assert field(after, "Plan") == "1 of 2 in current phase"
    assert (after.value("status"), after.value("active_phase")) == ("executing", "1")
    assert (after.value("current_phase"), after.value("current_plan")) == ("1", "1")
    assert field(after, "Last activity") == "2026-06-01 — Phase 1 execution started"


def test_execution_of_the_same_phase_again_is_resumed() -> None:
    again = execution_started(begun(), PLANNED, "01", NOON)

    assert field(again, "Last activity") == "2026-06-01 — Phase 1 execution resumed"


def test_plan_completed_moves_bar_plans_completed_and_position() -> None:
    inventory = an_inventory(("1", "Core", 1, 2), ("2", "API", 0, 0), ("3", "UI", 0, 0))
    after = plan_completed(begun(), HALF, "", NOON)
    after = with_plans_completed(after, HALF, inventory)

    assert field(after, "Plan") == "2 of 2 in current phase"
    assert after.value("current_plan") == "2"
    assert field(after, "Total plans completed") == "1"
    assert after.value("progress", "completed_plans") == "1"


def test_plan_completed_without_its_summary_is_refused_with_the_open_plans() -> None:
    with pytest.raises(PlansOpen, match=r"01-01-PLAN\.md, 01-02-PLAN\.md"):
        plan_completed(begun(), PLANNED, "", NOON)


@pytest.mark.parametrize("plan", ["1", "01", "01-01"])
def test_plan_completed_that_is_named_is_looked_up(plan: str) -> None:
    synced_already = synced(begun(), HALF, NOON)

    assert field(plan_completed(synced_already, HALF, "1", NOON, plan=plan), "Plan") == (
        "2 of 2 in current phase"
    )
    with pytest.raises(PlansOpen, match=r"01-02-PLAN\.md"):
        plan_completed(synced_already, HALF, "1", NOON, plan="2")
    with pytest.raises(UnknownPlan):
        plan_completed(synced_already, HALF, "1", NOON, plan="9")


def test_the_last_plan_completed_waits_for_verification() -> None:
    after = plan_completed(begun(), DONE, "", NOON)

    assert field(after, "Status") == "Phase complete — ready for verification"
    assert (after.value("status"), after.value("active_phase")) == ("verifying", "null")
    assert (after.value("next_action"), after.value("next_phases")) == ("verify-phase", ["1"])
    assert field(after, "Phase") == "2 of 3 (API)"


def test_phase_completed_after_its_last_plan_is_recorded_once() -> None:
    document = plan_completed(begun(), DONE, "", NOON)
    after = phase_completed(document, DONE, "1", NOON)

    assert field(after, "Last activity") == "2026-06-01 — Phase 1 complete"
    assert phase_completed(after, DONE, "1", NOON) is after


def test_phase_completed_moves_to_the_next_phase_and_resets_the_plan() -> None:
    after = phase_completed(begun(), AHEAD, "1", NOON)

    assert field(after, "Phase") == "2 of 3 (API)"
    assert field(after, "Plan") == "1 of 1 in current phase"
    assert (after.value("current_phase"), after.value("active_phase")) == ("2", "null")
    assert field(after, "Current focus") == "Phase 2 — API"
    assert field(after, "Last activity") == "2026-06-01 — Phase 1 complete"


@pytest.mark.parametrize("event", [plans_ready, execution_started])
def test_a_finished_phase_is_not_executed_again(event) -> None:
    with pytest.raises(PhaseFinished):
        event(document(), DONE, "1", NOON)


def test_phase_completed_is_refused_while_plans_are_open() -> None:
    with pytest.raises(PlansOpen, match=r"01-02-PLAN\.md"):
        phase_completed(begun(), HALF, "1", NOON)


def test_phase_completed_is_refused_without_plans() -> None:
    with pytest.raises(NoPlans):
        phase_completed(document(), FRESH, "1", NOON)


def test_phase_completed_waits_for_the_verification_where_that_is_the_policy() -> None:
    phases = (("1", "Core", 2, 2), ("2", "API", 0, 0))
    strict = a_position(*phases, policy=Completion.VERIFIED)
    passed = a_position(*phases, policy=Completion.VERIFIED, verified=("1",))

    with pytest.raises(NotVerified):
        phase_completed(begun(), strict, "1", NOON)
    assert field(phase_completed(begun(), passed, "1", NOON), "Phase") == "2 of 2 (API)"


@pytest.mark.parametrize(
    "event", [planning_started, plans_ready, execution_started, plan_completed, phase_completed]
)
def test_a_phase_that_does_not_exist_is_refused(event) -> None:
    with pytest.raises(UnknownPhase, match="7"):
        event(document(), PLANNED, "7", NOON)


def test_a_blocker_lands_in_its_section() -> None:
    after = add_blocker(document(), "The API has no sandbox", NOON, phase="2")

    assert changed_lines(STATE, after.text) == [
        'last_updated: "2026-06-01T12:00:00.000Z"',
        "- [Phase 2]: The API has no sandbox",
    ]


def test_a_decision_lands_in_its_section() -> None:
    after = add_decision(document(), Decision("2", "Store UTC"), NOON)

    assert "- [Phase 2]: Store UTC" in after.text


def test_session_ended_writes_the_session_continuity() -> None:
    after = record_session(document(), Stop("Phase 1 P2", ".planning/x.md"), NOON)

    assert changed_lines(STATE, after.text) == [
        'last_updated: "2026-06-01T12:00:00.000Z"',
        "stopped_at: Phase 1 P2",
        "Last session: 2026-06-01T12:00:00.000Z",
        "Stopped at: Phase 1 P2",
        "Resume file: .planning/x.md",
    ]


# --- Progress calculation ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("done", "total", "percent", "filled"),
    [
        (0, 7, 0, 0),
        (1, 21, 4, 0),
        (1, 10, 10, 2),
        (29, 100, 29, 5),
        (57, 100, 57, 11),
        (58, 100, 58, 11),
        (29, 50, 58, 11),
        (1, 3, 33, 6),
        (2, 3, 66, 13),
        (22, 28, 78, 15),
        (19, 20, 95, 19),
        (99, 100, 99, 19),
        (20, 20, 100, 20),
        (0, 0, 0, 0),
    ],
)
def test_the_wide_bar_counts_plans_in_whole_numbers(
    done: int, total: int, percent: int, filled: int
) -> None:
    progress = Progress(5, 0, total, done)
    drawn = redrawn("[#░░░░░░░░░░░░░░░░░░░] 999%".replace("999", "5"), progress)

    assert progress.plans_percent == percent
    assert bar_rounded_down(percent) == "#" * filled + "░" * (20 - filled)
    assert drawn == f"[{'#' * filled}{'░' * (20 - filled)}] {percent}%"


def test_an_event_draws_the_wide_bar_by_plans() -> None:
    after = plan_completed(
        execution_started(document(ULTRAPLAN), PLANNED, "1", NOON), HALF, "", NOON
    )

    assert field(after, "Progress") == "[##########░░░░░░░░░░] 50%"


# --- Status values -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("position", "words"),
    [
        pytest.param(FRESH, "Ready to plan", id="directory, no plan"),
        pytest.param(PLANNED, "Ready to execute", id="plans, none executed"),
        pytest.param(HALF, "In progress", id="executing tasks"),
        pytest.param(ALL, "Complete", id="summaries for all plans"),
    ],
)
def test_the_status_follows_from_the_files(position, words: str) -> None:
    assert field(synced(document(), position, NOON), "Status") == words


# --- Deriving state from the file system ----------------------------------------------------


def test_where_state_and_files_differ_the_files_win() -> None:
    wrong = STATE.replace("completed_plans: 0", "completed_plans: 9").replace(
        "percent: 0", "percent: 80"
    )
    after = synced(document(wrong), HALF, NOON)

    assert after.value("progress", "completed_plans") == "1"
    assert after.value("progress", "percent") == "0"
    assert field(after, "Progress") == "[░░░░░░░░░░] 0%"


# --- Task results --------------------------------------------------------------------------


def test_success_keeps_in_progress_and_says_what_was_completed() -> None:
    after = task_result(begun(), TaskResult("Task 3", TaskOutcome.SUCCESS), HALF, NOON)

    assert field(after, "Status") == "In progress"
    assert field(after, "Last activity") == "2026-06-01 - Completed Task 3"
    assert after.value("progress", "completed_plans") == "1"


def test_success_that_finishes_the_last_phase_says_complete() -> None:
    after = task_result(begun(), TaskResult("Task 3", TaskOutcome.SUCCESS), ALL, NOON)

    assert field(after, "Status") == "Complete"
    assert after.value("status") == "completed"


def test_success_that_finishes_a_phase_says_that_phase_is_complete() -> None:
    after = task_result(begun(), TaskResult("Task 3", TaskOutcome.SUCCESS), DONE, NOON)

    assert field(after, "Status") == "Phase complete — ready for verification"
    assert after.value("status") == "verifying"


def test_success_raises_no_count_of_plans_without_a_summary() -> None:
    after = task_result(begun(), TaskResult("Task 3", TaskOutcome.SUCCESS), PLANNED, NOON)

    assert after.value("progress", "completed_plans") == "0"
    assert field(after, "Total plans completed") == "0"


@pytest.mark.parametrize(
    ("outcome", "activity"),
    [
        pytest.param(TaskOutcome.FAILURE, "2026-06-01 - Failed: Task 3", id="failure"),
        pytest.param(TaskOutcome.BLOCKED, "2026-06-01 - Blocked: Task 3", id="blocked"),
    ],
)
def test_failure_and_blocked_leave_a_blocker_and_a_note(
    outcome: TaskOutcome, activity: str
) -> None:
    result = TaskResult("Task 3", outcome, reason="no database")
    after = task_result(begun(), result, HALF, NOON)

    assert field(after, "Status") == "In progress"
    assert field(after, "Last activity") == activity
    assert "- [Phase 1 P02]: Task 3: no database" in after.text.splitlines()


def test_the_blocker_of_a_task_goes_when_it_succeeds() -> None:
    failed = task_result(
        begun(), TaskResult("Task 3", TaskOutcome.FAILURE, reason="boom"), HALF, NOON
    )
    other = add_blocker(failed, "Task 30: something else", NOON)
    after = task_result(other, TaskResult("Task 3", TaskOutcome.SUCCESS), HALF, NOON)

    assert "- Task 3: boom" not in after.text
    assert "- Task 30: something else" in after.text


def test_success_with_a_duration_updates_the_phase_table() -> None:
    inventory = an_inventory(("1", "Core", 1, 2))
    after = record_metric(begun(), Metric("1", "1", "12m"), Recorded(HALF, inventory), NOON)

    assert "| 1. Core | 1 | 12 min | 12 min |" in after.text
    assert field(after, "Average duration") == "12 min"
    assert field(after, "Total execution time") == "0.2 hours"


# --- Gate status updates -------------------------------------------------------------------


def gated(*events: str) -> Document:
    document = begun()
    for event in events:
        task = OpenTask("Task 3", "1", "01-01")
        after = after_event(read_task(document), GateEvent(event), task, NOON)
        document = with_task(document, after, NOON)
    return document


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param(
            ["start"],
            {"gate_status": "EXECUTING", "gate_step": "1", "executor_status": "running"},
            id="task starts execution",
        ),
        pytest.param(
            ["start", "executor-success"],
            {"executor_status": "success", "gate_status": "VERIFYING"},
            id="executor completes",
        ),
        pytest.param(
            ["start", "executor-success"],
            {"gate_status": "VERIFYING", "gate_step": "2", "verify_status": "running"},
            id="verify command runs",
        ),
        pytest.param(
            ["start", "executor-success", "verify-passed"],
            {"verify_status": "passed"},
            id="verify passes",
        ),
        pytest.param(
            ["start", "executor-success", "verify-failed"],
            {"verify_status": "failed"},
            id="verify fails",
        ),
        pytest.param(
            ["start", "executor-success", "verify-passed"],
            {"gate_status": "REVIEWING", "gate_step": "3", "architect_status": "reviewing"},
            id="architect starts",
        ),
        pytest.param(
            ["start", "executor-success", "verify-passed", "approved"],
            {"architect_status": "approved"},
            id="architect approves",
        ),
        pytest.param(
            ["start", "executor-success", "verify-passed", "rejected"],
            {"architect_status": "rejected"},
            id="architect rejects",
        ),
        pytest.param(
            ["start", "executor-success", "verify-passed", "approved"],
            {"gate_status": "APPROVED", "status": "complete"},
            id="gate passes",
        ),
        pytest.param(
            ["start", "executor-success", "verify-failed"],
            {"gate_status": "FAILED", "attempt": "2"},
            id="gate fails",
        ),
        pytest.param(
            ["start", "executor-success", "verify-failed", "retry"],
            {
                "gate_status": "EXECUTING",
                "gate_step": "1",
                "attempt": "2",
                "verify_status": "pending",
                "architect_status": "pending",
            },
            id="retry starts",
        ),
        pytest.param(
            ["start", "executor-blocked"],
            {"gate_status": "BLOCKED", "attempt": "1", "status": "blocked"},
            id="blocked by a dependency",
        ),
        pytest.param(
            ["start", "skip"], {"gate_status": "SKIPPED", "status": "skipped"}, id="skipped"
        ),
    ],
)
def test_a_gate_event_updates_the_task_in_the_frontmatter(
    events: list[str], expected: dict[str, str]
) -> None:
    document = gated(*events).value("current_task")

    assert isinstance(document, dict)
    assert {key: document[key] for key in expected} == expected


# --- the rows that need a project on disk ----------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.plan("1", 1)
    project.plan("1", 2)
    return project


STEPS = {
    "Planning: PLAN.md is being created": ("planning_started", "2", "Planning", "planning"),
    "In progress: tasks are executed": ("execution_started", "1", "In progress", "executing"),
    "Verifying: architect or critic reviews": (
        "verification_started",
        "3",
        "Verifying",
        "verifying",
    ),
    "Discussing": ("discussion_started", "2", "Discussing", "discussing"),
}


@pytest.mark.parametrize("row", STEPS)
def test_a_running_step_has_its_status(project: Project, row: str) -> None:
    step, phase, words, status = STEPS[row]
    project.plan("3", 1)
    project.summary("3", 1)
    getattr(project.events, step)(phase)
    document = Document(project.state)

    assert (field(document, "Status"), document.value("status")) == (words, status)
    assert document.value("active_phase") == phase


def test_a_phase_that_is_verified_stays_active_through_sync_and_is_no_finding(
    project: Project,
) -> None:
    for plan in (1, 2):
        project.summary("1", plan)
    project.events.sync()
    project.events.verification_started("1")
    before = project.state

    assert project.events.sync().paths == ()
    found = compare_project(Reader(str(project.folder))).drift
    assert [each for each in found if each.path.endswith("STATE.md")] == []
    assert project.state == before


def test_a_phase_with_open_plans_is_not_verified(project: Project) -> None:
    with pytest.raises(PlansOpen):
        project.events.verification_started("1")


PLACES = {
    "phase complete: every summary is there": ((1, 2), "complete", "01-02"),
    "plan complete: its summary is there": ((1,), "partial", "01-01"),
    "in progress: a plan without a summary": ((), "planned", ""),
}


@pytest.mark.parametrize("row", PLACES)
def test_the_state_is_derived_from_the_files(project: Project, row: str) -> None:
    done, stage, last = PLACES[row]
    for plan in done:
        project.summary("1", plan)
    phase = position_of(scan(str(project.folder))).scope.phases[0]
    assert phase.folder is not None

    assert phase.stage == stage
    assert [plan.id for plan in phase.folder.plans if plan.is_complete][-1:] == [last][: len(done)]


def test_progress_counts_the_tasks_of_a_plan_a_phase_and_the_project(project: Project) -> None:
    for plan in (1, 2):
        path = project.planning / "phases" / "01-core" / f"01-0{plan}-PLAN.md"
        path.write_text("<tasks>\n<task type='auto'>x</task>\n</tasks>\n", "utf-8")
    project.summary("1", 1)
    status = Overview(Reader(str(project.folder))).status()

    assert (status.progress.completed_tasks, status.progress.total_tasks) == (1, 2)
    assert status.progress.tasks_percent == 50
    assert (status.phases[0].completed_plans, status.phases[0].total_plans) == (1, 2)


def test_the_duration_of_a_task_is_added_to_its_plan(project: Project) -> None:
    project.events.execution_started("1")
    for task in ("Task 1", "Task 2"):
        result = TaskResult(task, TaskOutcome.SUCCESS, duration="90000ms", plan="01-01")
        project.events.task_result(result)
        project.events.task_result(result)  # repeated, it counts once

    assert "| Phase 1 P01 | 3m0s | - | - |" in project.state
    assert "| 1. Core | 0 | 3 min | - |" in project.state  # the plan is still open


def test_a_blocked_task_stays_until_the_waves_are_computed_again(project: Project) -> None:
    task = OpenTask("Task 3", "1", "01-01", note="needs plan 01-02")
    project.sessions.gate(GateEvent("start"), task)
    project.sessions.gate(GateEvent("executor-blocked"), task)
    document = Document(project.state).value("current_task")

    assert isinstance(document, dict)
    assert (document["gate_status"], document["note"]) == ("BLOCKED", "needs plan 01-02")


def test_an_abnormal_exit_leaves_what_was_done_and_what_comes_next(project: Project) -> None:
    project.sessions.gate(GateEvent("start"), OpenTask("Task 3", "1", "01-01"))
    left = (project.planning / ".continue-here.md").read_text("utf-8")

    assert "Task 3" in left
    assert "Resume file: .planning/.continue-here.md" in project.state


def test_the_next_session_is_offered_to_resume_and_clears_it_after_its_first_step(
    project: Project,
) -> None:
    project.sessions.gate(GateEvent("start"), OpenTask("Task 3", "1", "01-01"))
    assert [each.handover.task.name for each in project.sessions.offers()] == ["Task 3"]
    project.sessions.resume()
    assert (project.planning / ".continue-here.md").exists()
    for event in ("executor-success", "verify-passed", "approved"):
        project.sessions.gate(GateEvent(event), OpenTask("Task 3", "1", "01-01"))
    project.sessions.ended(Stop("Task 3 complete", ""))

    assert not (project.planning / ".continue-here.md").exists()


@pytest.mark.parametrize("status", GateStatus)
def test_a_gate_status_is_one_of_the_seven(status: GateStatus) -> None:
    assert status in (
        "EXECUTING",
        "VERIFYING",
        "REVIEWING",
        "APPROVED",
        "FAILED",
        "BLOCKED",
        "SKIPPED",
    )


@pytest.mark.parametrize(
    ("boxes", "done", "percent"), [("xx ", 2, 66), ("   ", 0, 0), ("x", 1, 33), ("xxxx", 3, 100)]
)
def test_progress_within_a_plan_is_its_successful_tasks_of_all_tasks(
    project: Project, boxes: str, done: int, percent: int
) -> None:
    path = project.planning / "phases/01-core/01-01-PLAN.md"
    lines = [f"- [{mark}] Task {at}: work" for at, mark in enumerate(boxes, 1)]
    path.write_text("\n".join([*lines, "<task >x</task>\n" * 3]), "utf-8")
    report = App(str(project.folder)).overview.status().plan_progress

    assert report is not None
    assert (report.plan, report.completed_tasks, report.total_tasks) == ("01-01", done, 3)
    assert report.percent == percent


def test_each_phase_has_a_percentage_of_its_plans_rounded_down(project: Project) -> None:
    for plan in (1, 2, 3):
        project.plan("1", plan)
    project.summary("1", 1)
    project.summary("1", 3)
    status = Overview(Reader(str(project.folder))).status()

    assert [phase.percent for phase in status.phases] == [66, 0, 0]
