"""The values of jobs, as their files store them: records, gates, questions and calls.

The field names are the keys of the stored JSON, so they must not change. A run of a task is
written down before its agent starts: a run without an end, in a job that no process runs, was
interrupted.
"""

import shlex
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from fairlead.agents.budget import Cost
from fairlead.core.errors import SettingValue
from fairlead.core.ids import stream_words
from fairlead.core.values import dataclass, field
from fairlead.project.state.gate_rules import Gate, GateStatus, SkipKind

FIX, OTHER, CHANGE = "fix:", "other:", "change:"
IN_WORDS = (FIX, OTHER, CHANGE)  # an answer that begins like this continues in free text
SKIP, SKIP_VERIFY, OVERRIDE = "skip", "skip-verify:", "override:"
SKIP_REASONS = ("command not available", "known false negative", "I accept the risk")
OVERRIDE_WORD = "OVERRIDE"  # in capitals, so that it is not typed by accident
ABORT_ANSWER = "abort"  # to any question: it ends the job
PERSON, AGENT = "person", "agent"  # who answered
EXECUTE, COUNCIL = "execute", "council"  # kinds that more than one package names


class JobStatus(StrEnum):
    """The state of a job; an execution begins with EXECUTING."""

    NEW = "NEW"
    PM_RUNNING = "PM_RUNNING"
    RESEARCH_DONE = "RESEARCH_DONE"
    COUNCIL_PLANNING = "COUNCIL_PLANNING"
    SYNTHESIZING = "SYNTHESIZING"
    COUNCIL_REVIEWING = "COUNCIL_REVIEWING"
    APPROVED = "APPROVED"
    EXECUTING = "EXECUTING"
    DONE = "DONE"
    FAILED = "FAILED"
    BLOCKED = "BLOCKED"


ENDED = (JobStatus.DONE, JobStatus.FAILED, JobStatus.BLOCKED)  # nothing runs in these


class JobRecord(Protocol):
    """What the record of every kind of job has; each kind stores more in its own class."""

    @property
    def id(self) -> str:
        """The name of the job and of its folder."""
        ...

    @property
    def kind(self) -> str:
        """Which kind it is: execute, council, or the name of a workflow."""
        ...

    @property
    def status(self) -> JobStatus:
        """The state of the job."""
        ...

    @property
    def phase(self) -> str:
        """The phase or other subject it works on; empty: none."""
        ...

    @property
    def workstream(self) -> str:
        """The workstream that its phase belongs to; empty: none."""
        ...

    @property
    def started_at(self) -> str:
        """When it was created."""
        ...

    @property
    def ended_at(self) -> str:
        """When it ended; empty while its command would continue it."""
        ...

    @property
    def note(self) -> str:
        """The reason for its status."""
        ...

    @property
    def is_rehearsed(self) -> bool:
        """Whether scripted agents do its work."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether its command continues it."""
        ...

    @property
    def is_on_cluster(self) -> bool:
        """Whether its calls may run on workers while no process runs it."""
        ...

    @property
    def carries_out(self) -> bool:
        """Whether its agents change the project; then only answers recorded by a person count."""
        ...

    @property
    def command(self) -> str:
        """The command that continues it."""
        ...

    @property
    def degraded(self) -> tuple[str, ...]:
        """What the job had to do without, such as a member of the council."""
        ...

    @classmethod
    def holds(cls, kind: str) -> bool:
        """Whether records of this kind are read into this class."""
        ...


Record = TypeVar("Record", bound=JobRecord)


def record_as(shape: type[Record], record: JobRecord) -> Record | None:
    """The record with the fields of its kind; None: the job is of another kind."""
    return record if isinstance(record, shape) else None


def cluster_words(*, is_on_cluster: bool) -> str:
    """The option of a command that continues a job on workers."""
    return " --cluster" if is_on_cluster else ""


class QuestionKind(StrEnum):
    """Why a person is asked."""

    HUMAN_VERIFY = "human-verify"
    DECISION = "decision"
    HUMAN_ACTION = "human-action"
    ESCALATION = "escalation"  # a task has no attempts left, or cannot continue
    TOUCHED = "touched"  # an agent changed something it must not change
    CLASH = "clash"  # the work of a plan does not merge
    BUDGET = "budget"
    PATIENCE = "patience"  # a service refuses calls for a long time, or repeatedly
    ASKED = "asked"  # an executor asks the person
    PLAN_CHANGED = "plan-changed"
    UNDECLARED = "undeclared"  # an attempt changed files that the plan does not declare
    UNVERIFIED = "unverified"  # a plan contains work that was not verified
    CHOICE = "choice"  # a workflow needs a decision to continue


@dataclass(frozen=True, slots=True)
class Approval:
    """The approval of a plan with exactly this text."""

    plan: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Share:
    """How many calls of one agent may run at once."""

    provider: str
    slots: int


