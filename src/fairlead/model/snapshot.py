"""A snapshot: all that deciding may know of a job, read from disk at one moment.

It survives the way through JSON, so that a decision can be looked at again on any machine.
"""

from enum import StrEnum

from fairlead.model.budget import Caps, Spent
from fairlead.model.job import Job, Question, TaskGate
from fairlead.model.plan import TaskKind
from fairlead.values import dataclass


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What deciding needs of a task."""

    id: str
    number: int
    name: str
    kind: TaskKind
    question: str = ""  # what a checkpoint asks
    options: tuple[str, ...] = ()
    details: tuple[str, ...] = ()  # what each option means
    digest: str = ""  # of its text, and of those before it

    @property
    def is_checkpoint(self) -> bool:
        """Whether a person answers it instead of an agent."""
        return self.kind in (TaskKind.HUMAN_VERIFY, TaskKind.DECISION, TaskKind.HUMAN_ACTION)


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """What deciding needs of a plan."""

    id: str
    depends_on: tuple[str, ...]
    files: tuple[str, ...]
    tasks: tuple[TaskFacts, ...]
    estimate: Spent  # of one call for it
    is_approved: bool  # its text is the one that was approved
    is_merged: bool
    is_summarised: bool
    is_sound: bool = True  # False: its own summary says that it is not done
    is_chosen: bool = True  # False: others stand on it, but it was not asked for


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A job at one moment."""

    job: Job
    plans: tuple[PlanFacts, ...]
    gates: tuple[TaskGate, ...]
    questions: tuple[Question, ...]
    running: tuple[str, ...]  # the keys of actions that are being performed
    now: str
    spent: Spent  # by this job
    spent_today: Spent  # by all
    caps: Caps
    is_stopping: bool = False

    @property
    def passed(self) -> frozenset[str]:
        """The tasks that the next one may build on, as they read now."""
        now = {task.id: task.digest for plan in self.plans for task in plan.tasks}
        return frozenset(each.task for each in self.gates if each.passes(now.get(each.task, "")))


class Act(StrEnum):
    """What can be done next."""

    EXECUTE = "execute"
    VERIFY = "verify"
    REVIEW = "review"
    SKIP = "skip"
    MERGE = "merge"
    SUMMARISE = "summarise"
    ASK = "ask"
    WAIT = "wait"
    FINISH = "finish"


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that may be done now."""

    act: Act
    subject: str  # a task, a plan, or the job
    question: Question | None = None
    until: str = ""  # for a wait
    note: str = ""  # why it ends, or what is to be known before it begins

    @property
    def key(self) -> str:
        """What it is, in one word: two actions of one key are the same."""
        return f"{self.act}:{self.question.id if self.question else self.subject}"
