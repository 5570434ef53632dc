"""Seed 000, one test per statement of statements.txt: the structure of STATE.md."""

import re

import pytest

from fairlead.project.status_words import normalise
from tests.seeds.conftest import SeedProject

TIME = r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ"
DATE = r"20\d\d-\d\d-\d\d"
ACTIVE = 'active_phase: "4.5"\n'
NEXT = 'next_action: execute-phase\nnext_phases: ["4.5"]\n'
LEGACY = "milestone: v1.9\nmilestone_name: Code Quality\nstatus: executing\n"


def scene(keys: str, percent: int | None = 20) -> str:
    bar = f"progress:\n  percent: {percent}\n" if percent is not None else ""
    front = f"milestone: v2.0\nstatus: executing\n{keys}{bar}"
    return f"---\n{front}---\n\nPhase: 1 of 5\n"


# --- the file ----------------------------------------------------------------------------------


def test_000_01_the_state_file_is_in_the_planning_folder(project: SeedProject) -> None:
    found = [path.relative_to(project.folder) for path in project.folder.rglob("STATE.md")]
    assert [str(path) for path in found] == [".planning/STATE.md"]


def test_000_02_a_workflow_reads_it_when_it_starts(project: SeedProject) -> None:
    project.event("add-blocker", "--text", "No sandbox")
    assert "No sandbox" in project.session_start()


@pytest.mark.parametrize(
    "words",
    [
        ("begin-phase", "--phase", "1"),
        ("planned-phase", "--phase", "1"),
        ("add-decision", "--phase", "1", "--summary", "Store UTC"),
        ("add-blocker", "--text", "No sandbox"),
        ("record-session", "--stopped-at", "Phase 1"),
        ("task-result", "success", "--task", "Task 1", "--phase", "1", "--plan", "2"),
    ],
)
def test_000_03_every_significant_action_writes_it(
    project: SeedProject, words: tuple[str, ...]
) -> None:
    before = project.state
    project.event(*words)
    assert project.state != before


def test_000_04_it_has_frontmatter_for_programs_and_a_body_for_people(project: SeedProject) -> None:
    assert project.front("status") == "executing"
    assert project.line("Status") in ("Ready to execute", "In progress")


def test_000_05_it_stays_under_100_lines(project: SeedProject) -> None:
    project.decide(30)
    assert len(project.state.splitlines()) <= 100


def test_000_06_it_is_a_digest_and_the_archive_keeps_the_rest(project: SeedProject) -> None:
    texts = project.decide(30)
    archived = project.path("STATE-ARCHIVE.md").read_text("utf-8")
    assert [text for text in texts if text not in project.state + archived] == []


def test_000_07_the_frontmatter_stands_between_three_dashes_at_the_start(
    project: SeedProject,
) -> None:
    lines = project.state.splitlines()
    assert lines[0] == "---"
    assert "---" in lines[1:]


def test_000_08_every_field_but_version_and_status_is_optional(project: SeedProject) -> None:
    project.state = "---\ngsd_state_version: '1.0'\nstatus: executing\n---\n\n# Project State\n"
    assert project.json("status")["progress"]["total_plans"] == 2
    assert project.json("check")["ok"]


# --- the fields of the frontmatter -------------------------------------------------------------


def test_000_09_the_version_is_written_by_the_first_call(project: SeedProject) -> None:
    project.state = project.state.replace("gsd_state_version: '1.0'\n", "")
    project.event("begin-phase", "--phase", "1")
    assert project.front("gsd_state_version") == "1.0"


def test_000_10_the_milestone_is_the_configured_one(project: SeedProject) -> None:
    assert project.front("milestone") == "v1.0"


def test_000_11_the_milestone_has_a_readable_name(project: SeedProject) -> None:
    assert project.front("milestone_name") == "Demo"


def test_000_12_the_status_is_always_there(project: SeedProject) -> None:
    project.state = re.sub(r"^status: .*\n", "", project.state, flags=re.MULTILINE)
    project.event("begin-phase", "--phase", "1")
    assert project.front("status") == "executing"


def test_000_13_the_active_phase_is_set_while_a_command_is_in_flight(project: SeedProject) -> None:
    project.event("begin-phase", "--phase", "1")
    assert project.front("active_phase") == "1"


