"""Many concurrent writers: every acknowledged update must be in the file exactly once.

Also a program: `python -m tests.support.crowd FOLDER PREFIX WRITERS UPDATES WORD…` runs such a
crowd in its own PID namespace and prints the acknowledged tags.
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
    """The acknowledged updates of a crowd, and the updates in the file."""

    asked: int
    acknowledged: int
    present: int
    lost: tuple[str, ...]  # acknowledged, but not in the file
    doubled: tuple[str, ...]
    refused: tuple[str, ...]
    seconds: float
    slowest_seconds: float = 0.0

    @property
    def is_complete(self) -> bool:
        """Whether every requested update is in the file once."""
        return self.present == self.asked and not (self.lost or self.doubled or self.refused)


def one_process_an_update(updating: Updating, folder: Path, writers: int, updates: int) -> Count:
    """Run this many concurrent writers, each of which starts one process after the other."""
    started_at = time.monotonic()
    outcomes = _crowd(updating, folder, "w", writers, updates)
    seconds = time.monotonic() - started_at
    slowest = max(outcome.seconds for outcome in outcomes.values())
    saved = {tag: outcome.code == 0 for tag, outcome in outcomes.items()}
    refusals = [f"{tag}: {outcome.describe()}" for tag, outcome in outcomes.items() if outcome.code]
    return _counted(folder / updating.file, saved, refusals, seconds, slowest)


def in_own_namespaces(
    updating: Updating, folder: Path, namespaces: int, writers: int, updates: int
) -> Count:
    """Run each crowd in its own PID namespace, as containers do."""
    started_at = time.monotonic()
    crowds = []
    for index in range(namespaces):
        words = (interpreter(), "-m", "tests.support.crowd", str(folder), f"n{index}-")
        size = (str(writers), str(updates), updating.file, str(len(updating.arguments)))
        update = (*updating.arguments, *updating.program.words)
        command = Command((*words, *size, *update), ROOT, {**os.environ, "PYTHONPATH": str(ROOT)})
        crowds.append(start(command.behind("unshare", "--pid", "--fork", "--mount-proc")))
    saved: dict[str, bool] = {}
    refusals: list[str] = []
    for crowd in crowds:
        output, errors = crowd.communicate(timeout=1200)
        assert crowd.returncode == 0, errors.decode(errors="replace")
        answer = json.loads(output)
        saved |= dict.fromkeys(answer["acknowledged"], True)
        saved |= {line.split(":")[0]: False for line in answer["refused"]}
        refusals += answer["refused"]
    return _counted(folder / updating.file, saved, refusals, time.monotonic() - started_at)


def looping_processes(words: Iterable[str], folder: Path, file: str, tags: Iterable[str]) -> Count:
    """Start long-lived processes as `WORD… TAG`; each adds TAG-0, TAG-1 and so on.

    Each prints its acknowledged tags, one per line.
    """
    started_at = time.monotonic()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    children = [start(Command((*words, tag), folder, environment)) for tag in tags]
    saved: dict[str, bool] = {}
    refusals = []
    for child in children:
        output, errors = child.communicate(timeout=1200)
        saved |= dict.fromkeys(output.decode().split(), True)
        if child.returncode:
            refusals.append(errors.decode(errors="replace")[-300:])
    return _counted(folder / file, saved, refusals, time.monotonic() - started_at)


def beside_a_stopped_holder(
    updating: Updating, folder: Path, after: Call, *, patience: float = 60
) -> tuple[Outcome, Outcome, int]:
    """Stop a writer that holds the lock, let another one try, and continue the first.

    Returns the outcome of both, and the pid of the first.
    """
    stop = Injection(after.name, after.number, "signal=STOP")
    with paused(updating.command(folder, "first"), stop) as holder:
        pid = _child_of(holder.pid)
        second = run(updating.command(folder, "second"), patience=patience)
    output, errors = holder.communicate(timeout=900)
    return Outcome(holder.returncode, output, errors, 0.0), second, pid


@cache
def why_no_namespaces() -> str:
    """Why PID namespaces are not available; empty if they are."""
    if not sys.platform.startswith("linux"):
        return "PID namespaces are Linux's"
    probe = ["unshare", "--pid", "--fork", "--mount-proc", "true"]
    try:
        done = subprocess.run(probe, capture_output=True, check=False)
    except FileNotFoundError:
        return "unshare is not installed"
    return "" if done.returncode == 0 else "this machine does not allow PID namespaces"


def tags_in(path: Path, tags: Iterable[str]) -> Counter[str]:
    """How often each tag ends a line of the file or of its archive."""
    archive = path.with_name("STATE-ARCHIVE.md")
    texts = [each.read_text("utf-8") for each in (path, archive) if each.exists()]
    lines = [line.split() for text in texts for line in text.splitlines()]
    counts = Counter(words[-1] for words in lines if words)
    return Counter({tag: counts[tag] for tag in tags if counts[tag]})


def _crowd(
    updating: Updating, folder: Path, prefix: str, writers: int, updates: int
) -> dict[str, Outcome]:
    def write(writer: int) -> dict[str, Outcome]:
        tags = [f"{prefix}{writer}-{number}" for number in range(updates)]
        return {tag: run(updating.command(folder, tag), patience=900) for tag in tags}

    with ThreadPoolExecutor(writers) as pool:
        outcomes: dict[str, Outcome] = {}
        for written in pool.map(write, range(writers)):
            outcomes |= written
    return outcomes


def _counted(
    path: Path, saved: dict[str, bool], refusals: list[str], seconds: float, slowest: float = 0.0
) -> Count:
    counts = tags_in(path, saved)
    acknowledged = [tag for tag, is_saved in saved.items() if is_saved]
    return Count(
        asked=len(saved),
        acknowledged=len(acknowledged),
        present=len(counts),
        lost=tuple(tag for tag in acknowledged if not counts[tag]),
        doubled=tuple(tag for tag, times in counts.items() if times > 1),
        refused=tuple(refusals),
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
    """Run one crowd and print its acknowledged and refused updates."""
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
