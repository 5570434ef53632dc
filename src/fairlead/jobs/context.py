"""The context of a job: everything that one run works with, whatever the kind of job.

`JobEnvironment` is the project's side and lives as long as the project. `JobSetup` is the caller's
side of one run: the roster, the options, the event sink and how to stop the run. `JobContext`
joins the two for one job; a kind that needs more extends it. An event goes to the journal in the
job's folder and to one sink. No decision reads events, so losing one costs nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from copy import copy
from datetime import timedelta
from typing import Any, Generic, Protocol, Self, TypeVar

from fairlead.agents.budget import Caps, Cost, may_spend
from fairlead.agents.model import AgentEvent, CallSource, CommandPermissions
from fairlead.agents.secrets import without_secrets
from fairlead.core.clock import Clock
from fairlead.core.concurrency import Mutex, OneTimeEvent
from fairlead.core.values import dataclass, field
from fairlead.jobs.activity import ActivityLog
from fairlead.jobs.approvals import Answers
from fairlead.jobs.baseline import Baselines
from fairlead.jobs.folder import JobFolder
from fairlead.jobs.guarded_proofs import GuardedProofs
from fairlead.jobs.ledger import Spending
from fairlead.jobs.loop import is_cancelled
from fairlead.jobs.model import JobRecord, Question, Share, shares_of
from fairlead.jobs.paths import SEEN, private_folder, runs_path
from fairlead.jobs.proofs import proofs_of
from fairlead.jobs.roster import Roster
from fairlead.project.state.documents import moment
from fairlead.project.state.gate_rules import MOST_ATTEMPTS
from fairlead.store.digests import digests_of
from fairlead.store.files import Files
from fairlead.vcs.ports import Workspace

_ROLE_SLOTS = 4  # roles only read and write documents, so they may work side by side

Record = TypeVar("Record", bound=JobRecord)


@dataclass(frozen=True, slots=True)
class JobEvent:
    """One event of a job."""

    kind: str
    subject: str
    text: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EventSink:
    """Receives what happens in a job; by default everything is dropped."""

    report: Callable[[JobEvent], None] = lambda _: None
    watch: Callable[[str, AgentEvent], None] = lambda _subject, _event: None
    # Each kind of job has a snapshot type of its own: the sink of that kind knows which.
    looked: Callable[[Any], None] = lambda _: None  # called with each new snapshot
    # Called with the id of a job once its record exists and this process holds its lock.
    started: Callable[[str], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """How long each kind of call may take, and how long an agent may be silent."""

    executor: timedelta = timedelta(minutes=30)
    verify: timedelta = timedelta(minutes=15)
    architect: timedelta = timedelta(minutes=15)
    idle: timedelta = timedelta(minutes=15)  # of agents that report events


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """Which agent and model a command asks for, and how it wants questions answered."""

    agent: str = ""
    model: str = ""
    is_auto: bool = False
    is_rehearsed: bool = False


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How one run of a job behaves."""

    caps: Caps = field(default_factory=Caps)
    limits: TimeLimits = field(default_factory=TimeLimits)
    slots: int = 2  # agents at once
    shares: tuple[Share, ...] = ()  # how many of the slots each agent may use
    model: str = ""  # that the command names; empty: as the settings say
    is_rehearsed: bool = False
    is_auto: bool = False  # questions are answered by their documented policy
    keeps_documents: bool = True  # .planning is committed
    needs_tests: bool = True  # a verify command that ran no test fails
    guarded: tuple[str, ...] = ()  # files outside git that no agent may change
    commands: CommandPermissions = field(default_factory=CommandPermissions)  # of the project
    attempts: int = MOST_ATTEMPTS  # of a task before a person is asked
    setup: str = ""  # the command that makes the dependency folders
    kept: tuple[str, ...] = ()  # the names of dependency folders
    undeclared: str = "review"  # what happens to files that no task declares
    estimate: Cost = field(default_factory=Cost)  # of the complete job, before it begins
    notes: tuple[str, ...] = ()  # reported when a run begins


