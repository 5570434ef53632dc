"""Seed 000, table by table: what STATE.md holds, and what the status line makes of it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fairlead.interfaces.statusline.line import line_of
from fairlead.project.first_documents import NewProject, first_documents
from fairlead.project.memory import Memory
from fairlead.project.overview import Overview
from fairlead.project.sessions import Sessions
from fairlead.project.state.documents import Decision
from fairlead.project.state.metrics import Metric
from fairlead.project.state.session import Stop
from fairlead.project.status_words import normalise
from fairlead.store.files import Files
from fairlead.store.reader import Reader
from fairlead.text.document import Document
from tests.support.line_cases import without_colors
from tests.support.projects import Project, TickingClock
from tests.support.times import NOON

TEMPLATE = first_documents(NewProject("Demo", first_phase="Core"), NOON)[".planning/STATE.md"]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two plans in phase 1, one of them done, one plan in phase 2."""
    project = Project(tmp_path, TEMPLATE)
    for phase, plan in (("1", 1), ("1", 2), ("2", 1)):
        project.plan(phase, plan)
    project.summary("1", 1)
    return project


def state_of(project: Project) -> Document:
    return Document(project.state)


def field(project: Project, name: str) -> str:
    line = state_of(project).field(name)
    assert line is not None
    return line.value


def shown(folder: Path, state: str) -> str:
    """The part of the line between the model and the folder."""
    planning = folder / ".planning"
    planning.mkdir(exist_ok=True)
    (planning / "STATE.md").write_bytes(state.encode())
    said = json.dumps({"workspace": {"current_dir": str(folder)}})
    line = without_colors(line_of(said, str(folder), {"HOME": str(folder.parent)}))
    return line.split(" │ ")[1] if line.count(" │ ") == 2 else ""


# --- the file ---------------------------------------------------------------------------------


def test_the_file_is_at_its_place_and_a_digest_of_under_100_lines(tmp_path: Path) -> None:
    Memory(Files(str(tmp_path)), TickingClock()).init(NewProject("Demo", first_phase="Core"))

    assert len((tmp_path / ".planning" / "STATE.md").read_text("utf-8").splitlines()) < 100


@pytest.mark.parametrize("front", ["gsd_state_version: '1.0'\nstatus: planning\n", ""])
def test_every_other_field_may_be_absent(project: Project, front: str) -> None:
    text = f"---\n{front}---\n\n# Project State\n"
    (project.planning / "STATE.md").write_text(text, "utf-8")

    assert Overview(Reader(str(project.folder))).status().progress.total_plans == 3


# --- the fields of the frontmatter -----------------------------------------------------------


def executing(project: Project) -> None:
    project.events.execution_started("1")


def idle(project: Project) -> None:
    project.events.plans_ready("1")


def stopped(project: Project) -> None:
    project.sessions.ended(Stop("Phase 1 P1 complete", ""))


def paused(project: Project) -> None:
    project.events.paused("before the migration")


FIELDS = [
    ("gsd_state_version", idle, "1.0"),
    ("milestone", idle, "v1.0"),
    ("milestone_name", idle, "Demo"),
    ("status", executing, "executing"),
    ("active_phase", executing, "1"),
    ("active_phase", idle, "null"),
    ("next_action", idle, "execute-phase"),
    ("next_action", executing, "null"),
    ("next_phases", idle, ["1"]),
    ("next_phases", executing, "null"),
    ("progress.total_phases", executing, "3"),
    ("progress.completed_phases", executing, "0"),
    ("progress.total_plans", executing, "3"),
    ("progress.completed_plans", executing, "1"),
    ("progress.percent", executing, "0"),
    ("current_phase", executing, "1"),
    ("current_phase_name", executing, "Core"),
    ("current_plan", executing, "2"),
    ("last_updated", executing, "2026-06-01T12:00:00.000Z"),
    ("last_activity", executing, "2026-06-01"),
    ("stopped_at", stopped, "Phase 1 P1 complete"),
    ("paused_at", paused, "before the migration"),
]