def test_000_14_the_active_phase_is_null_between_phases(project: SeedProject) -> None:
    project.event("begin-phase", "--phase", "1")
    project.finish_phase()
    project.event("advance-plan")
    assert project.front("active_phase") == "null"


@pytest.mark.parametrize(
    ("action", "prepare"),
    [
        ("discuss-phase", "none"),
        ("plan-phase", "context"),
        ("execute-phase", "plan"),
        ("verify-phase", "done"),
    ],
)
def test_000_15_the_next_action_is_the_recommended_command_when_idle(
    project: SeedProject, action: str, prepare: str
) -> None:
    for path in project.path("phases/01-core").iterdir():
        path.unlink()
    # STATE.md must not claim the work whose files are gone: that would be unverifiable.
    state = project.path("STATE.md")
    state.write_text(re.sub(r"(_plans): \d+", r"\1: 0", state.read_text("utf-8")), "utf-8")
    if prepare == "context":
        project.path("phases/01-core/01-CONTEXT.md").write_text("# Context\n", "utf-8")
    if prepare in ("plan", "done"):
        project.plan(1, 1)
    if prepare == "done":
        project.summary(1, 1)
    project.event("sync")
    assert project.front("next_action") == action


def test_000_16_the_next_action_is_null_while_a_command_is_in_flight(project: SeedProject) -> None:
    project.event("begin-phase", "--phase", "1")
    assert project.front("next_action") == "null"


def test_000_17_the_next_phases_go_with_the_next_action(project: SeedProject) -> None:
    assert project.front("next_phases") == ["1"]


def test_000_18_the_next_phases_are_null_when_the_next_action_is(project: SeedProject) -> None:
    project.event("begin-phase", "--phase", "1")
    assert project.front("next_phases") == "null"


def test_000_19_total_phases_counts_the_phases_of_the_milestone(project: SeedProject) -> None:
    assert project.front("progress", "total_phases") == "3"


def test_000_20_completed_phases_counts_phases_with_every_summary(project: SeedProject) -> None:
    project.finish_phase()
    project.event("sync")
    assert project.front("progress", "completed_phases") == "1"


def test_000_21_total_plans_counts_the_plan_files_of_all_phases(project: SeedProject) -> None:
    project.plan(2, 1)
    project.event("sync")
    assert project.front("progress", "total_plans") == "3"


def test_000_22_completed_plans_counts_one_summary_per_plan(project: SeedProject) -> None:
    assert project.front("progress", "completed_plans") == "1"


def test_000_23_the_percentage_is_the_lesser_ratio_rounded_half_up(project: SeedProject) -> None:
    """Ruling "Percent": the lesser ratio, rounded half up."""
    project.finish_phase()
    for number in (1, 2):
        project.plan(2, number)
        project.summary(2, number)
    project.plan(3, 1)
    project.event("sync")
    # 4 of 5 plans, 2 of 3 phases.
    assert project.front("progress", "percent") == "67"


def test_000_24_the_bar_is_drawn_only_with_a_percentage(project: SeedProject) -> None:
    assert project.status_line(scene(ACTIVE)) == "v2.0 [██░░░░░░░░] 20% · Phase 4.5 executing"
    assert project.status_line(scene(ACTIVE, None)) == "v2.0 · Phase 4.5 executing"


def test_000_25_the_current_phase_follows_the_body(project: SeedProject) -> None:
    project.event("begin-phase", "--phase", "1")
    assert project.front("current_phase") == "1"


def test_000_26_the_current_phase_name_follows_the_body(project: SeedProject) -> None:
    project.event("begin-phase", "--phase", "1")
    assert project.front("current_phase_name") == "Core"


def test_000_27_the_current_plan_is_the_plan_in_progress(project: SeedProject) -> None:
    project.event("begin-phase", "--phase", "1")
    assert project.front("current_plan") == "2"


def test_000_28_last_updated_is_the_time_of_the_last_write(project: SeedProject) -> None:
    project.state = re.sub(r"^last_updated: .*\n", "", project.state, flags=re.MULTILINE)
    project.event("begin-phase", "--phase", "1")
    assert re.fullmatch(TIME, project.front("last_updated"))


