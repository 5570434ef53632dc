"""Whole runs of the engine as real processes: killed from outside at a chosen step, then resumed.

The agents are programs too: the one that rehearsals use, described in the settings of a scratch
person. A run is judged by its outcome: the same files, each plan merged once, nothing left running.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairlead.store import layout
from tests.support.execution import PlanText, a_plan, a_project
from tests.support.programs import ROOT, fairlead
from tests.support.repositories import git

PHASE = "1"
PATIENCE_SECONDS = 120
_PATHS = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
# The scripted program lets the first plan of a phase go wrong; these are the ones after it.
THREE = (
    a_plan("01-02", "a.txt"),
    a_plan("01-03", "b.txt"),
    a_plan("01-04", "c.txt", depends_on=["01-02"]),
)


@dataclass(frozen=True, slots=True)
class Result:
    """What a job left behind."""

    files: dict[str, str]
    merges: list[str]
    calls: int
    recorded: list[str]  # the calls in the ledgers, by their names
    status: str
    left: int
    uncommitted: str
    worktrees: int


def a_world(folder: Path, plans: Sequence[PlanText] = THREE) -> Path:
    """A scratch person with an agent of their own, and a project with plans to carry out."""
    settings = folder / "config/fairlead/config.json"
    settings.parent.mkdir(parents=True)
    argv = [sys.executable, "-m", "fairlead.adapters.scripted_program"]
    agents = {"stub": {"argv": argv, "stream": "claude"}}
    settings.write_text(json.dumps({"fairlead": {"agent": "stub", "agents": agents}}))
    a_project(folder / "project", *plans)
    return folder


EXECUTE = ("phase", "execute", PHASE, "--approve")


def started(world: Path, *more: str, words: tuple[str, ...] = EXECUTE) -> subprocess.Popen[str]:
    """A run of the installed command, telling its steps."""
    command = fairlead().command(world / "project", *words, "--events", *more)
    return subprocess.Popen(
        command.words,
        cwd=command.folder,
        env={**_environment(world), "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def steps_of(world: Path, *more: str, words: tuple[str, ...] = EXECUTE) -> list[str]:
    """Every step of an undisturbed run."""
    with started(world, *more, words=words) as run:
        said, problems = run.communicate(timeout=PATIENCE_SECONDS)
    assert run.returncode == 0, problems + said
    return said.splitlines()


def killed_after(world: Path, steps: int, *more: str, words: tuple[str, ...] = EXECUTE) -> None:
    """A run that is killed from outside as soon as it has told so many steps."""
    with started(world, *more, words=words) as run:
        assert run.stdout is not None
        for _ in range(steps):
            if not run.stdout.readline():
                break
        run.send_signal(signal.SIGKILL)
        run.wait()


def killed_at(world: Path, point: int) -> int:
    """A run that kills itself at such a point from its first landing on; how far it came.

    How many points there are depends on who is waited for: a run may end before a late one.
    """
    command = [sys.executable, "-m", "tests.support.dying", str(point), str(world / "points")]
    done = subprocess.run(
        [*command, *EXECUTE],
        cwd=world / "project",
        env={**_environment(world), "PATH": os.environ["PATH"], "PYTHONPATH": _PATHS},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr + done.stdout
    return int((world / "points").read_text())


def result_of(world: Path) -> Result:
    """Look at what is there."""
    project = world / "project"
    listed = [line.split(None, 3) for line in git(project, "ls-tree", "-r", "HEAD").splitlines()]
    [job] = (project / ".planning/jobs").iterdir()
    events = [json.loads(line) for line in (job / "events.jsonl").read_text().splitlines()]
    return Result(
        files={name: id_ for *_, id_, name in listed if not name.startswith(".planning/")},
        merges=sorted(
            line for line in git(project, "log", "--format=%s").splitlines() if "merge" in line
        ),
        calls=sum(event["kind"] == "call" for event in events),
        recorded=[entry["call"] for entry in ledger_of(project) if "call" in entry],
        status=json.loads((job / "job.json").read_text())["status"],
        left=len(processes_of(project, job.name)),
        uncommitted=git(project, "status", "--porcelain"),
        worktrees=len(git(project, "worktree", "list").splitlines()) - 1,
    )


def ledger_of(project: Path) -> list[dict[str, Any]]:
    """The evidence of every plan."""
    texts = [path.read_text() for path in sorted((project / ".planning/ledger").glob("*"))]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def processes_of(project: Path, job: str) -> list[int]:
    """The processes that carry the mark of a job in their environment."""
    wanted = f"FAIRLEAD_JOB={layout.runs_path(str(project), job)}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def processes_in(folder: Path) -> list[int]:
    """The processes that stand in a folder, or below it."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cwd").readlink().is_relative_to(folder):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def copied(world: Path, place: Path) -> Path:
    """The same world at another place; git finds itself there."""
    shutil.copytree(world, place, symlinks=True)
    return place


def _environment(world: Path) -> dict[str, str]:
    return {
        "HOME": str(world / "home"),
        "XDG_CONFIG_HOME": str(world / "config"),
        "XDG_STATE_HOME": str(world / "state"),
        "XDG_CACHE_HOME": str(world / "cache"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "LANG": "C.UTF-8",
    }
