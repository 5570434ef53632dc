"""Jobs that the tree before the move of the packages left behind are known, and can be resumed."""

import contextlib
import io
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fairlead.interfaces.cli import main
from tests.golden.cases import RESUMED, Case, resuming
from tests.golden.kinds import KINDS
from tests.golden.pages import shape_of
from tests.golden.samples import filled
from tests.golden.worlds import JOBS, environment, restore, write_agent
from tools import golden

PRIVATE_BYTES = 300_000


def run(*argv: str) -> tuple[int, dict[str, Any]]:
    """A command in this process with --json: its exit code, and its document."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
        code = main.run([*argv, "--json"])
    document: dict[str, Any] = json.loads(said.getvalue())
    return code, document


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in environment(tmp_path):
        monkeypatch.setenv(name, value)
    programs = tmp_path / "bin"
    programs.mkdir()
    write_agent(programs)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    return tmp_path


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_job_is_listed_and_shown(
    kind: str, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(restore(kind, world))
    code, listed = run("job", "list")
    assert code == 0
    assert listed["jobs"]
    for job in listed["jobs"]:
        assert job["status"] != "DONE"
        code, shown = run("job", "show", job["id"])
        assert (code, shown["ok"]) == (0, True)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_job_is_finished_by_the_same_command(
    kind: str, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = restore(kind, world)
    monkeypatch.chdir(project)
    before = {each["id"] for each in run("job", "list")[1]["jobs"]}
    [job] = before
    words = resuming(kind)
    code, document = run(*(filled(word, world) for word in words))
    assert (code, document["ok"]) == (0, True), document
    assert document["job"] == job, "a new job was started"
    statuses = {each["id"]: each["status"] for each in run("job", "list")[1]["jobs"]}
    assert set(statuses.values()) == {"DONE"}
    assert shape_of(document) == stored_shape(kind)
    left = git(project, "worktree", "list").splitlines()
    assert len(left) == 1


def stored_shape(kind: str) -> dict[str, str]:
    """The shape of the document in the golden file of the command."""
    [command] = [name for name, each in RESUMED.items() if each == kind]
    case = Case(f"job-{kind}", resuming(kind)[len(command.split()) :])
    page = json.loads(golden.stored_files()[golden.file_of(command)])
    shape: dict[str, str] = page["behaviour"]["json"][case.name(command)]
    return shape


def git(folder: Path, *words: str) -> str:
    """What git prints."""
    return subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def test_stored_jobs_are_small_and_name_no_folder_of_this_machine() -> None:
    files = [path for path in JOBS.rglob("*") if path.is_file()]
    contents = [path.read_bytes() for path in files]
    assert sum(map(len, contents)) < PRIVATE_BYTES
    found = [path for path, text in zip(files, contents, strict=True) if b"/tmp/" in text]
    assert found == []
