"""The site of a council: everything that a council job is carried on with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from fairlead.engine.asking import Voice
from fairlead.engine.fanout import Signal
from fairlead.engine.site import Happening
from fairlead.engine.undertaking import Watcher
from fairlead.model.agent_events import AgentEvent
from fairlead.model.budget import Caps
from fairlead.values import dataclass, field

if TYPE_CHECKING:
    from fairlead.engine.ports import Agent, Clock, Workspace
    from fairlead.engine.undertaking import Crew, Terms
    from fairlead.model.council_snapshot import CouncilSnapshot
    from fairlead.store.council import CouncilFiles
    from fairlead.store.files import Files

PM, SYNTHESISER = "pm", "synthesiser"


@dataclass(frozen=True, slots=True)
class CouncilTerms:
    """Under which terms a council works."""

    caps: Caps = field(default_factory=Caps)
    rounds: int = 3
    plan_tokens: int = 8192
    seat_wall: timedelta = timedelta(seconds=180)
    synthesis_wall: timedelta = timedelta(seconds=300)
    pm_wall: timedelta = timedelta(seconds=300)
    min_families: int = 1
    allow_absent: int = 0
    bridge: str = "engine"  # or host
    host_wall: timedelta = timedelta(minutes=30)
    host_command: str = "/gsd-execute-phase {phase}"
    completion: str = "strict"  # or reconcile
    is_rehearsed: bool = False
    guarded: tuple[str, ...] = ()  # files that nobody who is asked may change


@dataclass(frozen=True, slots=True)
class Table:
    """Who sits at the table: by role, the main voice first and then who stands in for it."""

    voices: Mapping[str, Sequence[Voice]]  # pm, synthesiser, and every seat
    pause: Callable[[float], None]
    reap: Callable[[str], int]  # ends what a dead run of a job left running


@dataclass(frozen=True, slots=True)
class Hands:
    """Who carries the approved plan out."""

    crew: Crew
    terms: Terms
    host: Agent | None = None  # for the host bridge
    host_faults: tuple[str, ...] = ()  # why the host could not do it


@dataclass(frozen=True, slots=True)
class CouncilWatcher:
    """Whoever looks on."""

    report: Callable[[Happening], None] = lambda _: None
    watch: Callable[[str, AgentEvent], None] = lambda _seat, _event: None
    looked: Callable[[CouncilSnapshot], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class Meeting:
    """With whom, under which terms and before whose eyes a job is carried on."""

    table: Table
    terms: CouncilTerms = field(default_factory=CouncilTerms)
    hands: Hands | None = None
    watcher: CouncilWatcher = field(default_factory=CouncilWatcher)
    executing: Callable[[], Watcher] = Watcher
    stop: Signal = field(default_factory=Signal)
    over: Signal = field(default_factory=Signal)
    may_execute: bool = False


@dataclass(frozen=True, slots=True)
class CouncilSite:
    """Where a council job works, and with whom."""

    files: Files
    job: CouncilFiles
    parents: tuple[CouncilFiles, ...]  # whose answers are used again, the nearest first
    table: Table
    terms: CouncilTerms
    clock: Clock
    workspace: Workspace
    private: str  # the person's own folder for this job
    mark: str  # carried by every process of the job
    new_nonce: Callable[[], str]
    watcher: CouncilWatcher
    is_over: Signal
    may_execute: bool  # a person agreed to run the commands of the plan
    guard: Callable[[], Mapping[str, str]]  # what those who are asked leave alone, as digests
    hands: Hands | None = None

    def tell(self, kind: str, subject: str, text: str = "", **facts: object) -> None:
        """Write a line in the journal, and show it to whoever watches."""
        at = self.clock.now().isoformat()
        event = {"at": at, "kind": kind, "subject": subject, "text": text, **facts}
        self.job.jobs.tell(event)
        self.watcher.report(Happening(kind, subject, text, facts))

    @property
    def is_wanted(self) -> bool:
        """Whether those who are asked should go on."""
        return not self.is_over.is_given and not self.job.wish()[0]
