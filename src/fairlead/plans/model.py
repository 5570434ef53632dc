"""A plan as a value: the contents of PLAN.md, in either of its two grammars.

Everything here was written by a person or a model and is data: a verify command runs only if a
person approved the plan by its digest.
"""

from enum import StrEnum

from fairlead.core.values import dataclass, field, replace

ON_WORKER = "on the worker"  # the remark of a command that ran on another machine


class TaskKind(StrEnum):
    """The type of a task. The feature of a TDD plan is one `auto` task."""

    AUTO = "auto"
    TRACER = "tracer"  # a thin slice through all parts; its verify command runs again as a gate
    HUMAN_VERIFY = "checkpoint:human-verify"
    DECISION = "checkpoint:decision"
    HUMAN_ACTION = "checkpoint:human-action"

    @property
    def is_checkpoint(self) -> bool:
        """Whether a person has to answer."""
        return self.value.startswith("checkpoint:")


class Severity(StrEnum):
    """Whether a finding prevents execution."""

    ERROR = "error"  # the plan cannot be executed
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class PlanFinding:
    """A fault of a plan, with its line."""

    severity: Severity
    what: str
    line: int

    def __str__(self) -> str:
        return f"{self.severity}: {self.what}"


@dataclass(frozen=True, slots=True)
class Task:
    """One task of a plan."""

    number: int
    name: str
    kind: TaskKind = TaskKind.AUTO
    files: tuple[str, ...] = ()
    action: str = ""
    verify: str = ""  # the command; from `<automated>` if there is one
    done: str = ""
    criteria: tuple[str, ...] = ()
    read_first: tuple[str, ...] = ()
    precondition: str = ""
    gate: str = ""  # blocking, blocking-human, or any other text
    body: tuple[tuple[str, str], ...] = ()  # every child element in order: tag and text
    line: int = 0
    source: str = ""  # the text of the task in the file
    is_automated: bool = False  # the verify command is in `<automated>`
    digest: str = ""  # sha256 of the tasks up to this one, with unticked boxes

    def part(self, tag: str) -> str:
        """Return the text of a child element; empty if there is none."""
        return next((text for name, text in self.body if name == tag), "")


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that must exist when the plan is done."""

    path: str
    provides: str = ""
    contains: str = ""
    exports: tuple[str, ...] = ()
    min_lines: int = 0


@dataclass(frozen=True, slots=True)
class Link:
    """A connection between two files that must exist when the plan is done."""

    from_: str
    to: str
    via: str = ""
    pattern: str = ""


@dataclass(frozen=True, slots=True)
class MustHaves:
    """The properties that the finished plan must have."""

    truths: tuple[str, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    links: tuple[Link, ...] = ()
    backstops: tuple[str, ...] = ()  # the truths that need evidence of their own
    judged: tuple[str, ...] = ()  # prohibitions, which only a person can judge


@dataclass(frozen=True, slots=True)
class PlanDocument:
    """The contents of one PLAN.md."""

    id: str  # 04-02
    phase: str
    number: int
    kind: str = "execute"  # or tdd
    wave: int | None = None  # as declared; `depends_on` decides the order
    depends_on: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()  # files that the plan removes
    autonomous: bool = True
    requirements: tuple[str, ...] = ()
    must_haves: MustHaves = field(default_factory=MustHaves)
    objective: str = ""
    tasks: tuple[Task, ...] = ()
    gap_closure: bool = False
    gap_ids: tuple[str, ...] = ()  # the verification gaps that the plan closes
    digest: str = ""  # sha256 of the text with unticked boxes
    estimate_tokens: int | None = None
    path: str = ""
    task_count: int = 0  # includes tasks that are Markdown headings, which are only counted
    is_superseded: bool = False
    notes: tuple[PlanFinding, ...] = ()  # faults found while reading
    check: str = ""  # failed: the plan check found blockers; accepted: a person accepted them
    is_rehearsed: bool = False

    @property
    def has_checkpoints(self) -> bool:
        """Whether the plan needs an answer of a person."""
        return any(task.kind.is_checkpoint for task in self.tasks)

    def task_for(self, number: int) -> Task | None:
        """Return the task that an agent does under a number.

        Under the number of a checkpoint it repeats the task before the checkpoint.
        """
        earlier = [task for task in self.tasks if task.number <= number]
        work = [task for task in earlier if not task.kind.is_checkpoint]
        return replace(work[-1], number=number, digest=earlier[-1].digest) if work else None


def task_id(plan: str, number: int) -> str:
    """Return the id of a task: `04-02-03`."""
    return f"{plan}-{number:02d}"


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result of a verify command."""

    exit_code: int  # negative: the signal that ended it
    seconds: float
    sha256: str
    tail: str
    is_timeout: bool = False
    is_stopped: bool = False  # cancelled, so it says nothing about the work
    problem: str = ""  # why it could not be started
    worker: str = ""  # the other machine on which it ran

    @property
    def remarks(self) -> tuple[str, ...]:
        """Where it ran, if that was another machine."""
        return (f"{ON_WORKER} {self.worker}",) if self.worker else ()

    def seen_from(self, folder: str) -> "CommandResult":
        """The result with paths relative to a folder: the next attempt works in another one."""
        tail = self.tail.replace(f"{folder}/", "").replace(folder, ".")
        return replace(self, tail=tail)

    @property
    def summary(self) -> str:
        """Exit code, duration and the last line of output, as one line."""
        lines = self.tail.strip().splitlines()
        last = f": {lines[-1].strip()[:100]}" if lines else ""
        return f"exit {self.exit_code}, {self.seconds:.1f} s{last}"
