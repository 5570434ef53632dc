"""The active workstream: who names it, in which order, and what is never believed."""

import os
from pathlib import Path

import pytest

from fairlead.store.workstream import (
    active_workstream,
    load_workstream_state,
    session_key,
    session_pointer_path,
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two workstreams, of which one has a state."""
    streams = tmp_path / "project" / ".planning" / "workstreams"
    (streams / "alpha").mkdir(parents=True)
    (streams / "beta").mkdir()
    (streams / "beta" / "STATE.md").write_text("beta's state", "utf-8")
    return tmp_path / "project"


def point(project: Path, name: str) -> None:
    (project / ".planning" / "active-workstream").write_text(f"{name}\n", "utf-8")


def point_for_session(project: Path, temporary: Path, key: str, name: str) -> None:
    path = temporary / session_pointer_path(str(project), key)
    path.parent.mkdir(parents=True)
    path.write_text(name, "utf-8")


def test_without_a_pointer_none_is_active(project: Path):
    assert active_workstream(str(project), {}) == ""


def test_the_projects_pointer_names_it(project: Path):
    point(project, "alpha")

    assert active_workstream(str(project), {}) == "alpha"


def test_the_environment_comes_first(project: Path):
    point(project, "alpha")

    assert active_workstream(str(project), {"GSD_WORKSTREAM": " beta "}) == "beta"


def test_the_sessions_own_pointer_comes_before_the_projects(project: Path, tmp_path: Path):
    point(project, "alpha")
    point_for_session(project, tmp_path, "claude-code-session-id-5f", "beta")
    environment = {"TMPDIR": str(tmp_path), "CLAUDE_CODE_SESSION_ID": "5f"}

    assert active_workstream(str(project), environment) == "beta"


def test_a_session_without_a_pointer_uses_the_projects(project: Path, tmp_path: Path):
    point(project, "alpha")
    environment = {"TMPDIR": str(tmp_path), "CLAUDE_CODE_SESSION_ID": "5f"}

    assert active_workstream(str(project), environment) == "alpha"


def test_a_session_pointer_to_a_missing_workstream_is_not_skipped(project: Path, tmp_path: Path):
    point(project, "alpha")
    point_for_session(project, tmp_path, "claude-code-session-id-5f", "gone")
    environment = {"TMPDIR": str(tmp_path), "CLAUDE_CODE_SESSION_ID": "5f"}

    assert active_workstream(str(project), environment) == ""


@pytest.mark.parametrize("name", ["gone", "../alpha", "a/b", ".hidden", "a b", "a..b", "", "é"])
def test_a_pointer_to_a_missing_workstream_is_ignored(project: Path, name: str):
    point(project, name)

    assert active_workstream(str(project), {}) == ""
    assert active_workstream(str(project), {"GSD_WORKSTREAM": f"../{name}"}) == ""


def test_a_pointer_that_is_a_pipe_is_not_read(project: Path):
    os.mkfifo(project / ".planning" / "active-workstream")

    assert active_workstream(str(project), {}) == ""


@pytest.mark.parametrize(
    ("environment", "key"),
    [
        ({}, ""),
        ({"GSD_SESSION_KEY": "  "}, ""),
        ({"CLAUDE_CODE_SESSION_ID": "ab-1"}, "claude-code-session-id-ab-1"),
        ({"TMUX_PANE": "%3", "CODEX_THREAD_ID": "t 1/2"}, "codex-thread-id-t_1_2"),
        ({"TTY": "/dev/pts/3"}, "tty-pts_3"),
        ({"SSH_TTY": "/dev/pts/4"}, "tty-pts_4"),
        ({"TERM_SESSION_ID": "x" * 200}, "term-session-id-" + "x" * 160),
    ],
)
def test_the_most_specific_variable_identifies_a_session(environment: dict[str, str], key: str):
    assert session_key(environment) == key


def test_the_state_of_a_workstream_is_read(project: Path):
    assert load_workstream_state(str(project), "beta") == "beta's state"


@pytest.mark.parametrize("name", ["alpha", "gone"])
def test_a_workstream_without_a_state_has_none(project: Path, name: str):
    assert load_workstream_state(str(project), name) is None
