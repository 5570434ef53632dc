"""Every object that appears in a repository is compared with its id; long runs pack them."""

from __future__ import annotations

import hashlib
import os
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from fairlead.vcs.errors import GitFault
from fairlead.vcs.git import Git
from fairlead.vcs.objects import ObjectStore
from tests.support.repositories import a_repository, git


def _made(project: Path, text: str) -> str:
    """The id of a new loose blob."""
    content = f"blob {len(text)}\0{text}".encode()
    id_ = hashlib.sha1(content, usedforsecurity=False).hexdigest()
    path = project / ".git/objects" / id_[:2] / id_[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(content))
    return id_


def _a_pack(project: Path) -> Path:
    """A pack of two new objects."""
    ids = "\n".join(_made(project, text) for text in ("one", "two"))
    top = project / ".git/objects/pack/pack"
    name = git(project, "pack-objects", "--quiet", str(top), stdin=ids).strip()
    return Path(f"{top}-{name}.pack")


def _loose(project: Path) -> int:
    return int(git(project, "count-objects").split()[0])


def test_the_objects_of_a_long_run_are_packed_and_stay_readable(tmp_path: Path) -> None:
    project = a_repository(tmp_path / "project", {"a.txt": "a\n"})
    repository = Git(str(project))
    repository.require_intact()
    before = _loose(project)
    ids = [_made(project, f"text {at}") for at in range(1500)]
    repository.require_intact()
    assert _loose(project) <= before
    repository.require_intact()
    assert git(project, "cat-file", "-p", ids[700]).strip() == "text 700"
    git(project, "fsck", "--strict")


def test_a_short_run_packs_nothing(tmp_path: Path) -> None:
    project = a_repository(tmp_path / "project", {"a.txt": "a\n"})
    repository = Git(str(project))
    repository.require_intact()
    for at in range(20):
        _made(project, f"text {at}")
    repository.require_intact()
    assert not list((project / ".git/objects/pack").iterdir())


def test_objects_from_before_the_run_stay_as_they_are(tmp_path: Path) -> None:
    project = a_repository(tmp_path / "project", {"a.txt": "a\n"})
    for at in range(1500):
        _made(project, f"text {at}")
    repository = Git(str(project))
    repository.require_intact()
    repository.require_intact()
    assert not list((project / ".git/objects/pack").iterdir())


def test_a_damaged_pack_is_found_at_every_look(tmp_path: Path) -> None:
    project = a_repository(tmp_path / "project", {"a.txt": "a\n"})
    repository = Git(str(project))
    repository.require_intact()
    pack = _a_pack(project)
    content = bytearray(pack.read_bytes())
    content[-25] ^= 0xFF
    pack.chmod(0o644)
    pack.write_bytes(bytes(content))
    for _ in range(2):
        with pytest.raises(GitFault):
            repository.require_intact()


def _write_in_place(path: Path) -> None:
    path.write_bytes(b"forged")


def _put_another_in_its_place(path: Path) -> None:
    new = path.with_name("new")
    new.write_bytes(b"forged")
    new.replace(path)


def _add_another(path: Path) -> None:
    path.with_name("0" * len(path.name)).write_bytes(b"forged")


@pytest.mark.parametrize("forge", [_write_in_place, _put_another_in_its_place, _add_another])
def test_a_forged_object_is_found_in_a_folder_that_was_unchanged_for_long(
    tmp_path: Path, forge: Callable[[Path], None]
) -> None:
    project = a_repository(tmp_path / "project", {"a.txt": "a\n"})
    id_, store = _made(project, "text"), ObjectStore(str(project / ".git"))
    path = project / ".git/objects" / id_[:2] / id_[2:]
    listed_at = time.time_ns()
    while time.time_ns() < listed_at + 150_000_000:  # then its list of files is kept
        assert store.check(lambda _: None) == ""
    forge(path)
    assert store.check(lambda _: None)[:2] == id_[:2]


def test_a_pack_that_only_has_a_new_time_is_not_verified_again(tmp_path: Path) -> None:
    project = a_repository(tmp_path / "project", {"a.txt": "a\n"})
    store, verified = ObjectStore(str(project / ".git")), list[Sequence[str]]()
    store.check(verified.append)
    pack = _a_pack(project)
    assert store.check(verified.append) == ""
    assert len(verified) == 1
    os.utime(pack)
    store.check(verified.append)
    assert len(verified) == 1
    pack.chmod(0o644)
    pack.write_bytes(pack.read_bytes() + b"more")
    store.check(verified.append)
    assert len(verified) == 2