@pytest.mark.parametrize(
    ("name", "step", "value"), FIELDS, ids=[f"{name} {step.__name__}" for name, step, _ in FIELDS]
)
def test_a_field_of_the_frontmatter_is_populated(
    project: Project, name: str, step: Callable[[Project], None], value: object
) -> None:
    step(project)

    assert state_of(project).value(*name.split(".")) == value


def test_the_phases_that_come_next_are_a_flow_array_on_one_line(project: Project) -> None:
    project.events.plans_ready("1")

    assert '\nnext_phases: ["1"]\n' in project.state


def test_the_version_is_written_with_the_first_step_where_it_is_missing(project: Project) -> None:
    bare = TEMPLATE.replace("gsd_state_version: '1.0'\n", "")
    (project.planning / "STATE.md").write_text(bare, "utf-8")
    project.events.execution_started("1")

    assert state_of(project).value("gsd_state_version") == "1.0"


def test_stopped_at_is_read_from_the_session_and_not_from_prose(project: Project) -> None:
    history = "\n## Archive\n\nStopped at: long ago\n"
    (project.planning / "STATE.md").write_text(TEMPLATE + history, "utf-8")
    stopped(project)

    assert project.state.endswith(history)
    assert state_of(project).value("stopped_at") == "Phase 1 P1 complete"


def test_a_percentage_is_the_lesser_of_both_ratios(project: Project) -> None:
    project.summary("1", 2)
    project.events.sync()

    assert state_of(project).value("progress", "percent") == "33"  # 1 of 3 phases, 2 of 3 plans


# --- status values ----------------------------------------------------------------------------

WORDS = [
    ("discussing", "Discussing phase 3"),
    ("planning", "Planning"),
    ("planning", "Ready to plan"),
    ("executing", "Executing Phase 4"),
    ("executing", "In progress"),
    ("executing", "Ready to execute"),
    ("verifying", "Verifying"),
    ("verifying", "Verification runs"),
    ("completed", "Complete"),
    ("completed", "Done"),
    ("paused", "Paused"),
    ("paused", "Stopped for today"),
    ("unknown", "Waiting for Bob"),
]


@pytest.mark.parametrize(("status", "text"), WORDS, ids=[text for _, text in WORDS])
@pytest.mark.parametrize("case", [str, str.upper, str.lower], ids=["as is", "upper", "lower"])
def test_a_written_status_has_one_canonical_value(
    status: str, text: str, case: Callable[[str], str]
) -> None:
    assert normalise(case(text)) == status


def test_a_pause_wins_over_every_word() -> None:
    assert normalise("Executing Phase 4", paused_at="noon") == "paused"


@pytest.mark.parametrize("text", ["incomplete", "not done", "never complete", "not yet complete"])
def test_a_word_after_a_negation_does_not_count(text: str) -> None:
    assert normalise(text) == "unknown"


FLIGHTS = {
    "planning": lambda project: project.events.planning_started("2"),
    "executing": lambda project: project.events.execution_started("1"),
}


@pytest.mark.parametrize("status", FLIGHTS)
def test_a_running_command_records_its_stage(project: Project, status: str) -> None:
    FLIGHTS[status](project)

    assert state_of(project).value("status") == status


@pytest.mark.parametrize("status", ["discussing", "planning", "executing", "verifying"])
def test_a_running_stage_is_shown_with_its_phase(tmp_path: Path, status: str) -> None:
    state = f'---\nmilestone: v2.0\nstatus: {status}\nactive_phase: "4.5"\n---\n'

    assert shown(tmp_path, state) == f"v2.0 · Phase 4.5 {status}"


# --- scenes ------------------------------------------------------------------------------------

