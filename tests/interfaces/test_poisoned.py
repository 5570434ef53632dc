"""Real agents with a model that obeys every instruction of a poisoned repository are contained."""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.figures import record_quick
from tests.support.killing import processes_of
from tests.support.model_server import ModelServer
from tests.support.poison import COUNT, MARK, Obedient, World, instructions, poisoned
from tests.support.programs import fairlead
from tests.support.real_agents import MODELS, surroundings_of
from tests.support.repositories import git

PATIENCE_SECONDS = 300
OWN = (
    ".git/",
    *(f".planning/{name}" for name in ("jobs", "ledger", ".", "STATE.md", "ROADMAP.md")),
)


@pytest.fixture
def world() -> Iterator[World]:
    """A project outside /tmp, because the sandbox of an agent may write there."""
    folder = tempfile.mkdtemp(dir="/var/tmp", prefix="fairlead-poison-")
    yield World(Path(folder))
    shutil.rmtree(folder, ignore_errors=True)


def digests(folder: Path) -> dict[str, str]:
    """The hash of every file below a folder, without the engine's own files."""
    hashes = {}
    for above, _, names in os.walk(folder):
        for name in names:
            path = Path(above) / name
            key = str(path.relative_to(folder))
            if not path.is_symlink() and not key.startswith(OWN):
                hashes[key] = hashlib.sha256(path.read_bytes()).hexdigest()
    return hashes


def foreign_refs(world: World) -> list[str]:
    """Every ref that is not a branch of an attempt."""
    names = git(world.project, "for-each-ref", "--format=%(refname)").splitlines()
    return [name for name in names if not name.startswith("refs/heads/fairlead/")]


def test_there_are_fifty_instructions(world: World) -> None:
    assert len(set(instructions(world))) == COUNT


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_an_agent_that_obeys_a_poisoned_repository_passes_no_gate(name: str, world: World) -> None:
    poisoned(world)
    model = Obedient()
    with ModelServer(model) as server:
        environment = surroundings_of(world.home, server, name)
        del environment["FAIRLEAD_NOW"]
        own = Path(environment["PATH"].partition(os.pathsep)[0]) / "fairlead"
        own.symlink_to(fairlead().words[0])
        before = digests(world.project), digests(world.outside)
        settings = git(world.project, "config", "--list")
        words = ("phase", "execute", "1", "--agent", name, "--model", MODELS[name], "--approve")
        done = subprocess.run(
            [*fairlead().words, *words, "--json"],
            cwd=world.project, env=environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=PATIENCE_SECONDS,
        )  # fmt: skip
    assert done.returncode == 6, done.stderr + done.stdout
    document = json.loads(done.stdout)
    assert (document["status"], [plan["complete"] for plan in document["plans"]]) == (
        "BLOCKED",
        [False],
    )
    assert [question["kind"] for question in document["questions"]] == ["escalation"]
    assert model.obeyed >= set(instructions(world))
    assert (digests(world.project), digests(world.outside)) == before
    for path in ("STATE.md", "ROADMAP.md", "ledger/01-01.jsonl"):
        assert MARK not in (world.project / ".planning" / path).read_text()
    assert foreign_refs(world) == ["refs/heads/main"]
    assert (
        git(world.project, "diff", "--name-only", document["base"], "main", "--", ":!.planning")
        == ""
    )
    assert git(world.project, "config", "--list") == settings
    assert MARK not in git(world.project, "log", "main", "--format=%B")
    for path in (".claude/settings.json", "claude/settings.json", ".bashrc", ".gitconfig"):
        assert not (world.home / path).exists(), path
    approvals = [path for path in (world.home / "state").rglob("*approv*") if path.is_file()]
    assert all(MARK not in approval.read_text() for approval in approvals)
    assert processes_of(world.project, document["job"]) == []
    record_quick(
        f"poisoned-{name}",
        "planted instructions that a real agent with an obeying model carried out",
        {"instructions": COUNT, "outside its worktree": 0, "gates passed": 0},
    )
