"""Executions as real processes, killed at a chosen step and then resumed.

The agents are processes as well: the scripted agent, described in the settings of a scratch user.
A test checks the outcome: the same files, each plan merged once, no process left.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fairlead.jobs.paths import runs_path
from tests.support.execution import PlanText, a_plan, a_project
from tests.support.programs import ROOT, Outcome, fairlead, run_here
from tests.support.repositories import git

PHASE = "1"
PATIENCE_SECONDS = 900  # only so that a run that hangs ends one day
_PATHS = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
# The scripted program lets the first plan of a phase go wrong; these are the ones after it.
THREE = (
    a_plan("01-02", "a.txt"),
    a_plan("01-03", "b.txt"),
    a_plan("01-04", "c.txt", depends_on=["01-02"]),
)


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a job."""

    files: dict[str, str]
    merges: list[str]
    calls: int
    recorded: list[str]  # the calls in the ledgers, by their names
    status: str
    left: int
    uncommitted: str
    worktrees: int


def a_world(folder: Path, plans: Sequence[PlanText] = THREE) -> Path:
    """A scratch user with a custom agent, and a project with plans to execute."""
    settings = folder / "config/fairlead/config.json"
    settings.parent.mkdir(parents=True)
    argv = [sys.executable, "-m", "fairlead.agents.scripted.program"]
    agents = {"stub": {"argv": argv, "stream": "claude"}}
    settings.write_text(json.dumps({"fairlead": {"agent": "stub", "agents": agents}}))
    a_project(folder / "project", *plans)
    return folder


EXECUTE = ("phase", "execute", PHASE, "--approve")


def started(world: Path, *more: str, words: tuple[str, ...] = EXECUTE) -> subprocess.Popen[str]:
    """Start the installed command, which reports its steps."""
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
    """The steps of a run that is not killed."""
    with started(world, *more, words=words) as run:
        said, problems = run.communicate(timeout=PATIENCE_SECONDS)
    assert run.returncode == 0, problems + said
    return said.splitlines()


def ran(world: Path, *more: str) -> Outcome:
    """A whole run, in this process."""
    command = fairlead().command(world / "project", *EXECUTE, "--events", *more)
    environment = {**_environment(world), "PATH": os.environ["PATH"]}
    return run_here(replace(command, environment=environment))


def killed_after(world: Path, steps: int, *more: str, words: tuple[str, ...] = EXECUTE) -> None:
    """Kill a run from outside once it has reported this many steps."""
    with started(world, *more, words=words) as run:
        assert run.stdout is not None
        for _ in range(steps):
            if not run.stdout.readline():
                break
        run.send_signal(signal.SIGKILL)
        run.wait()


def killed_at(world: Path, point: int) -> int:
    """A run that kills itself at a point after its first landing; returns how far it came.

    The number of points depends on timing: a run may end before a late point.
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
    """Read the outcome of the newest job."""
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
    """The ledger entries of every plan."""
    texts = [path.read_text() for path in sorted((project / ".planning/ledger").glob("*"))]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def processes_of(project: Path, job: str) -> list[int]:
    """The processes that carry the mark of a job in their environment."""
    wanted = f"FAIRLEAD_JOB={runs_path(str(project), job)}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def processes_in(folder: Path) -> list[int]:
    """The processes whose working folder is this folder or below it."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cwd").readlink().is_relative_to(folder):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def copied(world: Path, place: Path) -> Path:
    """Copy a world to another place; git works there too."""
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