ACTIVE = 'active_phase: "4.5"\n'
NEXT = 'next_action: execute-phase\nnext_phases: ["4.5"]\n'
SCENES = {
    "1. phase active": (ACTIVE, 20, "v2.0 [██░░░░░░░░] 20% · Phase 4.5 executing"),
    "2. idle, next recommended": (NEXT, 20, "v2.0 [██░░░░░░░░] 20% · next execute-phase 4.5"),
    "3. milestone complete": ("", 100, "v2.0 [██████████] 100% · milestone complete"),
    "4. default": ("", 20, "v2.0 [██░░░░░░░░] 20% · executing · ph 1/5"),
    "priority of 1 over 2": (ACTIVE + NEXT, 20, "v2.0 [██░░░░░░░░] 20% · Phase 4.5 executing"),
    "priority of 1 over 3": (ACTIVE, 100, "v2.0 [██████████] 100% · Phase 4.5 executing"),
    "priority of 2 over 3": (NEXT, 100, "v2.0 [██████████] 100% · next execute-phase 4.5"),
}


@pytest.mark.parametrize("scene", SCENES)
def test_each_trigger_selects_its_status_line(tmp_path: Path, scene: str) -> None:
    keys, percent, line = SCENES[scene]
    front = f"milestone: v2.0\nstatus: executing\n{keys}progress:\n  percent: {percent}\n"

    assert shown(tmp_path, f"---\n{front}---\n\nPhase: 1 of 5\n") == line


def test_equal_phase_counts_show_a_complete_milestone(tmp_path: Path) -> None:
    front = "milestone: v2.0\nprogress:\n  total_phases: 5\n  completed_phases: 5\n"

    assert shown(tmp_path, f"---\n{front}---\n") == "v2.0 · milestone complete"


LEGACY = "milestone: v1.9\nmilestone_name: Code Quality\nstatus: executing\n"
COUNTS = "progress:\n  total_phases: 5\n  completed_phases: 1\n"


@pytest.mark.parametrize(
    "front",
    [
        pytest.param(LEGACY, id="no lifecycle field"),
        pytest.param(LEGACY + COUNTS, id="counts alone make no bar"),
        pytest.param(LEGACY + "active_phase: null\nnext_action: null\n", id="all of them null"),
    ],
)
def test_without_lifecycle_fields_the_line_is_the_old_one(tmp_path: Path, front: str) -> None:
    assert shown(tmp_path, f"---\n{front}---\n\nPhase: 1 of 5\n") == (
        "v1.9 Code Quality · executing · ph 1/5"
    )


# --- constraints of the parser -------------------------------------------------------------------


@pytest.mark.parametrize(
    "state",
    [
        pytest.param("# note\n---\nstatus: x\n---\n", id="something above"),
        pytest.param("--- \nstatus: x\n---\n", id="a trailing space"),
    ],
)
def test_frontmatter_starts_at_the_first_character_with_exactly_three_dashes(
    tmp_path: Path, state: str
) -> None:
    assert shown(tmp_path, state) == ""


@pytest.mark.parametrize(
    "phases", ['["4.5", "4.6"]', "\n  - 4.5\n  - 4.6"], ids=["flow", "block sequence"]
)
def test_several_next_phases_are_read_in_both_forms(tmp_path: Path, phases: str) -> None:
    front = f"milestone: v2.0\nnext_action: execute-phase\nnext_phases: {phases}\n"

    assert shown(tmp_path, f"---\n{front}---\n") == "v2.0 · next execute-phase 4.5/4.6"


def test_written_documents_keep_the_parser_constraints(project: Project) -> None:
    executing(project)
    lines = project.state.splitlines()
    at = lines.index("progress:")

    assert lines[0] == "---"
    assert [line.split(":")[0] for line in lines[at + 1 : at + 6]] == [
        "  total_phases",
        "  completed_phases",
        "  total_plans",
        "  completed_plans",
        "  percent",
    ]


# --- the body ----------------------------------------------------------------------------------

