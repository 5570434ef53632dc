"""What a person sees in a terminal: the page of `status`, and the questions of `init`."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.peculiar import BASE, put, state
from tests.support.programs import Command
from tests.support.terminal import OWN_COLOURS, faults_in, run_on_terminal


@pytest.fixture
def on_terminal(installed_command: Path, tmp_path: Path):
    """Run the command on a terminal; return its exit code and output."""

    def run(*words: str, typed: bytes = b"", **more: str) -> tuple[int, str]:
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", **more}
        command = Command((str(installed_command), *words), tmp_path, environment)
        code, output = run_on_terminal(command, typed=typed)
        return code, output.decode()

    return run


def test_status_draws_a_bar_per_phase_and_shows_the_next_command(
    on_terminal, tmp_path: Path
) -> None:
    put(tmp_path, BASE)
    code, shown = on_terminal("status")
    lines = [line.rstrip() for line in OWN_COLOURS.sub("", shown).splitlines()]

    assert code == 0
    assert faults_in(shown.encode(), is_terminal=True) == []
    assert "  ✓  1  Login   ━━━━━━━━━━━━  1/1  complete" in lines
    assert "  ◐  2  Search  ━━━━━━──────  1/2  partial" in lines
    assert "Phase 2 (Search): In progress, plan 02-02 is open" in lines
    assert any(line.startswith("next  fairlead phase execute 2") for line in lines)


def test_status_counts_the_differences(on_terminal, tmp_path: Path) -> None:
    put(tmp_path, state(("percent: 50", "percent: 40")))

    assert (
        "1 difference between the documents and the files" in on_terminal("status", NO_COLOR="1")[1]
    )


@pytest.mark.parametrize("more", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_without_colours_only_text_is_written(on_terminal, tmp_path: Path, more) -> None:
    put(tmp_path, BASE)

    assert faults_in(on_terminal("status", **more)[1].encode()) == []
    assert "\x1b" not in on_terminal("status", **more)[1]


def test_a_text_with_control_characters_is_made_visible(on_terminal, tmp_path: Path) -> None:
    put(tmp_path, state(("Keep it small", "[bold]a[/bold] :smile: \x1b]0;x\x07 \u202e")))
    shown = on_terminal("status")[1]

    assert faults_in(shown.encode(), is_terminal=True) == []
    assert r"[bold]a[/bold] :smile: \x1b]0;x\x07 \u202e" in shown


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
@pytest.mark.parametrize(("answer", "is_written"), [(b"y", True), (b"n", False)])
def test_init_in_a_repository_offers_the_merge_driver(
    on_terminal, tmp_path: Path, answer: bytes, is_written: bool
) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    code, shown = on_terminal("init", "Demo", typed=b"\n\n" + answer + b"\n")

    assert (code, "*.md merge=fairlead" in shown) == (0, True)
    assert (tmp_path / ".planning" / ".gitattributes").exists() == is_written


def test_init_outside_a_repository_does_not_mention_git(on_terminal, tmp_path: Path) -> None:
    code, shown = on_terminal("init", "Demo", typed=b"\n\n")

    assert (code, "git" in shown) == (0, False)


@pytest.mark.parametrize("columns", ["40", "80"])
def test_no_line_of_check_is_wider_than_the_terminal(
    on_terminal, tmp_path: Path, columns: str
) -> None:
    put(tmp_path, state(("percent: 50", "percent: 40"), ("status: executing", "status: idle")))
    code, shown = on_terminal("check", NO_COLOR="1", COLUMNS=columns)

    assert code == 1
    assert max(len(line.rstrip()) for line in shown.splitlines()) <= int(columns)
    assert "[percent-differs]" in shown
