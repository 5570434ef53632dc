"""A version that a program still has open for writing is neither judged nor removed."""

import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairlead.store.atomic import has_no_writer
from fairlead.store.confined import ConfinedFolder, Root
from fairlead.store.files import Files
from tests.support.staging import STATE, a_project

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has leases")


@pytest.fixture
def staging(tmp_path: Path) -> Iterator[ConfinedFolder]:
    """A staging folder with the file that shows whether the file system has leases."""
    with Root(str(tmp_path)) as root, root.make_folder("staging") as folder:
        (tmp_path / "staging" / ".gitignore").write_text("*\n")
        (tmp_path / "staging" / "file").write_text("old\n")
        yield folder


def is_unused(staging: ConfinedFolder) -> bool:
    fd = staging.open_file("file")
    assert fd is not None
    try:
        return has_no_writer(fd, staging, wait_seconds=0)
    finally:
        os.close(fd)


def test_a_file_that_no_program_has_open_is_unused(staging: ConfinedFolder) -> None:
    assert is_unused(staging)


def test_a_file_open_for_reading_is_unused(staging: ConfinedFolder, tmp_path: Path) -> None:
    with (tmp_path / "staging" / "file").open("rb"):
        assert is_unused(staging)


def test_a_file_open_for_writing_is_in_use(staging: ConfinedFolder, tmp_path: Path) -> None:
    with (tmp_path / "staging" / "file").open("ab"):
        assert not is_unused(staging)


def test_a_file_system_that_reports_every_file_as_written_is_not_believed(
    staging: ConfinedFolder, tmp_path: Path
) -> None:
    with (
        (tmp_path / "staging" / "file").open("ab"),
        (tmp_path / "staging" / ".gitignore").open("ab"),
    ):
        assert is_unused(staging)


def test_the_output_of_a_command_that_is_still_appending_survives_an_update(
    tmp_path: Path,
) -> None:
    project = a_project(tmp_path, STATE="old\n")
    appending = (project / STATE).open("a", encoding="utf-8")

    def finish() -> None:
        time.sleep(0.1)
        appending.write("from the command\n")
        appending.close()

    thread = threading.Thread(target=finish)
    thread.start()
    Files(str(project)).update(STATE, lambda text: text + "from fairlead\n", command="a test")
    thread.join()

    assert (project / STATE).read_text() == "old\nfrom the command\nfrom fairlead\n"
