"""A project as the seeds describe it, used through the command line."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from fairlead.app import App
from fairlead.interfaces.hooks.message import HookMessage
from fairlead.interfaces.hooks.session import session_started
from fairlead.interfaces.statusline.line import line_of
from fairlead.project.state.documents import Decision
from fairlead.text.document import Document
from tests.conftest import Fairlead, run_in_process
from tests.support.line_cases import without_colors
from tests.support.plan_files import message

PLAN = """\
---
phase: {phase:02d}
plan: {plan:02d}
type: execute
wave: 1
depends_on: []
files_modified: [a.txt]
autonomous: true
must_haves:
  truths: []
---

<objective>
Make it.
</objective>

<tasks>
{tasks}
</tasks>
"""
TASK = """\
<task type="auto">
  <name>Task {number}: make it</name>
  <files>a.txt</files>
  <action>Write it.</action>
  <verify>test -f a.txt</verify>
  <done>It exists</done>
</task>"""


class SeedProject:
    """A project of three phases: Core, API and UI. Phase 1 has two plans, the first one done."""

    def __init__(self, folder: Path, fairlead: Fairlead) -> None:
        self.folder = folder
        self.planning = folder / ".planning"
        self._fairlead = fairlead

    def run(self, *words: str) -> str:
        """Run a command that succeeds; its output."""
        outcome = self._fairlead(*words, cwd=self.folder)
        assert outcome.exit_code == 0, outcome.stderr
        return outcome.stdout

    def fails(self, *words: str) -> tuple[int, str]:
        """Run a command that fails; its exit code and what it says."""
        outcome = self._fairlead(*words, cwd=self.folder)
        assert outcome.exit_code, outcome.stdout
        return outcome.exit_code, outcome.stdout + outcome.stderr

    def json(self, *words: str) -> dict[str, Any]:
        """The JSON document of a command."""
        document = json.loads(self._fairlead(*words, "--json", cwd=self.folder).stdout)
        assert isinstance(document, dict)
        return document

    def session_start(self) -> str:
        """What a session that starts in the project is given."""
        request = HookMessage(message(self.folder, event="SessionStart", source="startup"))
        response = session_started(
            request,
            {},
            lambda folder: (App(folder).overview.status(), App(folder).sessions.offers()),
        )
        return str(response.members)

    def decide(self, count: int) -> list[str]:
        """Record decisions; their texts."""
        texts = [f"Decision {number} of {count}" for number in range(1, count + 1)]
        memory = App(str(self.folder)).memory
        for text in texts:
            memory.add_decision(Decision("1", text))
        return texts

    def event(self, name: str, *words: str) -> None:
        """Record an event in STATE.md."""
        self.run("state", name, *words)

    def gate(self, *events: str) -> dict[str, Any]:
        """The gate of a task after these events, as STATE.md records it."""
        for event in events:
            self.event("gate", event, "--task", "Task 3", "--phase", "1", "--plan", "01-02")
        task = self.front("current_task")
        assert isinstance(task, dict)
        return task

    @property
    def state(self) -> str:
        """The text of STATE.md."""
        return self.path("STATE.md").read_text("utf-8")

    @state.setter
    def state(self, text: str) -> None:
        self.path("STATE.md").write_text(text, "utf-8")

    def path(self, name: str) -> Path:
        """A path below the planning folder."""
        return self.planning / name

    def front(self, *key: str) -> Any:
        """A value of the frontmatter; the text `null` for an empty one, None if it is absent."""
        return Document(self.state).value(*key)

    def line(self, label: str) -> str:
        """The value of a line of the body."""
        found = Document(self.state).field(label)
        assert found is not None, label
        return found.value

    def section(self, title: str) -> str:
        """The text of a section of the body."""
        document = Document(self.state)
        section = document.section(title)
        assert section is not None, title
        return "\n".join(line.text for line in document.section_lines(section))

    def plan(self, phase: int, plan: int, tasks: int = 1) -> None:
        """Write a plan."""
        parts = "\n".join(TASK.format(number=number) for number in range(1, tasks + 1))
        text = PLAN.format(phase=phase, plan=plan, tasks=parts)
        self._file(phase, plan, "PLAN").write_text(text, "utf-8")

    def summary(self, phase: int, plan: int) -> None:
        """Write the summary that proves a plan."""
        self._file(phase, plan, "SUMMARY").write_text("# Summary\n\nDone.\n", "utf-8")

    def finish_phase(self) -> None:
        """Finish the plans of phase 1."""
        self.summary(1, 2)

    def _file(self, phase: int, plan: int, kind: str) -> Path:
        [folder] = self.planning.glob(f"phases/{phase:02d}-*")
        return folder / f"{phase:02d}-{plan:02d}-{kind}.md"

    def status_line(self, state: str) -> str:
        """What the status line shows of a STATE.md; empty if it shows nothing."""
        self.state = state
        request = json.dumps({"workspace": {"current_dir": str(self.folder)}})
        home = {"HOME": str(self.folder.parent)}
        line = without_colors(line_of(request, str(self.folder), home))
        return line.split(" │ ")[1] if line.count(" │ ") == 2 else ""


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project before each test, made once."""
    folder = tmp_path_factory.mktemp("seeds") / "project"
    folder.mkdir()
    home = {"HOME": str(folder.parent), "XDG_CONFIG_HOME": str(folder.parent)}

    def run(*words: str, **_: object) -> Any:
        return run_in_process(words, folder, "", home)

    project = SeedProject(folder, run)
    project.run("init", "Demo", "--yes")
    for name in ("ROADMAP.md", "STATE.md"):
        path = project.path(name)
        path.write_text(path.read_text("utf-8").replace("Foundation", "Core"), "utf-8")
    project.run("phase", "add", "API")
    project.run("phase", "add", "UI")
    project.path("phases/01-foundation").rename(project.path("phases/01-core"))
    project.plan(1, 1)
    project.plan(1, 2)
    project.summary(1, 1)
    project.run("state", "sync")
    return folder


@pytest.fixture
def project(template: Path, tmp_path: Path, fairlead: Fairlead) -> SeedProject:
    """A copy of the project for one test."""
    folder = tmp_path / "project"
    shutil.copytree(template, folder)
    return SeedProject(folder, fairlead)
