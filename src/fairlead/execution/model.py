"""The values of an execution: snapshots, actions, previews and reports.

A snapshot holds everything that `decide` may know of a job. It can be written as JSON and read
back, so a decision can be reproduced on any machine.
"""

from enum import StrEnum

from fairlead.agents.budget import Caps, Cost
from fairlead.core.values import dataclass, replace
from fairlead.jobs.model import Approval, Job, Question, TaskGate
from fairlead.plans.model import PlanDocument, TaskKind
from fairlead.plans.waves import Schedule


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """A task, as far as `decide` needs it."""

    id: str
    number: int
    name: str
    kind: TaskKind
    question: str = ""  # of a checkpoint
    options: tuple[str, ...] = ()
    details: tuple[str, ...] = ()  # what each option means
    digest: str = ""  # of its text and of the tasks before it

    @property
    def is_checkpoint(self) -> bool:
        """Whether a person answers it instead of an agent."""
        return self.kind in (TaskKind.HUMAN_VERIFY, TaskKind.DECISION, TaskKind.HUMAN_ACTION)


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """A plan, as far as `decide` needs it."""

    id: str
    depends_on: tuple[str, ...]
    files: tuple[str, ...]
    tasks: tuple[TaskFacts, ...]
    estimate: Cost  # of one call
    is_approved: bool  # a person approved its current text
    is_merged: bool
    is_summarised: bool
    is_sound: bool = True  # False: its summary says that it is not done
    is_chosen: bool = True  # False: not part of this job, but other plans need it

    @property
    def present(self) -> tuple[bool, bool, bool, bool, bool]:
        """Everything that changes during a run."""
        state = self.is_approved, self.is_merged, self.is_summarised
        return *state, self.is_sound, self.is_chosen

    def with_present(
        self, approved: bool, merged: bool, summarised: bool, sound: bool, chosen: bool
    ) -> "PlanFacts":
        """The plan with another state, in the order of `present`."""
        return replace(
            self,
            is_approved=approved,
            is_merged=merged,
            is_summarised=summarised,
            is_sound=sound,
            is_chosen=chosen,
        )


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A job at one moment."""

    job: Job
    plans: tuple[PlanFacts, ...]
    gates: tuple[TaskGate, ...]
    questions: tuple[Question, ...]
    running: tuple[str, ...]  # the keys of actions that are being performed
    now: str
    spent: Cost  # by this job
    spent_today: Cost  # by all jobs
    caps: Caps
    is_stopping: bool = False

    @property
    def passed(self) -> frozenset[str]:
        """The tasks that passed with the text they have now."""
        digests = {task.id: task.digest for plan in self.plans for task in plan.tasks}
        gates = (gate for gate in self.gates if gate.passes(digests.get(gate.task, "")))
        return frozenset(gate.task for gate in gates)


class Act(StrEnum):
    """The kinds of actions."""

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
    """An action that may begin now."""

    act: Act
    subject: str  # a task, a plan, or the job
    question: Question | None = None
    until: str = ""  # for a wait
    note: str = ""  # why the job ends, or a warning to report before the action

    @property
    def key(self) -> str:
        """The identity of an action: two actions with the same key are the same."""
        return f"{self.act}:{self.question.id if self.question else self.subject}"


@dataclass(frozen=True, slots=True)
class ExecutionPreview:
    """What executing a phase would do."""

    phase: str
    name: str
    documents: tuple[PlanDocument, ...]
    order: Schedule
    left: tuple[str, ...]  # the plans without a summary that proves them
    unsound: tuple[str, ...]  # the summaries that say their plan is not done
    problems: tuple[str, ...]
    warnings: tuple[str, ...]
    commands: tuple[tuple[str, str], ...]  # task and command line
    is_approved: bool
    resumes: str  # the unfinished job that would continue
    estimate: Cost
    spent: tuple[Cost, Cost]  # by that job, and by all jobs today
    branch: str  # the branch that the work lands on
    is_rehearsed: bool = False

    @property
    def approvals(self) -> tuple[Approval, ...]:
        """Approvals of the plans that are left, with their current text."""
        left = frozenset(self.left)
        documents = (document for document in self.documents if document.id in left)
        return tuple(Approval(document.id, document.digest) for document in documents)


@dataclass(frozen=True, slots=True)
class ExecutionReport:
    """The result of a job."""

    job: Job
    questions: tuple[Question, ...]
    spent: Cost
    plans: tuple[tuple[str, bool], ...]  # each plan, and whether it is done
    kept_branches: tuple[str, ...] = ()  # with work that has not landed
