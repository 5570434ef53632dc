"""Seed 003, one test per statement of statements.txt: when and how STATE.md is updated."""

import re
from pathlib import Path

import pytest

from fairlead.project.state.gate_rules import GateStatus
from tests.conftest import Fairlead
from tests.seeds.conftest import SeedProject

DATE = r"20\d\d-\d\d-\d\d"
PASSED = ("start", "executor-success", "verify-passed")
FAILED = ("start", "executor-success", "verify-failed")


# --- when to update ----------------------------------------------------------------------------


def test_003_01_a_new_project_has_initial_values_in_all_fields(
    tmp_path: Path, fairlead: Fairlead
) -> None:
    project = SeedProject(tmp_path, fairlead)
    project.run("init", "Demo", "--yes")
    assert project.line("Phase") == "1 of 1 (Foundation)"
    assert project.line("Plan") == "Not started"
    assert project.line("Status") == "Ready to plan"
    assert re.match(DATE, project.line("Last activity"))
    assert project.line("Progress") == "[░░░░░░░░░░] 0%"
    assert project.line("Total plans completed") == "0"
    assert project.line("Average duration") == "-"
    assert project.line("Stopped at") == "Project initialized"
    assert project.line("Resume file") == "None"
    for title in ("Decisions", "Pending Todos", "Blockers/Concerns"):
        assert project.section(title).strip() == "None yet."


def test_003_02_planning_sets_the_status_and_the_focus(project: SeedProject) -> None:
    project.event("begin-phase", "--phase", "2", "--step", "plan")
    assert project.line("Status") == "Planning"
    assert project.line("Current focus") == "Phase 2 — API"


def test_003_03_execution_sets_the_status_and_the_current_plan(project: SeedProject) -> None:
    project.event("begin-phase", "--phase", "1")
    assert project.line("Status") == "In progress"
    assert project.line("Plan") == "2 of 2 in current phase"


def test_003_04_a_completed_plan_updates_bar_count_and_metrics(project: SeedProject) -> None:
    project.event("begin-phase", "--phase", "1")
    project.finish_phase()
    project.event("advance-plan")
    project.event("record-metric", "--phase", "1", "--plan", "2", "--duration", "12m")
    assert project.line("Progress") == "[███░░░░░░░] 33%"
    assert project.line("Total plans completed") == "2"
    assert project.line("Average duration") == "12 min"


def test_003_05_a_completed_phase_moves_on_and_resets_the_plan(project: SeedProject) -> None:
    project.event("begin-phase", "--phase", "1")
    project.finish_phase()
    project.event("complete-phase", "--phase", "1")
    assert project.line("Phase") == "2 of 3 (API)"
    assert project.line("Plan") == "Not started"


def test_003_06_a_blocker_is_listed_in_its_section(project: SeedProject) -> None:
    project.event("add-blocker", "--text", "No sandbox")
    assert "- No sandbox" in project.section("Blockers/Concerns")


def test_003_07_a_decision_refers_to_the_project_document(project: SeedProject) -> None:
    project.event("add-decision", "--phase", "1", "--summary", "Store UTC", "--rationale", "zones")
    assert "Store UTC" in project.section("Decisions")
    assert "PROJECT.md" in project.section("Decisions") + project.section("Project Reference")
    row = re.search(
        r"^\| Store UTC \| zones \|", project.path("PROJECT.md").read_text(), re.MULTILINE
    )
    assert row


def test_003_08_the_end_of_a_session_updates_the_session_section(project: SeedProject) -> None:
    project.event(
        "record-session", "--stopped-at", "Task 3", "--resume-file", ".planning/PROJECT.md"
    )
    text = project.section("Session Continuity")
    assert re.search(rf"Last session: {DATE}T", text)
    assert "Stopped at: Task 3" in text
    assert "Resume file: .planning/PROJECT.md" in text


# --- progress ----------------------------------------------------------------------------------


def test_003_09_total_plans_is_the_sum_over_all_phases(project: SeedProject) -> None:
    project.plan(2, 1)
    project.plan(3, 1)
    assert project.json("status")["progress"]["total_plans"] == 4


def test_003_10_completed_plans_is_the_count_of_summaries(project: SeedProject) -> None:
    project.plan(2, 1)
    project.summary(2, 1)
    assert project.json("status")["progress"]["completed_plans"] == 2


