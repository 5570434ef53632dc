"""A project for the board to show: a council, parallel plans, a veto, a question, drift.

Everything but the two councils of other days is made by the commands a person would use, with the
scripted program as every agent. Each command gets a fixed time, a minute after the one before, so
that jobs, documents and pages have the same times in every run.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from fairlead.app import App
from fairlead.core.serialization import plain
from fairlead.jobs.folder import JobFolder, record_text
from fairlead.jobs.model import Job, JobStatus, Question, QuestionKind
from tests.support.council_scenes import SCENES
from tests.support.programs import fairlead, run
from tests.support.repositories import a_repository, git

TITLE, GOAL = "Harbour lights", "A log of every lamp"
_PLAN = """---
phase: 03-{slug}
plan: {number}
type: execute
wave: {wave}
depends_on: [{needs}]
files_modified: [{file}]
autonomous: {autonomous}
must_haves:
  truths: ["{objective}"]
  artifacts: [{{path: {file}, provides: "{objective}"}}]
  key_links: []
---

<objective>
{objective}
</objective>

<tasks>
<task type="auto">
  <name>Task 1: {objective}</name>
  <files>{file}</files>
  <action>Write it.</action>
  <verify>test -f {file}</verify>
  <done>The file exists.</done>
</task>
{more}</tasks>
"""
_LOOK = (
    '<task type="checkpoint:human-verify" gate="blocking">\n<what-built>The page of lamps</what-built>\n'
    "<how-to-verify>Open it and switch a lamp</how-to-verify>\n"
    "<resume-signal>Say that it works</resume-signal>\n</task>\n"
)


_FIRST_COMMAND = datetime.fromisoformat("2026-04-13T09:00:00+00:00")
NOW = "2026-04-13T12:00:00Z"  # when the board is looked at


class Stage:
    """Runs commands in a project, each a minute after the one before."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._now = _FIRST_COMMAND

    def command(self, *words: str) -> str:
        """Run a command; its output."""
        given = fairlead().command(self._project, *words)
        clock = {"FAIRLEAD_NOW": self._now.isoformat()}
        done = run(replace(given, environment={**given.environment, **clock}))
        self._now += timedelta(minutes=1)
        assert done.code in (0, 6), done.errors.decode()
        return done.output.decode()


def staged_project(folder: Path) -> Path:
    """Make the project."""
    config = folder / "home/config/fairlead"
    config.mkdir(parents=True)
    stub = {"argv": [sys.executable, "-m", "fairlead.agents.scripted.program"], "stream": "claude"}
    settings = {"fairlead": {"agent": "stub", "agents": {"stub": stub}}}
    (config / "config.json").write_text(json.dumps(settings), "utf-8")
    project = folder / "harbour-lights"
    command = Stage(project).command
    a_repository(project, {"README.md": "a harbour\n"})
    command("init", TITLE, "--yes")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Start")
    command("run", GOAL, "--approve")
    command("phase", "add", "A page of lamps")
    _plans(project)
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Plans")
    command("phase", "execute", "3", "--approve")
    command("state", "add-decision", "--phase", "1", "--summary", "One file per lamp")
    command("state", "add-blocker", "--text", "The supplier of bulbs does not answer")
    command("capture", "A lamp that follows the tide")
    for scene in ("vetoed", "deadlocked"):
        _council(project, scene)
    state = project / ".planning/STATE.md"
    text = state.read_text("utf-8")
    state.write_text(text.replace("total_phases: ", "total_phases: 1"), "utf-8")
    return project


def second_project(folder: Path) -> Path:
    """Make a project with a job that was interrupted and one that asks about touched files."""
    project = folder / "tide-tables"
    command = Stage(project).command
    a_repository(project, {"README.md": "tides\n"})
    command("init", "Tide tables", "--yes")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Start")
    for name, kind, status in (
        ("discuss-01-20260412-091500", "discuss", JobStatus.EXECUTING),
        ("quick-20260412-101500", "quick", JobStatus.BLOCKED),
    ):
        record = Job(name, "1", status, "2026-04-12T09:15:00Z", "", kind=kind)
        JobFolder(str(project), name).save_record(record)
    home = JobFolder(str(project), "quick-20260412-101500")
    asked = "An agent changed .github/workflows/ci.yml, which its task must not change."
    options = ("accept", "reject", "abort")
    home.save_question(Question("touched-1", QuestionKind.TOUCHED, "01-01", asked, options))
    return project


def _plans(project: Path) -> None:
    [phase] = (project / ".planning/phases").glob("03-*")
    slug = phase.name.partition("-")[2]
    rows = (
        (1, 1, "", "lamps.html", "List every lamp", ""),
        (2, 1, "", "style.css", "Make it readable at night", ""),
        (3, 2, "03-01, 03-02", "switch.js", "Switch a lamp", _LOOK),
    )
    for number, wave, needs, file, objective, more in rows:
        text = _PLAN.format(
            slug=slug,
            number=f"{number:02d}",
            wave=wave,
            needs=needs,
            file=file,
            objective=objective,
            autonomous="false" if more else "true",
            more=more,
        )
        (phase / f"03-{number:02d}-PLAN.md").write_text(text, "utf-8")


def _council(project: Path, scene: str) -> None:
    """A council of another day."""
    report = SCENES[scene]()
    home = project / ".planning/jobs" / f"j_20260412_{scene}"
    home.mkdir(parents=True)
    record = {**plain(report.job), "job_id": home.name}
    (home / "job.json").write_text(record_text(record), "utf-8")
    events = [{"at": each.at, "kind": each.kind, "text": each.text} for each in report.timeline]
    lines = "".join(f"{json.dumps(event)}\n" for event in events)
    (home / "events.jsonl").write_text(lines, "utf-8")
    for version in range(1, (report.job.master_plan.version if report.job.master_plan else 0) + 1):
        text = f"# Master plan\n\n## Steps\n\n1. Light the lamp, version {version}\n"
        (home / f"master_plan.v{version}.md").write_text(text, "utf-8")


def present(project: Path) -> App:
    """The application of the project."""
    return App(str(project))
