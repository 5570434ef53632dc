"""The frontmatter of STATE.md: complete after every write, or refused with its line."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from fairlead.app import App
from fairlead.project.errors import DerivedValue, MisplacedFrontmatter
from fairlead.project.health.check import compare_project
from fairlead.project.memory import Memory
from fairlead.project.state.documents import Decision
from fairlead.project.state.edits import TaskOutcome, TaskResult
from fairlead.project.state.header import misplaced_front
from fairlead.project.state.metrics import Metric
from fairlead.project.state.session import Stop
from fairlead.store.files import Files
from fairlead.store.reader import Reader
from fairlead.text.document import Document
from fairlead.text.errors import UnwritableValue
from tests.support.projects import Project, TickingClock
from tests.support.states import STATE

BODY = STATE.partition("\n---\n")[2].lstrip("\n")
FRONT = STATE.removesuffix(BODY)

Event = Callable[[Project], object]
EVENTS: dict[str, Event] = {
    "begin-phase": lambda project: project.events.execution_started("1"),
    "discuss": lambda project: project.events.discussion_started("2"),
    "advance-plan": lambda project: project.events.plan_completed("1", plan="1"),
    "task-result": lambda project: project.events.task_result(
        TaskResult("Task 1", TaskOutcome.FAILURE, "1", "why")
    ),
    "add-blocker": lambda project: project.events.blocker_added("slow"),
    "record-metric": lambda project: project.events.metric(Metric("1", "1", "5m")),
    "record-session": lambda project: project.sessions.ended(Stop("here")),
    "pause": lambda project: project.events.paused("lunch"),
    "add-decision": lambda project: Memory(Files(str(project.folder)), TickingClock()).add_decision(
        Decision("1", "so")
    ),
}


def a_project(folder: Path, state: str) -> Project:
    project = Project(folder, state)
    project.plan("1", 1)
    project.summary("1", 1)
    project.plan("1", 2)
    return project


def drift(project: Project) -> list[str]:
    return [str(each) for each in compare_project(Reader(str(project.folder))).drift]


@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS)
def test_the_first_event_writes_missing_frontmatter(tmp_path: Path, event: Event) -> None:
    project = a_project(tmp_path, BODY)
    event(project)
    front = Document(project.state).shown_front

    assert front["gsd_state_version"] == "1.0"
    assert front["status"] in ("executing", "planning", "paused", "discussing")
    assert "last_updated" in front
    assert front["stopped_at"]
    assert front["last_activity"]
    assert front["progress"] == {
        "total_phases": "3",
        "completed_phases": "0",
        "total_plans": "2",
        "completed_plans": "1",
        "percent": "0",
    }


def test_a_begun_phase_is_active_in_the_new_frontmatter(tmp_path: Path) -> None:
    project = a_project(tmp_path, BODY)
    project.events.execution_started("1")
    front = Document(project.state).shown_front

    assert (front["active_phase"], front["status"]) == ("1", "executing")
    assert front["last_activity"] == "2026-06-01"
    assert drift(project) == []


@pytest.mark.parametrize(
    "key", ["status", "gsd_state_version", "last_updated", "last_activity", "stopped_at"]
)
@pytest.mark.parametrize("event", [EVENTS["begin-phase"], EVENTS["advance-plan"]])
def test_an_event_adds_a_missing_key(tmp_path: Path, event: Event, key: str) -> None:
    lines = [line for line in STATE.splitlines(keepends=True) if not line.startswith(f"{key}:")]
    project = a_project(tmp_path, "".join(lines))
    event(project)

    assert key in Document(project.state).shown_front
    assert drift(project) == []


def test_an_end_adds_the_missing_stop(tmp_path: Path) -> None:
    lines = [line for line in STATE.splitlines(keepends=True) if "stopped_at" not in line]
    project = a_project(tmp_path, "".join(lines))
    EVENTS["advance-plan"](project)

    assert Document(project.state).value("stopped_at") == "Plan 01-01 complete"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("# note\n" + STATE, 2, id="text above"),
        pytest.param("\n" + STATE, 2, id="blank line above"),
        pytest.param(STATE.replace("---\n", "--- \n", 1), 1, id="blanks after the fence"),
        pytest.param("<!-- x -->\n\n" + STATE.replace("---\n", "---\t\n", 1), 3, id="both"),
    ],
)
@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS)
def test_frontmatter_that_is_not_read_is_refused_and_kept(
    tmp_path: Path, text: str, line: int, event: Event
) -> None:
    project = a_project(tmp_path, text)
    with pytest.raises(MisplacedFrontmatter) as caught:
        event(project)

    assert caught.value.line == line
    assert project.state == text


@pytest.mark.parametrize(
    "text",
    [
        STATE,
        BODY,
        "# Project State\n\n---\n\nstatus: fine\n\n---\n",
        "# State\n\n---\n\n## Current Position\n\nPhase: 1 of 3\nStatus: In progress\n\n---\n",
        "\ufeff" + STATE,
        STATE.replace("\n", "\r\n"),
    ],
)
def test_a_rule_or_frontmatter_in_its_place_is_not_misplaced(text: str) -> None:
    assert misplaced_front(text) == 0


# --- fixed values ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [("status", "bogus"), ("status", "Executing"), ("gsd_state_version", "9.9")],
)
def test_a_field_with_fixed_values_takes_no_other(tmp_path: Path, name: str, value: str) -> None:
    project = a_project(tmp_path, STATE)
    with pytest.raises(UnwritableValue):
        project.events.set_value(name, value)


@pytest.mark.parametrize("name", ["current_task.gate_status", "current_task.attempt"])
def test_a_gate_is_not_set_by_hand(tmp_path: Path, name: str) -> None:
    project = a_project(tmp_path, STATE)
    with pytest.raises(DerivedValue):
        project.events.set_value(name, "BOGUS")


def test_the_status_of_the_body_is_free_text(tmp_path: Path) -> None:
    project = a_project(tmp_path, STATE)
    project.events.set_value("Status", "Waiting for the review")

    assert "Status: Waiting for the review" in project.state


# --- status and body ------------------------------------------------------------------------


def with_status(front: str, body: str, more: str = "") -> str:
    text = re.sub(r"^status: .*", f"status: {front}{more}", STATE, flags=re.MULTILINE)
    return re.sub(r"^Status: .*", f"Status: {body}", text, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("front", "body", "more", "right"),
    [
        ("planning", "Executing Phase 1", "", "executing"),
        ("executing", "Paused for lunch", "", "paused"),
        ("executing", "In progress", "\npaused_at: lunch", "paused"),
        ("verifying", "Ready to execute", "", "executing"),
    ],
)
def test_a_status_that_contradicts_the_body_is_reported_and_synced(
    tmp_path: Path, front: str, body: str, more: str, right: str
) -> None:
    project = a_project(tmp_path, with_status(front, body, more))

    assert any(f"status says {front}, the files say {right}" in each for each in drift(project))

    project.events.sync()

    assert Document(project.state).value("status") == right
    assert drift(project) == []


@pytest.mark.parametrize(
    ("front", "body"),
    [
        ("executing", "Executing Phase 1"),
        ("in_progress", "In progress"),
        ("executing", "Plan 02 planning notes are ready, work goes on"),
        ("paused", "Paused for lunch"),
        ("executing", "Waiting for the review"),
    ],
)
def test_a_status_that_agrees_with_the_body_is_not_reported(
    tmp_path: Path, front: str, body: str
) -> None:
    project = a_project(tmp_path, with_status(front, body))

    assert not [each for each in drift(project) if "status" in each.casefold()]


def test_an_event_replaces_a_status_that_is_not_canonical(tmp_path: Path) -> None:
    project = a_project(tmp_path, with_status("idle", "Waiting for Bob"))
    EVENTS["begin-phase"](project)

    assert Document(project.state).value("status") == "executing"


# --- other keys ------------------------------------------------------------------------------


def test_a_resumed_project_has_no_pause_key(tmp_path: Path) -> None:
    project = a_project(tmp_path, STATE)
    project.events.paused("lunch")
    project.sessions.resume()

    assert "paused_at" not in project.state


@pytest.mark.parametrize("items", ['- "1"\n  - "2"', "- 4.5"])
def test_a_block_list_of_next_phases_becomes_a_flow_list(tmp_path: Path, items: str) -> None:
    lines = [line for line in STATE.splitlines() if not line.startswith("next_phases")]
    at = next(i for i, line in enumerate(lines) if line.startswith("status:"))
    lines.insert(at + 1, f"next_phases:\n  {items}")
    project = a_project(tmp_path, "\n".join(lines) + "\n")
    project.events.sync()

    assert '\nnext_phases: ["1"]\n' in project.state


# --- check -----------------------------------------------------------------------------------


def findings(project: Project) -> list[tuple[str, int, bool]]:
    found = compare_project(Reader(str(project.folder))).findings
    return [(str(each.kind), each.line, each.is_drift) for each in found]


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        pytest.param(BODY, ("status-differs", 0, False), id="no frontmatter"),
        pytest.param("# x\n" + STATE, ("document-malformed", 2, True), id="text above"),
        pytest.param("--- " + STATE[3:], ("document-malformed", 1, True), id="blank after fence"),
        pytest.param("", ("document-malformed", 1, True), id="empty"),
        pytest.param(
            re.sub(r"\nstatus: .*", "", STATE), ("status-differs", 1, True), id="no status"
        ),
        pytest.param(
            with_status("idle", "Waiting for Bob"), ("status-differs", 0, False), id="not canonical"
        ),
    ],
)
def test_check_reports_frontmatter_that_is_missing_or_broken(
    tmp_path: Path, text: str, finding: tuple[str, int, bool]
) -> None:
    assert finding in findings(a_project(tmp_path, text))


@pytest.mark.parametrize("text", [BODY, re.sub(r"\nstatus: .*", "", STATE)])
def test_sync_writes_what_the_frontmatter_lacks(tmp_path: Path, text: str) -> None:
    project = a_project(tmp_path, text)
    project.events.sync()

    assert Document(project.state).value("status") == "executing"
    assert project.events.sync().changes == ()


# --- decisions -------------------------------------------------------------------------------

KEY_DECISIONS = "# P\n\n## Key Decisions\n\n| Decision | Rationale | Outcome |\n|---|---|---|\n"


def decide(project: Project, decision: Decision) -> None:
    Memory(Files(str(project.folder)), TickingClock()).add_decision(decision)


@pytest.mark.parametrize("state", [STATE, BODY], ids=["fast", "slow"])
def test_a_decision_reaches_the_table_of_the_project_once(tmp_path: Path, state: str) -> None:
    project = a_project(tmp_path, state)
    page = project.planning / "PROJECT.md"
    page.write_text(KEY_DECISIONS + "\n---\n*Last updated*\n", "utf-8")
    decide(project, Decision("1", "Store times | in UTC", "no surprises"))
    decide(project, Decision("1", "Store times | in UTC", "no surprises"))

    row = "| Store times \\| in UTC | no surprises | — Pending |\n"
    assert page.read_text("utf-8") == KEY_DECISIONS + row + "\n---\n*Last updated*\n"
    assert "- [Phase 1]: Store times | in UTC — no surprises" in project.state


@pytest.mark.parametrize(
    "text", ["# P\n", "# P\n\n## Key Decisions\n\n- prose\n", "<<<<<<< a\n" + KEY_DECISIONS]
)
def test_a_project_page_without_a_table_is_left_alone(tmp_path: Path, text: str) -> None:
    project = a_project(tmp_path, STATE)
    page = project.planning / "PROJECT.md"
    page.write_text(text, "utf-8")
    decide(project, Decision("1", "so"))

    assert page.read_text("utf-8") == text
    assert "- [Phase 1]: so" in project.state


# --- other documents -------------------------------------------------------------------------


def notes(project: Project) -> list[tuple[str, int]]:
    found = compare_project(Reader(str(project.folder))).findings
    return [(each.what, each.line) for each in found if not each.is_drift and each.line]


def line_of(project: Project, label: str) -> int:
    lines = project.state.split("\n")
    return next(at for at, line in enumerate(lines, 1) if line.startswith(label))


def test_sync_follows_the_core_value_and_keeps_the_old_one(tmp_path: Path) -> None:
    project = a_project(tmp_path, STATE)
    page = project.planning / "PROJECT.md"
    page.write_text("# P\n\n## Core Value\n\nTides are right.\n\nMore.\n", "utf-8")
    old = next(line for line in STATE.splitlines() if line.startswith("**Core value:**"))

    assert notes(project) == [("Core value", line_of(project, "**Core value:**"))]

    project.events.sync()

    assert "**Core value:** Tides are right.\n" in project.state
    assert notes(project) == []
    archive = (project.planning / "STATE-ARCHIVE.md").read_text("utf-8")
    assert old.partition("** ")[2] in archive


@pytest.mark.parametrize("name", [".continue-here.md", "notes-for-monday.md"])
def test_a_resume_file_that_does_not_exist_is_noted(tmp_path: Path, name: str) -> None:
    text = STATE.replace("Resume file: None", f"Resume file: .planning/{name}")
    project = a_project(tmp_path, text)

    assert notes(project) == [("Resume file", line_of(project, "Resume file"))]

    (project.planning / name).write_text("x", "utf-8")

    assert notes(project) == []


@pytest.mark.parametrize("words", ["ask Bob", ".planning/../x.md", "docs/x.md", ".planning/a b"])
def test_a_resume_file_that_may_be_words_or_elsewhere_is_not_judged(
    tmp_path: Path, words: str
) -> None:
    text = STATE.replace("Resume file: None", f"Resume file: {words}")

    assert notes(a_project(tmp_path, text)) == []


@pytest.mark.parametrize("text", [STATE.replace("\n---\n", "\n", 1), ""])
def test_of_a_document_that_no_event_writes_no_event_is_announced(
    tmp_path: Path, text: str
) -> None:
    found = findings(a_project(tmp_path, text))

    assert ("document-malformed", 1, True) in found
    assert ("status-differs", 0, False) not in found


@pytest.mark.parametrize(
    "text",
    [
        BODY,
        with_status("idle", "Waiting for Bob"),
        STATE.replace("Resume file: None", "Resume file: .planning/gone.md"),
    ],
)
def test_doctor_promises_no_repair_of_a_note(tmp_path: Path, text: str) -> None:
    project = a_project(tmp_path, text)
    (project.planning / "PROJECT.md").write_text("# P\n\n## Core Value\n\nNew.\n", "utf-8")
    repairs = App(str(project.folder)).doctor.repairs()
    noted = [each for each in repairs if not each.finding.is_drift]

    assert noted
    assert not [each for each in noted if "--fix" in each.how or not each.how.strip()]


def test_lines_are_counted_by_line_feeds(tmp_path: Path) -> None:
    project = a_project(tmp_path, STATE.replace("# Project State", "# Project\r State", 1))
    project.plan("2", 1)
    found = compare_project(Reader(str(project.folder))).drift
    lines = project.state.split("\n")

    assert found
    for each in found:
        assert each.what.rpartition(".")[2].casefold() in lines[each.line - 1].casefold()
