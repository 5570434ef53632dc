"""Renames with flags, by the kernel where it can and by ordinary means where it cannot."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fairlead.store.confined import ConfinedFolder, Root
from fairlead.store.rename import Renamer, prepare
from tests.support.staging import a_renamer_that_cannot, names

both_ways = pytest.mark.parametrize(
    "renamer", [prepare(), a_renamer_that_cannot()], ids=["kernel", "link"]
)


@pytest.fixture
def box(tmp_path: Path) -> Iterator[ConfinedFolder]:
    """A folder with one file."""
    with Root(str(tmp_path)) as root, root.make_folder("box") as folder:
        (tmp_path / "box" / "a").write_text("a")
        yield folder


def test_two_files_are_exchanged(box: ConfinedFolder, tmp_path: Path) -> None:
    (tmp_path / "box" / "b").write_text("b")
    assert prepare().swap(box, "a", box, "b")
    assert box.read("a", 9) == b"b"
    assert box.read("b", 9) == b"a"


def test_an_exchange_with_nothing_changes_nothing(box: ConfinedFolder, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        prepare().swap(box, "a", box, "b")
    assert names(tmp_path / "box") == ["a"]


@both_ways
def test_a_file_is_moved_to_an_unused_name(
    box: ConfinedFolder, tmp_path: Path, renamer: Renamer
) -> None:
    renamer.place(box, "a", box, "b")
    assert names(tmp_path / "box") == ["b"]


@both_ways
def test_an_existing_name_is_not_replaced(
    box: ConfinedFolder, tmp_path: Path, renamer: Renamer
) -> None:
    (tmp_path / "box" / "b").write_text("b")
    with pytest.raises(FileExistsError):
        renamer.place(box, "a", box, "b")
    assert box.read("b", 9) == b"b"


def test_an_unsupported_exchange_does_nothing(box: ConfinedFolder, tmp_path: Path) -> None:
    (tmp_path / "box" / "b").write_text("b")
    assert not a_renamer_that_cannot().swap(box, "a", box, "b")
    assert box.read("b", 9) == b"b"
