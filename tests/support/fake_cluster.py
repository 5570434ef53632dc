"""A cluster inside one process: a server that keeps executions, and a worker that performs them.

Trees travel through a real bare repository, so that everything but Temporal is the product's own.
"""

import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from fairlead.agents.model import AgentCall, AgentEvent, CallResult
from fairlead.agents.ports import Agent
from fairlead.cluster.adapter import ClusterCommands, ClusterSession
from fairlead.cluster.connection import ServerSettings
from fairlead.cluster.errors import IdInUse
from fairlead.cluster.model import CallEnd, CallOrder, QueueState, WorkerIdentity, digest_of
from fairlead.cluster.outage import OutagePatience
from fairlead.cluster.worker import CallRunner, WorkerOptions
from fairlead.core.values import replace
from fairlead.jobs.roster import ARCHITECT, EXECUTOR, Roster, execution_roster
from fairlead.vcs.git import Git
from fairlead.vcs.remote import RemoteRepository

Forge = Callable[[CallOrder, str], str | CallEnd]  # what a hostile worker sends instead


@dataclass(slots=True)
class FakeServer:
    """Implements `CallServer`: an order is performed when its end is awaited."""

    perform: Callable[[str, int, Callable[[], bool]], str]
    lost: dict[str, int] = field(default_factory=dict)  # attempts that are lost, by role or kind
    forge: Forge = lambda _order, report: report
    dies_in: str = ""  # the role during whose call the coordinator is killed, once
    is_killed: bool = False  # until a new session begins
    texts: dict[str, str] = field(default_factory=dict)
    ends: dict[str, CallEnd] = field(default_factory=dict)
    cancelled: list[str] = field(default_factory=list)

    def start(self, order: CallOrder, text: str) -> bool:
        """See the port."""
        is_new = order.address.id not in self.texts
        if self.texts.setdefault(order.address.id, text) != text:
            raise IdInUse(order.address.id)
        return is_new

    def wait(self, order: CallOrder, is_wanted: Callable[[], bool]) -> CallEnd:
        """See the port."""
        id_, name = order.address.id, order.role or str(order.kind)

        def is_going_on() -> bool:
            return self.is_killed or is_wanted()  # a dead coordinator stops nothing

        if id_ not in self.ends:
            lost = self.lost.pop(name, 0)
            for attempt in range(1, lost + 1):
                self.perform(self.texts[id_], attempt, is_going_on)  # and nobody hears of it
            report = self.perform(self.texts[id_], lost + 1, is_going_on)
            forged = self.forge(order, report)
            if isinstance(forged, str):
                forged = CallEnd(lost + 1, forged)
            self.ends[id_] = forged
        if self.dies_in == name:
            self.dies_in, self.is_killed = "", True
        if self.is_killed:
            raise CoordinatorKilledError
        return self.ends[id_]

    def digest(self, id_: str) -> str:
        """See the port."""
        return digest_of(self.texts[id_]) if id_ in self.texts else ""

    def cancel(self, id_: str) -> CallEnd:
        """See the port."""
        self.cancelled.append(id_)
        return self.ends.get(id_, CallEnd(0, is_cancelled=True))

    def open_calls(self) -> tuple[str, ...]:
        """See the port."""
        return tuple(id_ for id_ in self.texts if id_ not in self.ends)

    def cancel_all(self, ids: Iterable[str]) -> None:
        """See the port."""
        for id_ in ids:
            self.ends[id_] = self.cancel(id_)

    def queue_state(self, name: str) -> QueueState:
        """See the port."""
        return QueueState(name, (WorkerIdentity("here", 1, 2),), 0)

    def await_workers(self, name: str) -> int:
        """See the port."""
        return sum(worker.slots for worker in self.queue_state(name).workers)


class CoordinatorKilledError(BaseException):
    """Stands for SIGKILL: nothing in the product may handle it."""


@dataclass(frozen=True, slots=True)
class RemoteAgent:
    """An agent of a test behind the adapter of the cluster."""

    agent: Agent
    session: ClusterSession

    @property
    def name(self) -> str:
        """See the port."""
        return self.agent.name

    def start(
        self,
        call: AgentCall,
        watch: Callable[[AgentEvent], None],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> CallResult:
        """See the port."""
        return self.session.call(self.name, call, is_wanted)


@dataclass(slots=True)
class FakeCluster:
    """The cluster of one test project."""

    folder: Path
    agent: Agent
    server: FakeServer = field(init=False)
    shared: Path = field(init=False)
    outage_seconds: float = 600.0
    pauses: int = 0
    shared_returns: bool = True

    def __post_init__(self) -> None:
        self.shared = self.folder / "shared.git"
        if not self.shared.exists():
            words = ["git", "init", "--quiet", "--bare", str(self.shared)]
            subprocess.run(words, check=True)
        options = WorkerOptions(
            (self.agent.name, "verify"), 2, str(self.folder / "worker"), ServerSettings()
        )
        identity = WorkerIdentity("here", 1, 2)
        runner = CallRunner(options, identity, lambda _: self.agent, self.come_back)
        self.server = FakeServer(runner.perform)

    def session(self, project: Path) -> ClusterSession:
        """A session of a coordinator in a project."""
        self.server.is_killed = False
        remote, workspace = self.remote(project), Git(str(project))
        patience = OutagePatience(self.outage_seconds, self.come_back)
        return ClusterSession(self.server, remote, workspace, "project", patience)

    def go_away(self) -> None:
        """Make the shared repository unreachable until somebody has waited for it."""
        self.shared.rename(self.folder / "away.git")

    def come_back(self, _: float) -> None:
        """Make the shared repository reachable again: what a pause does."""
        self.pauses += 1
        if self.shared_returns:
            (self.folder / "away.git").rename(self.shared)

    def remote(self, project: Path) -> RemoteRepository:
        """The shared repository as a coordinator in a project sees it."""
        private = str(self.folder / "exchange")
        return RemoteRepository(str(self.shared), private, Git(str(project)).objects)

    def roster(self, roster: Roster, project: Path) -> Roster:
        """The same roster, with agents and commands on the worker."""
        session = self.session(project)
        agents = [RemoteAgent(roster.agent(role), session) for role in (EXECUTOR, ARCHITECT)]
        models = [roster.of(role)[0].model for role in (EXECUTOR, ARCHITECT)]
        remote = execution_roster(agents[0], agents[1], models=(models[0], models[1]))
        return replace(
            roster,
            respondents=remote.respondents,
            commands=ClusterCommands(session, roster.shell),
            ready=session.ready,
            recall=lambda name, role, raw: session.recall(roster.recall, name, role, raw),
            calls=session,
        )

    def refs(self) -> list[str]:
        """The refs in the shared repository."""
        words = ["git", "-C", str(self.shared), "for-each-ref", "--format=%(refname)"]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
