"""The values of the Plan Phase: the plan file with its criteria, the exec file with its modules.

Plain classes and string constants instead of dataclasses and enums: the stop hook reads both
files, and its start-up time is measured. Treat every instance as frozen; only an edit of the
file changes a plan.
"""

DRAFTING, REVIEWING, APPROVED = "drafting", "reviewing", "approved"
PLAN_STATUSES = (DRAFTING, REVIEWING, APPROVED)

PLANNED, PENDING, IN_PROGRESS, COMPLETE = "planned", "pending", "in_progress", "complete"
SECTION_STATUSES = (PENDING, IN_PROGRESS, COMPLETE)
MODULE_STATUSES = (PLANNED, PENDING, IN_PROGRESS, COMPLETE)
OTHER_SPELLING = "in-progress"  # read as `in_progress`; an edit keeps the spelling of the file

PRIORITIES = ("critical", "high", "medium", "low")
MEDIUM = "medium"

DEFAULT_SECTIONS = ("Functional Requirements", "Non-Functional Requirements", "Architecture Design")
DEFAULT_CRITERIA = (
    "USER_REQUIREMENTS.md complete",
    "All modules defined with acceptance criteria",
    "GitHub Issues created for all modules",
    "User approved the plan",
)

# (status, event) -> next status. Every other pair is refused.
REVIEW, APPROVE, EDIT, REOPEN = "review", "approve", "edit", "reset --reopen"
TRANSITIONS = {
    (DRAFTING, EDIT): DRAFTING,
    (DRAFTING, REVIEW): REVIEWING,
    (DRAFTING, REOPEN): DRAFTING,
    (REVIEWING, EDIT): DRAFTING,
    (REVIEWING, REVIEW): REVIEWING,
    (REVIEWING, APPROVE): APPROVED,
    (REVIEWING, REOPEN): DRAFTING,
    (APPROVED, REOPEN): DRAFTING,
}

READY, EXECUTING, VERIFYING = "ready", "executing", "verifying"
EXEC_STATUSES = (READY, EXECUTING, VERIFYING, COMPLETE)

ASSIGNED, BLOCKED, IN_REVIEW = "assigned", "blocked", "pending_verification"
EXEC_MODULE_STATUSES = (
    PENDING, PLANNED, ASSIGNED, IN_PROGRESS, IN_REVIEW, "ai-review", BLOCKED, COMPLETE,
)  # fmt: skip

FREE = (PENDING, PLANNED)  # statuses of a module that can be assigned
SETTABLE = (ASSIGNED, IN_PROGRESS, IN_REVIEW, BLOCKED)  # by hand, once a module has an agent

AI, HUMAN = "ai", "human"
ENDED_ASSIGNMENTS = (COMPLETE, "reassigned")  # kept in the file as history


def next_status(status: str, event: str) -> str:
    """Return the status after an event; raise `PlanTransition` with the allowed events."""
    following = TRANSITIONS.get((status, event))
    if following is None:
        allowed = tuple(allowed for current, allowed in TRANSITIONS if current == status)
        from fairlead.planphase.errors import PlanTransition

        raise PlanTransition(status, event, allowed)
    return following


class RequirementSection:
    """A section of the requirements document."""

    __slots__ = ("name", "status")

    def __init__(self, name: str, status: str) -> None:
        self.name = name
        self.status = status  # in the spelling of this module


class Module:
    """A part of the planned work."""

    __slots__ = ("criteria", "id", "issue", "name", "priority", "status")

    def __init__(
        self, identifier: str, name: str, status: str, priority: str, criteria: str, issue: str
    ) -> None:
        self.id = identifier
        self.name = name
        self.status = status  # in the spelling of this module
        self.priority = priority
        self.criteria = criteria  # one per line where the file has a list
        self.issue = issue  # "#42" as in the file; empty: none


class Criterion:
    """An exit criterion: a text, and optionally the check that proves it.

    Without a check it is one of the four defaults (recognised by its text) or a statement that
    a person confirms.
    """

    __slots__ = ("command", "file", "text")

    def __init__(self, text: str, file: str = "", command: "tuple[str, ...]" = ()) -> None:
        self.text = text
        self.file = file  # this file must exist and not be empty
        self.command = command  # program and arguments, run without a shell


class Confirmation:
    """A person's statement that a criterion is met, valid for one content of the plan."""

    __slots__ = ("at", "hash", "text")

    def __init__(self, text: str, content: str, at: str) -> None:
        self.text = text
        self.hash = content
        self.at = at