def test_000_29_last_activity_is_the_date_in_the_body(project: SeedProject) -> None:
    project.event("begin-phase", "--phase", "1")
    assert re.fullmatch(DATE, project.front("last_activity"))
    assert project.line("Last activity").startswith(project.front("last_activity"))


def test_000_30_stopped_at_comes_from_the_session_and_not_from_prose(project: SeedProject) -> None:
    project.state += "\n## Archive\n\nStopped at: long ago\n"
    project.event("record-session", "--stopped-at", "Phase 1 P1 complete")
    assert project.front("stopped_at") == "Phase 1 P1 complete"
    assert project.state.endswith("Stopped at: long ago\n")


def test_000_31_paused_at_describes_the_pause(project: SeedProject) -> None:
    project.event("pause", "--at", "before the migration")
    assert project.front("paused_at") == "before the migration"


def test_000_32_paused_at_is_absent_or_null_when_not_paused(project: SeedProject) -> None:
    assert project.front("paused_at") in (None, "null")
    project.event("pause", "--at", "before the migration")
    project.event("resume")
    assert project.front("paused_at") in (None, "null")


# --- status values -----------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["Discussing phase 3", "DISCUSSING", "now discussing"])
def test_000_33_discussing_is_read_from_its_word(text: str) -> None:
    assert normalise(text) == "discussing"


@pytest.mark.parametrize("text", ["Planning", "planning phase 2", "Ready to plan"])
def test_000_34_planning_is_read_from_its_words(text: str) -> None:
    assert normalise(text) == "planning"


@pytest.mark.parametrize("text", ["Executing Phase 4", "In progress", "READY TO EXECUTE"])
def test_000_35_executing_is_read_from_its_words(text: str) -> None:
    assert normalise(text) == "executing"


@pytest.mark.parametrize("text", ["Verifying", "Verification runs", "ready to verify"])
def test_000_36_verifying_is_read_from_its_stem(text: str) -> None:
    assert normalise(text) == "verifying"


@pytest.mark.parametrize("text", ["Complete", "completed", "Done"])
def test_000_37_completed_is_read_from_its_words(text: str) -> None:
    assert normalise(text) == "completed"


@pytest.mark.parametrize("text", ["Paused", "stopped for today"])
def test_000_38_paused_is_read_from_its_words(text: str) -> None:
    assert normalise(text) == "paused"


def test_000_39_a_recorded_pause_is_paused_whatever_the_words(project: SeedProject) -> None:
    assert normalise("Executing Phase 4", paused_at="noon") == "paused"
    project.event("begin-phase", "--phase", "1")
    project.event("pause", "--at", "noon")
    assert project.front("status") == "paused"


def test_000_40_any_other_text_is_unknown() -> None:
    assert normalise("Waiting for Bob") == "unknown"


@pytest.mark.parametrize("text", ["incomplete", "not done", "never complete", "unverified"])
def test_000_41_a_negated_word_does_not_count(text: str) -> None:
    """Ruling "Status words by substring": not after a negation."""
    assert normalise(text) == "unknown"


@pytest.mark.parametrize(
    ("step", "phase"), [("discuss", "2"), ("plan", "2"), ("execute", "1"), ("verify", "1")]
)
def test_000_42_a_command_in_flight_writes_its_stage(
    project: SeedProject, step: str, phase: str
) -> None:
    if step == "verify":
        project.finish_phase()
    project.event("begin-phase", "--phase", phase, "--step", step)
    stages = {
        "discuss": "discussing",
        "plan": "planning",
        "execute": "executing",
        "verify": "verifying",
    }
    assert project.front("status") == stages[step]


# --- scenes of the status line -----------------------------------------------------------------


def test_000_43_scene_1_shows_the_active_phase(project: SeedProject) -> None:
    assert project.status_line(scene(ACTIVE)) == "v2.0 [██░░░░░░░░] 20% · Phase 4.5 executing"


def test_000_44_scene_2_shows_the_recommended_command(project: SeedProject) -> None:
    shown = project.status_line(scene(NEXT))
    assert shown == "v2.0 [██░░░░░░░░] 20% · next execute-phase 4.5"


