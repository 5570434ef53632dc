"""The staging folder: whoever makes it hides it from git."""

from pathlib import Path

import pytest

from fairlead.core.errors import FairleadError
from fairlead.jobs.loop import the_only_run
from fairlead.store.confined import Root
from fairlead.store.journal import Journal
from fairlead.store.lock import SessionLock
from fairlead.store.staging import IGNORE, IGNORE_ALL, STAGING, open_staging
from tests.support.repositories import a_repository, git


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return a_repository(tmp_path / "p", {".planning/STATE.md": "# State\n"})


def test_a_run_leaves_nothing_for_git_to_see(project: Path) -> None:
    with the_only_run(str(project), "a test"):
        assert git(project, "status", "--porcelain") == ""


def test_a_session_leaves_nothing_for_git_to_see(project: Path) -> None:
    with SessionLock(str(project), "one"):
        assert git(project, "status", "--porcelain") == ""


def test_git_sees_only_the_journal_after_an_append(project: Path) -> None:
    Journal(str(project), ".planning/ledger/01-01.jsonl").append(lambda _: "{}\n", command="a test")
    assert git(project, "status", "--porcelain", "--untracked-files=all") == (
        "?? .planning/ledger/01-01.jsonl"
    )


def test_a_staging_folder_left_without_a_gitignore_gets_one(project: Path) -> None:
    (project / STAGING).mkdir()
    with Root(str(project)) as root, open_staging(root, STAGING):
        pass
    assert (project / STAGING / IGNORE).read_bytes() == IGNORE_ALL


def test_a_disk_error_names_the_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fairlead.store.confined.ConfinedFolder.create", full)
    with Root(str(project)) as root, pytest.raises(FairleadError, match=r"\.gitignore"):
        open_staging(root, STAGING)
