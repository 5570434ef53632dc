"""`fairlead install` and `uninstall` with settings in a scratch home."""

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
    members = json.loads(place.read_text("utf-8"))
    assert isinstance(members, dict)
    return members


def handler(members: dict[str, Any], event: str) -> dict[str, Any]:
    hook = members["hooks"][event][-1]["hooks"][0]
    assert isinstance(hook, dict)
    return hook


def test_install_creates_the_settings_and_uninstall_removes_them(
    fairlead: Fairlead, settings: Path
):
    done = fairlead("install", "claude", "--yes", "--json")

    assert done.exit_code == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["ok"]
    assert document["file"] == str(settings)
    members = read(settings)
    assert set(members["hooks"]) == {"Stop", "SessionStart", "PreCompact", "SessionEnd"}
    assert handler(members, "SessionEnd")["timeout"] == 5
    assert members["statusLine"]["type"] == "command"

    assert fairlead("uninstall", "claude").exit_code == 0
    assert not settings.exists()


def test_the_installed_commands_work(fairlead: Fairlead, settings: Path, tmp_path: Path):
    put(tmp_path, PLAN, plan_text())
    put(settings.parent, "settings.json", THEIRS)
    fairlead("install", "claude", "--yes")
    members = read(settings)

    stop = handler(members, "Stop")
    answers = [
        subprocess.run(
            [stop["command"], *stop["args"]], input=message(tmp_path), capture_output=True
        )
        for _ in range(2)
    ]
    line = subprocess.run(
        ["/bin/sh", "-c", members["statusLine"]["command"]], input=b"{}", capture_output=True
    )

    assert [answer.returncode for answer in answers] == [0, 0]
    assert json.loads(answers[0].stdout)["decision"] == "block"
    assert line.stdout == b"mine"  # the folder has no project, and model and folder are theirs


def test_existing_settings_are_restored_byte_for_byte(fairlead: Fairlead, settings: Path):
    put(settings.parent, "settings.json", THEIRS)

    first = fairlead("install", "claude", "--yes")
    again = fairlead("install", "claude")
    out = fairlead("uninstall", "claude")
    over = fairlead("uninstall", "claude")

    assert [each.exit_code for each in (first, again, out, over)] == [0, 0, 0, 0]
    assert str(settings) in first.stdout
    assert '+  "hooks": {' not in first.stdout  # the files are named; --dry-run shows the change
    assert len(first.stdout.splitlines()) < 20
    assert "already" in again.stdout
    assert "not installed" in over.stdout
    assert settings.read_text("utf-8") == THEIRS
    assert [path.name for path in settings.parent.iterdir()] == ["settings.json"]


def test_a_dry_run_writes_nothing(fairlead: Fairlead, settings: Path):
    done = fairlead("install", "claude", "--dry-run")

    assert done.exit_code == 0
    assert '+  "hooks": {' in done.stdout
    assert not settings.parent.exists()


def test_on_a_terminal_it_shows_the_difference_and_asks(
    installed_command: Path, settings: Path, tmp_path: Path
):
    words = (str(installed_command), "install", "claude")

    screen = seen_on_a_terminal(words, tmp_path, dict(os.environ), until="Write this change?")

    assert "skills/fairlead-pause" in screen
    assert "Write this change?" in screen
    assert not settings.exists()


@pytest.mark.parametrize("case", ["a comment", "a key twice", "hooks as a list"])
def test_unreadable_settings_are_refused_and_left_unchanged(
    fairlead: Fairlead, settings: Path, case: str
):
    put(settings.parent, "settings.json", REFUSED[case])

    done = fairlead("install", "claude", "--yes", "--json")

    assert done.exit_code == 3
    assert str(settings) in json.loads(done.stdout)["error"]["message"]
    assert settings.read_text("utf-8") == REFUSED[case]


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_without_a_terminal_installing_needs_yes(
    fairlead: Fairlead, settings: Path, words: tuple[str, ...]
):
    done = fairlead("install", "claude", *words)

    assert done.exit_code == 2
    assert "--yes" in done.stderr
    assert not settings.parent.exists()


def test_tabs_in_the_settings_are_readable(fairlead: Fairlead, settings: Path):
    put(settings.parent, "settings.json", '{\n\t"model": "opus"\n}\n')

    done = fairlead("install", "claude", "--dry-run")

    assert '+    "hooks": {' in done.stdout
    assert "\\x09" not in done.stdout


@pytest.mark.parametrize(
    ("host", "text"),
    [("claude", "/fairlead-status"), ("codex", "$fairlead-status"), ("gemini", "/fairlead-status")],
)
def test_installing_ends_with_what_to_type_in_the_chat(fairlead: Fairlead, host: str, text: str):
    done = fairlead("install", host, "--yes")

    assert f"type in the chat:  {text}" in done.stdout


def test_host_folders_from_the_environment_are_used(fairlead: Fairlead, tmp_path: Path):
    folders = {"CLAUDE_CONFIG_DIR": str(tmp_path / "c"), "CODEX_HOME": str(tmp_path / "x")}

    assert fairlead("install", "claude", "--yes", env=folders).exit_code == 0
    assert fairlead("install", "codex", "--yes", env=folders).exit_code == 0
    assert (tmp_path / "c" / "settings.json").is_file()
    assert (tmp_path / "x" / "hooks.json").is_file()


def test_shared_settings_contain_no_path(fairlead: Fairlead, tmp_path: Path):
    fairlead("install", "claude", "--scope", "project", "--no-statusline", "--yes")

    text = (tmp_path / ".claude" / "settings.json").read_text("utf-8")
    stop = handler(json.loads(text), "Stop")
    assert stop["command"] == "fairlead"
    assert stop["args"] == ["hook", "stop", "--source", "claude-project"]
    assert "statusLine" not in text
    assert str(tmp_path.anchor + "tmp") not in text


def test_project_settings_do_not_hide_the_users_status_line(
    fairlead: Fairlead, settings: Path, tmp_path: Path
):
    put(settings.parent, "settings.json", THEIRS)

    done = fairlead("install", "claude", "--scope", "local", "--yes")

    members = read(tmp_path / ".claude" / "settings.local.json")
    assert "your own status line is kept" in done.stderr
    assert "statusLine" not in members
    assert "Stop" in members["hooks"]


def test_codex_gets_stable_commands_and_a_note_about_trust(installed: Fairlead, scratch_home: Path):
    done = installed("install", "codex", "--yes")

    place = scratch_home / ".codex" / "hooks.json"
    words = shlex.split(handler(read(place), "Stop")["command"])
    assert words[1:] == ["hook", "stop"]
    assert Path(words[0]).name == "fairlead"
    assert "trust" in done.stderr
    config = scratch_home / ".codex" / "config.toml"
    assert "trusted_hash" not in config.read_text("utf-8")
    assert "review" in installed("doctor", "hosts").stdout

    events = ("stop", "session_start", "pre_compact", "session_end")
    trust = [
        f'\n[hooks.state."{place}:{event}:0:0"]\ntrusted_hash = "sha256:00"' for event in events
    ]
    config.write_text(config.read_text("utf-8") + "\n".join(trust) + "\n", "utf-8")
    assert "trust" not in installed("install", "codex").stderr
    assert "review" not in installed("doctor", "hosts").stdout


def test_codex_has_no_local_settings(fairlead: Fairlead):
    assert fairlead("install", "codex", "--scope", "local").exit_code == 2
