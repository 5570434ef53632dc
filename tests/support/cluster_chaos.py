"""Losses in a cluster: machines that are killed at any moment."""

import json
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random

from fairlead.cluster.model import CallAddress, safe_name
from fairlead.core.errors import UsageError
from fairlead.jobs.calls import LOST
from fairlead.jobs.ledger import EntryKind, LedgerEntry
from tests.support.cluster import (
    LocalCluster,
    Machine,
    ledger_entries,
    processes_of,
    project_id,
    shared_refs,
    some_plans,
)
from tests.support.cluster_network import Namespace
from tests.support.execution import commits_of
from tests.support.repositories import git

PLANS, THINKS_SECONDS = 2, 1.0
_CUT_OFF_SECONDS = 8.0  # more than the heartbeat timeout of 5 s
_BETWEEN_SIGNALS = 0.3  # both arrive as separate signals


class Chaos:
    """One job with its own workers; the first one may be in a network namespace."""

    def __init__(
        self, cluster: LocalCluster, name: str, namespace: Namespace | None = None
    ) -> None:
        self.cluster = cluster
        self.name = name
        self.namespace = namespace
        self.project = cluster.project(name, some_plans(PLANS))
        self._count = 0
        self._was_done = False
        self.workers = [self.worker(), self.worker()]
        cluster.ready(*self.workers)
        self.coordinator = cluster.coordinator(self.project)

    def worker(self) -> Machine:
        """Start another worker."""
        self._count += 1
        is_inside = self.namespace and self._count == 1
        prefix = self.namespace.prefix(self.cluster.port) if self.namespace and is_inside else ()
        name = f"{self.name}-w{self._count}"
        return self.cluster.worker(name, thinks=THINKS_SECONDS, prefix=prefix)

    def cut_off_worker(self) -> None:
        """Cut the worker in the namespace off until its attempt is lost; it can still push."""
        if self.namespace:
            self.namespace.cut()
            time.sleep(_CUT_OFF_SECONDS)
            self.namespace.heal()

    def kill_worker(self) -> None:
        """Kill one worker, and start another."""
        self.workers[-1].kill()
        self.workers.append(self.worker())

    def kill_all_workers(self) -> None:
        """Kill every worker, and start another."""
        for each in self.workers:
            each.kill()
        self.workers.append(self.worker())

    def kill_coordinator(self) -> None:
        """Kill the coordinator, and run the same command again, unless it has ended."""
        if self.coordinator.process and self.coordinator.process.poll() == 0:
            return
        self.coordinator.kill()
        self._continue()

    def stop_coordinator(self) -> None:
        """Press Ctrl-C twice, which cancels the running calls, and run the same command again."""
        if self.coordinator.process and self.coordinator.process.poll() == 0:
            return
        for _ in range(2):
            self.coordinator.send(signal.SIGINT)
            time.sleep(_BETWEEN_SIGNALS)
        self._continue()

    def _continue(self) -> None:
        self.coordinator.wait()
        records = self.project.glob(".planning/jobs/*/job.json")
        statuses = [json.loads(path.read_text("utf-8"))["status"] for path in records]
        self._was_done = "DONE" in statuses
        self.coordinator = self.cluster.coordinator(self.project)

    def kill_server(self) -> None:
        """Kill the server, and start it again with its database."""
        server = next(each for each in self.cluster.machines if each.home.name == "server")
        server.kill()
        self.cluster.machines.remove(server)
        self.cluster.server()

    def drain_worker(self) -> None:
        """Let one worker finish its calls, and start another."""
        self.workers[-1].send(signal.SIGINT)
        self.workers.append(self.worker())

    def stop_worker(self) -> None:
        """Stop one worker at once, and start another."""
        self.workers[-1].send(signal.SIGINT)
        self.workers[-1].send(signal.SIGINT)
        self.workers.append(self.worker())

    def finish(self) -> list[str]:
        """What is wrong when the job has ended and every worker was asked to end."""
        found = []
        code = self.coordinator.wait()
        # The rerun of a job that was killed after its end has nothing to execute.
        if code not in ((0, UsageError.exit_code) if self._was_done else (0,)):
            found.append(f"exit {code}: {self.coordinator.output[-2000:]}")
        found += outcome_faults(self.project, PLANS)
        for each in self.workers:
            each.send(signal.SIGTERM)
        for each in self.workers:
            each.wait()
        entries, id_ = ledger_entries(self.project), project_id(self.project)
        found += unrecorded(entries, self.workers, id_)
        for each in (*self.workers, self.coordinator):
            found += [f"left behind: {process}" for process in processes_of(each.home)]
        return found


LOSSES: tuple[Callable[[Chaos], None], ...] = (
    Chaos.kill_worker,
    Chaos.kill_all_workers,
    Chaos.kill_coordinator,
    Chaos.stop_coordinator,
    Chaos.kill_server,
    Chaos.drain_worker,
    Chaos.stop_worker,
)


def random_losses(
    cluster: LocalCluster, name: str, random: Random, namespace: Namespace | None = None
) -> list[str]:
    """One job with one to three losses at random moments; what is wrong at its end."""
    chaos = Chaos(cluster, name, namespace)
    losses = (*LOSSES, Chaos.cut_off_worker) if namespace else LOSSES
    for _ in range(random.randint(1, 3)):
        time.sleep(random.uniform(0.0, 6.0))
        random.choice(losses)(chaos)
    return chaos.finish()


def unrecorded(
    entries: Iterable[LedgerEntry], workers: Iterable[Machine], project: str
) -> list[str]:
    """The agents that workers started for a project and whose attempt is not in the ledger.

    The ledger has one entry for each attempt of a call: those that were lost, and the last one.
    """
    recorded = Counter(_folder_of(entry, project) for entry in entries if entry.call)
    started = [folder for worker in workers for folder in worker.started]
    found = [] if started else ["no agent was started"]
    for each in started:
        call, _, attempt = each.rpartition("-")
        if recorded[call] < int(attempt):
            found.append(f"not in the ledger: attempt {attempt} of {call}, {dict(recorded)}")
    return found


def _folder_of(entry: LedgerEntry, project: str) -> str:
    call = entry.call.rpartition(".")[0] if entry.verdict == LOST else entry.call
    return CallAddress(project, safe_name(entry.job), safe_name(call)).folder


def outcome_faults(project: Path, plans: int) -> list[str]:
    """Whether every plan landed once, every attempt is recorded once, and no ref is left."""
    found = []
    subjects = sorted(each for each in commits_of(project) if each.startswith("feat("))
    wanted = sorted(f"feat(01-{at:02d}): make f{at}.txt" for at in range(2, plans + 2))
    if subjects != wanted:
        found.append(f"commits: {subjects}")
    if dirty := git(project, "status", "--porcelain"):
        found.append(f"not committed: {dirty}")
    entries = ledger_entries(project)
    calls = [entry.call for entry in entries if entry.kind in (EntryKind.EXECUTE, EntryKind.REVIEW)]
    if not all(calls) or len(calls) != len({*calls}):
        found.append(f"attempts in the ledger: {sorted(calls)}")
    merged = sorted(entry.task for entry in entries if entry.kind is EntryKind.MERGE)
    if merged != [f"01-{at:02d}" for at in range(2, plans + 2)]:
        found.append(f"merged: {merged}")
    if refs := shared_refs(project):
        found.append(f"refs: {refs}")
    return found