def test_000_45_scene_2_needs_both_action_and_phases(project: SeedProject) -> None:
    shown = project.status_line(scene("next_action: execute-phase\n"))
    assert shown == "v2.0 [██░░░░░░░░] 20% · executing · ph 1/5"


def test_000_46_scene_3_shows_a_complete_milestone_at_100_percent(project: SeedProject) -> None:
    shown = project.status_line(scene("", 100))
    assert shown == "v2.0 [██████████] 100% · milestone complete"


def test_000_47_scene_3_shows_a_complete_milestone_when_all_phases_are(
    project: SeedProject,
) -> None:
    counts = "progress:\n  total_phases: 5\n  completed_phases: 5\n"
    shown = project.status_line(f"---\nmilestone: v2.0\n{counts}---\n")
    assert shown == "v2.0 · milestone complete"


def test_000_48_scene_4_is_the_older_format(project: SeedProject) -> None:
    shown = project.status_line(f"---\n{LEGACY}---\n\nPhase: 1 of 5\n")
    assert shown == "v1.9 Code Quality · executing · ph 1/5"


def test_000_49_an_active_phase_wins_over_a_recommendation(project: SeedProject) -> None:
    shown = project.status_line(scene(ACTIVE + NEXT))
    assert shown == "v2.0 [██░░░░░░░░] 20% · Phase 4.5 executing"


# --- constraints of the parser -----------------------------------------------------------------


@pytest.mark.parametrize("above", ["# note\n", "\n", " "])
def test_000_50_text_above_the_first_dashes_invalidates_the_frontmatter(
    project: SeedProject, above: str
) -> None:
    assert "Phase 4.5" not in project.status_line(above + scene(ACTIVE))


def test_000_51_the_opening_dashes_have_no_trailing_space(project: SeedProject) -> None:
    spaced = scene(ACTIVE).replace("---\n", "--- \n", 1)
    assert "Phase 4.5" not in project.status_line(spaced)


def test_000_52_no_comment_is_written_into_the_progress_block(project: SeedProject) -> None:
    """Ruling "Status line": a file with one shows what the full reader reads; we write none."""
    project.event("begin-phase", "--phase", "1")
    assert re.search(r"^progress:\n(?:  \w+: \d+\n){5}(?! )", project.state, re.MULTILINE)
    commented = scene(ACTIVE).replace("progress:\n", "progress:\n  # note\n")
    assert project.status_line(commented) == "v2.0 [██░░░░░░░░] 20% · Phase 4.5 executing"


def test_000_53_next_phases_are_read_as_a_flow_list(project: SeedProject) -> None:
    keys = 'next_action: execute-phase\nnext_phases: ["4.5", "4.6"]\n'
    assert project.status_line(scene(keys, None)) == "v2.0 · next execute-phase 4.5/4.6"


def test_000_54_next_phases_are_read_as_a_block_list_too(project: SeedProject) -> None:
    keys = "next_action: execute-phase\nnext_phases:\n  - 4.5\n  - 4.6\n"
    assert project.status_line(scene(keys, None)) == "v2.0 · next execute-phase 4.5/4.6"


# --- the body ----------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [' ["9"]', " null", "\n  - 9", "\n- 9"])
def test_000_55_next_phases_are_written_as_a_flow_list_on_one_line(
    project: SeedProject, before: str
) -> None:
    old = 'next_phases: ["1"]'
    assert old in project.state
    project.state = project.state.replace(old, f"next_phases:{before}")
    project.event("planned-phase", "--phase", "1")
    assert f"\n{old}\n" in project.state


def test_000_56_the_project_reference_points_to_the_project_document(project: SeedProject) -> None:
    assert ".planning/PROJECT.md" in project.section("Project Reference")


def test_000_57_the_core_value_is_that_of_the_project_document(project: SeedProject) -> None:
    document = project.path("PROJECT.md")
    lines = document.read_text("utf-8").split("\n")
    at = lines.index("## Core Value") + 2
    lines[at] = "Parcels arrive on time."
    document.write_text("\n".join(lines), "utf-8")
    project.event("sync")
    assert project.line("Core value") == "Parcels arrive on time."


