"""A worker: takes calls from its queues, runs them under our supervisor, and reports.

Trees come and go through a cached clone of the shared repository. Each attempt has its own
worktree, which is deleted afterwards. The heartbeat is sent by a timer, never by events of the
agent: a silent agent is alive. When an attempt is cancelled, or the server has given it to another
worker, its tree of processes ends before anything is pushed.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import itertools
import json
import os
import platform
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial

from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from fairlead.agents import registry, supervisor
from fairlead.agents.custom_agents import CustomAgent
from fairlead.agents.model import CallResult, EndKind
from fairlead.agents.ports import Agent
from fairlead.agents.secrets import without_secrets
from fairlead.agents.supervision import reap
from fairlead.cluster.connection import ServerSettings, connected, refusal
from fairlead.cluster.errors import RemoteUnreachable, ServerRefused, WorkerUnfit
from fairlead.cluster.model import (
    LONGEST_TEXT,
    PROTOCOL,
    REFS,
    VERIFY,
    CallKind,
    CallOrder,
    CallReport,
    SentText,
    WorkerIdentity,
    digest_of,
    encoded,
    host_name,
    is_commit,
    order_of,
    own_version,
    presence_queue,
    task_queue,
    without_text,
)
from fairlead.cluster.outage import OutagePatience, exchanged
from fairlead.cluster.workflow import ACTIVITY, REFUSED
from fairlead.core import process
from fairlead.core.concurrency import Mutex, thread_pool
from fairlead.core.errors import AgentError, DocumentError, FairleadError
from fairlead.core.values import dataclass, replace
from fairlead.execution.commands import Shell
from fairlead.jobs.paths import OUTPUT
from fairlead.plans.model import CommandResult
from fairlead.store.files import make_private_folders
from fairlead.vcs.errors import GitFault
from fairlead.vcs.folders import delete_below
from fairlead.vcs.git import Git
from fairlead.vcs.model import Tree
from fairlead.vcs.remote import RemoteRepository

_DRAINING = timedelta(days=7)  # a drained worker finishes what it has, however long that takes
_THROTTLE = timedelta(seconds=5)
# Another worker may reach the shared repository, but only this one has what its agent made.
_FETCH_SECONDS, _PUSH_SECONDS = 60.0, 600.0
_BEAT_SHARE = 3  # heartbeats within one heartbeat timeout
_LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_GIT_LIMITS = process.ProcessLimits(timedelta(minutes=1))


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """How a worker serves."""

    queues: tuple[str, ...]
    slots: int  # calls at the same time, of each queue
    folder: str  # private: the clones and worktrees
    server: ServerSettings
    remote: str = ""  # the shared repository as this machine reaches it; empty: as ordered
    custom: tuple[CustomAgent, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkerEvent:
    """What a worker tells the person who started it."""

    name: str  # ready, draining, stopping, ended; of a call: began, finished, failed
    call: str = ""  # its id
    attempt: int = 0
    seconds: float = 0.0
    fault: str = ""


def worker_faults(options: WorkerOptions) -> tuple[str, ...]:
    """Everything that keeps a worker from its calls: missing agents and logins, no repository."""
    faults = []
    for name in options.queues:
        if name == VERIFY:
            continue
        try:
            found = registry.agent(name, custom=options.custom)
        except FairleadError as error:
            faults.append(f"{name}: {error}")
            continue
        if found.is_logged_out:
            faults.append(f"{name} is not logged in (log in with: {found.login})")
    if options.remote:
        try:
            clone = _shared_clone(options, options.remote)
            try:
                clone.remote.list(f"{REFS}/{VERIFY}/")
            finally:
                clone.close()
        except FairleadError as error:
            faults.append(f"--remote {options.remote}: {error}")
    return tuple(faults)


class SharedClone:
    """A cached clone of a shared repository: its objects, and the worktrees of attempts.

    Workers of one user share a machine's cache, but never a clone: each takes the first one that
    no other process has.
    """

    def __init__(self, above: str, url: str) -> None:
        folder, self._lock = _free_folder(above)
        self.runs = os.path.join(folder, "runs")
        self._place = os.path.join(folder, "clone")
        try:
            self._delete_runs()  # of a worker that was killed
            self._open()
            objects = os.path.join(self._place, ".git", "objects")
            self.remote = RemoteRepository(url, os.path.join(folder, "exchange"), objects)
        except BaseException:
            os.close(self._lock)
            raise
        self._turn = Mutex()
        self._git: Git | None = None
        self._fetched: set[str] = set()  # commits

    def _open(self) -> None:
        if os.path.exists(os.path.join(self._place, ".git", "HEAD")):
            self._run("-C", self._place, "worktree", "prune")
        else:
            self._run("init", "--quiet", "--initial-branch=main", self._place)

    def prepare(self, order: CallOrder, place: str) -> Git:
        """Fetch the commit of an order, and check it out in a worktree without other files."""
        commit = order.source.commit
        with self._turn:
            names = [] if commit in self._fetched else [order.address.base_ref(commit)]
            names += [order.address.input_ref("prompt")] if order.prompt.object else []
            if names:
                self.remote.fetch_objects(*names)
                self.remote.keep(order.address.project, commit)
                self._fetched.add(commit)
            if self._git is None:
                self._run("-C", self._place, "update-ref", "refs/heads/main", commit)
                self._git = Git(self._place)
            self._git.remove(place)
            self._git.prepare(place, commit)
            return self._git

    def release(self, place: str) -> None:
        """Let the next attempt have the worktree of this one: of its files, only some differ."""
        with self._turn:
            if self._git is not None:
                self._git.release(place)

    def commit(self, order: CallOrder, place: str) -> tuple[Tree, str]:
        """Commit everything in a worktree after the base of its order."""
        assert self._git is not None
        made = os.path.join(place, OUTPUT)
        documents = [f"{OUTPUT}/{name}" for name in os.listdir(made)] if os.path.isdir(made) else []
        base = order.source.commit
        with self._turn:
            # Most reviewers change nothing, and to see that is cheaper than to make a tree.
            if order.is_read_only and not documents and self._git.is_at(place, base):
                return Tree("", base, ""), ""
            tree = self._git.tree_of(place, base, "", documents)
            if not tree.full or tree.full == self._git.tree_id(base):
                return tree, ""
            return tree, self._git.loose_commit(tree.full, f"{order.address.id}\n", base)

    def close(self) -> None:
        """Let another worker have it; no call runs any more."""
        self._delete_runs()
        os.close(self._lock)

    def _delete_runs(self) -> None:
        shutil.rmtree(self.runs, ignore_errors=True)

    def _run(self, *words: str) -> None:
        environment = process.environment_of(("HOME",), PATH=process.search_path())
        words = (process.program("git"), "-c", "core.hooksPath=/dev/null", *words)
        result = process.run(words, folder="/", environment=environment, limits=_GIT_LIMITS)
        if result.code != 0:
            raise AgentError.saying(result.errors.decode("utf-8", "replace").strip())


def _shared_clone(options: WorkerOptions, url: str) -> SharedClone:
    name = hashlib.sha256(url.encode()).hexdigest()[:16]
    return SharedClone(os.path.join(options.folder, "clones", name), url)


def _free_folder(above: str) -> tuple[str, int]:
    """The first numbered folder that no process has locked, and its lock: an open file."""
    for number in itertools.count():
        folder = os.path.join(above, str(number))
        make_private_folders(folder)
        lock = os.open(os.path.join(folder, "lock"), _LOCK, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
        else:
            return folder, lock
    raise AssertionError("there is no last number")


class CallRunner:
    """Performs orders on this machine, each in a thread of its own."""

    def __init__(
        self,
        options: WorkerOptions,
        identity: WorkerIdentity,
        find_agent: Callable[[str], Agent] | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._options = options
        self._fetching = OutagePatience(_FETCH_SECONDS, pause, options.server.note)
        self._pushing = OutagePatience(_PUSH_SECONDS, pause, options.server.note)
        self._find_agent = find_agent or partial(registry.agent, custom=options.custom)
        self._identity = identity
        self._clones: dict[str, SharedClone] = {}
        self._turn = Mutex()

    def perform(self, text: str, attempt: int, is_wanted: Callable[[], bool]) -> str:
        """The report of one attempt, after its tree was pushed."""
        order = self._order(text)
        address = order.address
        clone = self._clone(self._options.remote or order.remote)
        name = f"{address.folder}-{attempt}"
        place, raw = (os.path.join(clone.runs, each, name) for each in ("work", "raw"))
        # Another worker of this machine may run the next attempt already.
        mark = f"cluster/{address.id}/{attempt}"
        report = CallReport(address.id, digest_of(text), attempt, self._identity.place)
        try:
            exchanged(clone.remote, lambda: clone.prepare(order, place), self._fetching, is_wanted)
            for path in order.source.left_out:
                delete_below(place, os.path.join(order.source.subfolder, path))
            inside = os.path.join(place, order.source.subfolder).rstrip("/")
            fault = self._set_up(order, inside, is_wanted)
            if order.kind is CallKind.COMMAND:
                command = fault or Shell().run(
                    order.line, inside, order.limits.limits.wall, is_wanted
                ).seen_from(place)
                return encoded(replace(report, command=command))
            result = self._called(order, clone, inside, raw, mark, is_wanted)
            if not is_wanted():
                return encoded(replace(report, result=without_text(result)))
            report = replace(report, result=result)
            return encoded(self._pushed(order, clone, place, report, is_wanted))
        finally:
            reap(supervisor.JOB, mark)
            clone.release(place)
            shutil.rmtree(raw, ignore_errors=True)

    def close(self) -> None:
        """Give the clones back; no call runs any more."""
        for clone in self._clones.values():
            clone.close()

    def _order(self, text: str) -> CallOrder:
        try:
            order = order_of(text)
            _ = order.limits.limits
        except (DocumentError, ValueError, OverflowError) as error:
            raise AgentError.saying(f"the order is malformed: {error}") from error
        if (order.version, order.protocol) != (own_version(), PROTOCOL):
            raise AgentError.saying(
                f"the coordinator has version {order.version}, this worker {own_version()}"
            )
        if not order.address.is_safe or not _is_inside(order):
            raise AgentError.saying("the order has names that lead out of their folder")
        needed = VERIFY if order.kind is CallKind.COMMAND else order.agent
        if order.queue != needed or needed not in self._options.queues:
            raise AgentError.saying(
                f"this worker does not serve {needed} on the queue {order.queue}"
            )
        if not is_commit(order.source.commit):
            raise AgentError.saying("the order names no commit")
        return order

    def _clone(self, url: str) -> SharedClone:
        with self._turn:
            if url not in self._clones:
                self._clones[url] = _shared_clone(self._options, url)
            return self._clones[url]

    def _set_up(
        self, order: CallOrder, inside: str, is_wanted: Callable[[], bool]
    ) -> CommandResult | None:
        """Install the dependencies; the result if that failed."""
        if not order.source.setup:
            return None
        result = Shell().run(order.source.setup, inside, order.limits.limits.wall, is_wanted)
        is_ok = result.exit_code == 0 and not result.problem
        return None if is_ok else replace(result, problem="the setup command failed")

    def _called(
        self,
        order: CallOrder,
        clone: SharedClone,
        inside: str,
        raw: str,
        mark: str,
        is_wanted: Callable[[], bool],
    ) -> CallResult:
        prompt = order.prompt.text
        if order.prompt.object:
            prompt = clone.remote.text(order.prompt.object)
        call = replace(order.agent_call(prompt, inside, raw), job=mark)
        return self._find_agent(order.agent).start(call, lambda _: None, is_wanted)

    def _pushed(
        self,
        order: CallOrder,
        clone: SharedClone,
        place: str,
        report: CallReport,
        is_wanted: Callable[[], bool],
    ) -> CallReport:
        """The report, with everything that travels by git pushed to the refs of this attempt."""
        result, address, attempt = report.result, order.address, report.attempt
        assert result is not None
        objects: dict[str, str] = {}
        tree, commit = clone.commit(order, place)
        if tree.fault and not commit:
            result = replace(result, kind=EndKind.FAILED, error=tree.fault)
        if commit:
            objects[address.output_ref(attempt)] = commit
        text, error = without_secrets(result.text)[0], without_secrets(result.error)[0]
        sent = SentText(text)
        if len(json.dumps(text)) > LONGEST_TEXT:
            sent = SentText(object=clone.remote.store(text))
            objects[address.text_ref(attempt)] = sent.object
        if objects:
            push = partial(clone.remote.push, objects)
            exchanged(clone.remote, push, self._pushing, is_wanted)
        result = replace(result, text="", error=error[-LONGEST_TEXT // 8 :])
        ref = address.output_ref(attempt) if commit else ""
        full = tree.full if commit else ""
        return replace(report, result=result, text=sent, ref=ref, commit=commit, tree=full)


def _is_inside(order: CallOrder) -> bool:
    paths = (order.source.subfolder, *order.source.left_out)
    return not any(os.path.isabs(path) or ".." in path.split("/") for path in paths)


async def _performed(runner: CallRunner, is_stopping: Callable[[], bool], text: str) -> str:
    """Run one attempt in a thread, with heartbeats by a timer until it has ended."""
    info = activity.info()
    wanted = [True]
    is_wanted = lambda: wanted[0] and not is_stopping()  # noqa: E731
    work = asyncio.ensure_future(asyncio.to_thread(runner.perform, text, info.attempt, is_wanted))
    timeout = info.heartbeat_timeout or timedelta(seconds=30)
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        activity.heartbeat()
        try:
            await asyncio.wait({work}, timeout=timeout.total_seconds() / _BEAT_SHARE)
        except asyncio.CancelledError as error:
            cancelled, wanted[0] = error, False
    if cancelled is not None:
        with suppress(Exception):
            work.result()
        raise cancelled
    try:
        report = work.result()
    except (GitFault, RemoteUnreachable) as error:  # it may be reachable again
        raise ApplicationError(str(error), type="git") from error
    except FairleadError as error:
        raise ApplicationError(str(error), type=REFUSED, non_retryable=True) from error
    if is_stopping():
        raise ApplicationError("the worker was stopped", type="stopped")
    return report


class WorkerProcess:
    """Serves queues until it is drained or stopped."""

    def __init__(self, options: WorkerOptions, report: Callable[[WorkerEvent], None]) -> None:
        self._options = options
        self._report = report
        self._signals = 0
        self.identity = WorkerIdentity(host_name(platform.node()), os.getpid(), options.slots)

    def run(self) -> None:
        """Serve; the first interrupt drains, the second ends the running calls."""
        if faults := worker_faults(self._options):
            raise WorkerUnfit(faults)
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        options, drained = self._options, asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._interrupt, drained)
        ended = asyncio.ensure_future(drained.wait())
        server = replace(options.server, identity=str(self.identity))
        connecting = asyncio.ensure_future(connected(server))
        await asyncio.wait({ended, connecting}, return_when=asyncio.FIRST_COMPLETED)
        if not connecting.done():
            connecting.cancel()
            self._report(WorkerEvent("ended"))
            return
        client, runner = connecting.result(), CallRunner(options, self.identity)
        loop.set_default_executor(thread_pool(options.slots * len(options.queues) + 4))
        serving, present_in = self._workers(client, runner)
        running = [asyncio.ensure_future(each.run()) for each in (*serving, *present_in)]
        self._report(WorkerEvent("ready"))
        await asyncio.wait({ended, *running}, return_when=asyncio.FIRST_COMPLETED)
        # A worker that finishes its last calls is still seen, but asks for no more.
        for workers in (serving, present_in):
            await asyncio.gather(*(each.shutdown() for each in workers))
        try:
            await asyncio.gather(*running)
        except RuntimeError as error:
            address = client.service_client.config.target_host
            raise ServerRefused(address, refusal(error) or str(error)) from error
        finally:
            runner.close()
        self._report(WorkerEvent("ended"))

    def _workers(self, client: Client, runner: CallRunner) -> tuple[list[Worker], list[Worker]]:
        """The workers that take calls, and those that show that this machine is present."""
        options = self._options

        @activity.defn(name=ACTIVITY)
        async def perform(text: str) -> str:
            return await self._reported(runner, text)

        @activity.defn(name="fairlead-present")
        async def present() -> str:
            return str(self.identity)

        serving = [
            Worker(
                client,
                task_queue=task_queue(name),
                activities=[perform],
                max_concurrent_activities=options.slots,
                graceful_shutdown_timeout=_DRAINING,
                max_heartbeat_throttle_interval=_THROTTLE,
                default_heartbeat_throttle_interval=_THROTTLE,
            )
            for name in options.queues
        ]
        present_in = [
            Worker(
                client,
                task_queue=presence_queue(name),
                activities=[present],
                max_concurrent_activities=1,
                max_concurrent_activity_task_polls=1,
            )
            for name in options.queues
        ]
        return serving, present_in

    async def _reported(self, runner: CallRunner, text: str) -> str:
        """Run one attempt, and report its begin and its end."""
        info, began = activity.info(), time.monotonic()
        call = WorkerEvent("began", info.workflow_id or "", info.attempt)
        self._report(call)
        try:
            report = await _performed(runner, lambda: self._signals > 1, text)
        except BaseException as error:
            fault, seconds = str(error) or "it was cancelled", time.monotonic() - began
            self._report(replace(call, name="failed", seconds=seconds, fault=fault))
            raise
        self._report(replace(call, name="finished", seconds=time.monotonic() - began))
        return report

    def _interrupt(self, drained: asyncio.Event) -> None:
        self._signals += 1
        drained.set()
        self._report(WorkerEvent("draining" if self._signals == 1 else "stopping"))
