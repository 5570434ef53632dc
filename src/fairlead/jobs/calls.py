"""Calls of agents and models: every call of every kind of job goes through `RecordedAgent`.

It filters secrets out of the prompt, records the start before the agent runs and the result after
it, and passes the agent's events to the sink of the job. Retries and stand-ins for one question
(`agents.ask`) are below it: they receive respondents whose agents are wrapped here. Whether the
budget allows a call is decided before: by `decide` where a job decides from snapshots, else by
`JobContext.budget_fault`.

A call is in the ledger once, even if its run was killed. It is written down before it is made,
with its future ledger entry, and removed when the ledger has it. A call that a run finds there when
it begins was interrupted; its cost is read from the raw output it left.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from fairlead.agents.ask import Respondent
from fairlead.agents.model import AgentCall, AgentEvent, CallResult
from fairlead.agents.ports import Agent
from fairlead.agents.secrets import FilteredEvents, without_secrets
from fairlead.core.errors import DocumentError
from fairlead.core.patterns import lazy_pattern
from fairlead.core.serialization import plain, revived
from fairlead.core.values import dataclass, replace
from fairlead.jobs.baseline import baselines_of_jobs
from fairlead.jobs.context import JobContext
from fairlead.jobs.folder import content_of
from fairlead.jobs.ledger import EntryKind, LedgerEntry, appended, read_ledger
from fairlead.jobs.paths import SEEN, ledger_path
from fairlead.store.files import make_private_folders
from fairlead.store.journal import Journal

_INTERRUPTED, LOST = "killed", "lost"  # verdicts in the ledger
_NONCE, _LONGEST_NONCE = lazy_pattern(r"[A-Za-z0-9_-]{8,}"), 200
# What agents say, and the names of files that they chose, can hold secrets.
_FILTERED = ("tail", "verdict", "note", "model", "session")
_COST_UNKNOWN = "the machine that ran it was lost; its cost is unknown"


@dataclass(frozen=True, slots=True)
class CallRecorder:
    """How a job records one call: its start before the agent runs, its result after it."""

    started: Callable[[Agent, AgentCall], None] = lambda _agent, _call: None
    ended: Callable[[Agent, CallResult], None] = lambda _agent, _result: None


class RecordedAgent:
    """An agent as jobs call it."""

    def __init__(
        self, context: JobContext[Any], agent: Agent, subject: str, recorder: CallRecorder
    ) -> None:
        self._context = context
        self._agent = agent
        self._subject = subject
        self._recorder = recorder

    @property
    def name(self) -> str:
        """The name of the agent in the settings."""
        return self._agent.name

    def start(
        self,
        call: AgentCall,
        watch: Callable[[AgentEvent], None] = lambda _: None,
        is_wanted: Callable[[], bool] | None = None,
    ) -> CallResult:
        """Make a call, filtered and recorded; `is_wanted` returning False ends it early."""

        def seen(event: AgentEvent) -> None:
            self._context.events.watch(self._subject, event)
            self._context.activity.note(self._subject, event)
            watch(event)

        # Prompt builders filter the pieces they frame; this also covers all other text.
        call = replace(call, prompt=without_secrets(call.prompt)[0])
        events = FilteredEvents(seen)
        self._recorder.started(self._agent, call)
        result = self._agent.start(call, events, is_wanted or (lambda: self._context.is_wanted))
        events.close()
        # Everything that is read from an answer reaches records, prompts and commits.
        text, error = without_secrets(result.text)[0], without_secrets(result.error)[0]
        result = replace(result, text=text, error=error)
        self._recorder.ended(self._agent, result)
        return result


def recorded(
    context: JobContext[Any],
    respondents: Sequence[Respondent],
    subject: str,
    recorder: CallRecorder | None = None,
) -> tuple[Respondent, ...]:
    """The same respondents, each behind a `RecordedAgent`."""
    kept = recorder or CallRecorder()
    return tuple(
        replace(each, agent=RecordedAgent(context, each.agent, subject, kept))
        for each in respondents
    )


@dataclass(frozen=True, slots=True)
class StartedCall:
    """A call that is about to be made, as the job's private folder keeps it."""

    plan: str
    role: str
    raw: str  # the private folder with its raw output
    entry: LedgerEntry  # without the result
    workstream: str = ""
    nonce: str = ""  # of its prompt: a later run that continues the call reads its answer with it
    session: str = ""


