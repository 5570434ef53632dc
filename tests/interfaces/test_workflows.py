"""New, discuss and plan with the installed command: what is said, which code comes back, what is left."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.programs import Command, Outcome, Program, fairlead, run
from tests.support.repositories import a_repository, git
from tests.support.terminal import run_on_terminal


@pytest.fixture
def world(tmp_path: Path) -> Path:
    a_repository(tmp_path / "project", {"README.md": "a project\n"})
    return tmp_path


def command(world: Path, *words: str) -> Any:
    settings = {
        "XDG_CONFIG_HOME": str(world / "config"),
        "XDG_STATE_HOME": str(world / "state"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "FAIRLEAD_NOW": "",
    }
    return Program(fairlead().words, settings).command(world / "project", *words)


def called(world: Path, *words: str) -> Outcome:
    return run(command(world, *words))


def told(outcome: Outcome) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(outcome.output)
    return content


def begun(world: Path) -> Path:
    """A project with one phase, committed."""
    assert called(world, "init", "Tiny", "--yes").code == 0
    git(world / "project", "add", "--all")
    git(world / "project", "commit", "--quiet", "--message", "begin")
    return world / "project"


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_rehearsed_project_is_whole_and_the_folder_stays_as_it_was(world: Path) -> None:
    before = files_of(world / "project")

    done = called(world, "new", "a desk for tickets", "--rehearse", "--auto", "--json")

    held = told(done)
    assert (done.code, held["status"], held["rehearsed"]) == (0, "DONE", True), done.said
    assert files_of(world / "project") == before
    made = run(command(world, "-C", held["folder"], "check"))
    assert made.code == 0, made.said
    assert [each["role"] for each in held["calls"]].count("project-researcher") == 4


def test_a_dry_run_says_what_each_role_will_receive_and_asks_nobody(world: Path) -> None:
    project = begun(world)
    before = files_of(project)

    done = called(world, "phase", "plan", "1", "--dry-run", "--json")

    held = told(done)
    assert done.code == 0, done.said
    assert [each["role"] for each in held["roles"]] == [
        "phase-researcher",
        "pattern-mapper",
        "planner",
        "plan-checker",
    ]
    assert all(each["pieces"] and each["estimate"]["tokens"] for each in held["roles"])
    assert files_of(project) == before


def test_without_a_terminal_it_waits_and_an_answer_goes_on(world: Path) -> None:
    begun(world)
    words = ("phase", "plan", "1", "--rehearse", "--here", "--json")

    first = called(world, *words)
    held = told(first)
    assert (first.code, held["status"], held["ok"]) == (6, "BLOCKED", False), first.said
    answered = called(world, "job", "answer", held["job"], "continue")
    assert "fairlead phase plan 1" in answered.said
    second = called(world, *words)

    assert (second.code, told(second)["job"]) == (0, held["job"]), second.said
    shown = called(world, "job", "show", held["job"])
    assert "plan-2" in shown.said


def test_plans_that_are_there_are_a_conflict_and_a_phase_that_is_not_a_usage_error(
    world: Path,
) -> None:
    begun(world)
    called(world, "phase", "plan", "1", "--rehearse", "--here", "--auto")

    again = called(world, "phase", "plan", "1", "--json")
    unknown = called(world, "phase", "plan", "9", "--json")

    assert (again.code, told(again)["error"]["code"]) == (4, "plans-there")
    assert (unknown.code, told(unknown)["error"]["code"]) == (2, "unknown-phase")


def test_on_a_terminal_each_area_is_chosen_by_its_number(world: Path) -> None:
    project = begun(world)
    words = command(world, "phase", "discuss", "1", "--rehearse", "--here")

    code, output = run_on_terminal(words, typed=b"2\n3\nmy own way\n", patience=60)

    text = next((project / ".planning/phases").glob("*/*-CONTEXT.md")).read_text("utf-8")
    assert code == 0, output.decode()
    assert "- **D-01:** Shape of the result: the rich way" in text
    assert "- **D-02:** Errors: my own way" in text


def test_without_an_agent_the_rehearsal_is_named(world: Path) -> None:
    begun(world)

    done = called(world, "phase", "discuss", "1", "--auto", "--json", "--agent", "codex")

    assert done.code == 5, done.said
    assert "--rehearse" in told(done)["error"]["hint"]


def test_what_a_waiting_rehearsal_names_can_be_run_as_it_stands(world: Path) -> None:
    begun(world)
    done = called(world, "phase", "discuss", "1", "--rehearse")
    assert done.code == 6, done.said
    for _ in range(2):  # one question for each area
        done = _typed(world, done.said.partition("answer with: ")[2])
        assert done.code == 0, done.said
        done = _typed(world, done.said.partition("Next: ")[2])
    assert done.code == 0, done.said
    done = _typed(world, done.said.partition("next     ")[2])
    assert "✗" not in _typed(world, done.said.partition("next     ")[2]).said


def _typed(world: Path, line: str) -> Outcome:
    """Type a command that was shown, into the place that it names or that came before."""
    words = shlex.split(line.partition("\n")[0])
    if words[0] == "cd":
        (world / "place").unlink(missing_ok=True)
        (world / "place").symlink_to(words[1])
        words = words[3:]
    assert words[0] == "fairlead"
    made = command(world, *words[1:])
    return run(Command(made.words, (world / "place").resolve(), made.environment))
