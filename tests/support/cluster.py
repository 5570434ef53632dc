"""A Temporal server, workers and coordinators as separate processes, each with its own home."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import SystemRandom

from fairlead.cluster.connection import Connection, Patience, ServerSettings
from fairlead.cluster.dev_server import dev_program, dev_words
from fairlead.cluster.errors import NoDevServer
from fairlead.core.errors import AgentError
from fairlead.jobs.ledger import LedgerEntry, read_ledger
from tests.support.execution import PlanText, a_plan, a_project
from tests.support.programs import PATIENCE_SECONDS, fairlead, scratch_environment
from tests.support.tls_relay import relay_words

# Notes its folder in the file `sys.argv[2]`, sleeps for the seconds in `sys.argv[1]`, then acts as
# the scripted program.
_STUB = """\
import os, runpy, sys, time
starts = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.write(starts, f"{os.getcwd()}\\n".encode())
time.sleep(float(sys.argv[1]))
runpy.run_module("fairlead.agents.scripted.program", run_name="__main__")
"""
AGENT = "stub"
STARTS = "starts.log"  # in the home of a worker
_PRESENT = 0.05  # seconds between two looks
_TRIES = 5  # to find ports that nobody takes before the server does
_LISTENING = "0A"  # a state in /proc/net/tcp


def why_no_server() -> str:
    """Why no server can be started here; empty if one can."""
    try:
        dev_program()
    except NoDevServer as error:
        return str(error)
    return ""


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody listens on, and that no outgoing connection is given."""
    span = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    found: set[int] = set()
    while len(found) < count:
        port = SystemRandom().randrange(10_000, max(int(span[0]), 20_000))
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            found.add(port)
    return sorted(found)


class ServerEndedError(RuntimeError):
    """The server ended while it started, because another program took one of its ports."""


@dataclass(slots=True)
class Machine:
    """One process with a home of its own."""

    home: Path
    words: Sequence[str]
    folder: Path
    environment: Mapping[str, str]
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> "Machine":
        """Start it; its output goes to a file in its home."""
        self.home.mkdir(parents=True, exist_ok=True)
        with (self.home / "output.log").open("ab") as output:
            self.process = subprocess.Popen(
                self.words,
                cwd=self.folder,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        return self

    @property
    def output(self) -> str:
        """Everything it printed."""
        return (self.home / "output.log").read_text("utf-8", "replace")

    @property
    def started(self) -> list[str]:
        """The folders in which its agents were started, whatever became of them."""
        path = self.home / STARTS
        return [Path(line).name for line in path.read_text().splitlines()] if path.exists() else []

    def wait(self, seconds: float = PATIENCE_SECONDS) -> int:
        """Its exit code."""
        assert self.process is not None
        return self.process.wait(seconds)

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        assert self.process is not None
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, number)

    def kill(self) -> None:
        """End it as a power loss would."""
        self.send(signal.SIGKILL)
        self.wait()

    def listens_on(self, port: int) -> bool:
        """Whether this very process accepts connections to a port."""
        assert self.process is not None
        sockets = set()
        with suppress(OSError):  # it has just ended
            for each in Path("/proc", str(self.process.pid), "fd").iterdir():
                with suppress(OSError):
                    sockets.add(os.readlink(each))
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            is_ours = f"socket:[{inode}]" in sockets
            if is_ours and state == _LISTENING and int(local.partition(":")[2], 16) == port:
                return True
        return False

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.process is not None and self.process.poll() is None


