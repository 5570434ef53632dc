"""Sources: what people wrote, not what tools made of it; and there is a limit."""

from pathlib import Path

from fairlead.store.sources import sources_of
from tests.support.repositories import written


def test_folders_of_tools_and_links_are_left_out(tmp_path: Path) -> None:
    for path in ("src/a.py", "node_modules/x/y.js", ".venv/b.py", ".github/ci.yml", ".git/config"):
        written(tmp_path / path, "x\n")
    (tmp_path / "link.py").symlink_to(tmp_path / "src/a.py")
    assert sources_of(str(tmp_path)).paths == (".github/ci.yml", "src/a.py")


def test_a_folder_without_end_is_cut_and_that_is_said(tmp_path: Path) -> None:
    for number in range(5):
        written(tmp_path / f"{number}.py", "x\n")
    found = sources_of(str(tmp_path), most=3)
    assert (len(found.paths), found.is_cut) == (3, True)