@pytest.fixture
def wide(tmp_path: Path, fairlead: Fairlead) -> SeedProject:
    """A project of the ultraplan dialect, whose one phase has three plans."""
    project = SeedProject(tmp_path, fairlead)
    project.run("init", "Demo", "--yes", "--dialect", "ultraplan")
    for number in (1, 2, 3):
        project.plan(1, number)
    return project


def test_003_11_the_percentage_is_plans_rounded_down(wide: SeedProject) -> None:
    """Ruling "Percent": plans only, floor, in the bar of the ultraplan dialect."""
    wide.summary(1, 1)
    wide.summary(1, 2)
    wide.event("sync")
    assert wide.line("Progress").endswith("66%")
    assert wide.json("status")["progress"]["plans_percent"] == 66


@pytest.mark.parametrize(("done", "bar"), [(0, ""), (1, "#" * 6), (2, "#" * 13), (3, "#" * 20)])
def test_003_12_the_bar_has_twenty_cells_of_five_percent(
    wide: SeedProject, done: int, bar: str
) -> None:
    """Ruling "Progress bar": the empty cell is the light shade, not its broken spelling."""
    for number in range(1, done + 1):
        wide.summary(1, number)
    wide.event("sync")
    assert wide.line("Progress").partition("]")[0] == f"[{bar:░<20}"


# --- status values -----------------------------------------------------------------------------


def test_003_13_a_damaged_bar_is_drawn_anew(wide: SeedProject) -> None:
    """Ruling "Progress bar": the character printed as three letters is the light shade."""
    wide.state = wide.state.replace("░", "â–‘")
    wide.summary(1, 1)
    wide.event("sync")
    assert wide.line("Progress") == f"[{'#' * 6}{'░' * 14}] 33%"


def test_003_14_a_phase_without_plans_is_ready_to_plan(project: SeedProject) -> None:
    project.finish_phase()
    passed = "---\nstatus: passed\n---\n\n# Verification\n"
    project.path("phases/01-core/01-VERIFICATION.md").write_text(passed, "utf-8")
    project.event("complete-phase", "--phase", "1")
    project.state = project.state.replace("Status: Ready to plan", "Status: In progress")
    project.event("sync")
    assert project.line("Phase").startswith("2 of 3")
    assert project.line("Status") == "Ready to plan"


def test_003_15_a_phase_whose_plans_are_being_made_is_planning(project: SeedProject) -> None:
    project.event("begin-phase", "--phase", "2", "--step", "plan")
    assert (project.line("Status"), project.front("status")) == ("Planning", "planning")


def test_003_16_a_phase_whose_tasks_run_is_in_progress(project: SeedProject) -> None:
    project.event("begin-phase", "--phase", "1")
    assert (project.line("Status"), project.front("status")) == ("In progress", "executing")


def test_003_17_a_phase_under_review_is_verifying(project: SeedProject) -> None:
    project.finish_phase()
    project.event("begin-phase", "--phase", "1", "--step", "verify")
    assert (project.line("Status"), project.front("status")) == ("Verifying", "verifying")


def test_003_18_a_phase_with_every_summary_is_complete(project: SeedProject) -> None:
    project.finish_phase()
    phase = project.json("status")["phases"][0]
    assert (phase["stage"], phase["is_complete"]) == ("complete", True)


# --- deriving the state from the files ---------------------------------------------------------


def test_003_19_a_phase_is_complete_when_every_plan_has_its_summary(project: SeedProject) -> None:
    assert not project.json("status")["phases"][0]["is_complete"]
    project.finish_phase()
    assert project.json("status")["phases"][0]["is_complete"]


def test_003_20_a_plan_is_complete_when_its_summary_exists(project: SeedProject) -> None:
    phase = project.json("status")["phases"][0]
    assert (phase["completed_plans"], phase["total_plans"]) == (1, 2)


def test_003_21_a_plan_without_a_summary_is_in_progress(project: SeedProject) -> None:
    status = project.json("status")
    assert (status["plan"], status["phases"][0]["stage"]) == ("01-02", "partial")


