"""`fairlead phase verify`: exit codes, output, JSON, and dry runs."""

import json
from pathlib import Path

import pytest

from tests.support.programs import Outcome, Program, fairlead, run
from tests.support.trees import documents, read_tree
from tests.support.verification import HOME, Done, a_finished_phase

CHECK = 'python3 -c "import calc; assert calc.add(1, 2) == 3"'
GOOD = Done({"calc.py": "def add(a, b):\n    return a + b\n"}, verify=CHECK)
STUB = Done(
    {"calc.py": "def add(a, b):\n    raise NotImplementedError\n"}, verify="test -f calc.py"
)
RECORD = f"{HOME}/01-VERIFICATION.md"


@pytest.fixture
def world(tmp_path: Path) -> Path:
    return tmp_path


def verify(world: Path, *words: str) -> Outcome:
    settings = {
        "XDG_CONFIG_HOME": str(world / "config"),
        "XDG_STATE_HOME": str(world / "state"),
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    program = Program(fairlead().words, settings)
    return run(program.command(world / "project", "phase", "verify", "1", *words))


def test_a_correct_phase_passes_with_its_own_commands(world: Path):
    a_finished_phase(world / "project", GOOD)

    done = verify(world, "--approve", "--json")

    document = json.loads(done.output)
    assert (done.code, document["ok"], document["status"]) == (0, True, "passed")
    assert document["checks"][0]["evidence"].startswith(f"`{CHECK}` exit 0")


def test_gaps_exit_with_6_in_text_and_json(world: Path):
    a_finished_phase(world / "project", STUB)

    done = verify(world, "--approve")
    again = verify(world, "--json")

    assert done.code == 6
    assert all(text in done.text for text in ("calc.py:1: add ", "[stub-body]"))
    assert "fairlead phase execute 1" in done.text
    assert again.code == 6  # because the plan for the gap is open
    assert json.loads(again.output or again.errors)["ok"] is False


def test_a_dry_run_shows_the_commands_and_changes_nothing(world: Path):
    project = a_finished_phase(world / "project", STUB)
    before = documents(read_tree(project))

    done = verify(world, "--dry-run")

    assert done.code == 0
    assert "test -f calc.py" in done.text
    assert documents(read_tree(project)) == before


def test_an_acceptance_without_a_reason_is_refused(world: Path):
    a_finished_phase(world / "project", STUB)

    assert verify(world, "--approve", "--accept", "stub-body calc.py add").code == 2


def test_an_accepted_finding_is_shown_with_its_reason(world: Path):
    a_finished_phase(world / "project", STUB)

    done = verify(
        world,
        "--approve",
        "--accept",
        "stub-body calc.py add",
        "--reason",
        "phase 2",
        "--by",
        "Ada",
    )

    assert done.code == 0
    assert "accepted  stub-body calc.py add: phase 2 (Ada)" in done.text


def test_a_rehearsal_leaves_the_project_unchanged(world: Path):
    project = a_finished_phase(world / "project", Done(GOOD.files, verify=CHECK, is_git=True))
    before = documents(read_tree(project))

    done = verify(world, "--approve", "--rehearse", "--json")

    assert (done.code, json.loads(done.output)["rehearsed"]) == (0, True)
    assert documents(read_tree(project)) == before
