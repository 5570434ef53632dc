"""`fairlead phase`, `roadmap` and `milestone`: output, JSON and exit codes."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Fairlead

NOW = {"FAIRLEAD_NOW": "2026-06-01T12:00:00Z"}


@pytest.fixture
def project(fairlead: Fairlead, tmp_path: Path) -> Path:
    """A project whose phase 1 is complete and whose phase 2 has a folder."""
    assert fairlead("init", "Ticket tracker", "--yes", env=NOW).exit_code == 0
    home = tmp_path / ".planning" / "phases" / "01-foundation"
    (home / "01-01-PLAN.md").write_text("<task >x\n", "utf-8")
    (home / "01-01-SUMMARY.md").write_text("done\n", "utf-8")
    assert fairlead("phase", "add", "Search", env=NOW).exit_code == 0
    return tmp_path


def report(fairlead: Fairlead, *words: str) -> dict[str, Any]:
    done = fairlead(*words, "--json")
    assert done.exit_code == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["version"], document["ok"]) == (1, True)
    assert isinstance(document, dict)
    return document


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("verb", ["show", "analyze"])
def test_the_roadmap_is_shown_as_the_files_prove_it(fairlead: Fairlead, verb: str) -> None:
    document = report(fairlead, "roadmap", verb)
    assert (document["current_phase"], document["next_phase"]) == ("2", "2")
    assert (document["phase_count"], document["completed_phases"]) == (2, 1)
    assert (document["total_plans"], document["total_summaries"]) == (1, 1)
    assert (document["progress_percent"], document["scope"]) == (50, "milestone v1.0, phases 1-2")
    phases = document["phases"]
    result = {key: phases[0][key] for key in ("number", "name", "plan_count", "summary_count")}
    assert result == {"number": "1", "name": "Foundation", "plan_count": 1, "summary_count": 1}
    wanted = {"goal", "depends_on", "has_context", "has_research", "disk_status"}
    assert wanted <= set(phases[0])
    assert phases[0]["roadmap_complete"] is False


@pytest.mark.usefixtures("project")
def test_the_printed_table_is_aligned(fairlead: Fairlead) -> None:
    lines = fairlead("roadmap", "show").stdout.splitlines()
    rows = [line for line in lines if line.startswith("☐")]
    assert [row.index(name) for row, name in zip(rows, ("Foundation", "Search"), strict=True)] == [
        rows[0].index("Foundation")
    ] * 2
    assert lines[-1] == "50%  1/2 phases, 1/1 plans  (milestone v1.0, phases 1-2)"


@pytest.mark.usefixtures("project")
def test_one_phase_is_shown_with_its_summaries(fairlead: Fairlead) -> None:
    document = report(fairlead, "phase", "show", "01")
    assert [(plan["id"], plan["proof"]) for plan in document["plans"]] == [("01-01", "complete")]
    assert document["files"] == ["01-01-PLAN.md", "01-01-SUMMARY.md"]
    assert "01-01  complete" in fairlead("phase", "show", "1").stdout


@pytest.mark.usefixtures("project")
def test_one_section_of_the_roadmap_is_shown(fairlead: Fairlead) -> None:
    document = report(fairlead, "roadmap", "phase", "2")
    assert (document["name"], document["depends_on"]) == ("Search", "Phase 1")
    assert str(document["section"]).startswith("### Phase 2: Search")
    assert fairlead("roadmap", "phase", "2").stdout.startswith("### Phase 2: Search\n")


@pytest.mark.usefixtures("project")
def test_a_milestone_is_completed_and_the_next_one_opened(fairlead: Fairlead) -> None:
    assert fairlead("phase", "remove", "2", env=NOW).exit_code == 0
    assert fairlead("phase", "complete", "1", env=NOW).exit_code == 0
    assert "already complete" in fairlead("phase", "complete", "1", env=NOW).stdout
    assert fairlead("milestone", "complete", "v1.0", env=NOW).exit_code == 0
    assert "already shipped" in fairlead("milestone", "complete", "v1.0", env=NOW).stdout
    assert fairlead("milestone", "new", "v1.1", "Security", env=NOW).exit_code == 0
    assert report(fairlead, "phase", "add", "Locks")["phase"] == "2"
    listed = report(fairlead, "milestone", "list")["milestones"]
    assert [each["version"] for each in listed] == ["v1.0", "v1.1"]
    archived = report(fairlead, "phase", "list", "--archived")["phases"]
    assert [each["name"] for each in archived] == ["foundation"]
    assert fairlead("check").exit_code == 0


REFUSED = [
    pytest.param(("phase", "complete", "7"), 2, "unknown-phase", id="defect 17"),
    pytest.param(("phase", "complete", "2"), 6, "no-plans", id="no plans"),
    pytest.param(("phase", "complete", "x"), 2, "malformed-id", id="not a number"),
    pytest.param(("phase", "remove", "1"), 4, "phase-started", id="work in it"),
    pytest.param(("phase", "insert", "9", "X"), 2, "unknown-phase", id="insert after nothing"),
    pytest.param(("phase", "add", " "), 2, "unwritable-value", id="no name"),
    pytest.param(("milestone", "complete", "v1.0"), 6, "milestone-open", id="open phases"),
    pytest.param(("milestone", "complete", "v2.0"), 2, "unknown-milestone", id="another one"),
    pytest.param(("milestone", "new", "v1.1", "X"), 6, "milestone-not-closed", id="not closed"),
    pytest.param(("milestone", "new", "..", "X"), 2, "malformed-id", id="no version"),
    pytest.param(("milestone", "new", "v2.0"), 2, "milestone-unnamed", id="no name"),
]


@pytest.mark.parametrize(("words", "code", "name"), REFUSED)
def test_defect_26_a_refusal_has_its_code_and_changes_nothing(
    fairlead: Fairlead, project: Path, words: tuple[str, ...], code: int, name: str
) -> None:
    def tree() -> dict[str, bytes]:
        files = (path for path in project.rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in files if ".fairlead" not in path.parts}

    before = tree()
    refused = fairlead(*words, "--json")
    assert (refused.exit_code, json.loads(refused.stdout)["error"]["code"]) == (code, name)
    assert tree() == before


@pytest.mark.parametrize(
    "words",
    [
        ("phase", "add", "X"),
        ("phase", "insert", "1", "X"),
        ("phase", "remove", "2"),
        ("phase", "complete", "1"),
        ("roadmap", "update-progress"),
        ("milestone", "complete", "v1.0", "--force", "--reason", "r"),
    ],
    ids=" ".join,
)
def test_a_dry_run_says_what_would_change_and_changes_nothing(
    fairlead: Fairlead, project: Path, words: tuple[str, ...]
) -> None:
    before = sorted(str(path) for path in project.rglob("*"))
    state = (project / ".planning/STATE.md").read_bytes()
    dry = fairlead(*words, "--dry-run")
    assert (dry.exit_code, "Nothing was written" in dry.stdout) == (0, True)
    assert sorted(str(path) for path in project.rglob("*")) == before
    assert (project / ".planning/STATE.md").read_bytes() == state


@pytest.mark.usefixtures("project")
def test_a_moved_folder_is_reported(fairlead: Fairlead) -> None:
    document = report(fairlead, "phase", "remove", "2")
    moved: dict[str, str] = document["moved"][0]
    assert len(document["moved"]) == 1
    assert moved["from"] == ".planning/phases/02-search"
    assert moved["to"].startswith(".planning/.fairlead/removed/")


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("group", ["phase", "roadmap", "milestone"])
def test_every_command_has_help_with_an_example(fairlead: Fairlead, group: str) -> None:
    names = re.findall(r"^  ([a-z][a-z-]*)  ", fairlead(group, "--help").stdout, re.MULTILINE)
    assert names
    for name in names:
        assert f"Example: fairlead {group} {name}" in fairlead(group, name, "--help").stdout


@pytest.mark.usefixtures("project")
def test_the_plans_of_a_phase_are_shown_with_their_faults(fairlead: Fairlead) -> None:
    document = report(fairlead, "phase", "plans", "1")
    assert (document["phase"], document["waves"], document["incomplete"]) == (
        "1",
        {"1": ["01-01"]},
        [],
    )
    result = fairlead("phase", "plans", "1")
    assert result.exit_code == 0
    assert "01-01-PLAN.md:1: error: the frontmatter lacks phase" in result.stdout


def test_a_changed_ledger_is_reported_with_its_position(fairlead: Fairlead, project: Path) -> None:
    assert fairlead("check", "--ledger").exit_code == 0
    ledger = project / ".planning" / "ledger"
    ledger.mkdir()
    (ledger / "01-01.jsonl").write_text('{"v":1,"hash":"x"}\n', "utf-8")
    done = fairlead("check", "--ledger", "--json")
    assert done.exit_code == 1
    document = json.loads(done.stdout)
    assert (document["is_clean"], document["findings"][0]["line"]) == (False, 1)
    assert ".planning/ledger/01-01.jsonl:1: " in fairlead("check", "--ledger").stdout
