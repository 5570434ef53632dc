"""Which agents and models a council asks, from the settings and from what is installed."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from fairlead.agents.errors import NoAgent
from fairlead.core.settings import SETTINGS
from fairlead.council.context import council_roster
from fairlead.council.seats import PM, SEAT_NAMES, SYNTHESISER
from fairlead.jobs.roster import AgentDirectory, Roster


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def install(programs: Path, *names: str) -> None:
    for name in names:
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)


def roster(
    place: Path, settings: Mapping[str, object] | None = None, *, is_preview: bool = False
) -> Roster:
    values = {each.key: each.default for each in SETTINGS} | dict(settings or {})
    directory = AgentDirectory(str(place / "project"), values, ())
    return council_roster(directory, is_rehearsed=False, is_preview=is_preview)


def asked(found: Roster, roles: Sequence[str] = SEAT_NAMES) -> list[tuple[str, str]]:
    return [(found.of(role)[0].agent.name, found.of(role)[0].model) for role in roles]


def test_seats_are_spread_over_the_installed_families(programs: Path, tmp_path: Path) -> None:
    install(programs, "claude", "codex")
    found = roster(tmp_path)
    assert [name for name, _ in asked(found)] == ["claude", "codex"] * 3
    assert [each.agent.name for each in found.of("builder")] == ["codex", "claude"]
    assert asked(found, [SYNTHESISER, PM]) == [("claude", "opus"), ("claude", "opus")]
    assert found.of(SYNTHESISER)[1].family == "gpt"


def test_the_synthesiser_is_claude_also_where_another_agent_comes_first(
    programs: Path, tmp_path: Path
) -> None:
    install(programs, "claude", "gemini", "codex")
    assert asked(roster(tmp_path), [SYNTHESISER]) == [("claude", "opus")]


def test_an_agent_that_a_person_chose_has_every_seat(programs: Path, tmp_path: Path) -> None:
    install(programs, "claude", "codex")
    assert {name for name, _ in asked(roster(tmp_path, {"fairlead.agent": "codex"}))} == {"codex"}
    one = roster(tmp_path, {"fairlead.council.seats.security": "codex:o9"})
    assert asked(one, ["security"]) == [("codex", "o9")]


def test_models_of_the_settings_reach_the_council(programs: Path, tmp_path: Path) -> None:
    install(programs, "claude")
    settings = {
        "models.planning": "haiku",
        "model_overrides.security-seat": "claude-x",
        "model_overrides.synthesiser": "claude-y",
    }
    found = roster(tmp_path, settings)
    assert asked(found, ["architect", "security", SYNTHESISER]) == [
        ("claude", "haiku"),
        ("claude", "claude-x"),
        ("claude", "claude-y"),
    ]
    quality = roster(tmp_path, {"model_profile": "quality"})
    assert asked(quality, ["architect"]) == [("claude", "opus")]


def test_a_preview_works_without_any_agent_and_a_run_does_not(
    programs: Path, tmp_path: Path
) -> None:
    shown = roster(tmp_path, is_preview=True)
    assert shown.of("builder")[0].agent.name == "(agent is not installed)"
    with pytest.raises(NoAgent):
        roster(tmp_path)
