"""Faults of state files elsewhere, on whole projects: by their numbers in the list of known
defects and by the complaints of users. Those that one document shows alone are in
`tests/project/test_events_defects.py`.
"""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fairlead.core.errors import DocumentError, FairleadError
from fairlead.interfaces.statusline.line import line_of
from fairlead.project.errors import MisplacedFrontmatter
from fairlead.project.health.check import compare_project
from fairlead.project.health.doctor import Doctor
from fairlead.project.health.findings import FindingKind
from fairlead.project.overview import Overview
from fairlead.project.state.documents import RoadmapChange
from fairlead.project.state.edits import TaskOutcome, TaskResult
from fairlead.project.state.metrics import Metric
from fairlead.project.state.session import Stop
from fairlead.store.files import Files
from fairlead.store.reader import Reader
from tests.conftest import Fairlead
from tests.support.line_cases import without_colors
from tests.support.projects import Project, TickingClock
from tests.support.states import STATE

HEAD = STATE.partition("# Project State")[0]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Phase 1 has one plan done and one open, phase 2 one open plan, phase 3 none."""
    project = Project(tmp_path)
    for phase, plan in (("1", 1), ("1", 2), ("2", 1)):
        project.plan(phase, plan)
    project.summary("1", 1)
    return project


def status(project: Project):
    return Overview(Reader(str(project.folder))).status()


def write(project: Project, name: str, text: str) -> None:
    (project.planning / name).write_bytes(text.encode())


def shown(project: Project) -> str:
    said = json.dumps({"workspace": {"current_dir": str(project.folder)}})
    return without_colors(line_of(said, str(project.folder), {"HOME": str(project.folder.parent)}))


VERBS: dict[str, Callable[[Project], object]] = {
    "sync": lambda project: project.events.sync(),
    "plans_ready": lambda project: project.events.plans_ready("2"),
    "execution_started": lambda project: project.events.execution_started("1"),
    "plan_completed": lambda project: project.events.plan_completed("1", plan="1"),
    "task_result": lambda project: project.events.task_result(TaskResult("T", TaskOutcome.SUCCESS)),
    "metric": lambda project: project.events.metric(Metric("1", "1", "5m")),
    "blocker": lambda project: project.events.blocker_added("x"),
    "evolution": lambda project: project.events.roadmap_changed(RoadmapChange("x", "1")),
    "session": lambda project: project.sessions.ended(Stop("x", "")),
    "pause": lambda project: project.events.paused("x"),
    "set": lambda project: project.events.set_value("Status", "Waiting for Bob"),
}
each_verb = pytest.mark.parametrize("verb", VERBS)


# --- 1, #1531, #3612: updates that got lost ------------------------------------------------


def test_defect_1_sync_beside_other_writers_loses_no_decision(
    installed_command: Path, project: Project
) -> None:
    """Issue 1531 too: no verb reads outside the lock that it writes under."""
    sync = ["sync"]
    decisions = [["add-decision", "--phase", "1", "--summary", f"Choice {at}"] for at in range(5)]
    writers = [
        subprocess.Popen(
            [installed_command, "state", *verb], cwd=project.folder, stdout=subprocess.DEVNULL
        )
        for verb in (sync, *decisions[:2], sync, *decisions[2:], sync)
    ]
    codes = [writer.wait(900) for writer in writers]

    assert codes == [0] * len(writers)
    assert [f"Choice {at}" in project.state for at in range(5)] == [True] * 5


def test_issue_1531_a_lock_file_left_by_a_dead_process_stops_nobody(project: Project) -> None:
    write(project, "STATE.md.lock", "4194304")
    (project.planning / ".fairlead").mkdir()
    write(project, ".fairlead/lock", "")

    assert project.events.blocker_added("x").paths == (".planning/STATE.md",)


def test_issue_3612_a_foreign_change_between_two_events_stays(project: Project) -> None:
    project.events.sync()
    write(project, "STATE.md", project.state.replace("It works", "It works offline"))
    project.events.plan_completed("1", plan="1")

    assert "**Core value:** It works offline" in project.state


# --- 2, #4129, #4213, #3583: numbers that contradict each other ---------------------------------


@each_verb
def test_defect_2_every_verb_leaves_the_percentage_that_sync_wrote(
    project: Project, verb: str
) -> None:
    rows = "\n## Progress\n\n| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n"
    roadmap = (project.planning / "ROADMAP.md").read_text("utf-8")
    write(project, "ROADMAP.md", f"{roadmap}{rows}| 1. Core | 1/2 | Complete | - |\n")
    project.events.sync()
    VERBS[verb](project)

    assert "  percent: 0\n" in project.state
    assert "Progress: [░░░░░░░░░░] 0%\n" in project.state


def test_issue_3583_the_percentage_that_is_shown_is_the_one_that_is_stored(
    project: Project,
) -> None:
    project.summary("1", 2)
    project.events.sync()

    assert f"  percent: {status(project).progress.percent}\n" in project.state


def test_issue_4629_a_verb_reports_the_files_it_changed_and_no_other(project: Project) -> None:
    before = project.snapshot()
    outcome = project.events.execution_started("1")
    changed = [path for path, content in project.snapshot().items() if before[path] != content]

    assert list(outcome.paths) == changed


def test_issue_956_and_issue_1589_the_counters_follow_the_execution(project: Project) -> None:
    project.summary("1", 2)
    project.events.plan_completed("1")

    assert "  completed_plans: 2\n" in project.state


# --- 4, #2199, #549, #1514: what a phase is ----------------------------------------------------

TABLE = """\
# Roadmap

