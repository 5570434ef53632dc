"""Projects on disk for tests of the services: phases, plans, summaries and a fixed clock."""

from datetime import datetime, timedelta
from pathlib import Path

from fairlead.project.events import Events
from fairlead.project.phases import Phases
from fairlead.project.sessions import Sessions
from fairlead.store.files import Files
from fairlead.store.staging import USER_STAGING
from fairlead.workflows.capture import Captures
from fairlead.workflows.pause import Pausing
from tests.support.execution import jobs_of
from tests.support.states import STATE
from tests.support.times import NOON

ROADMAP = """\
# Roadmap: Demo

## Phases

- [ ] **Phase 1: Core** - first
- [ ] **Phase 2: API** - second
- [ ] **Phase 3: UI** - third
"""


class TickingClock:
    """A clock that advances by one second per call."""

    def __init__(self, start: datetime = NOON) -> None:
        self._now = start

    def now(self) -> datetime:
        """The current time of the test."""
        now = self._now
        self._now += timedelta(seconds=1)
        return now


class Project:
    """A project in a folder."""

    def __init__(self, folder: Path, state: str = STATE) -> None:
        self.folder = folder
        self.planning = folder / ".planning"
        self.planning.mkdir()
        (self.planning / "STATE.md").write_bytes(state.encode())
        (self.planning / "ROADMAP.md").write_bytes(ROADMAP.encode())
        for name in ("01-core", "02-api", "03-ui"):
            (self.planning / "phases" / name).mkdir(parents=True)
        clock = TickingClock()
        files = Files(str(folder))
        self.events = Events(files, clock)
        self.phases = Phases(files, clock)
        self.sessions = Sessions(files, clock)
        state_files = Files(str(folder.parent / "state"), staging=USER_STAGING)
        self.pausing = Pausing(files, clock, jobs=jobs_of(files, state_files, clock))
        self.captures = Captures(files, clock)

    def plan(self, phase: str, plan: int) -> None:
        """Write a plan."""
        self._write(phase, plan, "PLAN", "---\nphase: x\n---\n\n- [ ] Task 1\n")

    def summary(self, phase: str, plan: int) -> None:
        """Write a summary."""
        self._write(phase, plan, "SUMMARY", "# Summary\n\nDone.\n")

    def _write(self, phase: str, plan: int, kind: str, text: str) -> None:
        folder = next(self.planning.glob(f"phases/{int(phase):02d}-*"))
        (folder / f"{int(phase):02d}-{plan:02d}-{kind}.md").write_text(text, "utf-8")

    @property
    def state(self) -> str:
        """The text of STATE.md."""
        return (self.planning / "STATE.md").read_bytes().decode()

    def snapshot(self) -> dict[str, bytes]:
        """Every file except those of the staging folder."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and ".fairlead" not in path.parts
        }