def execution_options(
    values: Mapping[str, object],
    *,
    model: str = "",
    slots: int | None = None,
    is_rehearsed: bool = False,
    keeps_documents: bool = True,
    guarded: tuple[str, ...] = (),
    commands: CommandPermissions | None = None,
) -> RunOptions:
    """The options of an execution, from the settings by their full names."""

    def minutes(key: str) -> timedelta:
        return timedelta(minutes=int(str(values[f"fairlead.{key}_minutes"])))

    return RunOptions(
        caps=Caps.of(values),
        limits=TimeLimits(*map(minutes, ("executor", "verify", "architect", "idle"))),
        slots=slots or int(str(values["fairlead.slots"])),
        shares=shares_of(str(values["fairlead.provider_slots"])),
        model=model,
        is_rehearsed=is_rehearsed,
        keeps_documents=keeps_documents,
        needs_tests=values["fairlead.zero_tests"] == "fail",
        guarded=guarded,
        commands=commands or CommandPermissions(),
        attempts=int(str(values["fairlead.execution.attempts"])),
        setup=str(values["fairlead.execution.setup"]).strip(),
        kept=tuple(str(values["fairlead.execution.keep"]).replace(",", " ").split()),
        undeclared=str(values["fairlead.execution.undeclared"]),
    )


def workflow_options(
    values: Mapping[str, object],
    *,
    is_auto: bool = False,
    is_rehearsed: bool = False,
    keeps_documents: bool = True,
    guarded: tuple[str, ...] = (),
    commands: CommandPermissions | None = None,
    estimate: Cost | None = None,
) -> RunOptions:
    """The options of a workflow or a council, from the settings by their full names."""
    idle = timedelta(minutes=int(str(values["fairlead.idle_minutes"])))
    return RunOptions(
        caps=Caps.of(values),
        limits=TimeLimits(idle=idle),
        slots=_ROLE_SLOTS,
        is_rehearsed=is_rehearsed,
        is_auto=is_auto,
        keeps_documents=keeps_documents,
        guarded=guarded,
        commands=commands or CommandPermissions(),
        estimate=estimate or Cost(),
    )


class Scratch(Protocol):
    """Makes throw-away copies of the project for agents to work in."""

    def make(self, place: str) -> None:
        """Make a clean copy of the project."""
        ...

    def remove(self, place: str) -> None:
        """Remove a copy."""
        ...

    def guard(self) -> Mapping[str, str]:
        """Digests of everything that no agent may change."""
        ...


class Observer(Protocol):
    """Learns of every event of every job, such as the one that notifies the person."""

    def __call__(
        self, job: JobRecord, event: str, facts: Mapping[str, object], /, *, may_run_commands: bool
    ) -> str:
        """Take note of an event; return what went wrong."""
        ...


def _unobserved(_: JobRecord, __: str, ___: Mapping[str, object], /, **____: bool) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class JobEnvironment:
    """What every job of one project works with."""

    files: Files
    state: Files  # the user's own state folder, outside the project
    clock: Clock
    workspace: Workspace
    scratch: Scratch
    new_token: Callable[[], str]
    observe: Observer = _unobserved

    @property
    def answers(self) -> Answers:
        """The user's own record of the answers they gave."""
        return Answers(self.state, self.files.folder)

    def folder(self, job: str) -> JobFolder:
        """The folder of a job, with its proofs and the baselines of its tamper check."""
        return JobFolder(
            self.files.folder,
            job,
            is_read_only=self.files.is_read_only,
            baselines=Baselines(f"{self.private(job)}/{SEEN}"),
            proofs=proofs_of(self.state.folder, self.files.folder, job),
        )

    def proven_folder(self, job: str) -> JobFolder:
        """The folder of a job that decides from its proofs, not from its files."""
        is_read_only = self.files.is_read_only
        proofs = proofs_of(self.state.folder, self.files.folder, job)
        return JobFolder(self.files.folder, job, is_read_only=is_read_only, proofs=proofs)

    def private(self, job: str) -> str:
        """The user's own folder for a job: worktrees, raw output and proofs."""
        return private_folder(self.state.folder, self.files.folder, job)

    def process_mark(self, job: str) -> str:
        """The mark that every process of a job carries, so that a later run can end them."""
        return runs_path(self.files.folder, job)

    def now(self) -> str:
        """The present moment as documents write it."""
        return moment(self.clock.now())


@dataclass(frozen=True, slots=True)
class Cancellation:
    """How a person ends a run: `stop` begins nothing new, `over` also ends running calls."""

    stop: OneTimeEvent = field(default_factory=OneTimeEvent)
    over: OneTimeEvent = field(default_factory=OneTimeEvent)


