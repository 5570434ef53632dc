"""`fairlead install` and `uninstall`, as a person runs them: settings in a scratch home."""

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Fairlead
from tests.support.host_settings import REFUSED
from tests.support.hosts import seen_on_a_terminal
from tests.support.plan_files import PLAN, message, plan_text, put

THEIRS = '{\n  "model": "opus",\n  "statusLine": {"type": "command", "command": "echo mine"}\n}\n'


@pytest.fixture
def settings(scratch_home: Path) -> Path:
    return scratch_home / ".claude" / "settings.json"


def read(place: Path) -> dict[str, Any]:
    held = json.loads(place.read_text("utf-8"))
    assert isinstance(held, dict)
    return held


def handler(held: dict[str, Any], event: str) -> dict[str, Any]:
    found = held["hooks"][event][-1]["hooks"][0]
    assert isinstance(found, dict)
    return found


def test_install_makes_the_settings_and_uninstall_removes_them(fairlead: Fairlead, settings: Path):
    done = fairlead("install", "claude", "--json")

    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["ok"]
    assert told["file"] == str(settings)
    held = read(settings)
    assert set(held["hooks"]) == {"Stop", "SessionStart", "PreCompact", "SessionEnd"}
    assert handler(held, "SessionEnd")["timeout"] == 5
    assert held["statusLine"]["type"] == "command"

    assert fairlead("uninstall", "claude").exit_code == 0
    assert not settings.exists()


def test_the_installed_commands_work(fairlead: Fairlead, settings: Path, tmp_path: Path):
    put(tmp_path, PLAN, plan_text())
    put(settings.parent, "settings.json", THEIRS)
    fairlead("install", "claude", "--yes")
    held = read(settings)

    stop = handler(held, "Stop")
    answers = [
        subprocess.run(
            [stop["command"], *stop["args"]], input=message(tmp_path), capture_output=True
        )
        for _ in range(2)
    ]
    line = subprocess.run(
        ["/bin/sh", "-c", held["statusLine"]["command"]], input=b"{}", capture_output=True
    )

    assert [each.returncode for each in answers] == [0, 0]
    assert json.loads(answers[0].stdout)["decision"] == "block"
    assert line.stdout.startswith(b"mine \xe2\x94\x82 ")


def test_what_a_person_had_comes_back_byte_for_byte(fairlead: Fairlead, settings: Path):
    put(settings.parent, "settings.json", THEIRS)

    first = fairlead("install", "claude")
    again = fairlead("install", "claude")
    out = fairlead("uninstall", "claude")
    over = fairlead("uninstall", "claude")

    assert [each.exit_code for each in (first, again, out, over)] == [0, 0, 0, 0]
    assert '+  "hooks": {' in first.stdout  # the difference is shown first
    assert "already" in again.stdout
    assert "not installed" in over.stdout
    assert settings.read_text("utf-8") == THEIRS
    assert [each.name for each in settings.parent.iterdir() if each.is_file()] == ["settings.json"]


def test_a_dry_run_writes_nothing(fairlead: Fairlead, settings: Path):
    done = fairlead("install", "claude", "--dry-run")

    assert done.exit_code == 0
    assert "hooks" in done.stdout
    assert not settings.parent.exists()


def test_on_a_terminal_it_shows_the_difference_and_asks(
    installed_command: Path, settings: Path, tmp_path: Path
):
    words = (str(installed_command), "install", "claude")

    screen = seen_on_a_terminal(words, tmp_path, dict(os.environ), until="Write this?")

    assert '"SessionEnd": [' in screen
    assert "Write this?" in screen
    assert not settings.exists()


@pytest.mark.parametrize("case", ["a comment", "a key twice", "hooks as a list"])
def test_settings_that_cannot_be_read_are_refused_untouched(
    fairlead: Fairlead, settings: Path, case: str
):
    put(settings.parent, "settings.json", REFUSED[case])

    done = fairlead("install", "claude", "--json")

    assert done.exit_code == 3
    assert str(settings) in json.loads(done.stdout)["error"]["message"]
    assert settings.read_text("utf-8") == REFUSED[case]


def test_a_link_in_place_of_the_settings_is_refused(fairlead: Fairlead, settings: Path):
    target = put(settings.parent, "elsewhere.json", "{}\n")
    settings.symlink_to(target)

    assert fairlead("install", "claude").exit_code == 3
    assert target.read_text("utf-8") == "{}\n"


def test_hosts_that_live_elsewhere_are_found(fairlead: Fairlead, tmp_path: Path):
    folders = {"CLAUDE_CONFIG_DIR": str(tmp_path / "c"), "CODEX_HOME": str(tmp_path / "x")}

    assert fairlead("install", "claude", env=folders).exit_code == 0
    assert fairlead("install", "codex", env=folders).exit_code == 0
    assert (tmp_path / "c" / "settings.json").is_file()
    assert (tmp_path / "x" / "hooks.json").is_file()


def test_shared_settings_name_the_program_and_no_place(fairlead: Fairlead, tmp_path: Path):
    fairlead("install", "claude", "--scope", "project", "--no-statusline")

    text = (tmp_path / ".claude" / "settings.json").read_text("utf-8")
    assert handler(json.loads(text), "Stop")["command"] == "fairlead"
    assert "statusLine" not in text
    assert str(tmp_path.anchor + "tmp") not in text


def test_in_a_project_a_persons_own_line_is_not_hidden(
    fairlead: Fairlead, settings: Path, tmp_path: Path
):
    put(settings.parent, "settings.json", THEIRS)

    done = fairlead("install", "claude", "--scope", "local")

    held = read(tmp_path / ".claude" / "settings.local.json")
    assert "your own status line is kept" in done.stderr
    assert "statusLine" not in held
    assert "Stop" in held["hooks"]


def test_codex_gets_texts_that_no_update_changes_and_a_word_about_trust(
    fairlead: Fairlead, scratch_home: Path
):
    done = fairlead("install", "codex")

    place = scratch_home / ".codex" / "hooks.json"
    words = shlex.split(handler(read(place), "Stop")["command"])
    assert words[1:] == ["hook", "stop"]
    assert Path(words[0]).name == "fairlead"
    assert "reviewed" in done.stderr
    assert not (scratch_home / ".codex" / "config.toml").exists()

    trusted = f'[hooks.state."{place}:stop:0:0"]\ntrusted_hash = "sha256:00"\n'
    put(place.parent, "config.toml", trusted)
    assert "reviewed" not in fairlead("install", "codex").stderr


def test_codex_has_no_local_settings(fairlead: Fairlead):
    assert fairlead("install", "codex", "--scope", "local").exit_code == 2
