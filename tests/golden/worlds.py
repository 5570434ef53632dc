"""Stored projects with interrupted jobs: how they are packed into the repository, and restored.

A world is a folder with `project` (a git repository), `state` and `config` (the private folders of
a person). Packing replaces everything that depends on the machine by a placeholder, and restoring
fills the placeholders in, so that a job can be resumed at any path.
"""

import importlib
import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

JOBS = Path(__file__).with_name("jobs")
AGENT = "golden-agent"
HIDDEN = ".git"  # git adds neither `.git` nor what a nested `.gitignore` excludes
SHOWN = "dot-git"
EMPTY = "dot-empty"  # git stores no empty folders
UNUSED = ("logs", "COMMIT_EDITMSG", "ORIG_HEAD", "gc.log")


def project_key(folder: Path) -> str:
    """The name of a project in the private folders: its last component and FNV-1a of its path.

    Written out here because the name is part of the format on disk.
    """
    value = 0xCBF29CE484222325
    for byte in os.fsencode(folder):
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{folder.name}-{value:016x}"


def scripted_program() -> Path:
    """The scripted agent, wherever its file is now."""
    package = importlib.import_module("fairlead")
    [found] = Path(package.__path__[0]).rglob("scripted/program.py")
    return found


def write_agent(folder: Path) -> None:
    """Put the agent of the stored settings into a folder of programs.

    Settings name it without a path: a job remembers a hash of them, which must not depend on
    the machine.
    """
    program = folder / AGENT
    command = shlex.join([sys.executable, str(scripted_program())])
    program.write_text(f'#!/bin/sh\nexec {command} "$@"\n', "utf-8")
    program.chmod(0o755)


def write_settings(world: Path) -> None:
    """Make the scripted agent the one of the person."""
    agents = {"stub": {"argv": [AGENT], "stream": "claude"}}
    path = world / "config/fairlead/config.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"fairlead": {"agent": "stub", "agents": agents}}), "utf-8")


def replacements(world: Path) -> list[tuple[bytes, bytes]]:
    """Placeholders, and what they stand for in a world."""
    found = {
        "@KEY@": project_key(world / "project"),
        "@WORLD@": str(world),
    }
    return [(name.encode(), text.encode()) for name, text in found.items()]


def pack(world: Path, target: Path) -> None:
    """Store a world without what depends on the machine."""
    shutil.rmtree(target, ignore_errors=True)
    pairs = [(text, name) for name, text in replacements(world)]
    _copy(world, target, pairs, (HIDDEN, SHOWN))


def restore(kind: str, world: Path) -> Path:
    """Make the stored world of a kind of job at a new path; the folder of its project."""
    _copy(JOBS / kind, world, replacements(world), (SHOWN, HIDDEN))
    for path in (world / "state").rglob("*"):  # git stores no private modes
        path.chmod(0o700 if path.is_dir() else 0o600)
    return world / "project"


def _copy(
    source: Path, target: Path, pairs: list[tuple[bytes, bytes]], names: tuple[str, str]
) -> None:
    for path in sorted(source.rglob("*")):
        name = os.fsencode(path.relative_to(source))
        parts = _replaced(name, pairs).decode().split("/")
        if names[0] == HIDDEN and _is_unused(path.relative_to(source).parts):
            continue
        place = target.joinpath(*(_renamed(each, *names) for each in parts))
        if path.is_dir():
            place.mkdir(parents=True, exist_ok=True)
            if names[0] == HIDDEN and not any(path.iterdir()):
                (place / EMPTY).touch()
        elif path.name != EMPTY:
            place.parent.mkdir(parents=True, exist_ok=True)
            is_object = "objects" in parts
            content = path.read_bytes()
            place.write_bytes(content if is_object else _replaced(content, pairs))
            place.chmod(path.stat().st_mode & 0o777)


def _replaced(content: bytes, pairs: list[tuple[bytes, bytes]]) -> bytes:
    for old, new in pairs:
        content = content.replace(old, new)
    return content


def _renamed(part: str, old: str, new: str) -> str:
    return new + part.removeprefix(old) if part.startswith(old) else part


def _is_unused(parts: tuple[str, ...]) -> bool:
    return HIDDEN in parts and any(each in UNUSED for each in parts)


def environment(world: Path) -> Iterator[tuple[str, str]]:
    """The variables that make a world the only one that a command sees."""
    yield "HOME", str(world / "home")
    yield "XDG_CONFIG_HOME", str(world / "config")
    yield "XDG_STATE_HOME", str(world / "state")
    yield "XDG_CACHE_HOME", str(world / "cache")
    yield "XDG_DATA_HOME", str(world / "data")
    yield "GIT_CONFIG_NOSYSTEM", "1"
    yield "LC_ALL", "C.UTF-8"
    yield "TERM", "dumb"
    yield "COLUMNS", "80"
