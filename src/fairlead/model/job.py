"""Jobs: one run of the engine, and the gates of its tasks, as values that files hold.

A job's files are its only memory: whoever reads them all knows where it stands. A run of a task
is written down before its agent starts; a run without an end, which nobody carries on, was
interrupted.
"""

import shlex
from collections.abc import Iterable
from enum import StrEnum

from fairlead.errors import SettingValue
from fairlead.model.budget import Spent
from fairlead.model.ids import stream_words
from fairlead.model.lifecycle import Gate, GateStatus
from fairlead.values import dataclass, field

FIX, OTHER, CHANGE = "fix:", "other:", "change:"
IN_WORDS = (FIX, OTHER, CHANGE)  # how an option begins that leaves a person their own words
COUNCIL = "council"  # the kind of a job that is no `Job`


class JobStatus(StrEnum):
    """Where a job is; one that only carries out a phase begins with EXECUTING."""

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


class QuestionKind(StrEnum):
    """Why a person is asked."""

    HUMAN_VERIFY = "human-verify"
    DECISION = "decision"
    HUMAN_ACTION = "human-action"
    ESCALATION = "escalation"  # a task used up its attempts, or cannot go on
    TOUCHED = "touched"  # an agent changed what it has no business with
    CLASH = "clash"  # the work of a plan does not merge
    BUDGET = "budget"
    PATIENCE = "patience"  # a service wants to be left alone for long, or again and again
    PLAN_CHANGED = "plan-changed"
    UNVERIFIED = "unverified"  # a plan holds work that no command or reviewer passed
    CHOICE = "choice"  # a workflow cannot go on without knowing what is wanted


@dataclass(frozen=True, slots=True)
class Approval:
    """A plan as it was approved: this text and no other."""

    plan: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Share:
    """How many agents of one kind may work at once."""

    provider: str
    slots: int


