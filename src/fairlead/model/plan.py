"""A plan as a value: what PLAN.md says, in either grammar.

Everything here was written by a person or a model and is data: a verify command is only ever
run as it stands in a plan that was approved by its digest.
"""

from enum import StrEnum

from fairlead.values import dataclass, field, replace


class TaskKind(StrEnum):
    """What a task asks for; the feature of a TDD plan is one `auto` task."""

    AUTO = "auto"
    TRACER = "tracer"  # a thin slice through everything; its verify runs again as a gate
    HUMAN_VERIFY = "checkpoint:human-verify"
    DECISION = "checkpoint:decision"
    HUMAN_ACTION = "checkpoint:human-action"

    @property
    def is_checkpoint(self) -> bool:
        """Whether a person has to answer."""
        return self.value.startswith("checkpoint:")


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"  # the plan cannot be carried out like this
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about a plan that its author should know, and where it stands."""

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
    gate: str = ""  # blocking, blocking-human, or whatever stands there
    body: tuple[tuple[str, str], ...] = ()  # every child in its order, by its tag
    line: int = 0
    source: str = ""  # the task as it stands in the file
    is_automated: bool = False  # the verify command stands in `<automated>`
    digest: str = ""  # sha256 of the tasks up to it, as nobody has ticked them

    def part(self, tag: str) -> str:
        """The text of a child; empty if there is none."""
        return next((text for name, text in self.body if name == tag), "")


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that must be there when the plan is done."""

    path: str
    provides: str = ""
    contains: str = ""
    exports: tuple[str, ...] = ()
    min_lines: int = 0


@dataclass(frozen=True, slots=True)
class Link:
    """A connection between two files that must be there when the plan is done."""

    from_: str
    to: str
    via: str = ""
    pattern: str = ""


@dataclass(frozen=True, slots=True)
class MustHaves:
    """What must be true when the plan is done."""

    truths: tuple[str, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    links: tuple[Link, ...] = ()
    backstops: tuple[str, ...] = ()  # of the truths, those that need evidence of their own
    judged: tuple[str, ...] = ()  # what must not be, and only a person can tell


@dataclass(frozen=True, slots=True)
class PlanSheet:
    """One plan."""

    id: str  # 04-02
    phase: str
    number: int
    kind: str = "execute"  # or tdd
    wave: int | None = None  # as declared; the order follows from depends_on
    depends_on: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()  # files that the plan says it removes
    autonomous: bool = True
    requirements: tuple[str, ...] = ()
    must_haves: MustHaves = field(default_factory=MustHaves)
    objective: str = ""
    tasks: tuple[Task, ...] = ()
    gap_closure: bool = False
    gap_ids: tuple[str, ...] = ()  # the gaps of a verification that the plan is to close
    digest: str = ""  # sha256 of the bytes
    estimate_tokens: int | None = None
    path: str = ""
    task_count: int = 0  # Markdown tasks are counted, and only that
    is_superseded: bool = False
    notes: tuple[Finding, ...] = ()  # what the reader saw
    check: str = ""  # failed: its checker found blockers; accepted: a person wants it so
    is_rehearsed: bool = False

    @property
    def has_checkpoints(self) -> bool:
        """Whether a person has to answer on the way."""
        return any(task.kind.is_checkpoint for task in self.tasks)

    def worked(self, number: int) -> Task | None:
        """What an agent does under a number; under that of a checkpoint, the task before it anew."""
        held = [task for task in self.tasks if task.number <= number]
        own = [task for task in held if not task.kind.is_checkpoint]
        return replace(own[-1], number=number, digest=held[-1].digest) if own else None


def task_id(plan: str, number: int) -> str:
    """The name of a task everywhere: `04-02-03`."""
    return f"{plan}-{number:02d}"
