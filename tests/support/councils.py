"""Council jobs as real processes, with the scripted program as every model."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.support.killing import processes_of
from tests.support.programs import fairlead, run_here
from tests.support.repositories import a_repository, git

GOAL = "Lamps follow the tide"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a council job left behind."""

    status: str
    ballots: list[tuple[int, str, str, str]]  # round, seat, vote, hash of the plan
    plan: str
    files: dict[str, str]
    merges: list[str]
    phases: int
    left: int


def a_world(
    folder: Path,
    settings: Mapping[str, object] | None = None,
    agents: Mapping[str, object] | None = None,
) -> Path:
    """A scratch person whose one agent is scripted, and a project to plan for."""
    home = folder / "config/fairlead"
    home.mkdir(parents=True)
    argv = [sys.executable, "-m", "fairlead.agents.scripted.program"]
    stub = {"argv": argv, "stream": "claude"}
    mine = {"agent": "stub", "agents": {"stub": stub, **(agents or {})}}
    (home / "config.json").write_text(json.dumps({"fairlead": {**mine, **(settings or {})}}))
    project = folder / "project"
    a_repository(project, {"README.md": "a harbour\n"})
    said = run(folder, "init", "Harbour", "--yes")
    assert said.returncode == 0, said.stderr
    git(project, "add", "-A")
    git(project, "commit", "-qm", "the project")
    return folder


def started(world: Path, *words: str, place: str = "") -> subprocess.Popen[str]:
    """The installed command, begun."""
    command = fairlead().command(Path(place or world / "project"), *words)
    return subprocess.Popen(
        command.words,
        cwd=command.folder,
        env=_environment(world),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(world: Path, *words: str, place: str = "") -> subprocess.CompletedProcess[str]:
    """The command, to its end, in this process; its agents are processes."""
    command = fairlead().command(Path(place or world / "project"), *words)
    done = run_here(replace(command, environment=_environment(world)))
    return subprocess.CompletedProcess(words, done.code, done.output.decode(), done.errors.decode())


def a_run(world: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """A whole job, telling its steps."""
    return run(world, "run", GOAL, "--approve", "--events", *more)


def killed_after(world: Path, steps: int, *more: str) -> None:
    """A job that is killed from outside as soon as it has reported so many steps."""
    with started(world, "run", GOAL, "--approve", "--events", *more) as begun:
        assert begun.stdout is not None
        for _ in range(steps):
            if not begun.stdout.readline():
                break
        begun.send_signal(signal.SIGKILL)
        begun.wait()


def record_of(world: Path) -> dict[str, Any]:
    """The record of the one council job."""
    record: dict[str, Any] = json.loads((job_folder(world) / "job.json").read_text())
    return record


def job_folder(world: Path, place: str = "project") -> Path:
    """The folder of the one council job."""
    [job] = (world / place / ".planning/jobs").glob("j_*")
    return job


def events_of(world: Path) -> list[dict[str, Any]]:
    """What the journal of the job says."""
    lines = (job_folder(world) / "events.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def stored(world: Path) -> set[str]:
    """The answers in raw memory, by their keys."""
    job = job_folder(world)
    found = [*job.glob("pm/*.md"), *job.glob("raw/*/*.md")]
    return {str(path.relative_to(job)).removesuffix(".md") for path in found}


def calls(world: Path) -> list[str]:
    """Every call that was made, by its key."""
    return [event["text"] for event in events_of(world) if event["kind"] == "call"]


def outcome_of(world: Path) -> Outcome:
    """Look at what is there."""
    project = world / "project"
    record = record_of(world)
    names = git(project, "ls-files", "--", ":!.planning").splitlines()
    log = git(project, "log", "--format=%s").splitlines()
    return Outcome(
        status=record["status"],
        ballots=sorted(
            (each["round"], each["seat"], each["vote"], each["plan_sha256"])
            for each in record["cumulative_votes"]
            if each["final"]
        ),
        plan=record["master_plan"]["sha256"],
        files={name: git(project, "rev-parse", f"HEAD:{name}") for name in names},
        merges=sorted(line for line in log if line.startswith("merge(")),
        phases=len(list((project / ".planning/phases").iterdir())),
        left=sum(len(processes_of(project, job)) for job in os.listdir(project / ".planning/jobs")),
    )


def _environment(world: Path) -> dict[str, str]:
    return {
        "HOME": str(world / "home"),
        "XDG_CONFIG_HOME": str(world / "config"),
        "XDG_STATE_HOME": str(world / "state"),
        "XDG_CACHE_HOME": str(world / "cache"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "LANG": "C.UTF-8",
        "PATH": os.environ["PATH"],
    }
