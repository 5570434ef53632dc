"""The heads of plans and summaries are read again only if their files were written."""

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from fairlead.project.derive.heads import HeadCache
from fairlead.store.confined import Root


class Reading:
    """Reads files of a folder and remembers which."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: list[str] = []

    def __call__(self, names: Collection[str]) -> Iterator[bytes | None]:
        """The content of each file; None if it is gone."""
        for name in names:
            self.names.append(name)
            path = self.folder / name
            yield path.read_bytes() if path.is_file() else None


def heads_of(cache: HeadCache, reading: Reading, *names: str) -> list[bytes | None]:
    """The heads of files, which are their contents here."""
    with Root(str(reading.folder.parent)) as root:
        folder = root.folder(reading.folder.name)
        assert folder is not None
        with folder:
            return cache.heads(folder, names, reading, _same)


def _same(content: bytes | None) -> bytes | None:
    return content


def test_an_old_file_is_read_once() -> None:
    here = Path(__file__)
    cache, reading = HeadCache(), Reading(here.parent)
    for _ in range(3):
        assert heads_of(cache, reading, here.name) == [here.read_bytes()]
    assert reading.names == [here.name]


def test_a_file_written_just_now_and_a_missing_one_are_looked_at_again(tmp_path: Path) -> None:
    cache, reading = HeadCache(), Reading(tmp_path)
    for text in (b"aa", b"bb"):
        (tmp_path / "x").write_bytes(text)  # in place: the same inode and size
        assert heads_of(cache, reading, "x", "y") == [text, None]
    (tmp_path / "y").write_bytes(b"cc")
    assert heads_of(cache, reading, "x", "y") == [b"bb", b"cc"]


def test_a_file_that_was_replaced_is_read_again_whatever_its_time_says(tmp_path: Path) -> None:
    cache, reading = HeadCache(), Reading(tmp_path)
    path = tmp_path / "x"
    path.write_bytes(b"aa")
    heads_of(cache, reading, "x")
    status = path.stat()
    path.write_bytes(b"bb")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert heads_of(cache, reading, "x") == [b"bb"]
