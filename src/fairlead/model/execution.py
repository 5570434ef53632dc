"""The work after approval as values: modules, who works on them, and what is left.

What is complete is counted from the modules; the counts that a file records are claims. Plain
classes and words, like the Plan Phase: the stop hook decides by this too, and must start fast.
"""

from fairlead.model.planning import COMPLETE, IN_PROGRESS, PENDING, PLANNED

READY, EXECUTING, VERIFYING = "ready", "executing", "verifying"
EXEC_STATUSES = (READY, EXECUTING, VERIFYING, COMPLETE)

ASSIGNED, BLOCKED, IN_REVIEW = "assigned", "blocked", "pending_verification"
MODULE_STATUSES = (
    PENDING, PLANNED, ASSIGNED, IN_PROGRESS, IN_REVIEW, "ai-review", BLOCKED, COMPLETE,
)  # fmt: skip

FREE = (PENDING, PLANNED)  # what can be assigned
SETTABLE = (ASSIGNED, IN_PROGRESS, IN_REVIEW, BLOCKED)  # by hand, of a module that has an agent

AI, HUMAN = "ai", "human"
OVER = (COMPLETE, "reassigned")  # assignments that are kept as history


class ExecModule:
    """A module that is carried out."""

    __slots__ = ("agent", "criteria", "id", "issue", "name", "phase", "pr", "priority", "status")

    def __init__(self, id: str, name: str, status: str) -> None:  # noqa: A002 - as the file says
        self.id = id
        self.name = name
        self.status = status  # in our spelling
        self.agent = ""  # `assigned_to`; empty: nobody
        self.criteria = ""
        self.issue = ""  # "#42" as the file has it; empty: none
        self.phase = ""  # of the roadmap; empty: it has none
        self.pr = ""
        self.priority = ""

    def refuse(self, verb: str, why: str, way: str) -> None:
        """Say why nothing can be done with this module."""
        from fairlead.errors import PartProtected  # not for every start of a hook

        raise PartProtected(verb, f"module {self.id}", why, way)


class Assignment:
    """Who was given a module."""

    __slots__ = ("agent", "module", "status", "task")

    def __init__(self, agent: str, module: str, status: str, task: str) -> None:
        self.agent = agent
        self.module = module
        self.status = status
        self.task = task


class Execution:
    """An exec file, read."""

    __slots__ = (
        "ai_agents", "assignments", "current", "human_developers", "modules", "plan_id",
        "recorded", "status", "verifications_left",
    )  # fmt: skip

    def __init__(self, plan_id: str, status: str) -> None:
        self.plan_id = plan_id
        self.status = status
        self.current = ""  # the module that was taken up last
        self.modules: tuple[ExecModule, ...] = ()
        self.ai_agents: tuple[str, ...] = ()
        self.human_developers: tuple[str, ...] = ()
        self.assignments: tuple[Assignment, ...] = ()
        self.recorded: tuple[str, str, str] = ("", "", "")  # completed, total, all complete
        self.verifications_left = 0  # while the file is in verification mode

    @property
    def open_modules(self) -> "tuple[ExecModule, ...]":
        """What is left to do."""
        return tuple(module for module in self.modules if module.status != COMPLETE)

    @property
    def counts(self) -> "tuple[int, int, bool]":
        """Completed, total, and whether all are complete: nothing to do is not all done."""
        total, left = len(self.modules), len(self.open_modules)
        return total - left, total, bool(total) and not left

    @property
    def drift(self) -> str:
        """What the file records otherwise than its modules say; empty when it agrees."""
        completed, total, is_all = self.counts
        told = (str(completed), str(total), str(is_all).lower())
        held = [each or mine for each, mine in zip(self.recorded, told, strict=True)]
        if tuple(held) == told:
            return ""
        return f"the file records {held[0]}/{held[1]} modules, its modules say {told[0]}/{told[1]}"

    def kind_of(self, agent: str) -> str:
        """Whether an agent is one of ours or a person; empty if nobody registered it."""
        if agent in self.ai_agents:
            return AI
        return HUMAN if agent in self.human_developers else ""

    def module(self, name: str) -> "ExecModule | None":
        """The module with this id, else the only one with this name."""
        named = [module for module in self.modules if module.name == name]
        found = [module for module in self.modules if module.id == name] or named
        return found[0] if len(found) == 1 else None