def test_003_22_state_can_be_checked_against_the_files(project: SeedProject) -> None:
    project.state = project.state.replace("completed_plans: 1", "completed_plans: 2")
    exit_code, said = project.fails("check")
    assert exit_code == 1
    assert "completed_plans" in said


def test_003_23_the_files_win_over_a_state_that_differs(project: SeedProject) -> None:
    project.state = project.state.replace("completed_plans: 1", "completed_plans: 2")
    assert project.json("status")["progress"]["completed_plans"] == 1
    project.event("sync")
    assert project.front("progress", "completed_plans") == "1"


# --- session continuity ------------------------------------------------------------------------


@pytest.fixture
def ultraplan(project: SeedProject) -> SeedProject:
    """A project with the folder of the ultraplan dialect, after a task that nobody finished."""
    (project.folder / ".ultraplan/state").mkdir(parents=True)
    project.gate("start", "executor-success")
    return project


def test_003_24_an_abnormal_exit_leaves_task_results_and_next_steps(ultraplan: SeedProject) -> None:
    """Ruling "Session hand-over file": it is written ahead at every step of a gate."""
    text = (ultraplan.folder / ".ultraplan/state/continue.md").read_text("utf-8")
    parts = dict(re.findall(r"^## (.*)\n\n((?:.+\n)+)", text, re.MULTILINE))
    assert "Task 3" in parts["Last executed task"]
    assert "executor: success" in parts["Partial results"]
    assert "verify command" in parts["Next steps"]


def test_003_25_the_resume_file_names_what_was_left(ultraplan: SeedProject) -> None:
    assert ultraplan.line("Resume file") == ".ultraplan/state/continue.md"


def test_003_26_the_next_session_finds_what_was_left(ultraplan: SeedProject) -> None:
    assert "Task 3" in ultraplan.session_start()
    assert ultraplan.json("status")["continue_files"] == [".ultraplan/state/continue.md"]


def test_003_27_a_person_is_offered_to_resume_or_to_start_fresh(ultraplan: SeedProject) -> None:
    page = ultraplan.run("resume", "--dry-run")
    assert ".ultraplan/state/continue.md" in page
    assert "fairlead resume --fresh" in page


def test_003_28_a_fresh_start_sets_the_hand_over_aside(ultraplan: SeedProject) -> None:
    ultraplan.run("resume", "--fresh")
    assert not (ultraplan.folder / ".ultraplan/state/continue.md").exists()
    assert ultraplan.line("Resume file") == "None"


def test_003_29_a_successful_resume_clears_the_hand_over(ultraplan: SeedProject) -> None:
    ultraplan.event("resume")
    ultraplan.gate("verify-passed", "approved")
    ultraplan.event("record-session", "--stopped-at", "Task 3")
    assert not (ultraplan.folder / ".ultraplan/state/continue.md").exists()
    assert ultraplan.line("Resume file") == "None"


# --- task results ------------------------------------------------------------------------------


def result(project: SeedProject, outcome: str, *words: str) -> None:
    place = ("--phase", "1", "--plan", "2")
    project.event("task-result", outcome, "--task", "Task 3", *place, *words)


def test_003_30_a_successful_task_raises_no_count_of_plans(project: SeedProject) -> None:
    """Ruling "Task success raises": only a SUMMARY does; tasks have their own count."""
    before = project.line("Total plans completed")
    result(project, "success")
    assert project.line("Total plans completed") == before
    project.finish_phase()
    result(project, "success")
    assert project.line("Total plans completed") == "2"


def test_003_31_a_success_recalculates_the_progress(project: SeedProject) -> None:
    project.finish_phase()
    result(project, "success")
    assert project.line("Progress") == "[███░░░░░░░] 33%"


def test_003_32_a_success_adds_its_duration(project: SeedProject) -> None:
    project.finish_phase()
    result(project, "success", "--duration", "90000ms")
    assert "1m30s" in project.section("Performance Metrics")


def test_003_33_a_success_is_the_last_activity(project: SeedProject) -> None:
    result(project, "success")
    assert re.fullmatch(rf"{DATE} - Completed Task 3", project.line("Last activity"))


def test_003_34_a_success_keeps_an_open_phase_in_progress(project: SeedProject) -> None:
    result(project, "success")
    assert project.line("Status") == "In progress"


