"""Programs under test: their arguments, folder, environment and outcome.

The proofs run real child processes with a scratch home, so that no test can read or change the
settings of the user who runs it.
"""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLOCK = "2026-01-02T03:04:05Z"  # given to the product in FAIRLEAD_NOW, so that runs repeat
PATIENCE_SECONDS = 300.0  # shared machines stall, but not this long


@dataclass(frozen=True, slots=True)
class Program:
    """A command that can be started in a folder: its first words and its environment."""

    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)

    def command(self, folder: Path, *arguments: str) -> "Command":
        """This program with the given arguments, to be started in a folder."""
        environment = {**scratch_environment(folder.parent), **self.environment}
        return Command((*self.words, *arguments), folder, environment)


@dataclass(frozen=True, slots=True)
class Command:
    """One argument list with its folder and environment."""

    words: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]

    def behind(self, *prefix: str) -> "Command":
        """The same command started by another one, such as a tracer."""
        return Command((*prefix, *self.words), self.folder, self.environment)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended. A negative code is the signal that ended it."""

    code: int
    output: bytes
    errors: bytes
    seconds: float

    @property
    def text(self) -> str:
        """Both streams as text."""
        return (self.output + self.errors).decode("utf-8", "replace")

    def describe(self) -> str:
        """The outcome in one short line, for a finding."""
        words = " ".join(self.errors.decode("utf-8", "replace").split())[-240:]
        return f"exit {self.code}: {words}" if words else f"exit {self.code}"


def run(command: Command, *, patience: float = PATIENCE_SECONDS, message: bytes = b"") -> Outcome:
    """Run to the end and keep both streams."""
    began = time.monotonic()
    done = subprocess.run(
        command.words,
        cwd=command.folder,
        env=dict(command.environment),
        input=message,
        capture_output=True,
        timeout=patience,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr, time.monotonic() - began)


def run_here(command: Command) -> Outcome:
    """Run a command of the product in this process, which starts no interpreter."""
    from tests.conftest import run_in_process

    first, *arguments = command.words
    assert (first,) == fairlead().words
    began = time.monotonic()
    with pytest.MonkeyPatch.context() as patch:
        for name in set(os.environ) - set(command.environment):
            patch.delenv(name)
        done = run_in_process(arguments, command.folder, "", command.environment)
    output, errors = (
        text.encode("utf-8", "surrogateescape") for text in (done.stdout, done.stderr)
    )
    return Outcome(done.exit_code, output, errors, time.monotonic() - began)


def start(command: Command) -> subprocess.Popen[bytes]:
    """Start without waiting; the caller waits."""
    return subprocess.Popen(
        command.words,
        cwd=command.folder,
        env=dict(command.environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def scratch_environment(scratch: Path) -> dict[str, str]:
    """An environment that reaches nothing of the user's."""
    home = scratch / "home"
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_DATA_HOME": str(home / "data"),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm-256color",
        "PYTHONHASHSEED": "0",
        "FAIRLEAD_NOW": CLOCK,
    }


def interpreter() -> str:
    """The interpreter itself; the shim of a version manager would add hundreds of calls."""
    return os.path.realpath(sys.executable)


def installed() -> Path | None:
    """The installed command: beside the running interpreter, or in the project's environment."""
    for folder in (Path(sys.executable).parent, ROOT / ".venv" / "bin"):
        candidate = folder / "fairlead"
        if candidate.is_file():
            return candidate
    return None


def fairlead() -> Program:
    """The installed command. Its absence is an error, because nothing would be tested."""
    found = installed()
    if found is None:
        raise FileNotFoundError("the fairlead command is not installed; run: make env")
    return Program((str(found),))
