"""`fairlead` without a command: the situation, and commands that work."""

import json
import os
import shlex
from pathlib import Path

import pytest

from fairlead.project.surroundings import surroundings_of
from tests.conftest import Fairlead
from tests.support.programs import Command
from tests.support.terminal import OWN_COLOURS, run_on_terminal


def put_program(folder: Path, name: str, login_code: int) -> None:
    """An agent program that only tells its version and whether it is logged in."""
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(
        f'#!/bin/sh\ncase "$*" in *status*) exit {login_code};; *) echo 1.2.3;; esac\n'
    )
    program.chmod(0o755)


def start(fairlead: Fairlead, *words: str, **env: str) -> dict[str, object]:
    done = fairlead(*words, "--json", env=env)
    assert done.exit_code == 0, done.stderr
    document = json.loads(done.stdout)
    assert isinstance(document, dict)
    return document


def commands_of(document: dict[str, object]) -> list[str]:
    choices = document["choices"]
    assert isinstance(choices, list)
    return [choice["command"] for choice in choices]


def test_outside_a_project_every_offered_command_of_ours_works(
    fairlead: Fairlead, tmp_path: Path
) -> None:
    (tmp_path / "shop").mkdir()
    assert fairlead("-C", str(tmp_path / "shop"), "init", "Shop", "--yes").exit_code == 0
    document = start(fairlead)
    assert (document["is_project"], document["projects"]) == (False, ["shop"])
    offered = commands_of(document)
    assert offered[:2] == ["fairlead -C shop status", "fairlead demo"]
    for command in offered:
        words = shlex.split(command)[1:]
        code = (
            0 if words == ["demo"] else fairlead(*words).exit_code
        )  # the demo has tests of its own
        assert code == (5 if words == ["doctor", "agents"] else 0), command
    assert start(fairlead)["is_project"] is True  # the last of them made a project


@pytest.mark.parametrize(
    ("code", "login", "offered"),
    [(0, "logged in", 'fairlead new "YOUR IDEA"'), (1, "not logged in", "claude auth login")],
)
def test_an_agent_is_shown_with_version_and_login(
    fairlead: Fairlead, tmp_path: Path, code: int, login: str, offered: str
) -> None:
    put_program(tmp_path / "bin", "claude", code)
    work = tmp_path / "work"
    work.mkdir()
    document = start(fairlead, "-C", str(work), PATH=f"{tmp_path / 'bin'}:/usr/bin:/bin")
    agents = document["agents"]
    assert isinstance(agents, list)
    assert [(each["name"], each["version"], each["login"]) for each in agents] == [
        ("claude", "1.2.3", login)
    ]
    assert offered in commands_of(document)


def test_files_of_other_tools_are_named_and_a_plain_backlog_folder_is_not(tmp_path: Path) -> None:
    (tmp_path / ".specify").mkdir()
    (tmp_path / "backlog").mkdir()
    assert [tool.name for tool in surroundings_of(str(tmp_path)).tools] == ["Spec Kit"]
    (tmp_path / "backlog" / "tasks").mkdir()
    assert [tool.name for tool in surroundings_of(str(tmp_path)).tools] == [
        "Spec Kit",
        "Backlog.md",
    ]


def test_links_are_not_followed_and_large_folders_end_the_search(tmp_path: Path) -> None:
    (tmp_path / "real" / ".planning").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for number in range(500):
        (tmp_path / f"z{number:03d}").mkdir()
    assert surroundings_of(str(tmp_path)).projects == ("real",)


def test_inside_a_project_the_next_command_comes_first(fairlead: Fairlead) -> None:
    assert fairlead("init", "Shop", "--yes").exit_code == 0
    following = json.loads(fairlead("next", "--json").stdout)["next"]["command"]
    assert commands_of(start(fairlead))[0] == following
    assert following in fairlead().stdout


def test_json_belongs_behind_a_command(fairlead: Fairlead) -> None:
    done = fairlead("--json", "status")
    assert done.exit_code == 2
    assert "fairlead status --json" in done.stderr


@pytest.mark.parametrize(
    ("typed", "note"),
    [(b"\n", ""), (b"9\n", "9 is not a number from 1 to"), (b"x\n", "x is not a number")],
)
def test_a_terminal_is_asked_and_may_choose_nothing(
    installed_command: Path, scratch_home: Path, tmp_path: Path, typed: bytes, note: str
) -> None:
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    command = Command((str(installed_command),), tmp_path, environment)
    code, output = run_on_terminal(command, typed=typed)
    shown = OWN_COLOURS.sub("", output.decode())
    assert (code, "1  fairlead demo" in shown, "which one" in shown) == (0, True, True)
    assert note in shown
    assert ("nothing was run" in shown) == bool(note)
    assert not list(tmp_path.glob(".planning"))


def test_a_rehearsal_that_has_begun_is_offered(fairlead: Fairlead, tmp_path: Path) -> None:
    offered = "fairlead rehearsal show"
    assert offered not in fairlead().stdout
    assert fairlead("new", "A list", "--auto", "--rehearse").exit_code == 0
    assert offered in fairlead().stdout
    assert fairlead("init", "Shop", "--yes").exit_code == 0
    assert offered in fairlead().stdout
    assert fairlead("rehearsal", "discard").exit_code == 0
    assert offered not in fairlead().stdout
