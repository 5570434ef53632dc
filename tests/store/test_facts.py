"""What the disk says about a plan, for those who look and for those who write it down."""

from pathlib import Path

import pytest

from fairlead.errors import StorageError
from fairlead.model.planning import Plan
from fairlead.store.facts import facts_of

FOLDER = "/proc/self"  # holds a file that opens, and that the kernel does not read for anybody

pytestmark = pytest.mark.skipif(not Path(FOLDER, "mem").exists(), reason="no file that fails")


@pytest.fixture
def unreadable() -> Plan:
    plan = Plan("plan-1", "planning", "Ship it")
    plan.requirements_file = "mem"
    return plan


def test_a_fault_of_the_disk_is_told_to_who_looks(tmp_path: Path, unreadable: Plan) -> None:
    facts = facts_of(FOLDER, unreadable, str(tmp_path))
    assert "Input/output error" in facts.faults["mem"]


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
