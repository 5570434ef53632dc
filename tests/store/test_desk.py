"""The desk: whoever makes it hides it from git."""

from pathlib import Path

import pytest

from fairlead.errors import FairleadError
from fairlead.store import layout
from fairlead.store.confine import Root
from fairlead.store.desk import open_desk
from fairlead.store.journal import Journal
from fairlead.store.running import the_only_run
from fairlead.store.session import SessionLock
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


def test_of_a_journal_git_sees_the_journal_alone(project: Path) -> None:
    Journal(str(project), ".planning/ledger/01-01.jsonl").append(lambda _: "{}\n", command="a test")
    assert git(project, "status", "--porcelain", "--untracked-files=all") == (
        "?? .planning/ledger/01-01.jsonl"
    )


def test_a_desk_that_a_kill_left_without_its_mark_gets_it(project: Path) -> None:
    (project / layout.DESK).mkdir()
    with Root(str(project)) as root, open_desk(root, layout.DESK):
        pass
    assert (project / layout.DESK / layout.IGNORE).read_bytes() == layout.IGNORE_ALL


def test_a_fault_of_the_disk_has_its_place(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fairlead.store.confine.Folder.create", full)
    with Root(str(project)) as root, pytest.raises(FairleadError, match=r"\.gitignore"):
        open_desk(root, layout.DESK)