def test_003_35_a_success_that_ends_the_last_phase_says_complete(
    tmp_path: Path, fairlead: Fairlead
) -> None:
    project = SeedProject(tmp_path, fairlead)
    project.run("init", "Demo", "--yes")
    project.plan(1, 1)
    project.event("begin-phase", "--phase", "1")
    project.summary(1, 1)
    project.event("task-result", "success", "--task", "Task 3", "--phase", "1")
    assert "omplete" in project.line("Status")


def test_003_36_a_success_updates_the_table_by_phase(project: SeedProject) -> None:
    project.finish_phase()
    result(project, "success", "--duration", "12m")
    assert re.search(r"^\| 1\. Core \| \d \| 12 min \| ", project.state, re.MULTILINE)


def test_003_37_a_failure_keeps_the_status(project: SeedProject) -> None:
    result(project, "failure", "--reason", "no database")
    assert project.line("Status") == "In progress"


def test_003_38_a_failure_is_a_blocker_with_its_error(project: SeedProject) -> None:
    result(project, "failure", "--reason", "no database")
    assert re.search(
        r"^- .*Task 3: no database$", project.section("Blockers/Concerns"), re.MULTILINE
    )


def test_003_39_a_failure_is_the_last_activity(project: SeedProject) -> None:
    result(project, "failure", "--reason", "no database")
    assert re.fullmatch(rf"{DATE} - Failed: Task 3", project.line("Last activity"))


def test_003_40_a_failure_raises_no_count(project: SeedProject) -> None:
    before = project.json("status")["progress"]
    result(project, "failure", "--reason", "no database")
    assert project.json("status")["progress"] == before


def test_003_41_a_blocked_task_keeps_the_status(project: SeedProject) -> None:
    result(project, "blocked", "--reason", "needs plan 01-01")
    assert project.line("Status") == "In progress"


def test_003_42_a_blocked_task_is_a_blocker_with_what_it_needs(project: SeedProject) -> None:
    result(project, "blocked", "--reason", "needs plan 01-01")
    found = re.search(
        r"^- .*Task 3: needs plan 01-01$", project.section("Blockers/Concerns"), re.MULTILINE
    )
    assert found


def test_003_43_a_blocked_task_is_the_last_activity(project: SeedProject) -> None:
    result(project, "blocked", "--reason", "needs plan 01-01")
    assert re.fullmatch(rf"{DATE} - Blocked: Task 3", project.line("Last activity"))


def test_003_44_a_blocked_task_is_logged_for_dependency_reanalysis(project: SeedProject) -> None:
    result(project, "blocked", "--reason", "needs plan 01-01")
    log = project.path("STATE-ARCHIVE.md").read_text("utf-8")
    assert "for dependency reanalysis" in log
    assert re.search(
        rf"^- {DATE} \[Phase 1, plan P02\] Task 3: needs plan 01-01$", log, re.MULTILINE
    )
    result(project, "blocked", "--reason", "needs plan 01-01")
    assert project.path("STATE-ARCHIVE.md").read_text("utf-8").count("Task 3") == 1


# --- recalculation -----------------------------------------------------------------------------


def test_003_45_progress_within_a_plan_counts_its_successful_tasks(project: SeedProject) -> None:
    project.plan(1, 2, tasks=3)
    plan = project.path("phases/01-core/01-02-PLAN.md")
    boxes = "\n- [x] Task 1: make it\n- [ ] Task 2: make it\n- [ ] Task 3: make it\n"
    plan.write_text(plan.read_text("utf-8") + boxes, "utf-8")
    within = project.json("status")["plan_progress"]
    assert (within["plan"], within["completed_tasks"], within["total_tasks"]) == ("01-02", 1, 3)
    assert within["percent"] == 33


def test_003_46_the_percentage_of_a_phase_is_its_plans_rounded_down(project: SeedProject) -> None:
    project.plan(1, 3)
    phases = project.json("status")["phases"]
    assert [phase["percent"] for phase in phases] == [33, 0, 0]


def test_003_47_the_percentage_of_the_project_counts_all_tasks(project: SeedProject) -> None:
    project.plan(1, 2, tasks=2)
    progress = project.json("status")["progress"]
    assert (progress["completed_tasks"], progress["total_tasks"]) == (1, 3)
    assert progress["tasks_percent"] == 33


