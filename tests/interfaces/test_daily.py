"""Everyday work with the installed command: what is said, what is written, which code comes back."""

import json
from pathlib import Path

import pytest

from tests.support.execution import a_plan
from tests.support.journey import a_journey
from tests.support.killing import a_world
from tests.support.programs import Command, Outcome, Program, fairlead, run
from tests.support.terminal import run_on_terminal


@pytest.fixture
def world(tmp_path: Path) -> Path:
    return a_world(tmp_path, (a_plan("01-01", "a.txt"),))


def called(world: Path, *words: str, folder: str = "") -> Outcome:
    """A command in a world of its own."""
    settings = {
        "XDG_CONFIG_HOME": str(world / "config"),
        "XDG_STATE_HOME": str(world / "state"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "FAIRLEAD_NOW": "",
    }
    program = Program(fairlead().words, settings)
    return run(program.command(Path(folder) if folder else world / "project", *words))


def told(outcome: Outcome) -> dict[str, object]:
    content = json.loads(outcome.output)
    assert isinstance(content, dict)
    return content


def test_a_quick_task_is_rehearsed_to_its_end_with_three_calls(world: Path) -> None:
    done = called(world, "quick", "Greet people", "--rehearse", "--approve", "--json")
    held = told(done)
    assert (done.code, held["status"]) == (0, "DONE"), done.said
    assert [each["role"] for each in held["calls"]] == ["planner"]  # type: ignore[attr-defined]
    check = called(world, "check", folder=str(held["folder"]))
    assert check.code == 0, check.said


def test_a_quick_task_waits_for_a_person_and_an_answer_goes_on(world: Path) -> None:
    first = called(world, "quick", "Greet people", "--rehearse", "--json")
    held = told(first)
    assert (first.code, held["status"]) == (6, "BLOCKED"), first.said
    place = str(held["folder"])
    waits = told(called(world, "next", "--json", folder=place))["waiting"]
    assert [each["job"] for each in waits] == [held["job"]]  # type: ignore[attr-defined]
    answered = called(world, "job", "answer", str(held["job"]), "accept", folder=place)
    assert answered.code == 0, answered.said
    assert f"fairlead quick resume {held['quick']}" in answered.said
    shown = called(world, "resume", "--dry-run", folder=place)
    assert shown.code == 0, shown.said


def test_a_dry_run_asks_nobody_and_says_the_price(world: Path) -> None:
    dry = called(world, "quick", "Greet people", "--dry-run", "--json")
    assert (dry.code, told(dry)["calls"]) == (0, 3)
    assert not (world / "project/.planning/quick").exists()


def test_what_was_paused_is_shown_in_a_box_with_the_next_command(world: Path) -> None:
    paused = called(world, "pause", "halfway there")
    assert paused.code == 0, paused.said
    shown = called(world, "resume")
    assert shown.code == 0, shown.said
    assert all(word in shown.said for word in ("halfway there", "01-01-PLAN.md", "phase execute 1"))
    assert not (world / "project/.planning/HANDOFF.json").exists()


def test_on_a_terminal_a_person_agrees_to_the_command_and_an_empty_line_does_not(
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


def test_a_quick_task_that_nobody_knows_has_no_status(world: Path) -> None:
    assert called(world, "quick", "status", "260101-000").code == 2
