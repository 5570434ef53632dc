"""Programs under test: what is started, where, in which environment, and what came of it.

Everything that is proved here is proved on a real child process with a scratch home, so that
no test can see or change the settings of the person who runs it.
"""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLOCK = "2026-01-02T03:04:05Z"  # the product takes its time from FAIRLEAD_NOW, so runs repeat
PATIENCE_SECONDS = 300.0  # shared machines stall; a hang is longer


@dataclass(frozen=True, slots=True)
class Program:
    """A command that can be started in a folder: its first words, and its environment."""

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
    def said(self) -> str:
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


def start(command: Command) -> subprocess.Popen[bytes]:
    """Start and return at once; the caller waits for it."""
    return subprocess.Popen(
        command.words,
        cwd=command.folder,
        env=dict(command.environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def scratch_environment(scratch: Path) -> dict[str, str]:
    """An environment that reaches nothing of the person's own."""
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
    """The interpreter itself; a version manager's shim would add hundreds of calls."""
    return os.path.realpath(sys.executable)


def installed() -> Path | None:
    """The installed command: beside the running interpreter, or in the project's environment."""
    for folder in (Path(sys.executable).parent, ROOT / ".venv" / "bin"):
        candidate = folder / "fairlead"
        if candidate.is_file():
            return candidate
    return None


def fairlead() -> Program:
    """The installed command. Its absence is an error: nothing would be proved without it."""
    found = installed()
    if found is None:
        raise FileNotFoundError("the fairlead command is not installed; run: make env")
    return Program((str(found),))
