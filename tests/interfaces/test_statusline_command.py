"""`fairlead statusline` through the command line, and the fast command that it prints."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Fairlead


@pytest.fixture
def fairlead(fairlead: Fairlead, installed: Fairlead) -> Fairlead:
    """The installed program for the status line, because that ends its process itself."""
    return lambda *words, **more: (installed if "statusline" in words else fairlead)(*words, **more)


SAID = '{"model": {"display_name": "Opus"}}'
STATE = "---\nmilestone: v2.0\nstatus: executing\n---\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / ".planning").mkdir(parents=True)
    (folder / ".planning" / "STATE.md").write_text(STATE, "utf-8")
    return folder


def printed(fairlead: Fairlead, *arguments: str) -> list[str]:
    outcome = fairlead("statusline", "--print-command", *arguments)
    assert outcome.exit_code == 0, outcome.stderr
    argv = json.loads(outcome.stdout)["argv"]
    assert isinstance(argv, list)
    return argv


def test_the_command_prints_the_line(fairlead: Fairlead, project: Path):
    outcome = fairlead("statusline", cwd=project, input=SAID)

    assert outcome.stdout == (
        "\x1b[2mOpus\x1b[0m │ \x1b[2mv2.0 · executing\x1b[0m │ \x1b[2mwork\x1b[0m"
    )
    assert (outcome.exit_code, outcome.stderr) == (0, "")


def test_the_command_runs_as_if_started_elsewhere(fairlead: Fairlead, project: Path):
    outcome = fairlead("-C", str(project), "statusline", input=SAID)

    assert "v2.0 · executing" in outcome.stdout


@pytest.mark.parametrize("message", ["", "{", "null"])
def test_the_command_never_fails(fairlead: Fairlead, message: str):
    outcome = fairlead("statusline", input=message)

    assert outcome == (0, "", "")


@pytest.mark.parametrize("arguments", [("--before",), ("true",)])
def test_another_line_needs_a_position_and_a_program(
    fairlead: Fairlead, arguments: tuple[str, ...]
):
    outcome = fairlead("statusline", *arguments, input=SAID)

    assert outcome.exit_code == 2
    assert "--before and --after" in outcome.stderr


def test_the_printed_command_is_one_document_with_an_argument_list(fairlead: Fairlead):
    argv = printed(fairlead)

    assert argv[1:-1] == ["-I", "-S", "-B", "-X", "utf8"]
    assert all(os.path.isabs(word) for word in (argv[0], argv[-1]))


def test_the_printed_command_prints_the_same_line(fairlead: Fairlead, project: Path):
    expected = fairlead("statusline", cwd=project, input=SAID).stdout

    done = subprocess.run(
        printed(fairlead), cwd=project, env={}, input=SAID.encode(), capture_output=True
    )

    assert done.stdout.decode() == expected
    assert done.stderr == b""


def test_the_printed_command_keeps_the_other_line(fairlead: Fairlead, project: Path):
    argv = printed(fairlead, "--after", "/bin/echo", "a b", "--before")

    done = subprocess.run(argv, cwd=project, input=SAID.encode(), capture_output=True)

    assert done.stdout.decode().endswith(" │ a b --before")


def test_the_printed_command_runs_from_bytecode_that_was_installed(fairlead: Fairlead):
    start = Path(printed(fairlead)[-1])
    packages = [start.parent, *(start.parents[2] / name for name in ("core", "store", "text"))]

    assert all((package / "__pycache__").is_dir() for package in packages)


def test_the_fast_start_writes_no_bytecode(project: Path, tmp_path: Path):
    package = tmp_path / "library" / "fairlead"
    source = Path(__file__).resolve().parents[2] / "src" / "fairlead"
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__"))
    start = package / "interfaces" / "statusline" / "__main__.py"
    words = [sys.executable, "-I", "-S", "-B", str(start)]

    done = subprocess.run(words, cwd=project, env={}, input=SAID.encode(), capture_output=True)

    assert "v2.0 · executing" in done.stdout.decode()
    assert list(package.rglob("__pycache__")) == []
