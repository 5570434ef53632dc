"""Evidence from the disk, with and without `strict`, and the commit that is checked out."""

from pathlib import Path

import pytest

from fairlead.core.errors import StorageError
from fairlead.planphase.facts import facts_of, head_of
from fairlead.planphase.model import PlanFile
from tests.support.repositories import a_repository, git, written

FOLDER = "/proc/self"  # contains a file that can be opened and cannot be read

needs_proc = pytest.mark.skipif(
    not Path(FOLDER, "mem").exists(), reason="needs a file that cannot be read"
)


@pytest.fixture
def unreadable() -> PlanFile:
    plan = PlanFile("plan-1", "planning", "Ship it")
    plan.requirements_file = "mem"
    return plan


@needs_proc
def test_a_disk_error_is_reported_as_a_fault(tmp_path: Path, unreadable: PlanFile) -> None:
    facts = facts_of(FOLDER, unreadable, str(tmp_path))
    assert "Input/output error" in facts.faults["mem"]


@needs_proc
def test_a_disk_error_is_raised_in_strict_mode(tmp_path: Path, unreadable: PlanFile) -> None:
    with pytest.raises(StorageError):
        facts_of(FOLDER, unreadable, str(tmp_path), strict=True)


def test_a_missing_folder_is_a_missing_file(tmp_path: Path) -> None:
    plan = PlanFile("plan-1", "planning", "Ship it")
    plan.requirements_file = "USER_REQUIREMENTS.md"
    facts = facts_of(str(tmp_path / "never"), plan, str(tmp_path), strict=True)
    assert facts.faults[plan.requirements_file] == "does not exist"


@pytest.mark.parametrize("below", ["", "apps/one"])
def test_the_commit_is_that_of_the_enclosing_work_tree(tmp_path: Path, below: str) -> None:
    repository = a_repository(tmp_path / "p", {"apps/one/a.txt": "one\n"})
    first = head_of(str(repository / below))
    assert first
    assert first == head_of(str(repository))
    git(repository, "commit", "-q", "--allow-empty", "-m", "second")
    assert head_of(str(repository / below)) not in ("", first)


def test_a_linked_worktree_has_its_own_commit(tmp_path: Path) -> None:
    repository, linked = a_repository(tmp_path / "p", {"a.txt": "one\n"}), tmp_path / "w"
    git(repository, "worktree", "add", "-q", "-b", "other", str(linked))
    first = head_of(str(linked))
    git(linked, "commit", "-q", "--allow-empty", "-m", "second")
    assert head_of(str(linked)) not in ("", first, head_of(str(repository)))


def test_without_git_there_is_no_commit(tmp_path: Path) -> None:
    assert head_of(str(tmp_path)) == ""


def test_with_reftables_a_new_table_counts_as_a_new_commit(tmp_path: Path) -> None:
    written(tmp_path / ".git/HEAD", "ref: refs/heads/.invalid\n")
    seen = set()
    for tables in ("0x1-0x1-aa.ref\n", "0x1-0x1-aa.ref\n0x2-0x2-bb.ref\n", "0x1-0x3-cc.ref\n"):
        written(tmp_path / ".git/reftable/tables.list", tables)
        seen.add(head_of(str(tmp_path)))
    assert len(seen) == 3
    assert "" not in seen
