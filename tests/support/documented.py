"""The console blocks of a page, run as a reader would type them, in a new home.

A block that cannot run in a test stands below a comment with the reason:

    <!-- not run: it installs packages for your user -->

Every other block runs, command by command, in one session: `cd` lasts, and so do files. What a page
shows below a command has to be what the command prints; a line `…` stands for any lines. Times,
ids, hashes, amounts and folders of the machine are masked on both sides.
"""

import os
import pwd
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from tests.support.programs import ROOT

PATIENCE_SECONDS = 900
ANYTHING = "…"
_FENCE = re.compile(r"^```(\w*)\s*$")
_REASON = re.compile(r"^<!-- not run: (.+) -->$")
_CODE = re.compile(r"# exit code (\d+)")
_MASKS = (
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "TIME"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"),
    (re.compile(r"\b(?<!-)\d{4}-\d\d-\d\d\b"), "DATE"),
    (re.compile(r"\b\d{8}-\d{6}\b"), "WHEN"),
    (re.compile(r"\bj_\d{8}_\d{4}\b"), "JOB"),
    (re.compile(r"\S*/fairlead-demo-\w+"), "DEMO"),
    (re.compile(r"\b(?=[a-f]*\d)[0-9a-f]{7,40}\b"), "HASH"),
    (re.compile(r"-[0-9a-f]{16}\b"), "-HASH"),
    (re.compile(r"\bafter \d+ s\b"), "after N s"),
    (re.compile(r"\b\d[\d,]* tokens\b"), "N tokens"),
    (re.compile(r"\bestimated \d[\d,]*\b"), "estimated N"),
    (re.compile(r"\$\d+\.\d\d\b"), "$N"),
    (re.compile(r"\(\d+%\)"), "(N%)"),
    (re.compile(r"\b\d+\.\d+\.\d+\b"), "VERSION"),
    (re.compile(r"\bpython3\.\d+\b"), "python3"),
    (re.compile(r"(?<=VERSION) +"), " "),
)


@dataclass(frozen=True, slots=True)
class Step:
    """A command of a block, and the lines that the page shows below it."""

    command: str
    shown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConsoleBlock:
    """A block of a page; with a reason, it does not run."""

    line: int
    steps: tuple[Step, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Printed:
    """A command with what it printed, masked, and how it ended."""

    command: str
    lines: tuple[str, ...]
    code: int
    seconds: float

    @property
    def is_as_announced(self) -> bool:
        """Whether it ended with 0, or with the code that its comment announces."""
        announced = _CODE.search(self.command)
        return self.code == (int(announced[1]) if announced else 0)


@dataclass(slots=True)
class Reader:
    """Someone who types the commands of a page, one after the other."""

    folder: Path
    environment: Mapping[str, str]
    masks: Sequence[tuple[str, str]] = ()  # folders of the machine and their names
    printed: list[Printed] = field(default_factory=list)

    def type(self, command: str) -> Printed:
        """Run a command in the current folder of the session."""
        place = Path(self.environment["HOME"]) / ".folder"
        script = f'{command}\ncode=$?\npwd > "$HOME/.folder"\nexit $code\n'
        began = time.monotonic()
        done = subprocess.run(
            ["bash", "--norc", "-c", script],
            cwd=self.folder,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        seconds = time.monotonic() - began
        self.folder = Path(place.read_text("utf-8").strip())
        lines = tuple(self.masked(line) for line in done.stdout.splitlines())
        self.printed.append(Printed(command, lines, done.returncode, seconds))
        return self.printed[-1]

    def masked(self, line: str) -> str:
        """A line without what differs from run to run."""
        for text, name in self.masks:
            line = line.replace(text, name)
        return masked(line)


def blocks_of(text: str) -> list[ConsoleBlock]:
    """The console blocks of a page, in order."""
    blocks: list[ConsoleBlock] = []
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        fence = _FENCE.match(lines[number])
        number += 1
        if not fence:
            continue
        begin = number
        while number < len(lines) and lines[number].rstrip() != "```":
            number += 1
        if fence[1] == "console":
            above = _REASON.match(lines[begin - 2]) if begin >= 2 else None
            steps = tuple(_steps(lines[begin:number]))
            blocks.append(ConsoleBlock(begin, steps, above[1] if above else ""))
        number += 1
    return blocks


def _steps(lines: Sequence[str]) -> Iterator[Step]:
    command = ""
    shown: list[str] = []
    for line in lines:
        if line.startswith("$ "):
            if command:
                yield Step(command, _trimmed(shown))
            command, shown = line[2:], []
        else:
            shown.append(line)
    if command:
        yield Step(command, _trimmed(shown))


def _trimmed(lines: Sequence[str]) -> tuple[str, ...]:
    kept = list(lines)
    while kept and not kept[-1].strip():
        kept.pop()
    return tuple(kept)


def masked(line: str) -> str:
    """A line without times, ids, hashes and amounts, and without spaces at its end."""
    for pattern, name in _MASKS:
        line = pattern.sub(name, line)
    return line.rstrip()


def is_true_to(shown: Sequence[str], printed: Sequence[str]) -> bool:
    """Whether a page shows what was printed; the line `…` stands for any lines, or none."""
    if not shown:
        return not printed
    if shown[0].strip() == ANYTHING:
        return any(is_true_to(shown[1:], printed[start:]) for start in range(len(printed) + 1))
    return bool(printed) and masked(shown[0]) == printed[0] and is_true_to(shown[1:], printed[1:])


def transcript(printed: Sequence[Printed]) -> str:
    """A session as its golden file has it.

    Events of parallel steps come in any order, and a host fills its own file as it likes.
    """
    parts: list[str] = []
    for each in printed:
        parts.append(f"$ {each.command}")
        parts += _without_order(list(_without_host_file(each.lines)))
        if each.code:
            parts.append(f"[exit {each.code}]")
        parts.append("")
    return "\n".join(parts).rstrip("\n") + "\n"


def _without_order(lines: Sequence[str]) -> list[str]:
    """Lines in which events of one run, and commits of one second, are sorted."""
    ordered: list[str] = []
    for is_sorted, group in groupby(lines, lambda line: line.startswith(("TIME  ", "HASH "))):
        found = list(group)
        ordered += sorted(found) if is_sorted else found
    return ordered


def _without_host_file(lines: Sequence[str]) -> Iterator[str]:
    """Lines without the changes in the file that Claude Code itself writes at every start."""
    is_left_out = False
    for line in lines:
        if not line.startswith(("+", "-", " ", "@@")):
            is_left_out = False
        if not is_left_out:
            yield line
        if line.startswith("+++ ") and line.endswith("/.claude.json"):
            is_left_out = True


def a_checkout(folder: Path) -> Path:
    """A copy of the files that git tracks here, with their present content, as a repository."""
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    for name in filter(None, names):
        source = ROOT / name
        if source.is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    return folder


def own_packages(environment: Mapping[str, str]) -> dict[str, str]:
    """The settings of this machine for its package index, which a new home would lose."""
    kept = {name: value for name, value in environment.items() if name.startswith("PIP_")}
    own = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".config" / "pip" / "pip.conf"
    return {"PIP_CONFIG_FILE": str(own), **kept} if own.is_file() else kept