def shares_of(text: str) -> tuple[Share, ...]:
    """What a setting such as `claude=1 codex=2` says."""
    found = []
    for word in text.replace(",", " ").split():
        provider, _, slots = word.partition("=")
        if not (provider and slots.isdecimal() and 1 <= int(slots) <= 64):
            raise SettingValue("fairlead.provider_slots", text, "words such as claude=1 codex=2")
        found.append(Share(provider, int(slots)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Job:
    """One run of the engine over a phase."""

    id: str
    phase: str
    status: JobStatus
    started_at: str
    agent: str
    target: str = ""  # the branch that work lands on; empty: there is no git
    base: str = ""  # where that branch was at the start
    model: str = ""
    slots: int = 1
    is_rehearsed: bool = False
    is_git: bool = True
    approvals: tuple[Approval, ...] = ()
    plans: tuple[str, ...] = ()  # those it was asked to carry out
    estimate: Spent = field(default_factory=Spent)  # before it began
    ended_at: str = ""
    note: str = ""
    kind: str = "execute"
    begun_by: str = ""  # the command; empty: carrying out the phase
    subject: str = ""  # what was asked for, where it is no phase
    reviewer: str = ""  # who judges the work of the agent
    shares: tuple[Share, ...] = ()
    workstream: str = ""  # whose phase it is; empty: the project's own
    commits_end: bool = False  # it has ended, and whoever ended it commits that

    @property
    def crowding(self) -> tuple[str, ...]:
        """Why fewer agents work at once than there are slots."""
        return tuple(
            f"{each.provider} works on {each.slots} at once, though there are {self.slots} slots"
            for each in self.shares
            if each.provider in (self.agent, self.reviewer) and each.slots < self.slots
        )

    @property
    def errand(self) -> tuple[str, str, str, bool]:
        """What it is for: one of the same is gone on with, not begun again."""
        return self.kind, self.phase, self.workstream, self.is_rehearsed

    @property
    def listed(self) -> str:
        """The phase of the roadmap that it carries out; empty: it works on none."""
        return self.phase if self.kind == "execute" else ""

    @property
    def carries_out(self) -> bool:
        """Whether its agents change the project: then an answer counts only if a person gave it."""
        return self.kind in ("execute", "quick", "debug")

    @property
    def is_open(self) -> bool:
        """Whether its command goes on with it: a run over plans that waits has ended as a run."""
        if self.kind == "execute":
            return self.status in (JobStatus.EXECUTING, JobStatus.BLOCKED)
        return not self.ended_at

    @property
    def command(self) -> str:
        """What goes on with it."""
        begun = self.begun_by or f"fairlead phase execute {self.phase}"
        begun += stream_words(self.workstream)
        if not self.is_rehearsed:
            return begun
        # The two that are never rehearsed in the project itself take a copy of the copy.
        return f"{begun} --rehearse{'' if self.kind in ('quick', 'debug') else ' --here'}"


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


@dataclass(frozen=True, slots=True)
class TaskGate:
    """A task on its way: its gate, its runs, and what the next run must know."""

    task: str  # 04-02-03
    plan: str
    number: int
    name: str
    gate: Gate = field(default_factory=Gate)
    runs: tuple[Run, ...] = ()
    started_at: str = ""
    not_before: str = ""
    waits: int = 0  # how often in a row a service asked for patience
    note: str = ""  # why it failed, was blocked or skipped
    waits_for: tuple[str, ...] = ()  # tasks that must be approved first
    guidance: str = ""  # what a person said after an escalation
    concerns: tuple[str, ...] = ()
    stands_on: str = ""  # the commit its runs begin with, where it is begun anew
    digest: str = ""  # of the task that it judges; an older version kept none

    @property
    def commit(self) -> str:
        """What its last run made."""
        return self.runs[-1].commit if self.runs else ""

    @property
    def was_refused(self) -> bool:
        """Whether its last run has no result because a service asked for patience."""
        return self.gate.status is GateStatus.EXECUTING and bool(self.runs and self.runs[-1].ended)

    @property
    def work(self) -> str:
        """What others build on and what lands: nothing of a task that was left out."""
        return self.commit if self.gate.is_complete else ""

    @property
    def is_passed(self) -> bool:
        """Whether the task that it judged is behind us."""
        return self.gate.status in (GateStatus.APPROVED, GateStatus.SKIPPED)

    def is_of(self, digest: str) -> bool:
        """Whether it judges the task with this digest; without one, nobody can say otherwise."""
        return not self.digest or not digest or self.digest == digest

    def passes(self, digest: str) -> bool:
        """Whether the next task may build on this one, as it reads now."""
        return self.is_passed and self.is_of(digest)


def last_work(gates: Iterable[TaskGate]) -> str:
    """The commit that holds all the work of a plan; its gates come in the order of its tasks.

    A task that is begun anew stands on the work of those after it, so the last number is not
    always the last commit.
    """
    held = [each for each in gates if each.work]
    tops = [
        gate.work
        for gate in held
        if not any(
            gate.work in (each.stands_on, each.runs[-1].base) for each in held if each is not gate
        )
    ]
    return (tops or [each.work for each in held] or [""])[-1]


def first_base(gates: Iterable[TaskGate]) -> str:
    """What the work of a plan began with, whatever was begun anew on top of it since."""
    held = tuple(gates)
    made = {run.commit for gate in held for run in gate.runs}
    bases = (run.base for gate in held for run in reversed(gate.runs) if run.base not in made)
    return next(bases, "")


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked, and what they said; an empty answer: nothing yet."""

    id: str
    kind: QuestionKind
    subject: str  # a task or a plan
    text: str
    options: tuple[str, ...] = ()
    asked_at: str = ""
    answer: str = ""
    answered_at: str = ""
    about: str = ""  # the digest of what is decided, where the text does not hold all of it
    by: str = "person"  # or policy
    details: tuple[str, ...] = ()  # what one should know before, line by line

    @property
    def below(self) -> tuple[str, ...]:
        """What stands below its text: the details, and every answer there is."""
        return (*self.details, *(f"answer: {each}" for each in self.options))

    def command(self, job: str, among: Iterable["Question"] = ()) -> str:
        """What answers it, by its name if others of these are open as well.

        An agent's words are safe to be copied into a shell.
        """
        said = (self.options or ("…",))[0]
        quoted = shlex.quote(said) if set(said) & set('"$`\\!') else f'"{said}"'
        is_alone = all(each.answer or each.id == self.id for each in among)
        named = "" if is_alone else f" --question {shlex.quote(self.id)}"
        return f"fairlead job answer {job}{named} {quoted}"
