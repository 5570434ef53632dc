"""Inside an agent's attempt, fairlead commands only read: they approve and answer nothing."""

import json
from pathlib import Path

import pytest

from tests.support.execution import a_plan
from tests.support.killing import THREE, a_world, ran
from tests.support.programs import Command, Outcome, fairlead, run_here, scratch_environment
from tests.support.repositories import git

DEPTH = {"FAIRLEAD_DEPTH": "1"}
CHECKPOINT = (
    '<task type="checkpoint:human-verify" gate="blocking">\n<what-built>A page</what-built>\n'
    "<how-to-verify>Look</how-to-verify>\n<resume-signal>Say so</resume-signal>\n</task>\n"
)
DECIDE = ("state", "add-decision", "--phase", "1", "--summary", "yes")
WRITING = (
    ("phase", "execute", "1", "--approve"),
    ("phase", "execute", "1", "--rehearse", "--here", "--approve"),
    DECIDE,
    ("state", "add-blocker", "--text", "no"),
    ("config", "set", "fairlead.slots", "9"),
    ("config", "set", "--user", "fairlead.agent", "claude"),
    ("install", "claude", "--yes"),
)


def called(folder: Path, world: Path, *words: str, **more: str) -> Outcome:
    return run_here(
        Command((*fairlead().words, *words), folder, {**scratch_environment(world), **more})
    )


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def world(tmp_path: Path) -> Path:
    return a_world(tmp_path / "world", THREE)


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_f43_a_command_that_writes_is_refused_inside_an_attempt(
    world: Path, words: tuple[str, ...]
) -> None:
    before = everything(world)
    done = called(world / "project", world, *words, **DEPTH)
    assert done.code == 4, done.text
    assert everything(world) == before


def test_f43_the_refusal_says_why(world: Path) -> None:
    done = called(world / "project", world, *DECIDE, "--json", **DEPTH)
    assert done.code == 4
    assert json.loads(done.output or done.errors)["error"]["code"] == "inside-attempt"


def test_f43_a_worktree_of_an_attempt_is_recognised_without_the_variable(world: Path) -> None:
    project, place = world / "project", world / "attempt"
    git(project, "worktree", "add", "-q", "--detach", str(place))
    own = Path(git(place, "rev-parse", "--absolute-git-dir"))
    (own / "fairlead-attempt").touch()
    assert called(place, world, *DECIDE).code == 4
    assert called(place, world, "status").code == 0


def test_f43_an_agent_cannot_answer_a_question_for_a_person(tmp_path: Path) -> None:
    world = a_world(tmp_path / "world", [a_plan("01-02", "a.txt", extra=CHECKPOINT)])
    assert ran(world).code == 6
    [job] = [path.name for path in (world / "project/.planning/jobs").iterdir()]
    for words in (("job", "answer", job, "approved"), ("job", "cancel", job)):
        done = called(world / "project", world, *words, "--json", **DEPTH)
        assert done.code == 4, words
        assert json.loads(done.output)["error"]["code"] == "inside-attempt"
    assert called(world / "project", world, "job", "show", job, **DEPTH).code == 0
