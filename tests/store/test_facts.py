"""What the disk says about a plan, for those who look and for those who write it down."""

from pathlib import Path

import pytest

from fairlead.errors import StorageError
from fairlead.model.planning import Plan
from fairlead.store.facts import facts_of, head_of
from tests.support.repositories import a_repository, git, written

FOLDER = "/proc/self"  # holds a file that opens, and that the kernel does not read for anybody

needs_proc = pytest.mark.skipif(not Path(FOLDER, "mem").exists(), reason="no file that fails")


@pytest.fixture
def unreadable() -> Plan:
    plan = Plan("plan-1", "planning", "Ship it")
    plan.requirements_file = "mem"
    return plan


@needs_proc
def test_a_fault_of_the_disk_is_told_to_who_looks(tmp_path: Path, unreadable: Plan) -> None:
    facts = facts_of(FOLDER, unreadable, str(tmp_path))
    assert "Input/output error" in facts.faults["mem"]


@needs_proc
def test_a_fault_of_the_disk_stops_who_writes_a_hash_of_it(
    tmp_path: Path, unreadable: Plan
) -> None:
    with pytest.raises(StorageError):
        facts_of(FOLDER, unreadable, str(tmp_path), strict=True)


def test_a_folder_that_was_never_made_is_no_fault(tmp_path: Path) -> None:
    plan = Plan("plan-1", "planning", "Ship it")
    plan.requirements_file = "USER_REQUIREMENTS.md"
    facts = facts_of(str(tmp_path / "never"), plan, str(tmp_path), strict=True)
    assert facts.faults[plan.requirements_file] == "does not exist"


@pytest.mark.parametrize("below", ["", "apps/one"])
def test_the_commit_is_that_of_the_tree_that_holds_the_project(tmp_path: Path, below: str) -> None:
    repository = a_repository(tmp_path / "p", {"apps/one/a.txt": "one\n"})
    first = head_of(str(repository / below))
    assert first
    assert first == head_of(str(repository))
    git(repository, "commit", "-q", "--allow-empty", "-m", "second")
    assert head_of(str(repository / below)) not in ("", first)


def test_a_linked_worktree_has_a_commit_of_its_own(tmp_path: Path) -> None:
    repository, linked = a_repository(tmp_path / "p", {"a.txt": "one\n"}), tmp_path / "w"
    git(repository, "worktree", "add", "-q", "-b", "other", str(linked))
    first = head_of(str(linked))
    git(linked, "commit", "-q", "--allow-empty", "-m", "second")
    assert head_of(str(linked)) not in ("", first, head_of(str(repository)))


def test_without_git_there_is_no_commit(tmp_path: Path) -> None:
    assert head_of(str(tmp_path)) == ""


def test_where_refs_are_kept_in_tables_a_new_table_is_news(tmp_path: Path) -> None:
    written(tmp_path / ".git/HEAD", "ref: refs/heads/.invalid\n")
    seen = set()
    for tables in ("0x1-0x1-aa.ref\n", "0x1-0x1-aa.ref\n0x2-0x2-bb.ref\n", "0x1-0x3-cc.ref\n"):
        written(tmp_path / ".git/reftable/tables.list", tables)
        seen.add(head_of(str(tmp_path)))
    assert len(seen) == 3
    assert "" not in seen
