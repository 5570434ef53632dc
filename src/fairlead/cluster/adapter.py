"""The ports of `execution` and `council` on the coordinator, with workers behind them.

A call is started or found again by its id, its report is checked by `claims`, and the accepted
tree is shown in the worktree where a local agent would have made it. Everything after that is the
same as without a cluster.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

from fairlead.agents.cli_agent import CliAgent
from fairlead.agents.drivers.driver import Driver
from fairlead.agents.model import AgentCall, AgentEvent, CallLimits, CallResult, CallSource
from fairlead.agents.ports import Recall
from fairlead.agents.secrets import without_secrets
from fairlead.cluster.claims import (
    LARGEST_TREE,
    PushedCommit,
    claim_fault,
    size_fault,
    tree_fault,
    weight_fault,
)
from fairlead.cluster.errors import NotOnCluster, RemoteUnreachable
from fairlead.cluster.model import (
    LONGEST_REASON,
    LONGEST_TEXT,
    REFS,
    VERIFY,
    CallAddress,
    CallEnd,
    CallKind,
    CallOrder,
    CallReport,
    SentLimits,
    SentText,
    agent_order,
    digest_of,
    encoded,
    refused,
    report_of,
    safe_name,
    shown,
    stopped,
    storable,
)
from fairlead.cluster.outage import OutagePatience, exchanged
from fairlead.cluster.ports import CallServer
from fairlead.core.concurrency import Mutex
from fairlead.core.errors import DocumentError
from fairlead.core.values import replace
from fairlead.jobs.ledger import LONGEST_TAIL
from fairlead.jobs.roster import Commands
from fairlead.plans.model import CommandResult
from fairlead.vcs.errors import GitFault
from fairlead.vcs.git import Git
from fairlead.vcs.remote import RemoteRepository

_DELETED_TOGETHER = 100  # refs of ended calls
_KEPT_BASES = 16  # that no running call needs
_NOT_RUN = -9  # the exit code of a command without a report
_NAME_LENGTH = 16  # of the digest in the id of a verify command
_LONGEST_ANSWER = 16 << 20  # characters
_LARGEST_ANSWER = 4 * _LONGEST_ANSWER  # bytes
_BASE = "base"
OUTAGE_SECONDS = 600.0  # of the shared repository; as long as of the server


class ClusterSession:
    """What the calls of one run share: the server, the shared repository and the project."""

    def __init__(
        self,
        server: CallServer,
        remote: RemoteRepository,
        workspace: Git,
        project: str,
        patience: OutagePatience,
    ) -> None:
        self.server = server
        self._patience = patience
        self.job = ""  # of the execution that runs
        self._remote = remote
        self._workspace = workspace
        self._project = project
        self._turn = Mutex()
        self._pushed: set[str] = set()
        self._ended: list[str] = []  # refs that nothing needs any more
        self._users: Counter[str] = Counter()  # running calls of each base
        self._idle: dict[str, None] = {}  # bases without one, the one that ended first comes first
        self._jobs: set[str] = set()
        self._commands: Counter[str] = Counter()  # ended runs of each command on each commit

    @property
    def url(self) -> str:
        """The address of the shared repository."""
        return self._remote.url

    def require_remote(self) -> None:
        """Raise if the shared repository cannot be read."""
        try:
            self._remote.list(f"{REFS}/{self._project}/")
        except GitFault as fault:
            raise RemoteUnreachable(self._remote.url, str(fault)) from fault

    # -- calls -----------------------------------------------------------------------------

    def call(self, agent: str, call: AgentCall, is_wanted: Callable[[], bool]) -> CallResult:
        """Run the call of an agent on a worker, and show the tree that it made."""
        order = self.order(agent, call)
        _, end = self._run(order, call.prompt, is_wanted)
        lost = max(end.attempt - 1, 0)
        if not end.report:
            reason = "it was stopped" if end.is_cancelled else _unfinished(end)
            return replace(stopped(reason, end.attempt), call=call.id)
        checked = self._checked(order, end, is_wanted)
        if isinstance(checked, str):
            return replace(refused(checked), lost=lost, call=call.id)
        assert checked.result is not None
        try:
            text = self._answer(order, checked, is_wanted)
            if checked.commit:
                self._show(_place(call), checked.commit, order.source.commit)
        except GitFault as fault:
            return replace(refused(str(fault), checked), lost=lost, call=call.id)
        self._forget(order, end.attempt)
        text, error = without_secrets(text)[0], without_secrets(checked.result.error)[0]
        error = error[:LONGEST_REASON]
        return replace(checked.result, text=text, error=error, lost=lost, call=call.id)

    def _show(self, place: str, commit: str, base: str) -> None:
        """Show a tree in a worktree; one that git cannot write leaves nothing behind."""
        try:
            self._workspace.show(place, commit, base)
        except GitFault:
            self._workspace.at_commit(place, base)
            raise

    def command(
        self,
        line: str,
        limit: timedelta,
        source: CallSource,
        is_wanted: Callable[[], bool],
    ) -> CommandResult:
        """Run a verify command on a worker; what it reports is a claim.

        Its id follows from the command and the commit, so a restarted coordinator finds the run
        of the one before it. A run that ended without a report is not used again.
        """
        order = CallOrder(
            address=self.address(VERIFY),
            kind=CallKind.COMMAND,
            queue=VERIFY,
            remote=self._remote.url,
            source=source,
            limits=SentLimits.of(CallLimits(wall=limit, first_event=limit, idle=limit)),
            line=line,
        )
        name = f"{VERIFY}-{digest_of(encoded(order))[:_NAME_LENGTH]}"
        while True:
            order = replace(order, address=self.address(f"{name}-{self._commands[name]}"))
            is_new, end = self._run(order, "", is_wanted)
            self._commands[name] += 1
            if is_new or end.report or not is_wanted():
                break
        if not end.report:
            is_stopped = end.is_cancelled or not is_wanted()
            problem = shown(_unfinished(end))
            return replace(_not_run(problem), is_stopped=is_stopped)
        checked = self._checked(order, end, is_wanted)
        if isinstance(checked, str):
            return _not_run(shown(f"the report of a worker is refused: {checked}"))
        command = checked.command
        assert command is not None
        self._forget(order, end.attempt)
        tail, problem = without_secrets(command.tail)[0], without_secrets(command.problem)[0]
        tail, problem = tail[-LONGEST_TAIL:], problem[:LONGEST_REASON]
        return replace(command, tail=tail, problem=problem, worker=checked.worker)

    def order(self, agent: str, call: AgentCall) -> CallOrder:
        """The order for a call: equal calls have equal orders."""
        if call.source is None:
            raise NotOnCluster(call.role)
        address = self.address(call.id, os.path.basename(call.job))
        return agent_order(call, agent, address, self._remote.url, self._sent(call.prompt))

    def address(self, call: str, job: str = "") -> CallAddress:
        """The names of a call."""
        return CallAddress(self._project, safe_name(job or self.job), safe_name(call))

    def _sent(self, text: str) -> SentText:
        if len(json.dumps(text)) <= LONGEST_TEXT:
            return SentText(text)
        return SentText(object=self._remote.store(text))

    def _run(
        self, order: CallOrder, prompt: str, is_wanted: Callable[[], bool]
    ) -> tuple[bool, CallEnd]:
        """Whether the execution was started now or found, and how it ended."""
        self._jobs.add(order.address.job)
        base = order.address.base_ref(order.source.commit)
        with self._turn:
            self._users[base] += 1
            self._idle.pop(base, None)
        exchanged(self._remote, lambda: self._push(order, prompt), self._patience, is_wanted)
        is_new = self.server.start(order, encoded(order))
        end = self.server.wait(order, is_wanted)
        with self._turn:
            self._users[base] -= 1
            if not self._users[base]:
                self._idle[base] = None
        return is_new, end

    def _push(self, order: CallOrder, prompt: str) -> None:
        objects = {order.address.base_ref(order.source.commit): order.source.commit}
        if order.prompt.object:
            objects[order.address.input_ref("prompt")] = order.prompt.object
        with self._turn:
            new = {name: each for name, each in objects.items() if name not in self._pushed}
            if new:
                self._remote.push(new)
                self._remote.keep(_BASE, order.source.commit)
                self._pushed.update(new)

    def _checked(
        self, order: CallOrder, end: CallEnd, is_wanted: Callable[[], bool]
    ) -> CallReport | str:
        """The report of a call, or why it is refused."""
        if fault := size_fault(end.report):
            return fault
        try:
            report = report_of(end.report)
        except (DocumentError, ValueError) as error:
            return f"it is malformed: {error}"
        fault = claim_fault(order, digest_of(encoded(order)), end.attempt, report)
        if fault or not report.ref:
            return fault or report
        try:
            self._fetch(report.ref, LARGEST_TREE, is_wanted)
        except GitFault as problem:
            return f"its ref cannot be fetched: {problem}"
        try:
            pushed = PushedCommit(*self._remote.commit_at(report.ref))
            fault = tree_fault(order, report, pushed) or self._weight_fault(order, pushed)
        except GitFault as problem:
            return f"its tree cannot be read: {problem}"
        return fault or report

    def _fetch(self, name: str, largest: int, is_wanted: Callable[[], bool]) -> None:
        fetch = lambda: self._remote.fetch(name, largest=largest)  # noqa: E731
        exchanged(self._remote, fetch, self._patience, is_wanted)

    def _weight_fault(self, order: CallOrder, pushed: PushedCommit) -> str:
        between = order.source.commit, pushed.commit
        files = len(self._workspace.changes(*between))
        return weight_fault(files, self._workspace.added_bytes(*between))

    def _answer(self, order: CallOrder, report: CallReport, is_wanted: Callable[[], bool]) -> str:
        if not report.text.object:
            return report.text.text
        name = order.address.text_ref(report.attempt)
        self._fetch(name, _LARGEST_ANSWER, is_wanted)
        if self._remote.object_of(name) != report.text.object:
            raise GitFault("fetch", "the answer is not the one that the report names")
        return storable(self._remote.text(report.text.object))[:_LONGEST_ANSWER]

    def _forget(self, order: CallOrder, attempt: int) -> None:
        """Delete the refs of ended calls, many at once."""
        address = order.address
        with self._turn:
            self._ended += [address.output_ref(attempt), address.text_ref(attempt)]
            if order.prompt.object:
                self._ended.append(address.input_ref("prompt"))
            # Git looks at every ref in each push. The next calls may use the last bases again.
            bases = [*self._idle][:-_KEPT_BASES]
            if len(self._ended) + len(bases) >= _DELETED_TOGETHER:
                names, self._ended = [*self._ended, *bases], []
                self._pushed.difference_update(names)
                for base in bases:
                    del self._idle[base], self._users[base]
                with suppress(GitFault):  # `clean_up` tries again
                    self._delete(names)

    def _delete(self, names: list[str]) -> None:
        known = self._remote.list(f"{REFS}/{self._project}/")
        self._remote.delete(name for name in names if name in known)
        self._remote.forget(names)

    def clean_up(self, open_jobs: Iterable[str] = ()) -> None:
        """End the calls and delete the refs of all jobs that are over, whoever left them.

        Only a job that may still be continued, by another run than this one, keeps its own.
        """
        others = {safe_name(job) for job in open_jobs} - self._jobs
        addresses = [CallAddress(self._project, job, "") for job in others]
        continued = tuple(address.id for address in addresses)
        if left := [id_ for id_ in self.server.open_calls() if not id_.startswith(continued)]:
            self.server.cancel_all(left)
        kept = tuple(address.refs for address in addresses)
        prefix = f"{REFS}/{self._project}/"
        refs, here = self._remote.list(prefix), self._remote.fetched(prefix)
        self._remote.delete(name for name in refs if not name.startswith(kept))
        self._remote.forget(name for name in here if not name.startswith(kept))

    # -- finding calls again ---------------------------------------------------------------

    def has(self, call: str, mark: str = "") -> bool:
        """Whether a call of a job exists; see `agents.ports.CallFinder`."""
        return bool(self.server.digest(self.address(call, os.path.basename(mark)).id))

    def matches(self, agent: str, call: AgentCall) -> bool:
        """Whether an execution of this id was started with exactly this input."""
        order = self.order(agent, call)
        return self.server.digest(order.address.id) == digest_of(encoded(order))

    def recall(self, locally: Recall, name: str, role: str, raw: str) -> CallResult | None:
        """The result of a call that nobody continues: it is cancelled, and its cost is unknown."""
        job = os.path.basename(os.path.dirname(os.path.dirname(raw)))
        id_ = self.address(os.path.basename(raw), job).id
        if not self.server.digest(id_):
            return locally(name, role, raw)
        attempt = self.server.cancel(id_).attempt
        return stopped("its coordinator was killed", attempt) if attempt else None

    @contextmanager
    def ready(self, mark: str) -> Iterator[None]:
        """Know the job whose calls follow."""
        self.job = os.path.basename(mark)
        self._jobs.add(safe_name(self.job))
        yield


class ClusterAgent(CliAgent):
    """An agent that runs on workers."""

    def __init__(self, driver: Driver, session: ClusterSession) -> None:
        super().__init__(driver, "")
        self._session = session

    def start(
        self,
        call: AgentCall,
        watch: Callable[[AgentEvent], None],
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> CallResult:
        """Run one call on a worker; its events stay there."""
        return self._session.call(self.name, call, is_wanted)

    @property
    def is_logged_out(self) -> bool:
        """A worker checks the login before it takes calls."""
        return False


class ClusterCommands:
    """Runs verify commands on workers where a source allows it, and here otherwise."""

    def __init__(self, session: ClusterSession, local: Commands) -> None:
        self._session = session
        self._local = local

    def run(
        self,
        line: str,
        folder: str,
        limit: timedelta,
        is_wanted: Callable[[], bool] = lambda: True,
        source: CallSource | None = None,
    ) -> CommandResult:
        """Run a command line; see `jobs.roster.Commands`."""
        if source is None:
            return self._local.run(line, folder, limit, is_wanted)
        return self._session.command(line, limit, source, is_wanted)


def _not_run(problem: str) -> CommandResult:
    """The result of a command without a report; the reason is in the ledger as its output."""
    return CommandResult(_NOT_RUN, 0.0, "", problem, problem=problem)


def _unfinished(end: CallEnd) -> str:
    return f"no worker finished it: {without_secrets(end.failure)[0]}"


def _place(call: AgentCall) -> str:
    """The worktree of a call, whose folder may lie inside it."""
    assert call.source is not None
    return (
        call.folder.removesuffix(f"/{call.source.subfolder}")
        if call.source.subfolder
        else call.folder
    )
