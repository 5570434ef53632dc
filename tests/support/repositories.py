"""Git repositories for tests, with an identity of their own and nothing of this machine's."""

import subprocess
from collections.abc import Mapping
from pathlib import Path


def a_repository(folder: Path, files: Mapping[str, str]) -> Path:
    """A repository on branch `main` with one commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "Somebody")
    git(folder, "config", "user.email", "somebody@example.org")
    for name, text in files.items():
        written(folder / name, text)
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def git(folder: Path, *words: str) -> str:
    """What git says, without the last line end."""
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def written(path: Path, text: str) -> None:
    """A file, with the folders it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
