"""Sample projects in scratch folders, and commands that run in them in this process.

Nothing here imports more of the package than the command line's entry point, because the modules
behind it may move.
"""

import io
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fairlead.interfaces.cli import main
from tests.golden.kinds import KINDS
from tests.golden.worlds import environment, project_key, restore, write_agent, write_settings

NOW = "2026-01-02T03:04:05Z"
# A PATH without agents and without gh, on every machine.
PROGRAMS = ("git", "sh", "test", "true", "cat", "env", "grep", "ls", "python3")
BLOCKED = 6  # a job that waits for an answer

PLAN = """\
---
phase: {phase}
plan: {plan}
type: execute
wave: 1
depends_on: []
files_modified: [{file}]
autonomous: true
must_haves:
  truths: ["{file} exists"]
---

<objective>
Make {file}.
</objective>

<tasks>
<task type="auto">
  <name>Task 1: make {file}</name>
  <files>{file}</files>
  <action>Write {file}.</action>
  <verify>test -f {file}</verify>
  <done>{file} exists</done>
</task>
</tasks>
"""
SUMMARY = """\
---
phase: {phase}
plan: {plan}
completed: 2026-01-01
---

# Summary

Made {file}.

## Self-Check: PASSED
"""
STATE = """\
---
gsd_state_version: '1.0'
milestone: v1.0
milestone_name: Harbour
status: executing
active_phase: "2"
next_action: execute-phase
next_phases: ["2"]
progress:
  total_phases: 3
  completed_phases: 1
  total_plans: 3
  completed_plans: 2
  percent: 33
last_updated: "2026-01-01T00:00:00.000Z"
last_activity: 2026-01-01
stopped_at: Completed 02-01-PLAN.md
---

# Project State

## Project Reference

See: .planning/PROJECT.md (updated 2026-01-01)

**Core value:** Lamps follow the tide
**Current focus:** Phase 2 — Api

## Current Position

Phase: 2 of 3 (Api)
Plan: 2 of 2 in current phase
Status: Ready to execute
Last activity: 2026-01-01 — Completed 02-01-PLAN.md

Progress: [███░░░░░░░] 33%

## Performance Metrics

**Velocity:**

- Total plans completed: 2
- Average duration: 5 min
- Total execution time: 0.2 hours

**By Phase:**

| Phase | Plans | Total | Avg/Plan |
|-------|-------|-------|----------|
| 1 | 1 | 5 min | 5 min |

## Accumulated Context

### Decisions

- [Phase 1]: Times are UTC

### Pending Todos

None yet.

### Blockers/Concerns

- The tide table has no sandbox

## Session Continuity

Last session: 2026-01-01
Stopped at: Completed 02-01-PLAN.md
Resume file: None
"""
ROADMAP = """\
# Roadmap: Harbour

## Overview

From nothing to lamps.

## Phases

- [x] **Phase 1: Core** - first (completed 2026-01-01)
- [ ] **Phase 2: Api** - second
- [ ] **Phase 3: Ui** - third

## Phase Details

### Phase 1: Core

**Goal**: A core
**Depends on**: Nothing (first phase)
**Requirements**: REQ-1
**Success Criteria** (what must be TRUE):

  1. core.txt exists

**Plans**: 1 plan

Plans:

- [x] 01-01: the core

### Phase 2: Api

**Goal**: An interface
**Depends on**: Phase 1
**Requirements**: REQ-2
**Success Criteria** (what must be TRUE):

  1. api.txt exists

**Plans**: 2 plans

Plans:

- [x] 02-01: the interface
- [ ] 02-02: its users

### Phase 3: Ui

**Goal**: A page
**Depends on**: Phase 2
**Success Criteria** (what must be TRUE):

  1. A page is there

**Plans**: TBD

## Progress

| Phase | Plans Complete | Status | Completed |
|-------|----------------|--------|-----------|
| 1. Core | 1/1 | Complete | 2026-01-01 |
| 2. Api | 1/2 | In progress | - |
| 3. Ui | 0/TBD | Not started | - |
"""


def _plans() -> Iterator[tuple[str, str]]:
    rows = (("01-core", "01", "core.txt", True), ("02-api", "01", "api.txt", True))
    for phase, plan, file, is_done in (*rows, ("02-api", "02", "users.txt", False)):
        lead = f".planning/phases/{phase}/{phase[:2]}-{plan}"
        yield f"{lead}-PLAN.md", PLAN.format(phase=phase, plan=plan, file=file)
        if is_done:
            yield f"{lead}-SUMMARY.md", SUMMARY.format(phase=phase, plan=plan, file=file)
            yield file, "made\n"


