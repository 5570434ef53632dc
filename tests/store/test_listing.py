"""Listings and beginnings: what is no file is passed over, what cannot be read is an error."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fairlead.core.errors import StorageError
from fairlead.store.confined import ConfinedFolder, Root
from fairlead.store.listing import beginning_of


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[ConfinedFolder]:
    (tmp_path / "phase").mkdir()
    (tmp_path / "phase/01-01-SUMMARY.md").write_text("# Summary\n")
    with Root(str(tmp_path)) as root:
        found = root.folder("phase")
        assert found is not None
        yield found
        found.close()


@contextmanager
def no_more_files() -> Iterator[None]:
    """Inside, the system opens nothing for this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_file_that_is_gone_is_skipped(folder: ConfinedFolder) -> None:
    assert beginning_of(folder, "01-02-SUMMARY.md", 100) is None


def test_a_file_that_cannot_be_opened_is_an_error(
    folder: ConfinedFolder,
) -> None:
    with pytest.raises(StorageError), no_more_files():
        beginning_of(folder, "01-01-SUMMARY.md", 100)