@dataclass(slots=True)
class LocalCluster:
    """A server on loopback, with its workers and projects below one folder."""

    folder: Path
    port: int
    ui_port: int
    machines: list[Machine] = field(default_factory=list)

    @property
    def address(self) -> str:
        """The address of the server."""
        return f"127.0.0.1:{self.port}"

    def environment(self, home: Path) -> dict[str, str]:
        """The environment of a machine."""
        home.mkdir(parents=True, exist_ok=True)
        environment = {**scratch_environment(home), "GIT_CONFIG_NOSYSTEM": "1"}
        environment |= {"TEMPORAL_ADDRESS": self.address, "HOME": str(home / "home")}
        environment.pop("FAIRLEAD_NOW", None)
        return environment

    def server(self) -> Machine:
        """Start the server, or start it again with the same database."""
        home = self.folder / "server"
        home.mkdir(exist_ok=True)
        words = dev_words(str(home / "state"), self.port, self.ui_port)
        machine = Machine(home, words, home, {"HOME": str(home), "PATH": os.environ["PATH"]})
        self.machines.append(machine.start())
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            if not machine.is_running:
                raise ServerEndedError(machine.output)
            if machine.listens_on(self.port):
                self._await_answer()
                return machine
            time.sleep(_PRESENT)
        raise TimeoutError(machine.output)

    def _await_answer(self) -> None:
        """Wait until the server answers, which takes long on a busy machine."""
        patience = Patience(connect=PATIENCE_SECONDS)
        with Connection(ServerSettings(self.address, patience=patience)):
            pass

    def worker(
        self,
        name: str,
        *queues: str,
        slots: int = 1,
        thinks: float = 0.0,
        prefix: Sequence[str] = (),
        more: Mapping[str, object] | None = None,
        **server: str,
    ) -> Machine:
        """Start a worker with its own home; calls wait until it takes them."""
        home = self.folder / name
        environment = self.environment(home)
        environment |= {f"TEMPORAL_{key.upper()}": value for key, value in server.items()}
        agents = {AGENT: {"argv": stub(thinks, home), "stream": "claude"}}
        settings(home, {"agents": agents, **({"cluster": more} if more else {})})
        queues = queues or (AGENT, "verify")
        options = [word for queue in queues for word in ("--queue", queue)]
        command = fairlead().command(home, "worker", *options, "--slots", str(slots))
        machine = Machine(home, (*prefix, *command.words), home, environment)
        self.machines.append(machine.start())
        return machine

    def ready(self, *workers: Machine) -> None:
        """Wait until workers take calls."""
        until = time.monotonic() + PATIENCE_SECONDS
        for machine in workers:
            while "takes calls" not in machine.output:
                if time.monotonic() > until:
                    raise RuntimeError(machine.output)
                if not machine.is_running:
                    # On a busy machine the server may not answer for as long as a worker waits.
                    if machine.wait() != AgentError.exit_code:
                        raise RuntimeError(machine.output)
                    machine.start()
                time.sleep(_PRESENT)

    def tls(self, folder: Path) -> int:
        """A port of the server behind mutual TLS, with the certificates of a folder."""
        (port,) = free_ports(1)
        home = self.folder / f"tls-{port}"
        machine = Machine(home, relay_words(folder, port, self.port), folder, {})
        self.machines.append(machine.start())
        self.until(lambda: machine.listens_on(port), machine)
        return port

    def project(self, name: str, plans: Sequence[PlanText], **more: object) -> Path:
        """A project whose trees travel through a bare repository of its own."""
        home = self.folder / name
        place = a_project(home / "project", *plans)
        shared = home / "shared.git"
        subprocess.run(["git", "init", "--quiet", "--bare", str(shared)], check=True)
        agents = {AGENT: {"argv": stub(0, home), "stream": "claude"}}
        cluster = {"remote": str(shared), "heartbeat_seconds": 5, **more}
        settings(home, {"agent": AGENT, "agents": agents, "cluster": cluster})
        return place

    def coordinator(self, project: Path, *more: str, prefix: Sequence[str] = ()) -> Machine:
        """Execute phase 1 of a project on the workers."""
        words = ("phase", "execute", "1", "--approve", "--auto", *(more or ("--cluster",)))
        command = fairlead().command(project, *words)
        environment = self.environment(project.parent)
        words = (*prefix, *command.words)
        machine = Machine(project.parent, words, project, environment)
        self.machines.append(machine.start())
        return machine

    def await_call(self, worker: Machine, coordinator: Machine) -> None:
        """Wait until an agent runs on a worker."""
        self.until(lambda: is_calling(worker), coordinator)

    def await_idle(self, worker: Machine) -> None:
        """Wait until no agent runs on a worker."""
        self.until(lambda: not is_calling(worker), worker)

    def until(self, happened: Callable[[], bool], machine: Machine) -> None:
        """Wait until something has happened, while a machine runs."""
        limit = time.monotonic() + PATIENCE_SECONDS
        while not happened():
            if not machine.is_running or time.monotonic() > limit:
                raise RuntimeError(machine.output)
            time.sleep(_PRESENT)

    def close(self) -> None:
        """End every machine that still runs."""
        for machine in self.machines:
            if machine.is_running:
                machine.kill()


@contextmanager
def local_cluster(folder: Path) -> Iterator[LocalCluster]:
    """A running server; everything that was started ends with it."""
    cluster = _with_server(folder)
    try:
        yield cluster
    finally:
        cluster.close()


def _with_server(folder: Path) -> LocalCluster:
    """A cluster with its server; on other ports if the first ones were taken in the meantime."""
    for tries in range(_TRIES, 0, -1):
        port, ui_port = free_ports(2)
        cluster = LocalCluster(folder, port, ui_port)
        try:
            cluster.server()
        except ServerEndedError:
            if tries == 1:
                raise
        except BaseException:
            cluster.close()
            raise
        else:
            return cluster
    raise AssertionError("the last try raises")


def stub(thinks: float, home: Path) -> list[str]:
    """The command line of the stub agent of a machine."""
    return [sys.executable, "-c", _STUB, str(thinks), str(home / STARTS)]


def is_calling(worker: Machine) -> bool:
    """Whether an agent of a worker runs."""
    return any("scripted.program" in each for each in processes_of(worker.home))


def settings(home: Path, content: Mapping[str, object]) -> None:
    """Write the settings of the user of a machine."""
    path = home / "home/config/fairlead/config.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"fairlead": content}))


def some_plans(count: int) -> list[PlanText]:
    """Plans of one task and one wave; they start at 2, because the stub fails the first one."""
    return [a_plan(f"01-{at:02d}", f"f{at}.txt") for at in range(2, count + 2)]


def ledger_entries(project: Path) -> list[LedgerEntry]:
    """Every entry of every ledger of a project."""
    paths = sorted((project / ".planning/ledger").glob("*.jsonl"))
    return [entry for path in paths for entry in read_ledger(path.read_text("utf-8"))]


def project_id(project: Path) -> str:
    """The id of the clone of a coordinator."""
    (path,) = (project.parent / "home/state/fairlead/cluster/projects").iterdir()
    return path.read_text().strip()


def shared_refs(project: Path) -> list[str]:
    """The refs that are left in the shared repository."""
    words = ["git", "-C", str(project.parent / "shared.git"), "for-each-ref", "--format=%(refname)"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()


def processes_of(folder: Path) -> list[str]:
    """The processes that still carry a path below a folder in their environment or arguments."""
    found, sign = [], os.fsencode(folder)
    for number in os.listdir("/proc"):
        if number.isdecimal() and int(number) != os.getpid():
            with suppress(OSError):
                command = Path("/proc", number, "cmdline").read_bytes()
                if sign in Path("/proc", number, "environ").read_bytes() or sign in command:
                    found.append(f"{number} {os.fsdecode(command)}")
    return found