PROJECT = {
    "README.md": "a harbour\n",
    ".planning/STATE.md": STATE,
    ".planning/ROADMAP.md": ROADMAP,
    ".planning/PROJECT.md": "# Harbour\n\n## Core Value\n\nLamps follow the tide\n",
    ".planning/REQUIREMENTS.md": "# Requirements\n\n- [x] **REQ-1**: a core\n- [ ] **REQ-2**: an api\n",
    ".planning/config.json": '{\n  "mode": "interactive",\n  "granularity": "standard"\n}\n',
    ".planning/todos/pending/2026-01-01-dim-the-lamps.md": (
        "---\ncreated: 2026-01-01\ntitle: Dim the lamps\narea: ui\nfiles: []\n---\n\n## Problem\n\nBright.\n"
    ),
    **dict(_plans()),
}
SECTIONS = ("Functional Requirements", "Non-Functional Requirements", "Architecture Design")
GOAL = (
    ("planning", "start", "Lamps follow the tide", "--session", "s1"),
    ("planning", "add", "module", "Tide reader", "-c", "Reads a year", "-p", "high"),
    ("planning", "add", "module", "Lamp switch", "-c", "Switches", "-p", "low"),
    ("planning", "add", "criterion", "The harbour master agrees"),
)
READY = (
    *(("planning", "modify", "requirement", each, "--status", "complete") for each in SECTIONS),
    ("planning", "confirm", "5", "--yes"),
    ("planning", "review"),
)
REQUIREMENTS = "".join(f"## {section}\n\nWritten.\n\n" for section in SECTIONS)
APPROVED = (*GOAL, *READY, ("planning", "approve", "--skip-issues"))


@dataclass(frozen=True, slots=True)
class Sample:
    """What a folder contains before a command runs in it."""

    files: Mapping[str, str]
    commands: Sequence[Sequence[str]] = ()  # run after the files were committed
    kind: str = ""  # of a stored job, instead of files
    is_git: bool = True
    has_agent: bool = False  # the scripted one, in the settings of the person


SAMPLES = {
    "empty": Sample({}, is_git=False),
    "project": Sample(PROJECT),
    "broken": Sample({**PROJECT, ".planning/STATE.md": "---\nstatus: [\n---\n\n# State\n"}),
    "goal": Sample(PROJECT, GOAL),
    "ready": Sample({**PROJECT, "USER_REQUIREMENTS.md": REQUIREMENTS}, (*GOAL, *READY)),
    "approved": Sample({**PROJECT, "USER_REQUIREMENTS.md": REQUIREMENTS}, APPROVED),
    "assigned": Sample(
        {**PROJECT, "USER_REQUIREMENTS.md": REQUIREMENTS},
        (
            *APPROVED,
            ("exec", "register", "human", "ada"),
            ("exec", "register", "ai", "bot", "--session", "s2"),
            ("exec", "assign", "tide-reader", "ada"),
        ),
    ),
    "paused": Sample(PROJECT, (("pause", "The reader works"),)),
    "changed": Sample(PROJECT, (("state", "add-blocker", "--text", "No sandbox"),)),
    "installed": Sample(PROJECT, (("install", "claude", "--yes"),)),
    "closed": Sample(
        PROJECT, (("milestone", "complete", "v1.0", "--force", "--reason", "enough"),)
    ),
    "discussed": Sample({**PROJECT, ".planning/phases/03-ui/03-CONTEXT.md": "# Context\n"}),
    "agent": Sample(PROJECT, has_agent=True),
    "asking": Sample(PROJECT, (("phase", "plan", "3"),), has_agent=True),
    "vetoed": Sample({}, (("job", "veto", "<job>", "--why", "no"),), kind="council"),
    **{f"job-{kind}": Sample({}, kind=kind) for kind in KINDS},
}


class Result(NamedTuple):
    """How a command ended."""

    exit_code: int
    stdout: str
    stderr: str


def scratch_place() -> str | None:
    """A folder in memory where there is one: many small files are far quicker there."""
    memory = "/dev/shm"
    return memory if os.path.isdir(memory) and os.access(memory, os.W_OK) else None


