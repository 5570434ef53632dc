"""Git repositories for tests, with an identity of their own and nothing of this machine's.

Each set of files is committed once per process; every further repository with the same files is a
copy of that one, because starting git five times costs more than copying a small folder.
"""

import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from fairlead.core.process import ProcessResult
from fairlead.vcs.git import Git


def a_repository(folder: Path, files: Mapping[str, str]) -> Path:
    """A repository on branch `main` with one commit."""
    template = _template(tuple(sorted(files.items())))
    shutil.copytree(Path(template.name) / "repository", folder, symlinks=True, dirs_exist_ok=True)
    git(folder, "update-index", "-q", "--refresh")  # the copies have other times and inodes
    return folder


@cache
def _template(files: tuple[tuple[str, str], ...]) -> TemporaryDirectory[str]:
    """The folder of a template; it is removed when the process ends."""
    place = TemporaryDirectory(prefix="fairlead-template-")
    folder = Path(place.name) / "repository"
    folder.mkdir()
    # Without the sample hooks, which would be copied and checked in every test.
    git(folder, "init", "-q", "-b", "main", "--template=")
    (folder / ".git/hooks").mkdir()
    written(folder / ".git/info/exclude", "")
    git(folder, "config", "user.name", "Somebody")
    git(folder, "config", "user.email", "somebody@example.org")
    for name, text in files:
        written(folder / name, text)
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return place


def git(folder: Path, *words: str, stdin: str = "") -> str:
    """The output of a git command, without the last line break."""
    done = subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, text=True, input=stdin
    )
    return done.stdout.strip()


def written(path: Path, text: str) -> None:
    """Write a file, making its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def commands_of_git(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """A list that every command of the product's git is added to from now on."""
    asked: list[tuple[str, ...]] = []
    run = Git._run

    def counted(self: Git, *words: str, **more: Any) -> ProcessResult:
        asked.append(words)
        return run(self, *words, **more)

    monkeypatch.setattr(Git, "_run", counted)
    return asked