def test_000_58_the_current_focus_names_the_active_phase(project: SeedProject) -> None:
    project.event("begin-phase", "--phase", "2", "--step", "plan")
    assert "**Current focus:** Phase 2 — API" in project.state


def test_000_59_the_phase_line_has_number_total_and_name(project: SeedProject) -> None:
    assert project.line("Phase") == "1 of 3 (Core)"


def test_000_60_the_plan_line_has_number_and_total_in_the_phase(project: SeedProject) -> None:
    assert project.line("Plan") == "2 of 2 in current phase"


@pytest.mark.parametrize("text", ["Waiting for Bob", "Executing Phase 1"])
def test_000_61_the_status_line_is_free_text(project: SeedProject, text: str) -> None:
    project.event("set", "Status", text)
    assert project.line("Status") == text


def test_000_62_last_activity_begins_with_a_date_when_a_handler_writes_it(
    project: SeedProject,
) -> None:
    project.event("begin-phase", "--phase", "1")
    assert re.match(rf"{DATE}\b", project.line("Last activity"))


def test_000_63_the_progress_line_has_a_bar_of_ten_cells(project: SeedProject) -> None:
    project.finish_phase()
    project.event("sync")
    assert project.line("Progress") == "[███░░░░░░░] 33%"


@pytest.mark.parametrize("label", ["Status", "Last activity"])
def test_000_64_text_that_an_executor_wrote_is_preserved(project: SeedProject, label: str) -> None:
    text = f"{label}: Bob asked for more"
    project.state = re.sub(rf"^{label}: .*$", text, project.state, flags=re.MULTILINE)
    project.event("begin-phase", "--phase", "1")
    assert f"\n{text}\n" in project.state


def test_000_65_a_known_default_is_updated(project: SeedProject) -> None:
    assert project.line("Status") in ("Ready to execute", "In progress")
    project.event("begin-phase", "--phase", "2", "--step", "plan")
    assert project.line("Status") == "Planning"


# --- metrics -----------------------------------------------------------------------------------


def timed(project: SeedProject, *minutes: int) -> None:
    for number, took in enumerate(minutes, start=1):
        project.plan(1, number)
        project.summary(1, number)
        duration = f"{took}m"
        project.event(
            "record-metric", "--phase", "1", "--plan", str(number), "--duration", duration
        )


def test_000_66_the_metrics_have_the_plans_completed_and_their_average(
    project: SeedProject,
) -> None:
    timed(project, 10, 20)
    assert project.line("Total plans completed") == "2"
    assert project.line("Average duration") == "15 min"


def test_000_67_the_metrics_have_a_table_by_phase(project: SeedProject) -> None:
    timed(project, 10, 20)
    assert "| Phase | Plans | Total | Avg/Plan |" in project.state
    assert "| 1. Core | 2 | 30 min | 15 min |" in project.state


@pytest.mark.parametrize(
    ("minutes", "trend"),
    [((9, 9, 5, 5, 5), "Improving"), ((5,) * 5, "Stable"), ((5, 5, 9, 9, 9), "Degrading")],
)
def test_000_68_the_trend_is_one_of_three_words(
    project: SeedProject, minutes: tuple[int, ...], trend: str
) -> None:
    """Ruling "Trend words"."""
    timed(project, *minutes)
    assert project.line("Trend") == trend


def test_000_69_the_metrics_are_updated_after_each_plan(project: SeedProject) -> None:
    project.event("begin-phase", "--phase", "1")
    project.finish_phase()
    project.event("advance-plan")
    assert project.line("Total plans completed") == "2"


# --- context and session -----------------------------------------------------------------------


def test_000_70_decisions_are_added_by_their_command(project: SeedProject) -> None:
    project.event("add-decision", "--phase", "1", "--summary", "Store UTC")
    assert "- [Phase 1]: Store UTC" in project.section("Decisions")


def test_000_71_the_full_log_of_decisions_is_in_the_project_document(project: SeedProject) -> None:
    texts = project.decide(30)
    log = project.path("PROJECT.md").read_text("utf-8")
    assert [text for text in texts if f"| {text} |" not in log] == []


