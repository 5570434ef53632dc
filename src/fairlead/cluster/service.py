"""The operations that interfaces call: open a session, serve as a worker, show the cluster."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

from fairlead.agents import registry
from fairlead.cluster.errors import (
    NeedsRepository,
    NoClusterPackage,
    NoRemote,
    NoWorker,
    RemoteUnreachable,
    ServerGone,
    ServerRefused,
)
from fairlead.cluster.model import VERIFY, WorkerIdentity
from fairlead.core.errors import FairleadError
from fairlead.core.values import dataclass
from fairlead.store.files import make_private_folders
from fairlead.store.layout import project_key
from fairlead.vcs.errors import GitFault
from fairlead.vcs.git import Git

if TYPE_CHECKING:
    from fairlead.agents.custom_agents import CustomAgent
    from fairlead.cluster.adapter import ClusterSession
    from fairlead.cluster.connection import Patience, ServerSettings
    from fairlead.cluster.roster import ClusterDirectory
    from fairlead.cluster.worker import WorkerEvent
    from fairlead.jobs.service import Jobs
    from fairlead.store.files import Files
    from fairlead.vcs.in_place import InPlace

_FOLDER = "cluster"  # in the user's state folder
_SHOWN_SECONDS, _SERVED_SECONDS = 10.0, 60.0  # to connect, for a look and for a run or a worker
_OUTAGES = (NoWorker, RemoteUnreachable, ServerGone, ServerRefused)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


class ProjectServices(Protocol):
    """What the application knows of a project, as far as a cluster needs it."""

    @property
    def place(self) -> str:
        """The folder of the project."""
        ...

    @property
    def workspace(self) -> Git | InPlace:
        """Its repository."""
        ...

    @property
    def state(self) -> Files:
        """The user's state folder."""
        ...

    @property
    def values(self) -> Mapping[str, object]:
        """Every setting by its full name."""
        ...

    @property
    def jobs(self) -> Jobs:
        """Its jobs."""
        ...

    def custom_agents(self) -> tuple[CustomAgent, ...]:
        """The agents that the settings describe."""
        ...


@dataclass(frozen=True, slots=True)
class ClusterProject:
    """The project whose calls run on workers."""

    folder: str
    workspace: Git | InPlace
    state: str  # the user's state folder
    values: Mapping[str, object]
    custom: tuple[CustomAgent, ...]
    open_jobs: Callable[[], Iterable[str]]  # the ids of those that have not ended

    @classmethod
    def of(cls, app: ProjectServices) -> ClusterProject:
        """The project of an application."""
        state, custom, open_jobs = app.state.folder, app.custom_agents(), app.jobs.open_ids
        return cls(app.place, app.workspace, state, app.values, custom, open_jobs)


@dataclass(frozen=True, slots=True)
class ClusterPreview:
    """Where the calls of a run would go."""

    address: str
    namespace: str
    remote: str
    slots: Mapping[str, int]  # of every queue with workers
    missing: tuple[str, ...]  # queues that the run needs and no worker serves
    trusts_workers: bool  # the verify runs on merged code take place there, too


class Cluster:
    """An open session: finds the agents of a project on workers."""

    def __init__(self, project: ClusterProject, session: ClusterSession) -> None:
        self._project = project
        self._session = session

    @property
    def agents(self) -> ClusterDirectory:
        """Finds agents on workers."""
        from fairlead.cluster.roster import ClusterDirectory

        project = self._project
        return ClusterDirectory(project.folder, project.values, project.custom, self._session)

    def slots(self, agent: str) -> int:
        """The slots of all workers that serve an agent; waits for the first one."""
        return self._session.server.await_workers(agent)

    def preview(self, needed: Iterable[str]) -> ClusterPreview:
        """The workers that a run with these agents would find."""
        from fairlead.cluster.connection import configured_address

        project, session = self._project, self._session
        slots = {
            name: sum(worker.slots for worker in session.server.queue_state(name).workers)
            for name in (*registry.driver_factories(project.custom), VERIFY)
        }
        return ClusterPreview(
            *configured_address(""),
            session.url,
            {name: count for name, count in slots.items() if count},
            tuple(name for name in dict.fromkeys((*needed, VERIFY)) if not slots.get(name)),
            project.values["fairlead.cluster.verify"] == "worker",
        )


def require_package() -> None:
    """Raise if the extra is not installed."""
    if find_spec("temporalio") is None:
        raise NoClusterPackage


@contextmanager
def opened(
    project: ClusterProject,
    patience: Patience | None = None,
    note: Callable[[str], None] = lambda _: None,
) -> Iterator[Cluster]:
    """Connect for one run. What ended jobs left is cleaned up, unless it is to be resumed."""
    with _session(project, patience, _SERVED_SECONDS, note) as session:
        session.require_remote()
        try:
            yield Cluster(project, session)
        except _OUTAGES:  # calls go on, and the next run continues them
            raise
        except FairleadError:
            _clean_up(session, project, note)
            raise
        _clean_up(session, project, note)


def _clean_up(
    session: ClusterSession, project: ClusterProject, note: Callable[[str], None]
) -> None:
    """Delete what ended jobs left; if that fails, the outcome of the run is still what it was."""
    try:
        session.clean_up(project.open_jobs())
    except (*_OUTAGES, GitFault) as error:
        note(f"the next run cleans up after this one: {error}")


@contextmanager
def previewed(project: ClusterProject, note: Callable[[str], None]) -> Iterator[Cluster]:
    """Connect for a look: calls and refs stay as they are."""
    with _session(project, note=note) as session:
        session.require_remote()
        yield Cluster(project, session)


