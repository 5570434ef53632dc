"""The commands of `fairlead state`: what they change, print and return."""

import json
from pathlib import Path

import pytest

from tests.conftest import Fairlead
from tests.support.projects import Project
from tests.support.states import STATE


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.plan("1", 1)
    project.plan("1", 2)
    return project


CHANGES = [
    ("planned-phase", "--phase", "1"),
    ("planned-phase", "--phase", "2", "--started"),
    ("begin-phase", "--phase", "1"),
    ("sync",),
    ("task-result", "success", "--task", "T", "--phase", "1"),
    ("task-result", "failure", "--task", "T", "--phase", "1", "--reason", "x"),
    ("record-metric", "--phase", "1", "--plan", "1", "--duration", "5m"),
    ("add-blocker", "--text", "x"),
    ("add-decision", "--phase", "1", "--summary", "x"),
    ("add-roadmap-evolution", "--note", "x", "--phase", "1"),
    ("record-session", "--stopped-at", "x"),
    ("gate", "start", "--task", "T", "--phase", "1"),
    ("pause", "--at", "x"),
    ("wait", "--question", "x?"),
    ("set", "Status", "Waiting for Bob"),
]


@pytest.mark.parametrize("verb", CHANGES, ids=" ".join)
def test_a_command_changes_its_documents_and_nothing_in_a_dry_run(
    fairlead: Fairlead, project: Project, verb: tuple[str, ...]
) -> None:
    before = project.snapshot()
    dry = fairlead("state", *verb, "--dry-run")
    assert (dry.exit_code, project.snapshot()) == (0, before)
    assert "Nothing was written" in dry.stdout

    done = fairlead("state", *verb, "--json")
    report = json.loads(done.stdout)
    assert (done.exit_code, report["ok"], report["version"]) == (0, True, 1)
    changed = {path for path, text in project.snapshot().items() if before.get(path) != text}
    assert set(report["changed"]) == changed


REFUSED = [
    pytest.param(("begin-phase", "--phase", "9"), 2, "unknown-phase", id="17: no such phase"),
    pytest.param(("complete-phase", "--phase", "7"), 2, "unknown-phase", id="17: complete-phase 7"),
    pytest.param(("complete-phase", "--phase", "1"), 6, "plans-open", id="26: plans are open"),
    pytest.param(("advance-plan",), 6, "plans-open", id="19: no summary"),
    pytest.param(("planned-phase", "--phase", "2"), 6, "no-plans", id="26: no plans"),
    pytest.param(("resolve-blocker", "--text", "x"), 2, "no-blocker", id="26: no such blocker"),
    pytest.param(("get", "weather"), 2, "unknown-field", id="26: no such field"),
    pytest.param(("set", "progress.percent", "9"), 2, "derived-value", id="26: a derived value"),
    pytest.param(("set", "status", "completed"), 2, "derived-value", id="a status that is untrue"),
    pytest.param(("set", "Status", "Complete"), 2, "derived-value", id="words that are untrue"),
    pytest.param(
        ("record-metric", "--phase", "7", "--plan", "1", "--duration", "3m"),
        2,
        "unknown-phase",
        id="a metric of no phase",
    ),
    pytest.param(("gate", "approved"), 4, "gate-transition", id="26: a gate that has not started"),
    pytest.param(("resume", "--file", "x.md"), 2, "no-handover", id="26: no such handover"),
    pytest.param(("begin-phase", "--phase", "x"), 2, "malformed-id", id="26: no number"),
    pytest.param(
        ("record-metric", "--phase", "1", "--plan", "1", "--duration", "soon"),
        2,
        "malformed-duration",
        id="26: no duration",
    ),
]


@pytest.mark.parametrize(("verb", "code", "error"), REFUSED)
def test_a_refusal_has_an_exit_code_and_changes_nothing(
    fairlead: Fairlead, project: Project, verb: tuple[str, ...], code: int, error: str
) -> None:
    before = project.snapshot()
    refused = fairlead("state", *verb, "--json")
    report = json.loads(refused.stdout)

    assert (refused.exit_code, report["error"]["code"]) == (code, error)
    assert report["error"]["hint"]
    assert project.snapshot() == before


@pytest.mark.parametrize("verb", CHANGES, ids=" ".join)
def test_defect_16_without_a_project_a_command_fails_at_once(
    fairlead: Fairlead, tmp_path: Path, verb: tuple[str, ...]
) -> None:
    refused = fairlead("state", *verb)

    assert refused.exit_code == 2
    assert "no .planning folder" in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_phase_is_recorded_from_planning_to_completion(
    fairlead: Fairlead, project: Project
) -> None:
    assert fairlead("state", "begin-phase", "--phase", "1").exit_code == 0
    for plan in (1, 2):
        project.summary("1", plan)
        assert fairlead("state", "advance-plan").exit_code == 0
    repeated = fairlead("state", "advance-plan")
    assert (repeated.exit_code, "already" in repeated.stdout) == (0, True)
    assert fairlead("state", "complete-phase", "--phase", "01").exit_code == 0
    assert "Phase: 2 of 3 (API)" in project.state

    again = fairlead("state", "complete-phase", "--phase", "1")
    assert (again.exit_code, "already" in again.stdout) == (0, True)


