"""What git goes by besides its refs: configuration and hooks, of a repository and of its person.

Looked at before and after every call of an agent, so the files are read and no program is started.
"""

from __future__ import annotations

import hashlib
import os
import stat

_OF_REPOSITORY = ("config", "config.worktree", "info/attributes", "info/exclude")
_OF_PERSON = ("config", "attributes", "ignore")  # below git's folder among a person's settings


def settings_of(common: str) -> dict[str, str]:
    """The digest of every such file that is there, by the name that people know it by."""
    inside = (*_OF_REPOSITORY, *_hooks(common))
    paths = {f".git/{each}": os.path.join(common, each) for each in inside}
    paths |= {path: path for path in _personal()}
    return {name: digest for name, path in paths.items() if (digest := _digest(path))}


def _digest(path: str) -> str:
    """Of a file that is there; whatever was put in its place neither blocks nor ends the look."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        return f"not to be read: {error.strerror}"
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return ""
        with open(fd, "rb", closefd=False) as file:
            return hashlib.sha256(file.read()).hexdigest()
    finally:
        os.close(fd)


def _hooks(common: str) -> list[str]:
    folder = os.path.join(common, "hooks")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return [f"hooks/{name}" for name in names]


def _personal() -> list[str]:
    """The files that git reads for every repository of a person, wherever they are told to be."""
    home = os.path.expanduser("~")
    folder = os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git")
    told = os.environ.get("GIT_CONFIG_GLOBAL")
    return [told or os.path.join(home, ".gitconfig"), *(f"{folder}/{each}" for each in _OF_PERSON)]