class PlanFile:
    """The contents of a plan file. `content` is the canonical text that an approval covers."""

    __slots__ = (
        "approved_hash", "confirmations", "content", "created_at", "criteria", "goal",
        "is_complete", "is_goal_locked", "issues_waived", "modules", "owner", "plan_id",
        "released", "requirements_file", "sections", "status",
    )  # fmt: skip

    def __init__(self, plan_id: str, status: str, goal: str) -> None:
        self.plan_id = plan_id
        self.status = status
        self.goal = goal
        self.created_at = ""
        self.is_goal_locked = True
        self.requirements_file = ""
        self.sections: tuple[RequirementSection, ...] = ()
        self.modules: tuple[Module, ...] = ()
        self.criteria: tuple[Criterion, ...] = ()
        self.is_complete = False  # `plan_phase_complete`
        self.content = ""
        # Added by Fairlead, below the key `fairlead`:
        self.approved_hash = ""  # of the approved content
        self.issues_waived = ""  # when a person chose to work without GitHub issues
        self.owner = ""  # the host session that may not stop; empty: any session
        self.released = ""  # when the owner was released; until the next change of the plan
        self.confirmations: tuple[Confirmation, ...] = ()

    @property
    def is_approved(self) -> bool:
        """Whether the file says so, which makes it read-only. `criteria` judges if it is true."""
        return self.is_complete or self.status == APPROVED

    @property
    def has_statements(self) -> bool:
        """Whether the file claims that a person said something, which their record must prove."""
        return bool(self.is_approved or self.confirmations or self.issues_waived or self.released)

    def module(self, name: str) -> "Module | None":
        """Find a module by id, else by name if only one has that name."""
        for module in self.modules:
            if module.id == name:
                return module
        named = [module for module in self.modules if module.name == name]
        return named[0] if len(named) == 1 else None


class ExecModule:
    """A module of the exec file: its status and the agent that works on it."""

    __slots__ = ("agent", "criteria", "id", "issue", "name", "phase", "pr", "priority", "status")

    def __init__(self, id: str, name: str, status: str) -> None:  # noqa: A002 - as in the file
        self.id = id
        self.name = name
        self.status = status  # in the spelling of this module
        self.agent = ""  # `assigned_to`; empty: nobody
        self.criteria = ""
        self.issue = ""  # "#42" as in the file; empty: none
        self.phase = ""  # of the roadmap; empty: none
        self.pr = ""
        self.priority = ""


class Assignment:
    """A module given to an agent."""

    __slots__ = ("agent", "module", "status", "task")

    def __init__(self, agent: str, module: str, status: str, task: str) -> None:
        self.agent = agent
        self.module = module
        self.status = status
        self.task = task


class ExecFile:
    """The contents of an exec file."""

    __slots__ = (
        "ai_agents", "assignments", "current", "human_developers", "modules", "plan_id",
        "recorded", "status", "verifications_left",
    )  # fmt: skip

    def __init__(self, plan_id: str, status: str) -> None:
        self.plan_id = plan_id
        self.status = status
        self.current = ""  # the module in progress
        self.modules: tuple[ExecModule, ...] = ()
        self.ai_agents: tuple[str, ...] = ()
        self.human_developers: tuple[str, ...] = ()
        self.assignments: tuple[Assignment, ...] = ()
        self.recorded: tuple[str, str, str] = ("", "", "")  # completed, total, all complete
        self.verifications_left = 0  # while the file is in verification mode

    @property
    def open_modules(self) -> "tuple[ExecModule, ...]":
        """The modules that are not complete."""
        return tuple(module for module in self.modules if module.status != COMPLETE)

    @property
    def counts(self) -> "tuple[int, int, bool]":
        """Completed, total, all complete. A file without modules is not complete."""
        total, left = len(self.modules), len(self.open_modules)
        return total - left, total, bool(total) and not left

    @property
    def drift(self) -> str:
        """How the recorded counts differ from the modules; empty when they agree."""
        completed, total, is_all = self.counts
        actual = (str(completed), str(total), str(is_all).lower())
        # An absent count cannot be wrong.
        recorded = tuple(count or own for count, own in zip(self.recorded, actual, strict=True))
        if recorded == actual:
            return ""
        return (
            f"the file records {recorded[0]}/{recorded[1]} modules,"
            f" its modules say {actual[0]}/{actual[1]}"
        )

    def kind_of(self, agent: str) -> str:
        """Return `AI` or `HUMAN`; empty for an agent that is not registered."""
        if agent in self.ai_agents:
            return AI
        return HUMAN if agent in self.human_developers else ""

    def module(self, name: str) -> "ExecModule | None":
        """Find a module by id, else by name if only one has that name."""
        named = [module for module in self.modules if module.name == name]
        matches = [module for module in self.modules if module.id == name] or named
        return matches[0] if len(matches) == 1 else None
