"""`fairlead phase verify` as it is called: exit codes, words, JSON, and what a dry run leaves alone."""

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


def test_a_phase_that_holds_passes_with_its_own_commands(world: Path):
    a_finished_phase(world / "project", GOOD)

    done = verify(world, "--approve", "--json")

    told = json.loads(done.output)
    assert (done.code, told["ok"], told["status"]) == (0, True, "passed")
    assert told["checks"][0]["evidence"].startswith(f"`{CHECK}` exit 0")


def test_gaps_are_exit_6_in_code_words_and_json_alike(world: Path):
    a_finished_phase(world / "project", STUB)

    done = verify(world, "--approve")
    again = verify(world, "--json")

    assert done.code == 6
    assert "calc.py:1: add says itself that it is not implemented  [stub-body]" in done.said
    assert "fairlead phase execute 1" in done.said
    assert again.code == 6  # its patch plan is open now
    assert json.loads(again.output or again.errors)["ok"] is False


def test_a_dry_run_shows_the_commands_and_changes_nothing(world: Path):
    project = a_finished_phase(world / "project", STUB)
    before = documents(read_tree(project))

    done = verify(world, "--dry-run")

    assert done.code == 0
    assert "test -f calc.py" in done.said
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
    assert "accepted  stub-body calc.py add: phase 2 (Ada)" in done.said


def test_a_rehearsal_leaves_the_project_as_it_is(world: Path):
    project = a_finished_phase(world / "project", Done(GOOD.files, verify=CHECK, is_git=True))
    before = documents(read_tree(project))

    done = verify(world, "--approve", "--rehearse", "--json")

    assert (done.code, json.loads(done.output)["rehearsed"]) == (0, True)
    assert documents(read_tree(project)) == before