def end_calls(project: ClusterProject, jobs: Iterable[str]) -> None:
    """End the calls of jobs that no process runs, and delete their refs."""
    with _session(project) as session:
        ended = {*jobs}
        session.clean_up(job for job in project.open_jobs() if job not in ended)


@contextmanager
def _session(
    project: ClusterProject,
    patience: Patience | None = None,
    connect: float = _SHOWN_SECONDS,
    note: Callable[[str], None] = lambda _: None,
) -> Iterator[ClusterSession]:
    require_package()
    from fairlead.cluster.adapter import OUTAGE_SECONDS, ClusterSession
    from fairlead.cluster.connection import Connection
    from fairlead.cluster.outage import OutagePatience
    from fairlead.vcs.remote import RemoteRepository

    if not isinstance(project.workspace, Git):
        raise NeedsRepository
    url = str(project.values["fairlead.cluster.remote"]).strip()
    if not url:
        raise NoRemote
    if os.path.exists(os.path.join(project.folder, url)):
        url = os.path.realpath(os.path.join(project.folder, url))
    name = project_id(project.state, project.folder)
    exchange = os.path.join(project.state, _FOLDER, "exchange", name)
    remote = RemoteRepository(url, exchange, project.workspace.objects)
    settings = server_settings(project.values, "", note, patience, connect)
    with Connection(settings, name) as connection:
        outage = OutagePatience(OUTAGE_SECONDS, note=_noting_once(note))
        yield ClusterSession(connection, remote, project.workspace, name, outage)


def _noting_once(note: Callable[[str], None]) -> Callable[[str], None]:
    """Calls that wait for the same thing say so once."""
    noted: set[str] = set()

    def show(text: str) -> None:
        if text not in noted:
            noted.add(text)
            note(text)

    return show


def server_settings(
    values: Mapping[str, object],
    address: str = "",
    note: Callable[[str], None] = lambda _: None,
    patience: Patience | None = None,
    connect: float = _SHOWN_SECONDS,
) -> ServerSettings:
    """How to reach the server, from the settings of the user."""
    from fairlead.cluster.connection import Patience, ServerSettings

    codec = str(values["fairlead.cluster.codec"])
    heartbeat = float(str(values["fairlead.cluster.heartbeat_seconds"]))
    patience = patience or Patience(connect=connect, heartbeat=heartbeat)
    return ServerSettings(address, codec, patience=patience, note=note)


def project_id(state: str, folder: str) -> str:
    """The random id of this clone, kept outside the repository."""
    place = os.path.join(state, _FOLDER, "projects")
    make_private_folders(place)
    path = os.path.join(place, project_key(folder))
    with suppress(FileExistsError), open(os.open(path, _NEW, 0o600), "w") as file:
        file.write(secrets.token_hex(8))
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def worker_folder(cache: str) -> str:
    """Where a worker keeps clones and worktrees."""
    return os.path.join(cache, _FOLDER)


# -- status --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QueueReport:
    """A queue with its workers."""

    name: str
    depth: int
    workers: tuple[WorkerIdentity, ...]


@dataclass(frozen=True, slots=True)
class CallStatus:
    """A call that has not ended."""

    id: str
    queue: str
    age: timedelta
    link: str
    attempt: int = 0  # 0: its coordinator has not sent it to the queue
    worker: str = ""  # empty: it waits for one


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """What the server knows."""

    address: str
    namespace: str
    queues: tuple[QueueReport, ...]
    calls: tuple[CallStatus, ...]


def cluster_status(
    values: Mapping[str, object],
    custom: Iterable[CustomAgent],
    address: str = "",
    note: Callable[[str], None] = lambda _: None,
) -> ClusterStatus:
    """The workers, queues and running calls, as the server knows them."""
    require_package()
    from urllib.parse import quote

    from fairlead.cluster.connection import Connection

    ui = str(values["fairlead.cluster.ui"]).rstrip("/")
    names = (*registry.driver_factories(custom), VERIFY)
    with Connection(server_settings(values, address, note)) as connection:
        states = [connection.queue_state(name) for name in names]
        pages = f"{ui}/namespaces/{quote(connection.namespace, safe='')}/workflows/"
        calls = tuple(
            CallStatus(
                each.id,
                each.queue,
                each.age,
                pages + quote(each.id, safe=""),
                each.attempt,
                each.worker.place if each.worker else "",
            )
            for each in connection.running_calls()
        )
        used = {call.queue for call in calls}
        queues = tuple(
            QueueReport(each.name, each.depth, each.workers)
            for each in states
            if each.workers or each.depth or each.name in used
        )
        return ClusterStatus(connection.address, connection.namespace, queues, calls)


@dataclass(frozen=True, slots=True)
class WorkerRequest:
    """What a person asks of a worker."""

    address: str
    queues: tuple[str, ...]
    slots: int
    remote: str = ""


def serve(
    request: WorkerRequest,
    values: Mapping[str, object],
    custom: tuple[CustomAgent, ...],
    folder: str,
    report: Callable[[WorkerEvent, WorkerIdentity], None],
    note: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve queues until an interrupt; see `worker.WorkerProcess`."""
    require_package()
    from fairlead.cluster.worker import WorkerOptions, WorkerProcess

    server = server_settings(values, request.address, note, connect=_SERVED_SECONDS)
    options = WorkerOptions(request.queues, request.slots, folder, server, request.remote, custom)
    process = WorkerProcess(options, lambda event: report(event, process.identity))
    process.run()