def shares_of(text: str) -> tuple[Share, ...]:
    """The shares in a setting such as `claude=1 codex=2`."""
    shares = []
    for word in text.replace(",", " ").split():
        provider, _, slots = word.partition("=")
        if not (provider and slots.isdecimal() and 1 <= int(slots) <= 64):
            raise SettingValue("fairlead.provider_slots", text, "words such as claude=1 codex=2")
        shares.append(Share(provider, int(slots)))
    return tuple(shares)


@dataclass(frozen=True, slots=True)
class Job:
    """The record of an execution or of a workflow."""

    id: str
    phase: str
    status: JobStatus
    started_at: str
    agent: str
    target: str = ""  # the branch that work lands on; empty: no git
    base: str = ""  # the commit of that branch at the start
    model: str = ""
    slots: int = 1
    is_rehearsed: bool = False
    is_git: bool = True
    approvals: tuple[Approval, ...] = ()
    plans: tuple[str, ...] = ()  # the plans to execute
    estimate: Cost = field(default_factory=Cost)  # made before the job began
    ended_at: str = ""
    note: str = ""
    kind: str = EXECUTE
    begun_by: str = ""  # the command; empty: `fairlead phase execute`
    subject: str = ""  # the request, if the job is not about a phase
    reviewer: str = ""  # the agent that reviews the work
    shares: tuple[Share, ...] = ()
    workstream: str = ""  # that the phase belongs to; empty: none
    commits_end: bool = False  # it has ended, and its record is to be committed
    is_on_cluster: bool = False  # its last run made its calls on workers

    @classmethod
    def holds(cls, kind: str) -> bool:
        """Every kind except councils: older versions used further names for kinds."""
        return kind != COUNCIL

    @property
    def degraded(self) -> tuple[str, ...]:
        """Nothing: an execution has all its agents or does not begin."""
        return ()

    @property
    def share_notes(self) -> tuple[str, ...]:
        """Notes on agents that cannot use all slots."""
        return tuple(
            f"{each.provider} runs at most {each.slots} at once, although there are {self.slots} slots"
            for each in self.shares
            if each.provider in (self.agent, self.reviewer) and each.slots < self.slots
        )

    @property
    def purpose(self) -> tuple[str, str, str, bool]:
        """What the job is for: an open job with the same purpose is continued."""
        return self.kind, self.phase, self.workstream, self.is_rehearsed

    @property
    def listed(self) -> str:
        """The phase of the roadmap that it executes; empty: none."""
        return self.phase if self.kind == EXECUTE else ""

    @property
    def carries_out(self) -> bool:
        """Whether its agents change the project; then only answers recorded by a person count."""
        return self.kind in (EXECUTE, "quick", "debug")

    @property
    def is_open(self) -> bool:
        """Whether its command continues it; a blocked execution has ended as a run, not as a job."""
        if self.kind == EXECUTE:
            return self.status in (JobStatus.EXECUTING, JobStatus.BLOCKED)
        return not self.ended_at

    @property
    def command(self) -> str:
        """The command that continues the job."""
        begun = self.begun_by or f"fairlead phase execute {self.phase}"
        begun += stream_words(self.workstream)
        if self.is_rehearsed:
            # Rehearsals of quick and debug always work in a new copy, so they have no --here.
            begun += f" --rehearse{'' if self.kind in ('quick', 'debug') else ' --here'}"
        return f"{begun}{cluster_words(is_on_cluster=self.is_on_cluster)}"


@dataclass(frozen=True, slots=True)
class Run:
    """One start of an executor for a task."""

    number: int
    attempt: int
    base: str
    branch: str
    session: str
    started_at: str
    ended: str = ""  # empty: it is running, or was interrupted
    commit: str = ""
    tree: str = ""
    asked: tuple[str, ...] = ()  # undeclared files that a person decides about
    with_asked: str = ""  # the commit that has them


@dataclass(frozen=True, slots=True)
class TaskGate:
    """The progress of a task: its gate, its runs, and what the next run needs."""

    task: str  # 04-02-03
    plan: str
    number: int
    name: str
    gate: Gate = field(default_factory=Gate)
    runs: tuple[Run, ...] = ()
    started_at: str = ""
    not_before: str = ""
    waits: int = 0  # refusals by the service in a row
    note: str = ""  # why the task failed, is blocked or was skipped
    waits_for: tuple[str, ...] = ()  # tasks that must be approved first
    guidance: str = ""  # instructions of a person after an escalation
    concerns: tuple[str, ...] = ()  # about the last attempt, like the next four
    decisions: tuple[str, ...] = ()
    deviations: tuple[str, ...] = ()
    question: str = ""  # that its executor asks
    options: tuple[str, ...] = ()  # possible answers to it
    stands_on: str = ""  # the commit it starts from when it is done again
    digest: str = ""  # of the text of the task; older versions stored none

    @property
    def commit(self) -> str:
        """The commit of its last run."""
        return self.runs[-1].commit if self.runs else ""

    @property
    def was_refused(self) -> bool:
        """Whether its last run has no result because the service refused the call."""
        return self.gate.status is GateStatus.EXECUTING and bool(self.runs and self.runs[-1].ended)

    @property
    def work(self) -> str:
        """The commit that other tasks build on and that lands; empty if the task was skipped."""
        return self.commit if self.gate.is_complete else ""

    @property
    def is_passed(self) -> bool:
        """Whether the task was approved or skipped."""
        return self.gate.status in (GateStatus.APPROVED, GateStatus.SKIPPED)

    def is_of(self, digest: str) -> bool:
        """Whether the gate belongs to a task with this digest; unknown digests match."""
        return not self.digest or not digest or self.digest == digest

    def passes(self, digest: str) -> bool:
        """Whether the next task may build on this one, whose text now has this digest."""
        return self.is_passed and self.is_of(digest)