class Samples:
    """Copies of samples below a scratch folder; each sample is built once."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch.resolve()
        self._made = 0
        self._unused: dict[str, list[Path]] = {}
        self._bin = self._scratch / "bin"
        self._bin.mkdir(parents=True)
        for program in PROGRAMS:
            found = shutil.which(program)
            assert found, f"{program} is not installed"
            (self._bin / program).symlink_to(found)
        write_agent(self._bin)

    def copy(self, name: str) -> Path:
        """The folder of a fresh world; its project is in `project`."""
        if self._unused.get(name):
            return self._unused[name].pop()
        self._made += 1
        world = self._scratch / f"{self._made}" / "world"
        sample = SAMPLES[name]
        if sample.kind or sample.has_agent:  # its files name its place
            self._build(sample, world)
            return world
        template = self._scratch / "templates" / name
        if not template.exists():
            self._build(sample, template)
        shutil.copytree(template, world, symlinks=True)
        old, new = project_key(template / "project"), project_key(world / "project")
        for path in [*(world / "state").rglob(f"{old}*")]:  # the private records of its project
            path.rename(path.with_name(path.name.replace(old, new)))
        return world

    def give_back(self, name: str, world: Path) -> None:
        """Let a copy in which nothing was changed serve once more."""
        self._unused.setdefault(name, []).append(world)

    def drop(self, world: Path) -> None:
        """Remove a copy."""
        shutil.rmtree(world.parent, ignore_errors=True)

    def run(
        self, world: Path, argv: Sequence[str], stdin: str = "", *, is_timeless: bool = True
    ) -> Result:
        """Run a command in the project of a world, in this process."""
        variables = {**dict(environment(world)), "PATH": str(self._bin), "PYTHONHASHSEED": "0"}
        for name in ("AUTHOR", "COMMITTER"):
            variables[f"GIT_{name}_DATE"] = "2026-01-01T00:00:00Z"
        if is_timeless:
            variables["FAIRLEAD_NOW"] = NOW
        given = stdin.replace("<project>", str(world / "project"))
        with _process_state(variables, world / "project"):
            return _with_streams(list(argv), given, world)

    def _build(self, sample: Sample, world: Path) -> None:
        project = world / "project"
        for name in ("project", "home"):
            (world / name).mkdir(parents=True)
        if sample.kind:
            restore(sample.kind, world)
        if sample.has_agent:
            write_settings(world)
        for name, text in sample.files.items():
            path = project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        if sample.is_git and not sample.kind:
            _commit(project)
        for words in sample.commands:
            done = self.run(world, [filled(word, world) for word in words])
            if done.exit_code not in (0, BLOCKED):
                raise AssertionError(f"{words} failed: {done.stdout}{done.stderr}")


def filled(word: str, world: Path) -> str:
    """A word of a command line with the name of the job or the quick task of a world in it."""
    if word not in ("<job>", "<quick>"):
        return word
    jobs = sorted(each.name for each in world.glob("project/.planning/jobs/*"))
    job = jobs[0] if jobs else "execute-01-20260101-000000"
    return job if word == "<job>" else "-".join(job.split("-")[1:3])


def _commit(project: Path) -> None:
    who = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(project.parent / "home"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
        "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
    }
    for words in (
        ("init", "-q", "-b", "main", "--template="),
        ("add", "-A"),
        (*who, "commit", "-q", "-m", "first"),
        ("repack", "-a", "-d", "-q"),  # fewer files to copy
        ("prune-packed", "-q"),
    ):
        subprocess.run(["git", *words], cwd=project, env=variables, check=True)


@contextmanager
def _process_state(variables: Mapping[str, str], folder: Path) -> Iterator[None]:
    """Give this process another environment and folder for a while."""
    before, place, argv = dict(os.environ), os.getcwd(), sys.argv
    try:
        os.environ.clear()
        os.environ.update(variables)
        os.chdir(folder)
        sys.argv = ["fairlead"]
        yield
    finally:
        sys.argv = argv
        os.chdir(place)
        os.environ.clear()
        os.environ.update(before)


def _with_streams(argv: list[str], stdin: str, scratch: Path) -> Result:
    """Run with files as standard streams, by descriptor, since children inherit those."""
    names = ("stdin", "stdout", "stderr")
    paths = [scratch / f".{name}" for name in names]
    paths[0].write_text(stdin, "utf-8")
    saved = [os.dup(number) for number in range(3)]
    streams = [getattr(sys, name) for name in names]
    for stream in streams[1:]:
        stream.flush()
    files = [path.open("r+b" if at == 0 else "w+b", 0) for at, path in enumerate(paths)]
    try:
        for number, file in enumerate(files):
            os.dup2(file.fileno(), number)
        given = open(0, "rb", closefd=False)  # noqa: SIM115  # closed with its wrapper
        sys.stdin = io.TextIOWrapper(given, "utf-8")
        for number, name in enumerate(names[1:], 1):
            raw = open(number, "wb", closefd=False)  # noqa: SIM115  # closed with its wrapper
            setattr(sys, name, io.TextIOWrapper(raw, "utf-8", write_through=True))
        code = main.run(argv)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        for name, stream in zip(names, streams, strict=True):
            getattr(sys, name).close()
            setattr(sys, name, stream)
        for number, (old, file) in enumerate(zip(saved, files, strict=True)):
            os.dup2(old, number)
            os.close(old)
            file.close()
    said, problems = (path.read_bytes().decode("utf-8", "replace") for path in paths[1:])
    return Result(code, said, problems)
