"""Names, limits, and where a project is."""

import os
import subprocess
from pathlib import Path

import pytest

from fairlead.store import layout
from fairlead.store.errors import NoProject, NotAFolder, PathOutside
from fairlead.store.staging import (
    STAGING,
    require_document,
    rescued_name,
    staged_name,
    staged_parts,
)


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.invalid"]
    allowed = ["-c", "protocol.file.allow=always"]
    subprocess.run(
        ["git", *identity, *allowed, *words], cwd=folder, check=True, capture_output=True
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with one commit and an untracked planning folder."""
    folder = tmp_path / "main"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    (folder / ".planning").mkdir()
    return folder


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        (layout.STATE, 256 * 1024),
        (layout.CONFIG, 64 * 1024),
        (layout.ROADMAP, 1024 * 1024),
        (".planning/phases/01-a/01-01-PLAN.md", 1024 * 1024),
    ],
)
def test_every_kind_of_document_has_its_limit(path: str, limit: int) -> None:
    assert layout.limit_of(path) == limit


def test_a_staged_name_tells_its_label_and_fingerprints() -> None:
    name = staged_name("STATE.md", "old", "new")
    assert staged_parts(name) == ("STATE.md", "old", "new")


@pytest.mark.parametrize("label", ["STATE.md", "README", ".hidden", "a\x1b/b\udcff", "ä" * 200])
def test_a_rescued_name_is_one_printable_component(label: str) -> None:
    name = rescued_name(label)
    assert name.isprintable()
    assert "/" not in name
    assert len(name.encode()) < 255


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/pre-commit",
        "README.md",
        ".planning",
        ".planning/.fairlead/lock",
        "../x",
        ".planning/../x",
    ],
)
def test_only_documents_beside_the_staging_folder_are_written(path: str) -> None:
    with pytest.raises(PathOutside):
        require_document(path, STAGING)


def test_the_project_is_the_nearest_folder_with_planning(tmp_path: Path) -> None:
    (tmp_path / ".planning").mkdir()
    (tmp_path / "a" / ".planning").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    assert layout.find_project(str(tmp_path / "a" / "b" / "c")) == str(tmp_path / "a")


def test_the_project_is_found_from_inside_its_planning_folder(tmp_path: Path) -> None:
    (tmp_path / ".planning" / "phases").mkdir(parents=True)
    assert layout.find_project(str(tmp_path / ".planning" / "phases")) == str(tmp_path)


def test_the_error_for_a_missing_project_names_the_folder(tmp_path: Path) -> None:
    with pytest.raises(NoProject, match=str(tmp_path)):
        layout.find_project(str(tmp_path))


def test_a_planning_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".planning").symlink_to("elsewhere", target_is_directory=True)
    with pytest.raises(NotAFolder, match="a symbolic link"):
        layout.find_project(str(tmp_path))


def test_a_linked_worktree_belongs_to_the_project_of_its_main_tree(repository: Path) -> None:
    tree = repository.parent / "tree"
    git(repository, "worktree", "add", "-q", str(tree))
    (tree / "below").mkdir()
    assert layout.find_project(str(tree / "below")) == str(repository)


def test_a_linked_worktree_with_planning_is_a_project_of_its_own(repository: Path) -> None:
    tree = repository.parent / "tree"
    git(repository, "worktree", "add", "-q", str(tree))
    (tree / ".planning").mkdir()
    assert layout.find_project(str(tree)) == str(tree)


def test_a_submodule_belongs_to_the_project_around_it(repository: Path) -> None:
    other = repository.parent / "other"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "commit", "-q", "--allow-empty", "-m", "first")
    git(repository, "submodule", "--quiet", "add", str(other), "part")
    assert layout.find_project(str(repository / "part")) == str(repository)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"gitdir: \n",
        b"gitdir: /nowhere\n",
        b"gitdir: a\0b\n",
        b"\xff\xfe",
        b"gitdir: .\n",
        b"x" * 9999,
    ],
)
def test_a_git_file_that_leads_nowhere_is_not_a_worktree(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".git").write_bytes(content)
    with pytest.raises(NoProject):
        layout.find_project(str(tmp_path))


def test_a_forged_worktree_does_not_lead_to_another_project(tmp_path: Path) -> None:
    forged, victim = tmp_path / "forged", tmp_path / "victim"
    (victim / ".planning").mkdir(parents=True)
    (victim / ".git").mkdir()
    forged.mkdir()
    (forged / "git").mkdir()
    (forged / ".git").write_text("gitdir: git\n")
    (forged / "git" / "commondir").write_text(f"{victim}/.git\n")
    with pytest.raises(NoProject):
        layout.find_project(str(forged))


def test_a_git_pipe_does_not_make_the_search_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".git")
    with pytest.raises(NoProject):
        layout.find_project(str(tmp_path))
