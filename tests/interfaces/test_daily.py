"""Everyday commands, quick, pause and resume: output, documents and exit codes."""

import json
from pathlib import Path

import pytest

from tests.support.execution import a_plan
from tests.support.journey import a_journey
from tests.support.killing import a_world
from tests.support.programs import Command, Outcome, Program, fairlead, run_here
from tests.support.terminal import run_on_terminal


@pytest.fixture
def world(tmp_path: Path) -> Path:
    return a_world(tmp_path, (a_plan("01-01", "a.txt"),))


def called(world: Path, *words: str, folder: str = "") -> Outcome:
    """Run a command in its own project, home and environment."""
    settings = {
        "XDG_CONFIG_HOME": str(world / "config"),
        "XDG_STATE_HOME": str(world / "state"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "FAIRLEAD_NOW": "",
    }
    program = Program(fairlead().words, settings)
    return run_here(program.command(Path(folder) if folder else world / "project", *words))


def document_of(outcome: Outcome) -> dict[str, object]:
    content = json.loads(outcome.output)
    assert isinstance(content, dict)
    return content


def test_a_quick_task_is_rehearsed_to_its_end_with_three_calls(world: Path) -> None:
    done = called(world, "quick", "Greet people", "--rehearse", "--approve", "--json")
    document = document_of(done)
    assert (done.code, document["status"]) == (0, "DONE"), done.text
    assert [call["role"] for call in document["calls"]] == ["planner"]  # type: ignore[attr-defined]
    check = called(world, "check", folder=str(document["folder"]))
    assert check.code == 0, check.text


def test_a_quick_task_waits_for_an_answer_and_then_continues(world: Path) -> None:
    first = called(world, "quick", "Greet people", "--rehearse", "--json")
    document = document_of(first)
    assert (first.code, document["status"]) == (6, "BLOCKED"), first.text
    place = str(document["folder"])
    waits = document_of(called(world, "next", "--json", folder=place))["waiting"]
    assert [wait["job"] for wait in waits] == [document["job"]]  # type: ignore[attr-defined]
    answered = called(world, "job", "answer", str(document["job"]), "accept", folder=place)
    assert answered.code == 0, answered.text
    assert f"fairlead quick resume {document['quick']}" in answered.text
    shown = called(world, "resume", "--dry-run", folder=place)
    assert shown.code == 0, shown.text


def test_a_dry_run_asks_no_agent_and_shows_the_estimate(world: Path) -> None:
    dry = called(world, "quick", "Greet people", "--dry-run", "--json")
    assert (dry.code, document_of(dry)["calls"]) == (0, 3)
    assert not (world / "project/.planning/quick").exists()


def test_resume_shows_the_pause_in_a_box_with_the_next_command(world: Path) -> None:
    paused = called(world, "pause", "halfway there")
    assert paused.code == 0, paused.text
    shown = called(world, "resume")
    assert shown.code == 0, shown.text
    assert all(word in shown.text for word in ("halfway there", "01-01-PLAN.md", "phase execute 1"))
    assert not (world / "project/.planning/HANDOFF.json").exists()


def test_on_a_terminal_an_empty_line_does_not_approve_the_command(
    tmp_path: Path,
) -> None:
    journey = a_journey(tmp_path)
    journey.do("init", "Tiny", "--yes")
    environment = {**journey.environment, "TERM": "xterm", "COLUMNS": "100"}
    words = (*fairlead().words, "quick", "Greet people")
    command = Command(tuple(words), journey.folder, environment)
    code, shown = run_on_terminal(command, typed=b"\n1\n")
    assert code == 0, shown.decode()
    assert "run this to verify: grep -q" in shown.decode()
    assert journey.do("quick", "list")["quick"][0]["is_done"] is True


def test_the_status_of_an_unknown_quick_task_is_an_error(world: Path) -> None:
    assert called(world, "quick", "status", "260101-000").code == 2
