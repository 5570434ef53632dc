"""Many writers at once: every acknowledged update must be in the file, exactly once.

Also a program: `python -m tests.support.crowd FOLDER PREFIX WRITERS UPDATES WORD…` runs such a
crowd and prints its acknowledged tags, so that a crowd can live in its own PID namespace.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.support.programs import ROOT, Command, Outcome, Program, interpreter, run, start
from tests.support.strace import Call, Injection, paused


@dataclass(frozen=True, slots=True)
class Updating:
    """A command that adds the tag given as its last argument to a file."""

    program: Program
    arguments: tuple[str, ...]
    file: str

    def command(self, folder: Path, tag: str) -> Command:
        """The command that adds one tag."""
        return self.program.command(folder, *self.arguments, tag)


@dataclass(frozen=True, slots=True)
class Count:
    """What a crowd was told, and what is in the file."""

    asked: int
    acknowledged: int
    present: int
    lost: tuple[str, ...]  # acknowledged, and not there
    doubled: tuple[str, ...]
    refused: tuple[str, ...]
    seconds: float
    slowest_seconds: float = 0.0

    @property
    def is_complete(self) -> bool:
        """Everything asked for is there once."""
        return self.present == self.asked and not (self.lost or self.doubled or self.refused)


def one_process_an_update(updating: Updating, folder: Path, writers: int, updates: int) -> Count:
    """So many writers at once, each starting one process after the other."""
    began = time.monotonic()
    outcomes = _crowd(updating, folder, "w", writers, updates)
    seconds = time.monotonic() - began
    slowest = max(outcome.seconds for outcome in outcomes.values())
    said = {tag: outcome.code == 0 for tag, outcome in outcomes.items()}
    why = [f"{tag}: {outcome.describe()}" for tag, outcome in outcomes.items() if outcome.code]
    return _counted(folder / updating.file, said, why, seconds, slowest)


def in_own_namespaces(
    updating: Updating, folder: Path, namespaces: int, writers: int, updates: int
) -> Count:
    """The same, each crowd in a PID namespace of its own, as containers have it."""
    began = time.monotonic()
    crowds = []
    for index in range(namespaces):
        words = (interpreter(), "-m", "tests.support.crowd", str(folder), f"n{index}-")
        size = (str(writers), str(updates), updating.file, str(len(updating.arguments)))
        what = (*updating.arguments, *updating.program.words)
        command = Command((*words, *size, *what), ROOT, {**os.environ, "PYTHONPATH": str(ROOT)})
        crowds.append(start(command.behind("unshare", "--pid", "--fork", "--mount-proc")))
    said: dict[str, bool] = {}
    why: list[str] = []
    for crowd in crowds:
        output, errors = crowd.communicate(timeout=1200)
        assert crowd.returncode == 0, errors.decode(errors="replace")
        answer = json.loads(output)
        said |= dict.fromkeys(answer["acknowledged"], True)
        said |= {line.split(":")[0]: False for line in answer["refused"]}
        why += answer["refused"]
    return _counted(folder / updating.file, said, why, time.monotonic() - began)


def looping_processes(words: Iterable[str], folder: Path, file: str, tags: Iterable[str]) -> Count:
    """Long-lived processes, started as `WORD… TAG`, that add TAG-0, TAG-1 and so on themselves.

    Each prints the tags it was told are saved, one a line.
    """
    began = time.monotonic()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    children = [start(Command((*words, tag), folder, environment)) for tag in tags]
    said: dict[str, bool] = {}
    why = []
    for child in children:
        output, errors = child.communicate(timeout=1200)
        said |= dict.fromkeys(output.decode().split(), True)
        if child.returncode:
            why.append(errors.decode(errors="replace")[-300:])
    return _counted(folder / file, said, why, time.monotonic() - began)


def beside_a_stopped_holder(
    updating: Updating, folder: Path, after: Call, *, patience: float = 60
) -> tuple[Outcome, Outcome, int]:
    """Stop a writer that holds the lock, let another one try, and wake the first.

    Returns how the first and the second ended, and the pid of the first.
    """
    stop = Injection(after.name, after.number, "signal=STOP")
    with paused(updating.command(folder, "first"), stop) as holder:
        pid = _child_of(holder.pid)
        second = run(updating.command(folder, "second"), patience=patience)
    output, errors = holder.communicate(timeout=60)
    return Outcome(holder.returncode, output, errors, 0.0), second, pid


@cache
def why_no_namespaces() -> str:
    """Why PID namespaces cannot be made here; empty when they can."""
    if not sys.platform.startswith("linux"):
        return "PID namespaces are Linux's"
    probe = ["unshare", "--pid", "--fork", "--mount-proc", "true"]
    try:
        done = subprocess.run(probe, capture_output=True, check=False)
    except FileNotFoundError:
        return "unshare is not installed"
    return "" if done.returncode == 0 else "this machine does not allow PID namespaces"


def tags_in(path: Path, tags: Iterable[str]) -> Counter[str]:
    """How often each tag ends a line of the file, or of the archive that its oldest lines go to."""
    archive = path.with_name("STATE-ARCHIVE.md")
    texts = [each.read_text("utf-8") for each in (path, archive) if each.exists()]
    lines = [line.split() for text in texts for line in text.splitlines()]
    found = Counter(words[-1] for words in lines if words)
    return Counter({tag: found[tag] for tag in tags if found[tag]})


def _crowd(
    updating: Updating, folder: Path, prefix: str, writers: int, updates: int
) -> dict[str, Outcome]:
    def write(writer: int) -> dict[str, Outcome]:
        tags = [f"{prefix}{writer}-{number}" for number in range(updates)]
        return {tag: run(updating.command(folder, tag), patience=900) for tag in tags}

    with ThreadPoolExecutor(writers) as pool:
        outcomes: dict[str, Outcome] = {}
        for mine in pool.map(write, range(writers)):
            outcomes |= mine
    return outcomes


def _counted(
    path: Path, said: dict[str, bool], why: list[str], seconds: float, slowest: float = 0.0
) -> Count:
    found = tags_in(path, said)
    acknowledged = [tag for tag, is_saved in said.items() if is_saved]
    return Count(
        asked=len(said),
        acknowledged=len(acknowledged),
        present=len(found),
        lost=tuple(tag for tag in acknowledged if not found[tag]),
        doubled=tuple(tag for tag, times in found.items() if times > 1),
        refused=tuple(why),
        seconds=seconds,
        slowest_seconds=slowest,
    )


def _child_of(pid: int) -> int:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0])


def _shift_pids(steps: int) -> None:
    """Use up some process ids, so that equal ids in two namespaces are unlikely."""
    for _ in range(steps):
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)


def main(folder: str, prefix: str, writers: str, updates: str, file: str, *rest: str) -> int:
    """Run one crowd and print what it was told."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _shift_pids(40 * int(prefix.strip("n-") or 0))
    count = int(rest[0])
    updating = Updating(Program(rest[1 + count :]), rest[1 : 1 + count], file)
    outcomes = _crowd(updating, Path(folder), prefix, int(writers), int(updates))
    answer = {
        "acknowledged": [tag for tag, outcome in outcomes.items() if outcome.code == 0],
        "refused": [
            f"{tag}: {outcome.describe()}" for tag, outcome in outcomes.items() if outcome.code
        ],
    }
    sys.stdout.write(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
