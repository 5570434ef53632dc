"""`fairlead new`, `phase discuss` and `phase plan`: output, exit codes and documents."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.programs import Outcome, Program, fairlead, run_here
from tests.support.repositories import a_repository, git, written
from tests.support.terminal import run_on_terminal


@pytest.fixture
def world(tmp_path: Path) -> Path:
    a_repository(tmp_path / "project", {"README.md": "a project\n"})
    argv = [sys.executable, "-m", "fairlead.agents.scripted.program"]
    stub = {"argv": argv, "stream": "claude"}
    settings = json.dumps({"fairlead": {"agents": {"stub": stub}}})
    written(tmp_path / "config/fairlead/config.json", settings)
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
    return run_here(command(world, *words))


def document_of(outcome: Outcome) -> dict[str, Any]:
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


def test_a_rehearsed_project_is_complete_and_the_folder_stays_unchanged(world: Path) -> None:
    before = files_of(world / "project")

    done = called(world, "new", "a tracker for tickets", "--rehearse", "--auto", "--json")

    document = document_of(done)
    assert (done.code, document["status"], document["rehearsed"]) == (0, "DONE", True), done.text
    assert files_of(world / "project") == before
    made = run_here(command(world, "-C", document["folder"], "check"))
    assert made.code == 0, made.text
    assert [call["role"] for call in document["calls"]].count("project-researcher") == 4


def test_a_dry_run_shows_what_each_role_receives_and_asks_no_agent(world: Path) -> None:
    project = begun(world)
    before = files_of(project)

    done = called(world, "phase", "plan", "1", "--dry-run", "--json")

    document = document_of(done)
    assert done.code == 0, done.text
    assert [role["role"] for role in document["roles"]] == [
        "phase-researcher",
        "pattern-mapper",
        "planner",
        "plan-checker",
    ]
    assert all(role["pieces"] and role["estimate"]["tokens"] for role in document["roles"])
    assert files_of(project) == before


def test_without_a_terminal_a_question_waits_for_job_answer(world: Path) -> None:
    begun(world)
    words = ("phase", "plan", "1", "--agent", "stub", "--json")

    first = called(world, *words)
    document = document_of(first)
    assert (first.code, document["status"], document["ok"]) == (6, "BLOCKED", False), first.text
    answered = called(world, "job", "answer", document["job"], "continue")
    assert "fairlead phase plan 1" in answered.text
    second = called(world, *words)

    assert (second.code, document_of(second)["job"]) == (0, document["job"]), second.text
    shown = called(world, "job", "show", document["job"])
    assert "plan-2" in shown.text


def test_existing_plans_are_a_conflict_and_an_unknown_phase_is_a_usage_error(
    world: Path,
) -> None:
    begun(world)
    called(world, "phase", "plan", "1", "--rehearse", "--here", "--auto")

    again = called(world, "phase", "plan", "1", "--json")
    unknown = called(world, "phase", "plan", "9", "--json")

    assert (again.code, document_of(again)["error"]["code"]) == (4, "plans-there")
    assert (unknown.code, document_of(unknown)["error"]["code"]) == (2, "unknown-phase")


def test_on_a_terminal_each_area_is_chosen_by_its_number(world: Path) -> None:
    project = begun(world)
    words = command(world, "phase", "discuss", "1", "--rehearse", "--here")

    code, output = run_on_terminal(words, typed=b"2\n3\nmy own way\n", patience=60)

    text = next((project / ".planning/phases").glob("*/*-CONTEXT.md")).read_text("utf-8")
    assert code == 0, output.decode()
    assert "- **D-01:** Shape of the result: the rich way" in text
    assert "- **D-02:** Errors: my own way" in text


def test_without_an_agent_the_hint_names_the_rehearsal(world: Path) -> None:
    begun(world)

    done = called(world, "phase", "discuss", "1", "--auto", "--json", "--agent", "codex")

    assert done.code == 5, done.text
    assert "--rehearse" in document_of(done)["error"]["hint"]


def test_the_commands_of_a_waiting_workflow_can_be_copied(world: Path) -> None:
    begun(world)
    done = called(world, "phase", "discuss", "1", "--agent", "stub")
    assert done.code == 6, done.text
    for _ in range(2):  # one question per area
        done = _typed(world, done.text.partition("answer with: ")[2])
        assert done.code == 0, done.text
        done = _typed(world, f"{done.text.partition('Next: ')[2].strip()} --agent stub")
    assert done.code == 0, done.text
    done = _typed(world, f"{done.text.partition('next     ')[2].strip()} --agent stub")
    assert done.code == 0, done.text
    assert "✗" not in _typed(world, done.text.partition("next     ")[2]).text


def test_a_rehearsal_without_a_terminal_answers_its_questions(world: Path) -> None:
    begun(world)
    done = called(world, "phase", "discuss", "1", "--rehearse")
    assert (done.code, "answered  the plain way" in done.text) == (0, True)


def _typed(world: Path, line: str) -> Outcome:
    """Run a command as it was printed."""
    words = shlex.split(line.partition("\n")[0])
    assert words[0] == "fairlead"
    return run_here(command(world, *words[1:]))