# --- gate events -------------------------------------------------------------------------------


def part(task: dict[str, str], *keys: str) -> tuple[str, ...]:
    return tuple(task[key] for key in keys)


def test_003_48_a_task_that_starts_is_executing_at_step_1(project: SeedProject) -> None:
    assert part(project.gate("start"), "gate_status", "gate_step") == ("EXECUTING", "1")


def test_003_49_an_executor_that_completes_leads_to_verifying(project: SeedProject) -> None:
    task = project.gate("start", "executor-success")
    assert part(task, "executor_status", "gate_status") == ("success", "VERIFYING")


def test_003_50_a_verify_command_runs_at_step_2(project: SeedProject) -> None:
    task = project.gate("start", "executor-success")
    assert part(task, "gate_status", "gate_step") == ("VERIFYING", "2")


@pytest.mark.parametrize(("events", "status"), [(PASSED, "passed"), (FAILED, "failed")])
def test_003_51_a_verify_result_is_passed_or_failed(
    project: SeedProject, events: tuple[str, ...], status: str
) -> None:
    assert project.gate(*events)["verify_status"] == status


def test_003_52_an_architect_reviews_at_step_3(project: SeedProject) -> None:
    assert part(project.gate(*PASSED), "gate_status", "gate_step") == ("REVIEWING", "3")


@pytest.mark.parametrize("verdict", ["approved", "rejected"])
def test_003_53_an_architect_approves_or_rejects(project: SeedProject, verdict: str) -> None:
    assert project.gate(*PASSED, verdict)["architect_status"] == verdict


def test_003_54_a_gate_that_passes_completes_the_task(project: SeedProject) -> None:
    task = project.gate(*PASSED, "approved")
    assert part(task, "gate_status", "status") == ("APPROVED", "complete")


def test_003_55_a_gate_that_fails_counts_an_attempt(project: SeedProject) -> None:
    assert part(project.gate(*FAILED), "gate_status", "attempt") == ("FAILED", "2")


def test_003_56_a_retry_executes_again_with_fresh_steps(project: SeedProject) -> None:
    task = project.gate(*FAILED, "retry")
    steps = ("gate_status", "executor_status", "verify_status", "architect_status")
    assert part(task, *steps) == ("EXECUTING", "running", "pending", "pending")


# --- gate values -------------------------------------------------------------------------------


def test_003_57_executing_means_that_the_executor_runs(project: SeedProject) -> None:
    task = project.gate("start")
    assert part(task, "gate_status", "executor_status") == (GateStatus.EXECUTING, "running")


def test_003_58_verifying_means_that_the_verify_command_runs(project: SeedProject) -> None:
    task = project.gate("start", "executor-success")
    assert part(task, "gate_status", "verify_status") == (GateStatus.VERIFYING, "running")


def test_003_59_reviewing_means_that_the_architect_examines(project: SeedProject) -> None:
    task = project.gate(*PASSED)
    assert part(task, "gate_status", "architect_status") == (GateStatus.REVIEWING, "reviewing")


def test_003_60_approved_means_that_all_steps_passed(project: SeedProject) -> None:
    task = project.gate(*PASSED, "approved")
    steps = ("gate_status", "executor_status", "verify_status", "architect_status")
    assert part(task, *steps) == (GateStatus.APPROVED, "success", "passed", "approved")


@pytest.mark.parametrize(
    "events", [("start", "executor-failure"), FAILED, (*PASSED, "rejected")], ids=len
)
def test_003_61_failed_means_that_a_step_failed(
    project: SeedProject, events: tuple[str, ...]
) -> None:
    assert project.gate(*events)["gate_status"] == GateStatus.FAILED


def test_003_62_blocked_means_that_a_dependency_is_missing(project: SeedProject) -> None:
    task = project.gate("start", "executor-blocked")
    assert part(task, "gate_status", "attempt") == (GateStatus.BLOCKED, "1")


def test_003_63_skipped_means_that_a_person_bypassed_the_gate(project: SeedProject) -> None:
    assert project.gate("start", "skip")["gate_status"] == GateStatus.SKIPPED
    assert len(GateStatus) == 7
