"""Workstreams: commands that write use the named one, or the active one."""

import json
import shutil
from pathlib import Path

import pytest

import fairlead as api
from tests.conftest import Fairlead
from tests.support.projects import ROADMAP
from tests.support.states import STATE

VERBS = [
    ("state", "add-decision", "--phase", "1", "--summary", "x"),
    ("state", "add-blocker", "--text", "x"),
    ("state", "begin-phase", "--phase", "1"),
    ("state", "sync"),
    ("state", "record-session", "--stopped-at", "x"),
    ("state", "gate", "start", "--task", "T", "--phase", "1"),
    ("state", "set", "Status", "Waiting"),
    ("phase", "add", "Search"),
    ("phase", "insert", "1", "Hotfix"),
]


@pytest.fixture
def streams(tmp_path: Path) -> Path:
    """Two workstreams, alpha and beta; beta is the active one."""
    planning = tmp_path / ".planning"
    for name in ("alpha", "beta"):
        home = planning / "workstreams" / name
        (home / "phases" / "01-core").mkdir(parents=True)
        (home / "phases" / "01-core" / "01-01-PLAN.md").write_text("# Plan\n", "utf-8")
        (home / "STATE.md").write_text(STATE, "utf-8")
        (home / "ROADMAP.md").write_text(ROADMAP, "utf-8")
    (planning / "active-workstream").write_text("beta\n", "utf-8")
    return planning


def changed(fairlead: Fairlead, *verb: str) -> set[str]:
    done = fairlead(*verb, "--json")
    assert done.exit_code == 0, done.stderr
    return {
        path.split("/")[2] for path in json.loads(done.stdout)["changed"] if "workstreams" in path
    }


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_command_writes_to_the_named_workstream(
    fairlead: Fairlead, streams: Path, verb: tuple[str, ...]
) -> None:
    assert changed(fairlead, *verb, "--ws", "alpha") == {"alpha"}


def test_without_a_name_a_command_writes_to_the_active_workstream(
    fairlead: Fairlead, streams: Path
) -> None:
    assert changed(fairlead, "state", "add-blocker", "--text", "x") == {"beta"}


def test_a_workstream_that_does_not_exist_is_refused(fairlead: Fairlead, streams: Path) -> None:
    refused = fairlead("state", "sync", "--ws", "gamma")

    assert (refused.exit_code, "alpha" in refused.stderr) == (2, True)


def test_the_python_api_writes_to_its_workstream(
    streams: Path,
) -> None:
    project = api.open_project(str(streams.parent), workstream="alpha")
    project.add_decision("1", "Store UTC")
    project.events.blocker_added("No sandbox")
    state = (streams / "workstreams" / "alpha" / "STATE.md").read_text("utf-8")

    assert ("Store UTC" in state, "No sandbox" in state) == (True, True)
    assert (streams / "workstreams" / "beta" / "STATE.md").read_text("utf-8") == STATE


PLACES = [
    ".planning/.continue-here.md",
    ".planning/workstreams/alpha/.continue-here.md",
    ".planning/workstreams/alpha/phases/01-core/.continue-here.md",
    ".ultraplan/state/continue.md",
]


def test_every_command_finds_the_same_hand_overs(fairlead: Fairlead, streams: Path) -> None:
    for path in PLACES:
        (streams.parent / path).parent.mkdir(parents=True, exist_ok=True)
        (streams.parent / path).write_text("# Here\n", "utf-8")
    status = json.loads(fairlead("status", "--ws", "alpha", "--json").stdout)
    shown = json.loads(fairlead("state", "resume", "--show", "--ws", "alpha", "--json").stdout)
    left = json.loads(fairlead("resume", "--ws", "alpha", "--json").stdout)["left"]

    assert sorted(status["continue_files"]) == sorted(PLACES)
    assert sorted(handover["handover"]["path"] for handover in shown["handovers"]) == sorted(PLACES)
    assert sorted(page["path"] for page in left["pages"]) == sorted(PLACES)


def test_next_names_a_command_that_can_be_typed(fairlead: Fairlead, streams: Path) -> None:
    ahead = json.loads(fairlead("next", "--ws", "alpha", "--json").stdout)["next"]["command"]
    active = json.loads(fairlead("next", "--json").stdout)["next"]["command"]

    assert ahead == "fairlead phase execute 1 --ws alpha"
    assert active == "fairlead phase execute 1 --ws beta"
    tried = fairlead(*ahead.split()[1:], "--dry-run")
    assert (tried.exit_code, "Phase 01: Core" in tried.stdout) == (0, True), tried.stderr


@pytest.mark.parametrize("verb", [("check",), ("status",), ("phase", "execute", "2")], ids=" ".join)
def test_a_hint_repeats_the_workstream_option(
    fairlead: Fairlead, streams: Path, verb: tuple[str, ...]
) -> None:
    result = fairlead(*verb, "--ws", "alpha")
    lines = [line for line in (result.stdout + result.stderr).splitlines() if "--ws alpha" in line]
    tried = fairlead(*lines[-1].rpartition("fairlead ")[2].split())

    assert tried.exit_code in (0, 1), tried.stderr


