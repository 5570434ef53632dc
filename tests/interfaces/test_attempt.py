"""Inside an agent's attempt our own commands only read; nothing is approved or answered there."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.execution import a_plan
from tests.support.killing import THREE, a_world, started
from tests.support.programs import fairlead, scratch_environment
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
    ("config", "set", "--user", "fairlead.agent", "mine"),
    ("install", "claude", "--yes"),
)


def called(folder: Path, world: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*fairlead().words, *words],
        cwd=folder,
        env={**scratch_environment(world), **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


def everything(folder: Path) -> dict[str, bytes]:
    return {str(each): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


@pytest.fixture
def world(installed_command: Path, tmp_path: Path) -> Path:
    return a_world(tmp_path / "world", THREE)


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_f43_a_command_that_writes_is_refused_inside_an_attempt(
    world: Path, words: tuple[str, ...]
) -> None:
    before = everything(world)
    done = called(world / "project", world, *words, **DEPTH)
    assert done.returncode == 4, done.stderr + done.stdout
    assert everything(world) == before


def test_f43_the_refusal_says_why(world: Path) -> None:
    done = called(world / "project", world, *DECIDE, "--json", **DEPTH)
    assert done.returncode == 4
    assert json.loads(done.stdout or done.stderr)["error"]["code"] == "inside-attempt"


def test_f43_a_worktree_of_an_attempt_is_one_without_any_variable(world: Path) -> None:
    project, place = world / "project", world / "attempt"
    git(project, "worktree", "add", "-q", "--detach", str(place))
    own = Path(git(place, "rev-parse", "--absolute-git-dir"))
    (own / "fairlead-attempt").touch()
    assert called(place, world, *DECIDE).returncode == 4
    assert called(place, world, "status").returncode == 0


def test_f43_an_agent_cannot_answer_what_a_person_is_asked(
    installed_command: Path, tmp_path: Path
) -> None:
    world = a_world(tmp_path / "world", [a_plan("01-02", "a.txt", extra=CHECKPOINT)])
    with started(world) as run:
        run.communicate(timeout=120)
    assert run.returncode == 6
    [job] = [each.name for each in (world / "project/.planning/jobs").iterdir()]
    for words in (("job", "answer", job, "approved"), ("job", "cancel", job)):
        done = called(world / "project", world, *words, **DEPTH)
        assert done.returncode == 4, words
        assert "inside an attempt" in done.stderr
    assert called(world / "project", world, "job", "show", job, **DEPTH).returncode == 0
