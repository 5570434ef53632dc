"""A file that some program has open for writing is known as such."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairlead.store.confine import Folder, Root
from fairlead.store.quiet import is_quiet

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who writes")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Folder]:
    """A desk with the file by which one sees whether the file system can tell."""
    with Root(str(tmp_path)) as root, root.make_folder("desk") as folder:
        (tmp_path / "desk" / ".gitignore").write_text("*\n")
        (tmp_path / "desk" / "file").write_text("old\n")
        yield folder


def seems_quiet(desk: Folder) -> bool:
    fd = desk.open_file("file")
    assert fd is not None
    try:
        return is_quiet(fd, desk, wait_seconds=0)
    finally:
        os.close(fd)


def test_a_file_that_nobody_has_open_is_quiet(desk: Folder) -> None:
    assert seems_quiet(desk)


def test_a_file_open_for_reading_is_quiet(desk: Folder, tmp_path: Path) -> None:
    with (tmp_path / "desk" / "file").open("rb"):
        assert seems_quiet(desk)


def test_a_file_open_for_writing_is_not_quiet(desk: Folder, tmp_path: Path) -> None:
    with (tmp_path / "desk" / "file").open("ab"):
        assert not seems_quiet(desk)


def test_where_every_file_seems_written_the_answer_means_nothing(
    desk: Folder, tmp_path: Path
) -> None:
    with (tmp_path / "desk" / "file").open("ab"), (tmp_path / "desk" / ".gitignore").open("ab"):
        assert seems_quiet(desk)
