"""The Plan Phase as values: a goal, its requirements, modules and exit criteria.

Plain classes, and words instead of enums: the stop hook reads plans too, and must start fast.
Nothing changes a plan but an edit of its file, so whoever holds one may share it freely.
"""

DRAFTING, REVIEWING, APPROVED = "drafting", "reviewing", "approved"
PLAN_STATUSES = (DRAFTING, REVIEWING, APPROVED)

PLANNED, PENDING, IN_PROGRESS, COMPLETE = "planned", "pending", "in_progress", "complete"
SECTION_STATUSES = (PENDING, IN_PROGRESS, COMPLETE)
MODULE_STATUSES = (PLANNED, PENDING, IN_PROGRESS, COMPLETE)
OTHER_SPELLING = "in-progress"  # read like `in_progress`; a file keeps the one it has

PRIORITIES = ("critical", "high", "medium", "low")
MEDIUM = "medium"

DEFAULT_SECTIONS = ("Functional Requirements", "Non-Functional Requirements", "Architecture Design")
DEFAULT_CRITERIA = (
    "USER_REQUIREMENTS.md complete",
    "All modules defined with acceptance criteria",
    "GitHub Issues created for all modules",
    "User approved the plan",
)

# Status and event, and the status that follows. Everything else is refused.
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


def next_status(status: str, event: str) -> str:
    """The status after an event, or a refusal that names what is allowed."""
    after = TRANSITIONS.get((status, event))
    if after is None:
        allowed = tuple(each for held, each in TRANSITIONS if held == status)
        from fairlead.errors import PlanTransition  # not for every start of a hook

        raise PlanTransition(status, event, allowed)
    return after


class Section:
    """A section of the requirements document."""

    __slots__ = ("name", "status")

    def __init__(self, name: str, status: str) -> None:
        self.name = name
        self.status = status  # in our spelling


class Module:
    """A part of the work."""

    __slots__ = ("criteria", "id", "issue", "name", "priority", "status")

    def __init__(
        self, identifier: str, name: str, status: str, priority: str, criteria: str, issue: str
    ) -> None:
        self.id = identifier
        self.name = name
        self.status = status  # in our spelling
        self.priority = priority
        self.criteria = criteria  # several, when the file has a list, one a line
        self.issue = issue  # "#42" as the file has it; empty: none


class Criterion:
    """An exit criterion: a text, and perhaps a check of its own."""

    __slots__ = ("command", "file", "text")

    def __init__(self, text: str, file: str = "", command: "tuple[str, ...]" = ()) -> None:
        self.text = text
        self.file = file  # a file that must be there and hold something
        self.command = command  # a program and its arguments, run without a shell


class Confirmation:
    """A person's word that a criterion is met, for one content of the plan."""

    __slots__ = ("at", "hash", "text")

    def __init__(self, text: str, content: str, at: str) -> None:
        self.text = text
        self.hash = content
        self.at = at


class Plan:
    """A plan file, read. `content` is what an approval binds, in one canonical text."""

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
        self.sections: tuple[Section, ...] = ()
        self.modules: tuple[Module, ...] = ()
        self.criteria: tuple[Criterion, ...] = ()
        self.is_complete = False  # `plan_phase_complete`
        self.content = ""
        # What Fairlead adds, below the key `fairlead`:
        self.approved_hash = ""  # the content that was approved; empty: an older tool's approval
        self.issues_waived = ""  # when somebody chose to go without GitHub issues
        self.owner = ""  # the host's session that the plan belongs to; empty: any
        self.released = ""  # when the owner was let go, until the plan changes
        self.confirmations: tuple[Confirmation, ...] = ()

    @property
    def is_approved(self) -> bool:
        """Whether the file says so, in either of its two places: then it is read-only."""
        return self.is_complete or self.status == APPROVED

    def module(self, name: str) -> "Module | None":
        """The module with this id, else the only one with this name."""
        for module in self.modules:
            if module.id == name:
                return module
        named = [module for module in self.modules if module.name == name]
        return named[0] if len(named) == 1 else None