def last_work(gates: Iterable[TaskGate]) -> str:
    """The commit with all the work of a plan; `gates` are in the order of its tasks.

    A task that is done again builds on the tasks after it, so the last task does not always have
    the last commit.
    """
    done = [gate for gate in gates if gate.work]
    bases = {gate.task: (gate.stands_on, gate.runs[-1].base) for gate in done}
    tips = [
        gate.work
        for gate in done
        if not any(gate.work in used for task, used in bases.items() if task != gate.task)
    ]
    return (tips or [gate.work for gate in done] or [""])[-1]


def first_base(gates: Iterable[TaskGate]) -> str:
    """The commit that the work of a plan started from."""
    gates = tuple(gates)
    own = {run.commit for gate in gates for run in gate.runs}
    bases = (run.base for gate in gates for run in reversed(gate.runs) if run.base not in own)
    return next(bases, "")


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a person, and the answer; empty: not answered yet."""

    id: str
    kind: QuestionKind
    subject: str  # a task or a plan
    text: str
    options: tuple[str, ...] = ()
    asked_at: str = ""
    answer: str = ""
    answered_at: str = ""
    about: str = ""  # a digest of the subject, if the text does not contain all of it
    by: str = PERSON  # or policy: --auto answered it; or agent: a fact, through MCP
    details: tuple[str, ...] = ()  # further lines to show with the question

    @property
    def below(self) -> tuple[str, ...]:
        """The lines below its text: the details and the possible answers."""
        return (*self.details, *(f"answer: {each}" for each in self.options))

    @property
    def whose(self) -> str:
        """Whose answer it is, in words."""
        return "an agent's answer" if self.by == AGENT else "a person's answer"

    def asks_for_fact(self, answer: str) -> bool:
        """Whether this answer tells an executor a fact; everything else is a decision.

        A choice among options is a decision, too.
        """
        ends_job = answer.partition(":")[0].strip() == ABORT_ANSWER
        return self.kind is QuestionKind.ASKED and not self.options and not ends_job

    def command(self, job: str, among: Iterable["Question"] = ()) -> str:
        """The command that answers it; it names the question if others are open as well."""
        example = (self.options or ("…",))[0]
        # Options come from agents: the command must be safe to copy into a shell.
        quoted = shlex.quote(example) if set(example) & set('"$`\\!') else f'"{example}"'
        is_alone = all(each.answer or each.id == self.id for each in among)
        named = "" if is_alone else f" --question {shlex.quote(self.id)}"
        return f"fairlead job answer {job}{named} {quoted}"


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call of a role: stored before it is made, and again with its result."""

    key: str  # unique in the job: research, plan-2
    role: str
    digest: str  # of the complete prompt; a different prompt is a different call
    started_at: str
    status: str = "asked"  # ok, failed or blocked once it has ended
    agent: str = ""
    model: str = ""
    ended_at: str = ""
    tries: int = 0
    documents: tuple[tuple[str, str], ...] = ()  # name and text
    answer: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    left_out: tuple[str, ...] = ()  # secrets that were removed from the prompt
    prompt_characters: int = 0
    tokens: int = 0
    usd: float = 0.0

    @property
    def is_ok(self) -> bool:
        """Whether the call has a valid result."""
        return self.status == "ok"


def skip_kind(answer: str) -> SkipKind | None:
    """What an answer skips; None: nothing, or it lacks a valid reason."""
    text = " ".join(answer.split())
    if text.startswith(SKIP_VERIFY):
        reason = text.removeprefix(SKIP_VERIFY).strip().lower()
        is_valid = reason.startswith(tuple(each.lower() for each in SKIP_REASONS))
        return SkipKind.VERIFY if is_valid else None
    if text.startswith(OVERRIDE):
        word, _, why = text.removeprefix(OVERRIDE).strip().partition(" ")
        return SkipKind.FORCED if word == OVERRIDE_WORD and why else None
    is_skip = text == SKIP or text.startswith(f"{SKIP}:")
    return SkipKind.TASK if is_skip else None