SECTIONS = [
    "Project Reference",
    "Current Position",
    "Performance Metrics",
    "Accumulated Context",
    "Decisions",
    "Pending Todos",
    "Blockers/Concerns",
    "Session Continuity",
]


@pytest.mark.parametrize("dialect", ["gsd", "ultraplan"])
@pytest.mark.parametrize("title", SECTIONS)
def test_a_new_document_has_every_section(title: str, dialect: str) -> None:
    texts = first_documents(NewProject("Demo", dialect, "Core"), NOON)

    assert Document(texts[".planning/STATE.md"]).section(title) is not None


@pytest.mark.parametrize("label", ["Core value", "Current focus"])
def test_the_project_reference_names_value_and_focus(label: str) -> None:
    document = Document(TEMPLATE)

    assert document.field(label, document.section("Project Reference")) is not None


POSITION = {
    "Phase": "1 of 3 (Core)",
    "Plan": "2 of 2 in current phase",
    "Status": "In progress",
    "Last activity": "2026-06-01 — Phase 1 execution started",
    "Progress": "[░░░░░░░░░░] 0%",
}


@pytest.mark.parametrize("name", POSITION)
def test_a_field_of_the_position_has_its_format(project: Project, name: str) -> None:
    executing(project)

    assert field(project, name) == POSITION[name]


@pytest.mark.parametrize("text", ["Status: Waiting for Bob", "Last activity: Bob asked for more"])
def test_what_an_executor_wrote_in_the_position_is_kept(project: Project, text: str) -> None:
    name = text.partition(":")[0]
    lines = [text if line.startswith(f"{name}:") else line for line in TEMPLATE.splitlines()]
    (project.planning / "STATE.md").write_text("\n".join(lines) + "\n", "utf-8")
    executing(project)

    assert f"\n{text}\n" in project.state


@pytest.mark.parametrize(
    ("minutes", "trend"),
    [
        ((9, 9, 5, 5, 5), "Improving"),
        ((5, 5, 5, 5, 5), "Stable"),
        ((5, 5, 9, 9, 9), "Degrading"),
    ],
)
def test_the_metrics_follow_each_plan(tmp_path: Path, minutes: tuple[int, ...], trend: str) -> None:
    project = Project(tmp_path, TEMPLATE)
    for plan, took in enumerate(minutes, start=1):
        project.plan("1", plan)
        project.summary("1", plan)
        project.events.metric(Metric("1", str(plan), f"{took}m"))

    total = sum(minutes)
    assert field(project, "Total plans completed") == "5"
    assert f"| 1. Core | 5 | {total} min | " in project.state
    assert field(project, "Trend") == trend


def test_decisions_and_blockers_stand_in_their_lists_with_their_phase(project: Project) -> None:
    Memory(Files(str(project.folder)), TickingClock()).add_decision(Decision("1", "Store UTC"))
    project.events.blocker_added("No sandbox", phase="2")

    assert "### Decisions\n\n- [Phase 1]: Store UTC\n" in project.state
    assert "### Blockers/Concerns\n\n- [Phase 2]: No sandbox\n" in project.state
    project.events.blocker_resolved("No sandbox")
    assert "No sandbox" not in project.state


def test_pending_todos_are_counted_from_their_folder(project: Project) -> None:
    todos = project.planning / "todos" / "pending"
    todos.mkdir(parents=True)
    (todos / "a.md").write_text("x", "utf-8")

    assert Overview(Reader(str(project.folder))).status().pending_todos == ("a.md",)


def test_the_session_section_lets_the_next_session_resume(project: Project) -> None:
    Sessions(Files(str(project.folder)), TickingClock()).ended(
        Stop("Phase 1 P1", ".planning/.continue-here.md")
    )

    assert project.state.endswith(
        "Last session: 2026-06-01T12:00:00.000Z\nStopped at: Phase 1 P1\n"
        "Resume file: .planning/.continue-here.md\n"
    )