class OpenNonces:
    """The nonces of calls that outlive their run: a later run makes the same prompt with them."""

    def __init__(self, private: str) -> None:
        self._folder = os.path.join(private, "nonces")

    def get(self, key: str) -> str:
        """The nonce of the last call of this key; empty: there is none."""
        try:
            with open(self._path(key), encoding="ascii") as file:
                nonce = file.read(_LONGEST_NONCE)
        except (FileNotFoundError, UnicodeDecodeError):
            return ""
        return nonce if _NONCE.fullmatch(nonce) else ""

    def keep(self, key: str, nonce: str) -> None:
        """Write a nonce down, before its call is made."""
        make_private_folders(self._folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with open(os.open(self._path(key), flags, 0o600), "w", encoding="ascii") as file:
            file.write(nonce)

    def _path(self, key: str) -> str:
        return os.path.join(self._folder, key.replace("/", "-"))


class CallLedger:
    """The evidence of one job in the ledgers of its plans."""

    def __init__(self, context: JobContext[Any]) -> None:
        self._context = context

    def entry(self, kind: EntryKind, task: str, attempt: int, actor: str) -> LedgerEntry:
        """The beginning of a piece of evidence."""
        job, at = self._context.job, self._context.now()
        return LedgerEntry(kind, task, attempt, at, actor, job=job.id, rehearsed=job.is_rehearsed)

    def record(self, plan: str, entry: LedgerEntry) -> None:
        """Append an entry to the ledger of a plan, chained to the one before."""
        self._append(self._path(plan), entry)

    def record_for_job(self, entry: LedgerEntry) -> None:
        """Append an entry to the ledger of the job itself: the call works on no plan."""
        self._append(ledger_path(self._context.job.id), entry)

    def _append(self, path: str, entry: LedgerEntry) -> None:
        # The command is the plan's own text and stays: anyone can run it again.
        texts = {name: without_secrets(getattr(entry, name))[0] for name in _FILTERED}
        entry = replace(entry, **texts)  # type: ignore[arg-type]
        journal = Journal(self._context.files.folder, path)
        command = f"job {self._context.job.id}"
        journal.append(lambda last: appended(last, entry), command=command)

    def entries(self, plan: str) -> tuple[LedgerEntry, ...]:
        """The evidence of a plan."""
        return read_ledger(self.text(plan))

    def text(self, plan: str) -> str:
        """The ledger of a plan; empty if there is none."""
        loaded = self._context.files.load_if_present(self._path(plan))
        return loaded.text if loaded else ""

    def announce(self, plan: str, call: AgentCall, entry: LedgerEntry, nonce: str = "") -> None:
        """Write a call down, so that the next run counts it if this one is killed."""
        workstream, session = self._context.job.workstream, call.session
        started = StartedCall(plan, call.role, call.raw, entry, workstream, nonce, session)
        self._context.folder.baselines.calls(entry.task, json.dumps(plain(started)))

    def record_interrupted(self) -> None:
        """Record the calls that killed runs could not record, in this job or an earlier one.

        A call of this job that goes on without its run is left for `outliving`.
        """
        own = self._context.folder.baselines
        for baselines in baselines_of_jobs(os.path.dirname(self._context.private), SEEN):
            for task, text in baselines.unrecorded().items():
                if baselines.folder == own.folder and self.outliving(task):
                    continue
                if self._is_settled(task, text):
                    baselines.recorded(task)

    def outliving(self, task: str) -> StartedCall | None:
        """The call of a task that an earlier run of this job started and that still exists."""
        finder = self._context.roster.calls
        text = self._context.folder.baselines.unrecorded().get(task) if finder else None
        if finder is None or text is None:
            return None
        try:
            call = revived(StartedCall, content_of(task, text), task)
            is_new = all(each.call != call.entry.call for each in self.entries(call.plan))
        except DocumentError:
            return None
        return call if is_new and call.nonce and finder.has(call.entry.call) else None

    def settle(self, task: str) -> None:
        """Record the call of a task that cannot be continued."""
        baselines = self._context.folder.baselines
        text = baselines.unrecorded().get(task)
        if text is not None and self._is_settled(task, text):
            baselines.recorded(task)

    def record_lost(self, plan: str, entry: LedgerEntry, lost: int) -> None:
        """Record the attempts of a call that were lost with their machine, each once.

        Without a plan they go to the ledger of the job.
        """
        path = self._path(plan) if plan else ledger_path(self._context.job.id)
        loaded = self._context.files.load_if_present(path) if lost else None
        known = {each.call for each in read_ledger(loaded.text)} if loaded else set()
        for number in range(1, lost + 1):
            call = f"{entry.call}.{number}"
            if call not in known:
                self._append(path, replace(entry, call=call, verdict=LOST, note=_COST_UNKNOWN))

    def _is_settled(self, task: str, text: str) -> bool:
        """Whether the call is dealt with; a run of its own workstream handles it otherwise."""
        try:
            call = revived(StartedCall, content_of(task, text), task)
            if call.workstream != self._context.job.workstream:
                return False
            self._record_once(call)
        except DocumentError:
            pass  # this file or the ledger was changed: the tamper check asks a person
        return True

    def _record_once(self, call: StartedCall) -> None:
        entry = call.entry
        if any(each.call == entry.call for each in self.entries(call.plan)):
            return  # the run was killed between recording the call and removing it here
        result = self._context.roster.recall(entry.actor, call.role, call.raw)
        if result is None:
            return
        known = replace(result, call=entry.call, prompt_characters=entry.prompt_characters or 0)
        self.record_lost(call.plan, entry, known.lost)
        self.record(call.plan, replace(with_result(entry, known), verdict=_INTERRUPTED))
        tokens = known.usage.tokens_in + known.usage.tokens_out
        text = f"an interrupted call is counted: {tokens:,} tokens"
        self._context.tell("note", entry.task, text)

    def _path(self, plan: str) -> str:
        return ledger_path(plan, self._context.job.workstream)


def with_result(entry: LedgerEntry, result: CallResult) -> LedgerEntry:
    """The evidence of a call with what the call used."""
    return replace(
        entry,
        exit_code=result.exit_code,
        session=result.session,
        model=result.model,
        seconds=round(result.seconds, 3),
        tokens_in=result.usage.tokens_in,
        tokens_cached=result.usage.tokens_cached or None,
        tokens_out=result.usage.tokens_out,
        estimated=result.is_estimated or None,
        cost_usd=result.cost_usd,
        prompt_characters=result.prompt_characters or None,
        call=result.call,
    )
