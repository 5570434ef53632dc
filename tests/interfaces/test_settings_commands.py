"""`config set` accepts only values that mean something; wrong ones in a file stop nothing."""

import json
from pathlib import Path

import pytest

from tests.conftest import Fairlead

CONFIG = ".planning/config.json"


@pytest.fixture
def project(fairlead: Fairlead, tmp_path: Path) -> Path:
    assert fairlead("init", "Ticket tracker", "--yes").exit_code == 0
    return tmp_path


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("mode", "yolo2", "interactive or yolo"),
        ("granularity", "huge", "standard or coarse or fine"),
        ("model_profile", "best", "balanced or quality or budget or adaptive or inherit"),
        ("fairlead.council.seats.skeptic", "nosuch", "claude, codex"),
        ("fairlead.council.fallback", "claude:opus, codx", "claude, codex"),
        ("fairlead.agent", "scripted", "claude, codex"),
        ("fairlead.council.rounds", "many", "a whole number from 1 to 9"),
    ],
)
def test_a_wrong_value_is_refused_with_the_allowed_ones(
    fairlead: Fairlead, project: Path, key: str, value: str, allowed: str
) -> None:
    before = (project / CONFIG).read_bytes()
    done = fairlead("config", "set", key, value, "--json")
    error = json.loads(done.stdout)["error"]
    assert (done.exit_code, error["code"]) == (2, "setting-value")
    assert allowed in error["hint"]
    assert (project / CONFIG).read_bytes() == before


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("fairlead.agent", "auto"),
        ("fairlead.agent", "codex"),
        ("fairlead.council.pm", "claude:opus"),
        ("fairlead.council.fallback", "codex, gemini:pro"),
        ("fairlead.council.seats.skeptic", '""'),
        ("mode", "yolo"),
        ("another.tool", "anything"),
    ],
)
@pytest.mark.usefixtures("project")
def test_a_value_that_means_something_is_accepted(fairlead: Fairlead, key: str, value: str) -> None:
    assert fairlead("config", "set", key, value).exit_code == 0


@pytest.mark.usefixtures("project")
def test_an_agent_that_a_person_describes_can_have_a_seat(fairlead: Fairlead) -> None:
    seat = ("config", "set", "fairlead.council.seats.skeptic", "mine")
    assert fairlead(*seat).exit_code == 2
    described = ("fairlead.agents.mine.argv", '["mine", "{prompt}"]', "--user")
    assert fairlead("config", "set", *described).exit_code == 0
    assert fairlead(*seat).exit_code == 0


def test_wrong_values_in_the_file_stop_no_command(fairlead: Fairlead, project: Path) -> None:
    wrong = {"mode": "yolo2", "granularity": 7, "fairlead": {"agent": "nosuch"}}
    (project / CONFIG).write_text(json.dumps(wrong))
    for command in ("status", "next", "check", "doctor", "config list"):
        assert fairlead(*command.split()).exit_code == 0, command
    assert fairlead("config", "unset", "mode").exit_code == 0
    assert json.loads(fairlead("config", "get", "mode", "--json").stdout)["origin"] == "default"


def test_a_key_without_its_prefix_is_noted(fairlead: Fairlead) -> None:
    assert fairlead("init", "Shop", "--yes").exit_code == 0
    done = fairlead("config", "set", "agent", "claude")
    assert (done.exit_code, "did you mean fairlead.agent?" in done.stderr) == (0, True)
    assert "did you mean" not in fairlead("config", "set", "mode", "yolo").stderr


def test_an_empty_value_is_listed_as_a_dash(fairlead: Fairlead) -> None:
    listed = fairlead("config", "list").stdout.splitlines()
    assert [line.split() for line in listed if line.startswith("fairlead.model ")] == [
        ["fairlead.model", "-", "default"]
    ]
