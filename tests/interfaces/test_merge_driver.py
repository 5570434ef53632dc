"""The merge driver as git calls it, with two branches."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Fairlead

NEEDS_GIT = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
STATE = ".planning/STATE.md"
NOW = {"FAIRLEAD_NOW": "2026-06-01T12:00:00Z"}


def git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    who = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org"}
    who |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in who.items()}
    return subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**os.environ, **who},
        capture_output=True,
        text=True,
        timeout=900,
    )


def decide(fairlead: Fairlead, summary: str) -> None:
    done = fairlead("state", "add-decision", "--phase", "1", "--summary", summary, env=NOW)
    assert done.exit_code == 0, done.stderr


@pytest.fixture
def repository(fairlead: Fairlead, tmp_path: Path, installed_command: Path) -> Path:
    """A repository with the driver registered, and the branches `main` and `other`."""
    git(tmp_path, "init", "-q", "-b", "main")
    assert fairlead("init", "Ticket tracker", "--yes", env=NOW).exit_code == 0
    registered = json.loads(fairlead("merge-driver", "--register", "--json").stdout)
    for command in registered["commands"]:
        key, value = command.removeprefix("git config ").split(" ", 1)
        driver = value.strip("'").replace(
            "fairlead merge-driver", f"{installed_command} merge-driver"
        )
        assert git(tmp_path, "config", key, driver).returncode == 0
    git(tmp_path, "add", "-A")
    assert git(tmp_path, "commit", "-qm", "begin").returncode == 0
    git(tmp_path, "branch", "other")
    return tmp_path


def on_both_branches(fairlead: Fairlead, repository: Path, change: dict[str, str]) -> None:
    """One commit per branch: a decision, and the given replacements."""
    for branch in ("other", "main"):
        git(repository, "checkout", "-q", branch)
        decide(fairlead, f"Decided on {branch}")
        state = repository / STATE
        text = state.read_text("utf-8")
        for old, new in change.items():
            text = text.replace(old, new.format(branch=branch))
        state.write_text(text, "utf-8")
        assert git(repository, "commit", "-qam", branch).returncode == 0


@NEEDS_GIT
def test_git_merges_decisions_of_two_branches(fairlead: Fairlead, repository: Path) -> None:
    on_both_branches(fairlead, repository, {})
    merged = git(repository, "merge", "-q", "--no-edit", "other")
    assert merged.returncode == 0, merged.stdout + merged.stderr
    text = (repository / STATE).read_text("utf-8")
    assert "- [Phase 1]: Decided on main\n- [Phase 1]: Decided on other\n" in text
    assert "<<<<<<<" not in text


@NEEDS_GIT
def test_git_stops_at_a_field_that_both_branches_changed(
    fairlead: Fairlead, repository: Path
) -> None:
    on_both_branches(fairlead, repository, {"status: planning": "status: paused by {branch}"})
    merged = git(repository, "merge", "-q", "--no-edit", "other")
    text = (repository / STATE).read_text("utf-8")
    assert merged.returncode == 1
    assert (
        "<<<<<<< ours\nstatus: paused by main\n=======\nstatus: paused by other\n>>>>>>> theirs\n"
        in text
    )
    assert "Decided on main\n- [Phase 1]: Decided on other\n" in text


@NEEDS_GIT
def test_git_merges_as_text_without_the_command(fairlead: Fairlead, repository: Path) -> None:
    driver = git(repository, "config", "merge.fairlead.driver").stdout
    missing = driver.replace(driver.split(" ", 1)[0], "/nowhere/fairlead", 1).strip()
    git(repository, "config", "merge.fairlead.driver", missing)
    on_both_branches(fairlead, repository, {})
    git(repository, "merge", "-q", "--no-edit", "other")
    text = (repository / STATE).read_text("utf-8")
    assert "Decided on main" in text
    assert "Decided on other" in text


def versions(folder: Path, base: str, ours: str, theirs: str) -> tuple[str, str, str, str]:
    for name, text in (("base", base), ("ours", ours), ("theirs", theirs)):
        (folder / name).write_text(text, "utf-8")
    return "base", "ours", "theirs", STATE


def test_a_conflict_is_reported_by_exit_code_and_position(
    fairlead: Fairlead, tmp_path: Path
) -> None:
    names = versions(tmp_path, "Owner: -\n", "Owner: A\n", "Owner: B\n")
    merged = fairlead("merge-driver", *names)
    assert merged.exit_code == 1
    assert f"{STATE}:1: conflict in Owner" in merged.stdout


def test_the_report_as_json_has_the_same_facts(fairlead: Fairlead, tmp_path: Path) -> None:
    names = versions(tmp_path, "Owner: -\n", "Owner: A\n", "Owner: B\n")
    report = json.loads(fairlead("merge-driver", "--json", *names).stdout)
    assert not report["ok"]
    assert report["conflicts"] == [{"about": "Owner", "line": 1}]


def test_a_conflict_sets_the_exit_code_without_a_reader(
    tmp_path: Path, installed_command: Path, scratch_home: Path
) -> None:
    names = versions(tmp_path, "Owner: -\n", "Owner: A\n", "Owner: B\n")
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [str(installed_command), "merge-driver", *names], cwd=tmp_path, stdout=writer, timeout=900
    )
    os.close(writer)
    assert done.returncode == 1


def test_a_dry_run_of_registering_writes_nothing(fairlead: Fairlead, tmp_path: Path) -> None:
    fairlead("init", "Ticket tracker", "--yes", env=NOW)
    shown = fairlead("merge-driver", "--register", "--dry-run")
    assert "+*.md merge=fairlead" in shown.stdout
    assert "git config merge.fairlead.driver" in shown.stdout
    assert not (tmp_path / ".planning/.gitattributes").exists()


@pytest.mark.parametrize("arguments", [(), ("a", "b"), ("--dry-run",), ("--register", "a")])
def test_other_arguments_are_refused(fairlead: Fairlead, arguments: tuple[str, ...]) -> None:
    assert fairlead("merge-driver", *arguments).exit_code == 2


@NEEDS_GIT
@pytest.mark.parametrize("flags", [("--merge-driver",), ("--no-merge-driver",), ()])
def test_init_registers_the_driver_on_request(
    fairlead: Fairlead, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    git(tmp_path, "init", "-q")
    done = fairlead("init", "Demo", "--yes", *flags)
    attributes = tmp_path / ".planning" / ".gitattributes"

    assert (done.exit_code, attributes.exists()) == (0, flags == ("--merge-driver",))
    assert ("git config merge.fairlead.driver" in done.stdout) == (flags == ("--merge-driver",))


def test_a_dry_run_of_init_shows_the_git_attributes(fairlead: Fairlead, tmp_path: Path) -> None:
    shown = fairlead("init", "Demo", "--yes", "--merge-driver", "--dry-run")

    assert ".planning/.gitattributes" in shown.stdout
    assert not (tmp_path / ".planning").exists()
