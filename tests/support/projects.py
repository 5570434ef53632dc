"""Projects on disk for tests of the engine: phases with plans and summaries, and a told clock."""

from datetime import datetime, timedelta
from pathlib import Path

from fairlead.engine.captures import Captures
from fairlead.engine.events import Events
from fairlead.engine.pausing import Pausing
from fairlead.engine.phases import Phases
from fairlead.engine.sessions import Sessions
from fairlead.store.files import Files
from tests.support.moments import NOON
from tests.support.states import STATE

ROADMAP = """\
# Roadmap: Demo

## Phases

- [ ] **Phase 1: Core** - first
- [ ] **Phase 2: API** - second
- [ ] **Phase 3: UI** - third
"""


class ToldClock:
    """A clock that goes on by one second each time it is asked."""

    def __init__(self, start: datetime = NOON) -> None:
        self._now = start

    def now(self) -> datetime:
        """The present moment, as told."""
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
        clock = ToldClock()
        files = Files(str(folder))
        self.events = Events(files, clock)
        self.phases = Phases(files, clock)
        self.sessions = Sessions(files, clock)
        self.pausing = Pausing(files, clock)
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
        """STATE.md as it is."""
        return (self.planning / "STATE.md").read_bytes().decode()

    def snapshot(self) -> dict[str, bytes]:
        """Every file but those of the desk."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and ".fairlead" not in path.parts
        }
