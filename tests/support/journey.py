"""A project from its first document to an archived milestone, command by command.

The agent comes from the user settings. It records the fields of STATE.md while it works, because a
step is in progress only then.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairlead.text.document import Document
from tests.support.programs import ROOT, fairlead
from tests.support.repositories import a_repository

STATE = ".planning/STATE.md"
SEEN = "seen.jsonl"  # beside the project: the fields of STATE.md at the start of each agent
_PROGRAM = ROOT / "src" / "fairlead" / "agents" / "scripted" / "program.py"
_NOTING = """
import json, os, runpy, sys
state, seen, program = sys.argv[1:4]
keys = ("status", "active_phase", "next_action", "next_phases")
fields = {}
if os.path.exists(state):
    for line in open(state, encoding="utf-8").read().split("---")[1].splitlines():
        name, _, value = line.partition(":")
        if name in keys:
            fields[name] = value.strip().strip('"')
with open(seen, "a", encoding="utf-8") as file:
    file.write(json.dumps(fields) + "\\n")
runpy.run_path(program, run_name="__main__")
"""


@dataclass(slots=True)
class Journey:
    """A project on its way from `new` to `milestone complete`."""

    folder: Path
    environment: Mapping[str, str]
    more: tuple[str, ...] = ()  # options for every command that calls an agent
    patience_seconds: int = 400
    is_noting: bool = True  # whether the agent records STATE.md when it starts
    steps: list[str] = field(default_factory=list)

    def do(self, *words: str, asks: bool = False, code: int = 0) -> dict[str, Any]:
        """Run a command; return the JSON document that it printed."""
        done = self.run(*words, *(self.more if asks else ()), "--json")
        assert done.returncode == code, f"{words}: {done.stdout}{done.stderr}"
        self.steps.append(" ".join(words))
        document: dict[str, Any] = json.loads(done.stdout)
        return document

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command; return the completed process."""
        return subprocess.run(
            [*fairlead().words, *words],
            cwd=self.folder,
            env=dict(self.environment),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=self.patience_seconds,
            check=False,
        )

    @property
    def next(self) -> str:
        """The recommended next command."""
        return str(self.do("next")["next"]["command"])

    @property
    def line(self) -> str:
        """The status line without colours and without parts that are not about the project."""
        message = {"workspace": {"current_dir": str(self.folder)}, "model": {"display_name": "m"}}
        environment = {**self.environment, "NO_COLOR": "1"}
        done = subprocess.run(
            [*fairlead().words, "statusline"],
            cwd=self.folder,
            env=environment,
            input=json.dumps(message),
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        plain = done.stdout
        while "\x1b[" in plain:
            head, _, tail = plain.partition("\x1b[")
            plain = head + tail.partition("m")[2]
        return plain.strip()

    @property
    def front(self) -> dict[str, object]:
        """The frontmatter of STATE.md."""
        return dict(Document((self.folder / STATE).read_text("utf-8")).shown_front)

    def seen(self) -> list[tuple[str, str]]:
        """Status and active phase at the start of each new call, without repeats."""
        path = self.folder.parent / SEEN
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        records = [json.loads(line) for line in lines]
        positions = [(str(each.get("status")), str(each.get("active_phase"))) for each in records]
        return list(dict.fromkeys(positions))


def a_journey(folder: Path) -> Journey:
    """An empty project in git, and user settings with the scripted agent as a command."""
    project = a_repository(folder / "project", {"README.md": "nothing yet\n"})
    settings = folder / "config" / "fairlead" / "config.json"
    settings.parent.mkdir(parents=True)
    words = [str(project / STATE), str(folder / SEEN), str(_PROGRAM)]
    argv = [sys.executable, "-I", "-S", "-B", "-c", _NOTING, *words]
    agents = {"stub": {"argv": argv, "stream": "claude"}}
    settings.write_text(json.dumps({"fairlead": {"agent": "stub", "agents": agents}}))
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "LC_ALL": "C.UTF-8",
        "TERM": "dumb",
    }
    return Journey(project, environment)