@dataclass(frozen=True, slots=True)
class JobSetup:
    """How the caller wants a job to run."""

    roster: Roster
    options: RunOptions = field(default_factory=RunOptions)
    events: EventSink = field(default_factory=EventSink)
    cancellation: Cancellation = field(default_factory=Cancellation)
    person: Callable[[Question], str] = lambda _: ""  # an empty answer: no person is present
    may_run_commands: bool = False  # a person agreed beforehand to the commands of the plan


class JobContext(Generic[Record]):
    """Everything one run of a job works with."""

    def __init__(self, environment: JobEnvironment, job: Record, setup: JobSetup) -> None:
        self.job = job  # as the run began; `folder` holds it as it is now
        self.environment = environment
        self.files = environment.files
        self.clock = environment.clock
        self.workspace = environment.workspace
        self.scratch = environment.scratch
        self.new_token = environment.new_token
        self.answers = environment.answers
        self.folder = environment.folder(job.id)
        self.private = environment.private(job.id)
        self.process_mark = environment.process_mark(job.id)
        self.proofs = GuardedProofs(self.files.folder, job.id, os.path.dirname(self.private))
        self.activity = ActivityLog(self.private, self.clock)
        self.spending = Spending(environment.files)
        self.roster = setup.roster
        self.options = setup.options
        self.events = setup.events
        self.stop = setup.cancellation.stop
        self.over = setup.cancellation.over
        self.person = setup.person
        self.may_run_commands = setup.may_run_commands
        self.turn = Mutex()  # held while writing into the repository, or asking a person

    @property
    def is_wanted(self) -> bool:
        """Whether running calls should go on."""
        return not self.over.is_set

    def is_cancelled(self) -> bool:
        """Whether a person cancelled the job in another process."""
        return is_cancelled(self.private)

    def now(self) -> str:
        """The present moment as documents write it."""
        return moment(self.clock.now())

    def tell(self, kind: str, subject: str, text: str = "", **facts: object) -> None:
        """Write an event to the journal and pass it to the sink."""
        at, text = self.clock.now().isoformat(), without_secrets(text)[0]
        event = {"at": at, "kind": kind, "subject": subject, "text": text, **facts}
        self.folder.append_event(event)
        self.events.report(JobEvent(kind, subject, text, facts))
        if self.stop.is_set:
            return  # whoever stopped the job knows
        may_run = self.may_run_commands
        fault = self.environment.observe(self.job, kind, facts, may_run_commands=may_run)
        if fault:
            self.folder.append_event(
                {"at": at, "kind": "note", "subject": self.job.id, "text": f"not notified: {fault}"}
            )

    def source(
        self, commit: str = "", left_out: tuple[str, ...] = (), setup: str = ""
    ) -> CallSource | None:
        """What a call works on, if it may run on another machine; by default the last commit."""
        if self.roster.calls is None:
            return None
        commit = commit or self.workspace.commit_of("HEAD")
        inside = os.path.relpath(self.workspace.inside("/place"), "/place")
        return CallSource(commit, "" if inside == "." else inside, left_out, setup)

    def questions(self) -> tuple[Question, ...]:
        """Every question of the job, with the answers that count."""
        return self.answers.believed(self.job, self.folder.load_questions())

    def answered_by(self, person: Callable[[Question], str]) -> Self:
        """A copy of this context in which another person answers questions."""
        other = copy(self)
        other.person = person
        return other

    def put_aside(self, before: Mapping[str, str], after: Mapping[str, str]) -> str:
        """Copy documents that are about to be replaced; a note that names the copies, or nothing."""
        replaced = {path: old for path, old in before.items() if old and old != after[path]}
        copies = [self.folder.keep_replaced(path, old) for path, old in replaced.items()]
        return f"; the previous version: {', '.join(copies)}" if copies else ""

    def guarded(self) -> dict[str, str]:
        """Digests of everything that no agent in a scratch folder may change."""
        for files in (self.files, self.folder):
            files.complete_interrupted()
        return {**self.scratch.guard(), **digests_of(self.options.guarded)}

    def budget_fault(self, estimate: Cost) -> str:
        """Which cap a call of this size would exceed; empty: it may be made."""
        run, day = self.spending.by(
            self.job.id, self.now()[:10], is_rehearsed=self.job.is_rehearsed
        )
        return may_spend(estimate, run, day, self.options.caps)