| Phase | Name | Goal |
|-------|------|------|
| 1 | Core | a |
| 2 | API | b |
| 3 | UI | c |
| 4 | Docs | d |
"""
BULLETS = """\
# Roadmap

- [ ] **Phase 1: Core** - a
- [ ] **Phase 2: API** - b
- [ ] **Phase 3: UI** - c
- [ ] **Phase 4: Docs** - d
"""


@pytest.mark.parametrize("roadmap", [TABLE, BULLETS], ids=["table", "bullets"])
def test_defect_4_one_of_four_phases_is_a_quarter_whatever_the_roadmap_looks_like(
    project: Project, roadmap: str
) -> None:
    project.summary("1", 2)
    write(project, "ROADMAP.md", roadmap)
    progress = status(project).progress

    assert (progress.completed_phases, progress.total_phases, progress.percent) == (1, 4, 25)


def test_issue_3573_and_issue_2828_phases_without_a_folder_count(project: Project) -> None:
    write(project, "ROADMAP.md", BULLETS)

    assert status(project).progress.total_phases == 4


def test_issue_2199_a_roadmap_of_bullets_gives_a_position(project: Project) -> None:
    write(project, "ROADMAP.md", BULLETS)
    project.events.sync()

    assert "Phase: 1 of 4 (Core)" in project.state
    assert "Phase null" not in project.state


def test_issue_549_a_decimal_phase_counts_once(project: Project) -> None:
    details = "\n### Phase 2.1: Hotfix\n\n**Goal**: x\n"
    write(project, "ROADMAP.md", f"{BULLETS}- [ ] **Phase 2.1: Hotfix** - e\n{details}")
    (project.planning / "phases" / "02.1-hotfix").mkdir()

    assert status(project).progress.total_phases == 5


def test_issue_1514_a_retired_phase_does_not_hold_the_milestone_back(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for phase in ("1", "2"):
        project.plan(phase, 1)
        project.summary(phase, 1)
    retired = "- [ ] ~~**Phase 3: UI** - third~~\n"
    roadmap = (project.planning / "ROADMAP.md").read_text("utf-8")
    write(project, "ROADMAP.md", roadmap.replace("- [ ] **Phase 3: UI** - third\n", retired))

    assert status(project).progress.percent == 100


# --- 11, 12, 13, #2202, #3257, #905, #1230: bytes of a person -----------------------------------


def test_defect_11_a_body_that_begins_with_a_rule_keeps_its_first_block(project: Project) -> None:
    ruled = f"{HEAD}---\n\nA note of mine\n\n---\n\n{STATE.removeprefix(HEAD)}"
    write(project, "STATE.md", ruled)
    project.events.sync()

    assert "---\n\nA note of mine\n\n---\n" in project.state


def test_defect_11_a_leading_blank_line_costs_no_key(project: Project) -> None:
    write(project, "STATE.md", f"\n{STATE}")
    with pytest.raises(MisplacedFrontmatter):
        project.events.blocker_added("x")

    assert project.state == f"\n{STATE}"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(STATE.replace("\n---\n\n# Project", "\n\n# Project"), id="not closed"),
        pytest.param(STATE.replace("---\n", "--- \n", 1), id="a blank after the dashes"),
    ],
)
def test_defect_13_no_second_frontmatter_is_put_on_top(project: Project, text: str) -> None:
    write(project, "STATE.md", text)
    try:
        project.events.sync()
    except DocumentError:
        assert project.state == text

    assert project.state.count("gsd_state_version") == 1


@each_verb
def test_issue_2202_keys_of_a_person_survive_every_verb(project: Project, verb: str) -> None:
    VERBS[verb](project)

    assert 'tags: [x, "y: z"]\nnested:\n  deep:\n    deeper: kept\n' in project.state


@each_verb
def test_issue_3257_a_comment_stays_before_its_key_after_every_verb(
    project: Project, verb: str
) -> None:
    VERBS[verb](project)

    assert "\n# a person's comment\ntags:" in project.state


def test_issue_905_and_issue_1230_status_and_stop_survive_other_events(project: Project) -> None:
    project.events.set_value("Status", "Waiting for Bob")
    project.sessions.ended(Stop("Phase 1 P1", ""))
    project.events.blocker_added("x")
    project.events.metric(Metric("1", "1", "5m"))

    assert "Status: Waiting for Bob\n" in project.state
    assert "Stopped at: Phase 1 P1\n" in project.state
    assert "stopped_at: Phase 1 P1\n" in project.state


def test_issue_3853_a_status_in_prose_leaves_the_frontmatter_a_word(project: Project) -> None:
    write(project, "STATE.md", STATE.replace("status: planning", "status: planning\nstate_head: a"))
    project.events.set_value("Status", "Planning the rest with Bob")

    assert "\nstate_head: a\n" in project.state
    assert "\nstatus: planning\n" in project.state


# --- 15, #1540: a disk that is full --------------------------------------------------------------


def test_defect_15_and_issue_1540_a_write_that_fails_leaves_the_document_whole(
    fairlead: Fairlead, project: Project
) -> None:
    before = project.state
    # The staging folder cannot be made: no byte can be written beside the document.
    write(project, ".fairlead", "in the way")
    done = fairlead("state", "add-blocker", "--text", "x")

    assert done.exit_code != 0
    assert project.state == before


# --- 22, #4564: decisions and blockers of the template -----------------------------------------


def test_defect_22_and_issue_4564_decisions_and_blockers_of_the_template_are_read(
    fairlead: Fairlead, project: Project
) -> None:
    fairlead("state", "add-decision", "--phase", "1", "--summary", "Store UTC")
    fairlead("state", "add-blocker", "--text", "No sandbox")
    report = json.loads(fairlead("status", "--json").stdout)

    assert report["decisions"] == ["[Phase 1]: Store UTC"]
    assert report["blockers"] == ["No sandbox"]


def test_issue_3231_a_decision_without_its_phase_is_refused(
    fairlead: Fairlead, project: Project
) -> None:
    refused = fairlead("state", "add-decision", "--phase", "?", "--summary", "x")

    assert (refused.exit_code, "[Phase ?]" in project.state) == (2, False)


# --- 24, #2754, #2850, #2833: the status line ----------------------------------------------------

LINES = {
    "a byte order mark": (f"\ufeff{HEAD}", "v1.0 Demo [░░░░░░░░░░] 0% · next plan-phase 1"),
    "a comment in progress": (
        HEAD.replace("progress:\n", "progress:\n  # by hand\n"),
        "v1.0 Demo [░░░░░░░░░░] 0% · next plan-phase 1",
    ),
    "a decimal phase": (
        "---\nmilestone: v1.0\nstatus: executing\n---\n\nPhase: 4.5 of 9 (Hotfix)\n",
        "v1.0 · executing · Hotfix (4.5/9)",
    ),
    "an escape sequence": (
        "---\nmilestone: v1.0\nstatus: \x1b[31mred\n---\n",
        "v1.0 · \\x1b[31mred",
    ),
}


@pytest.mark.parametrize("case", LINES)
def test_defect_24_the_status_line_reads_what_the_full_reader_reads(
    project: Project, case: str
) -> None:
    text, line = LINES[case]
    write(project, "STATE.md", text)

    assert f" │ {line} │ " in shown(project)


def test_defect_24_and_issue_2833_every_step_writes_the_lifecycle_fields(
    project: Project,
) -> None:
    project.events.execution_started("1")
    assert "· Phase 1 executing" in shown(project)
    project.summary("1", 2)
    project.events.plan_completed("1")
    assert "· next execute-phase 2" in shown(project)


def test_issue_2850_the_status_line_shows_the_active_workstream(project: Project) -> None:
    home = project.planning / "workstreams" / "billing"
    home.mkdir(parents=True)
    (project.planning / "STATE.md").rename(home / "STATE.md")
    write(project, "active-workstream", "billing\n")

    assert "v1.0 Demo [░░░░░░░░░░] 0%" in shown(project)


# --- 25, #4697, #3162, #2400, #1070: what is found and what is not -----------------------------------


def test_defect_25_and_issue_4697_a_touched_summary_takes_no_completion_back(
    project: Project,
) -> None:
    project.summary("1", 2)
    home = project.planning / "phases" / "01-core"
    write(project, "config.json", '{"fairlead": {"completion": "verified"}}')
    (home / "01-VERIFICATION.md").write_text("---\nstatus: passed\n---\n", "utf-8")
    os.utime(home / "01-01-SUMMARY.md", (4_000_000_000, 4_000_000_000))

    assert status(project).progress.completed_phases == 1


def test_issue_3162_drift_is_found_on_the_document_that_init_makes(
    fairlead: Fairlead, tmp_path: Path
) -> None:
    fairlead("init", "Demo", "--yes")
    assert fairlead("check").exit_code == 0
    (tmp_path / ".planning" / "phases" / "01-foundation" / "01-01-PLAN.md").write_text("# Plan\n")
    found = fairlead("check")

    assert found.exit_code == 1
    assert "progress.total_plans" in found.stdout


@pytest.mark.parametrize("words", ["Waiting for the plans of phase 2", "Complete ✓"])
def test_issue_2400_and_issue_1070_planned_phase_writes_its_fields_beside_any_status(
    project: Project, words: str
) -> None:
    write(project, "STATE.md", STATE.replace("Status: Ready to plan", f"Status: {words}"))
    project.events.plans_ready("2")

    assert "Phase 2 planning complete — 1 plans ready" in project.state
    assert "  total_plans: 3\n" in project.state


# --- #1101, #1760, #2444, G#657, G#1570, G#1756: sections and other programs -----------------------


def test_issue_1101_a_session_in_bold_lines_gets_its_values(project: Project) -> None:
    head, _, _ = STATE.partition("## Session Continuity")
    bold = "## Session\n\n**Last session:** 2026-05-01\n**Stopped At:** x\n**Resume File:** None\n"
    write(project, "STATE.md", head + bold)
    project.sessions.ended(Stop("Phase 1 P1", ".planning/y.md"))

    assert "**Stopped At:** Phase 1 P1\n**Resume File:** .planning/y.md\n" in project.state


def test_issue_1760_a_document_of_the_template_can_be_pruned(project: Project) -> None:
    decisions = "\n".join(f"- [Phase 1]: Choice {at}" for at in range(60))
    write(project, "STATE.md", STATE.replace("None yet.", decisions, 1))
    project.events.prune()
    archive = (project.planning / "STATE-ARCHIVE.md").read_text("utf-8")

    assert [f"Choice {at}\n" in project.state + archive for at in range(60)] == [True] * 60
    assert len(project.state.splitlines()) <= 100


def test_issue_2444_prose_of_an_archive_section_is_no_field(project: Project) -> None:
    history = "\n## Archive\n\nStatus: Completed\nStopped at: long ago\nPhase: 9 of 9\n"
    write(project, "STATE.md", STATE + history)
    project.events.execution_started("1")
    project.sessions.ended(Stop("Phase 1 P1", ""))

    assert project.state.endswith(history)


def test_issue_657_a_repair_never_empties_a_document(project: Project) -> None:
    broken = STATE.replace("tags: [x,", "tags: [x: y: z,")
    write(project, "STATE.md", broken)
    Doctor(Files(str(project.folder)), TickingClock()).fix()

    assert project.state.count("\n") >= broken.count("\n")


def test_issue_1570_and_issue_1756_a_half_merged_document_is_refused(project: Project) -> None:
    ours, theirs = "status: planning", "status: executing"
    block = f"<<<<<<< HEAD\n{ours}\n=======\n{theirs}\n>>>>>>> worktree-agent-1"
    text = STATE.replace("status: planning", block)
    write(project, "STATE.md", text)

    with pytest.raises(FairleadError, match="conflict"):
        project.events.sync()
    found = compare_project(Reader(str(project.folder))).findings
    assert (project.state, FindingKind.DOCUMENT in {each.kind for each in found}) == (text, True)


def test_issue_1194_and_issue_2219_and_issue_4844_the_meter_follows_the_window_that_is_set(
    project: Project,
) -> None:
    said = json.dumps(
        {
            "workspace": {"current_dir": str(project.folder)},
            "context_window": {"remaining_percentage": 50, "total_tokens": 200000},
        }
    )
    environment = {"HOME": str(project.folder.parent)}
    late = {**environment, "CLAUDE_CODE_AUTO_COMPACT_WINDOW": "200000"}

    assert without_colors(line_of(said, "/", environment)).endswith(" 60%")
    assert without_colors(line_of(said, "/", late)).endswith(" 50%")
