"""A cached value is used only if the file cannot have changed since."""

import time
from itertools import count
from pathlib import Path

from fairlead.store.digests import DerivedCache, digest_of, file_signature


def test_a_value_of_an_old_file_is_computed_once() -> None:
    numbers = count(1)
    cache = DerivedCache(lambda _: next(numbers))
    assert [cache.of("x", (1, 2, 3, 4)) for _ in range(3)] == [1, 1, 1]
    assert cache.of("x", (1, 2, 3, 5)) == 2


def test_a_value_of_a_file_written_just_now_is_not_kept() -> None:
    now = time.time_ns()
    numbers = count(1)
    cache = DerivedCache(lambda _: next(numbers))
    assert [cache.of("x", (1, 2, now, now)) for _ in range(3)] == [1, 2, 3]


def test_two_writes_with_the_same_size_within_a_tick_are_noticed(tmp_path: Path) -> None:
    path, cache = tmp_path / "gate.json", DerivedCache(digest_of)
    for text in ("aa", "bb", "cc"):
        path.write_text(text)  # in place: the same inode
        assert cache.of(str(path), file_signature(str(path))) == digest_of(str(path))


def test_looking_up_many_files_at_once_gives_the_values_of_each() -> None:
    now = time.time_ns()
    numbers = count(1)
    cache = DerivedCache(lambda path: (path, next(numbers)))
    signatures = {"old": (1, 2, 3, 4), "new": (1, 2, now, now), "missing": ()}
    assert cache.all_of(signatures) == {
        "old": ("old", 1),
        "new": ("new", 2),
        "missing": ("missing", 3),
    }
    again = cache.all_of(signatures)
    assert again == {"old": ("old", 1), "new": ("new", 4), "missing": ("missing", 3)}
    assert {path: cache.of(path, each) for path, each in signatures.items() if path != "new"} == {
        "old": ("old", 1),
        "missing": ("missing", 3),
    }