def test_000_72_pending_todos_have_a_count_and_their_folder(project: SeedProject) -> None:
    project.run("capture", "Dark mode")
    project.run("capture", "Faster start")
    assert project.section("Pending Todos").count("(.planning/todos/pending/") == 2
    assert len(project.json("status")["pending_todos"]) == 2


def test_000_73_todos_are_captured_by_a_command(project: SeedProject) -> None:
    project.run("capture", "Dark mode")
    assert len(list(project.path("todos/pending").iterdir())) == 1


def test_000_74_a_blocker_carries_the_phase_it_comes_from(project: SeedProject) -> None:
    project.event("add-blocker", "--text", "No sandbox", "--phase", "2")
    assert "- [Phase 2]: No sandbox" in project.section("Blockers/Concerns")


def test_000_75_a_blocker_is_resolved_by_its_command(project: SeedProject) -> None:
    project.event("add-blocker", "--text", "No sandbox", "--phase", "2")
    project.event("resolve-blocker", "--text", "No sandbox")
    assert "No sandbox" not in project.section("Blockers/Concerns")


def test_000_76_last_session_is_a_timestamp(project: SeedProject) -> None:
    project.event("record-session", "--stopped-at", "Phase 1 P1")
    assert re.fullmatch(TIME, project.line("Last session"))


def test_000_77_stopped_at_is_the_last_completed_action(project: SeedProject) -> None:
    project.event("record-session", "--stopped-at", "Phase 1 P1")
    assert project.line("Stopped at") == "Phase 1 P1"


def test_000_78_the_resume_file_is_the_hand_over_or_none(project: SeedProject) -> None:
    assert project.line("Resume file") == "None"
    project.gate("start")
    assert project.line("Resume file") == ".planning/.continue-here.md"
    assert project.path(".continue-here.md").exists()


# --- compatibility -----------------------------------------------------------------------------


@pytest.mark.parametrize("keys", ["", "active_phase: null\nnext_action: null\nnext_phases: null\n"])
def test_000_79_without_lifecycle_fields_the_line_is_the_older_one(
    project: SeedProject, keys: str
) -> None:
    shown = project.status_line(f"---\n{LEGACY}{keys}---\n\nPhase: 1 of 5\n")
    assert shown == "v1.9 Code Quality · executing · ph 1/5"


@pytest.mark.parametrize("missing", ["active_phase", "next_action", "next_phases", "progress"])
def test_000_80_each_lifecycle_field_may_be_absent(project: SeedProject, missing: str) -> None:
    parts = {
        "active_phase": "active_phase: null\n",
        "next_action": "next_action: execute-phase\n",
        "next_phases": 'next_phases: ["2"]\n',
        "progress": "progress:\n  percent: 20\n",
    }
    del parts[missing]
    shown = project.status_line(f"---\n{LEGACY}{''.join(parts.values())}---\n\nPhase: 1 of 5\n")
    assert shown.startswith("v1.9")


def test_000_81_counts_of_phases_alone_make_no_bar(project: SeedProject) -> None:
    counts = "progress:\n  total_phases: 5\n  completed_phases: 1\n"
    shown = project.status_line(f"---\n{LEGACY}{counts}---\n\nPhase: 1 of 5\n")
    assert shown == "v1.9 Code Quality · executing · ph 1/5"


def test_000_82_the_next_action_is_null_without_a_recommendation(project: SeedProject) -> None:
    # Nothing is left to discuss, plan, execute or verify: every phase is verified.
    for number, folder in enumerate(sorted(project.path("phases").iterdir()), 1):
        for kind in ("PLAN", "SUMMARY"):
            (folder / f"0{number}-01-{kind}.md").write_text("# Done\n", "utf-8")
        for plan in folder.glob("*-PLAN.md"):
            plan.with_name(plan.name.replace("PLAN", "SUMMARY")).write_text("# Done\n", "utf-8")
        verification = folder / f"0{number}-VERIFICATION.md"
        verification.write_text("---\nstatus: passed\n---\n", "utf-8")
    project.event("sync")
    assert (project.front("next_action"), project.front("next_phases")) == ("null", "null")