@pytest.mark.parametrize("step", ["discuss", "plan"])
def test_a_workflow_works_in_the_named_workstream(
    fairlead: Fairlead, streams: Path, step: str
) -> None:
    shutil.copytree(streams / "workstreams/alpha/phases", streams / "phases")
    (streams / "STATE.md").write_text(STATE, "utf-8")
    (streams / "ROADMAP.md").write_text("# Roadmap\n\n- [ ] **Phase 7: Other**\n", "utf-8")
    shown = fairlead("phase", step, "2", "--ws", "alpha", "--dry-run")

    assert (shown.exit_code, "Phase 2: API" in shown.stdout) == (0, True), shown.stderr
    assert fairlead("phase", step, "2", "--dry-run").exit_code == 2


def test_gates_of_different_workstreams_are_independent(fairlead: Fairlead, streams: Path) -> None:
    start = ("state", "gate", "start", "--phase", "1", "--task")
    for name in ("alpha", "beta"):
        done = fairlead(*start, f"Task 1: {name}", "--ws", name)
        assert done.exit_code == 0, done.stderr
    fairlead("state", "gate", "executor-success", "--ws", "alpha")
    states = {
        name: (streams / "workstreams" / name / ".continue-here.md").read_text("utf-8")
        for name in ("alpha", "beta")
    }

    assert ("Task 1: alpha" in states["alpha"], "VERIFYING" in states["alpha"]) == (True, True)
    assert ("Task 1: beta" in states["beta"], "EXECUTING" in states["beta"]) == (True, True)
    assert not (streams / ".continue-here.md").exists()
    resumed = fairlead("state", "resume", "--ws", "alpha", "--json")
    assert json.loads(resumed.stdout)["handover"]["task"]["name"] == "Task 1: alpha"


def test_a_hand_over_of_the_project_is_not_resumed_in_a_workstream(
    fairlead: Fairlead, streams: Path
) -> None:
    for name in ("STATE.md", "ROADMAP.md"):
        shutil.copy(streams / "workstreams/alpha" / name, streams / name)
    fairlead("state", "gate", "start", "--phase", "1", "--task", "Task 1: own")
    shown = fairlead("state", "resume", "--ws", "alpha")

    assert (shown.exit_code, shown.stdout.strip()) == (0, "Nothing to resume")


def test_without_an_active_workstream_next_names_one(fairlead: Fairlead, streams: Path) -> None:
    (streams / "active-workstream").unlink()
    ahead = json.loads(fairlead("next", "--json").stdout)["next"]

    assert ahead["reason"] == "the work is in workstreams: alpha, beta"
    assert "phase execute 1" in fairlead(*ahead["command"].split()[1:]).stdout


def test_the_hint_for_a_missing_workstream_document_creates_it(
    fairlead: Fairlead, streams: Path
) -> None:
    begin = ("state", "begin-phase", "--phase", "1", "--ws", "alpha")
    (streams / "workstreams/alpha/STATE.md").unlink()
    refused = fairlead(*begin)
    fairlead(*refused.stderr.strip().rpartition("fairlead ")[2].split())

    assert (refused.exit_code, fairlead(*begin).exit_code) == (2, 0), refused.stderr


def test_without_an_active_workstream_check_checks_all_of_them(
    fairlead: Fairlead, streams: Path
) -> None:
    (streams / "active-workstream").unlink()
    assert fairlead("doctor", "--fix", "--ws", "beta").exit_code == 0

    checked = fairlead("check")
    repaired = fairlead("doctor", "--fix")

    assert checked.exit_code == 1
    assert ".planning/workstreams/alpha/STATE.md:" in checked.stdout
    assert "workstreams/beta" not in checked.stdout
    assert "fairlead doctor --fix --ws alpha" in checked.stdout
    assert "fairlead doctor --ws alpha" in repaired.stdout

    assert fairlead("doctor", "--fix", "--ws", "alpha").exit_code == 0
    assert fairlead("check").exit_code == 0


def test_a_repair_names_everything_that_check_reports_afterwards(
    fairlead: Fairlead, streams: Path
) -> None:
    (streams / "STATE.md").write_text(STATE, "utf-8")
    (streams / "ROADMAP.md").write_text(ROADMAP, "utf-8")
    (streams / "workstreams" / "beta" / "STATE.md").unlink()
    left = json.loads(fairlead("doctor", "--fix", "--json").stdout)["left"]
    findings = json.loads(fairlead("check", "--json").stdout)["findings"]

    reported = {(each["path"], each["line"]) for each in findings if each["is_drift"]}
    assert {(each["finding"]["path"], each["finding"]["line"]) for each in left} == reported
    assert {path.split("/")[2] for path, _ in reported} == {"alpha", "beta"}
    assert {each["means"] for each in left} == {"fix", "create"}
    for each in left:
        name = each["finding"]["path"].split("/")[2]
        assert each["repair"].startswith(f"fairlead doctor --ws {name} --fix")


def test_without_an_active_workstream_a_command_lists_them(
    fairlead: Fairlead, streams: Path
) -> None:
    (streams / "active-workstream").unlink()

    refused = fairlead("state", "add-decision", "--phase", "1", "--summary", "x")

    assert refused.exit_code == 2
    assert "--ws (alpha, beta)" in refused.stderr