def test_a_skip_is_recorded_with_its_kind_and_reason(fairlead: Fairlead, project: Project) -> None:
    fairlead("state", "gate", "start", "--task", "Task 3", "--phase", "1")
    fairlead("state", "gate", "executor-success")
    skip = ("state", "gate", "skip", "--kind", "verify")
    assert fairlead(*skip).exit_code == 2
    assert fairlead(*skip, "--reason", "no browser here").exit_code == 0
    assert "skip_kind: verify" in project.state
    assert fairlead("state", "gate", "start", "--task", "Task 4", "--kind", "task").exit_code == 2


def test_a_gate_has_the_attempts_of_the_setting(fairlead: Fairlead, project: Project) -> None:
    assert fairlead("config", "set", "fairlead.execution.attempts", "5").exit_code == 0
    fairlead("state", "gate", "start", "--task", "Task 3", "--phase", "1")
    assert "max_attempts: 5" in project.state


def test_an_interrupted_session_is_offered_and_resumed(
    fairlead: Fairlead, project: Project
) -> None:
    fairlead("state", "gate", "start", "--task", "Task 3", "--phase", "1")
    fairlead("state", "gate", "executor-success")
    shown = fairlead("state", "resume", "--show")
    assert "left behind" in shown.stdout
    assert "Run the verify command of Task 3 again" in shown.stdout

    assert fairlead("state", "resume", "--session", "b").exit_code == 0
    assert fairlead("state", "gate", "verify-passed", env={"FAIRLEAD_SESSION": "b"}).exit_code == 0
    resumed = fairlead("state", "resume", "--fresh")
    assert (resumed.exit_code, "Set aside" in resumed.stdout) == (0, True)
    assert "Nothing to resume" in fairlead("state", "resume").stdout


def test_a_question_waits_until_it_is_cleared(fairlead: Fairlead, project: Project) -> None:
    fairlead("state", "wait", "--question", "Which?", "--option", "A", "--option", "B")
    waiting = json.loads((project.planning / "WAITING.json").read_text("utf-8"))
    assert (waiting["question"], waiting["options"]) == ("Which?", ["A", "B"])

    assert fairlead("state", "wait", "--clear").exit_code == 0
    assert not (project.planning / "WAITING.json").exists()
    assert "No question is waiting" in fairlead("state", "wait", "--clear").stdout


def test_a_field_is_read_and_set(fairlead: Fairlead, project: Project) -> None:
    assert fairlead("state", "get", "milestone").stdout == "v1.0\n"
    assert json.loads(fairlead("state", "get", "progress", "--json").stdout)["value"] == {
        "total_phases": 3,
        "completed_phases": 0,
        "total_plans": 0,
        "completed_plans": 0,
        "percent": 0,
    }
    assert fairlead("state", "get").stdout == STATE
    assert fairlead("state", "set", "Status", "Waiting for Bob").exit_code == 0
    assert "Status: Waiting for Bob" in project.state


def test_prune_moves_old_entries_to_the_archive(fairlead: Fairlead, tmp_path: Path) -> None:
    decisions = "\n".join(f"- [Phase 1]: decision {at}" for at in range(120))
    project = Project(
        tmp_path, STATE.replace("### Decisions\n\nNone yet.", f"### Decisions\n\n{decisions}")
    )
    assert fairlead("state", "prune").exit_code == 0

    archive = (project.planning / "STATE-ARCHIVE.md").read_text("utf-8")
    assert "- [Phase 1]: decision 0\n" in archive
    assert len(project.state.splitlines()) <= 100


def test_status_and_next_show_the_pause_and_the_question(
    fairlead: Fairlead, project: Project
) -> None:
    fairlead("state", "pause", "--at", "Before the migration")
    fairlead("state", "wait", "--question", "Which database?")
    for verb in ("status", "next"):
        shown = fairlead(verb).stdout
        assert "Before the migration   fairlead resume" in shown
        assert "Which database?" in shown
        assert json.loads(fairlead(verb, "--json").stdout)["paused_at"] == "Before the migration"
    (waiting,) = json.loads(fairlead("next", "--json").stdout)["waiting"]
    assert waiting["question"] == "Which database?"
    assert fairlead(*waiting["command"].split()[1:]).exit_code == 0
    assert json.loads(fairlead("next", "--json").stdout)["waiting"] == []
