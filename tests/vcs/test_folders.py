"""Folders are walked and deleted whatever an agent put into them."""

import os
from pathlib import Path

from fairlead.vcs.folders import delete_folder, walk
from tests.support.repositories import written


def _nested(top: Path, name: str, depth: int) -> None:
    before = os.open(".", os.O_RDONLY)
    os.chdir(top)
    try:
        for _ in range(depth):
            os.mkdir(name)
            os.chdir(name)
        Path("leaf").write_text("x")
    finally:
        os.fchdir(before)
        os.close(before)


def test_folders_deeper_than_a_path_can_be_long_are_deleted(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    _nested(top, "n" * 50, 1500)
    written(top / "beside/file", "x")
    delete_folder(str(top))
    assert not top.exists()


def test_links_are_deleted_and_not_followed(tmp_path: Path) -> None:
    written(tmp_path / "outside/file", "x")
    (tmp_path / "top/inner").mkdir(parents=True)
    (tmp_path / "top/inner/link").symlink_to(tmp_path / "outside")
    (tmp_path / "link").symlink_to(tmp_path / "outside")
    delete_folder(str(tmp_path / "top"))
    delete_folder(str(tmp_path / "link"))
    assert os.listdir(tmp_path) == ["outside"]
    assert (tmp_path / "outside/file").exists()


def test_read_only_folders_are_deleted(tmp_path: Path) -> None:
    written(tmp_path / "top/a/b/file", "x")
    for name in ("top/a/b", "top/a", "top"):
        (tmp_path / name).chmod(0o500)
    delete_folder(str(tmp_path / "top"))
    assert not (tmp_path / "top").exists()


def test_a_walk_sees_what_os_walk_sees(tmp_path: Path) -> None:
    for name in ("a/b/c", "a/d", "e/f", "g"):
        written(tmp_path / name, "x")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    seen = [(above, set(folders), set(names)) for above, folders, names in walk(str(tmp_path))]
    known = list(os.walk(tmp_path))
    linked = {"link"}  # `os.walk` lists a link to a folder among the folders
    assert {above for above, _, _ in seen} == {above for above, _, _ in known}
    assert seen[0] == (str(tmp_path), set(known[0][1]) - linked, set(known[0][2]) | linked)


def test_a_walk_is_not_recursive(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    _nested(top, "d", 1200)
    assert sum(1 for _ in walk(str(top))) == 1201
    delete_folder(str(top))  # pytest could not
