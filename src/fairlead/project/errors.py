"""Errors of the project memory: phases, milestones, STATE.md, gates and sessions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fairlead.core.errors import BlockedError, ConflictError, DocumentError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol, Self

    class _Plan(Protocol):
        @property
        def path(self) -> str: ...

        @property
        def is_rehearsed(self) -> bool: ...


class UnknownPhase(UsageError, code="unknown-phase"):
    """The project has no such phase."""

    phase: object
    known: Sequence[str]
    message = "there is no phase {phase} in scope"
    hint = "known phases: {known}"


class UnknownPlan(UsageError, code="unknown-plan"):
    """The project has no such plan."""

    plan: object
    message = "there is no plan {plan} in scope"
    hint = "list them: fairlead explain progress"


class MisplacedFrontmatter(DocumentError, code="misplaced-frontmatter"):
    """The frontmatter of STATE.md does not begin on line 1, or its `---` has trailing spaces."""

    message = "the frontmatter that starts here is not read"
    hint = "its first line must be exactly --- and the first line of the file; nothing was changed"
    column = 1


class MilestoneUnnamed(UsageError, code="milestone-unnamed"):
    """A new milestone has a version and no name."""

    version: str
    message = "{version} is a version, and the milestone has no name"
    hint = 'name it: fairlead milestone new {version} "NAME"'


class UnknownMilestone(UsageError, code="unknown-milestone"):
    """The project has no such milestone, or it is not the current one."""

    version: object
    current: str
    message = "{version} is not the current milestone"

    def _hint(self) -> str:
        if self.current:
            return f"the current milestone is {self.current}"
        return "list them: fairlead milestone list"


class NotRenumbered(UsageError, code="not-renumbered"):
    """Phases cannot be renumbered without losing their order."""

    phase: object
    inserted: tuple[str, ...]
    message = "cannot renumber after removing phase {phase}: {inserted} would lose their place"
    hint = "remove them first, or omit --renumber"


class NoBlocker(UsageError, code="no-blocker"):
    """No blocker in STATE.md contains the text."""

    text: str
    known: tuple[str, ...]
    message = "no blocker contains {text!r}"
    hint = "recorded blockers: {known:; }"


class SeveralBlockers(UsageError, code="several-blockers"):
    """Several blockers contain the text."""

    text: str
    found: tuple[str, ...]
    hint = "give enough of the text to identify one of them; nothing was changed"

    def _message(self) -> str:
        return f"{len(self.found)} blockers contain {self.text!r}: {'; '.join(self.found)}"


class UnknownField(UsageError, code="unknown-field"):
    """STATE.md has no such field."""

    name: str
    known: tuple[str, ...]
    message = "STATE.md has no field {name}"
    hint = "it has: {known}"


class DerivedValue(UsageError, code="derived-value"):
    """The value is derived from the files and cannot be set."""

    name: str
    command: str
    message = "{name} is derived from the files and cannot be set"
    hint = "update it with: {command}"


class NoHandover(UsageError, code="no-handover"):
    """There is no such handover."""

    name: str
    known: tuple[str, ...]
    message = "there is no handover {name}"
    hint = "handovers: {known}"


class SeveralHandovers(UsageError, code="several-handovers"):
    """Several sessions left a handover, and none was named."""

    found: tuple[str, ...]
    hint = "name one of them: fairlead state resume --file {found[0]}"

    def _message(self) -> str:
        return f"{len(self.found)} sessions left a handover: {', '.join(self.found)}"


class ProjectExists(ConflictError, code="project-exists"):
    """The folder has a project already."""

    path: object
    message = "{path} exists already"
    hint = "look at it: fairlead status"


class PhaseStarted(ConflictError, code="phase-started"):
    """The phase to be removed contains work."""

    phase: object
    files: tuple[str, ...]
    message = "phase {phase} contains work: {files}"
    hint = "add --force to move its folder aside; nothing in it is deleted"


class MilestoneShipped(ConflictError, code="milestone-shipped"):
    """The milestone is closed already."""

    version: object
    message = "milestone {version} is shipped already"
    hint = "open the next one: fairlead milestone new VERSION NAME"


class PhaseFinished(ConflictError, code="phase-finished"):
    """All plans of the phase are complete."""

    phase: object
    message = "every plan of phase {phase} is complete"
    hint = "verify it: fairlead phase verify {phase}; or add a plan to it first"


class GateTransition(ConflictError, code="gate-transition"):
    """The state of the gate does not allow this event."""

    status: str
    event: str
    allowed: tuple[str, ...]
    message = "{event} is not possible: the gate is {status}"

    def _hint(self) -> str:
        return f"possible: {', '.join(self.allowed)}" if self.allowed else "this gate is closed"


class GateOpen(ConflictError, code="gate-open"):
    """The gate of another task is open in the same session."""

    task: str
    status: str
    message = "the gate of {task!r} is still {status}"
    hint = "finish or skip it, or use another session: --session NAME"


class ClaimUnexplained(BlockedError, code="claim-unexplained"):
    """No set of missing summaries would prove the claim, so none was recorded."""

    claim: object
    missing: tuple[str, ...]
    message = "{claim}; recording the missing summaries would not prove it ({missing:3})"
    hint = "correct the claim: fairlead doctor --fix --claims correct"


class PlansOpen(BlockedError, code="plans-open"):
    """Plans have no summary yet that proves them complete."""

    phase: object
    plans: tuple[str, ...]
    message = "phase {phase} has open plans: {plans}"
    hint = "nothing was changed; execute them: fairlead phase execute {phase}, or write their summaries"

    @classmethod
    def of(cls, phase: object, plans: Iterable[_Plan]) -> Self:
        """The error for these plans; those of a rehearsal cannot be executed."""
        plans = tuple(plans)
        error = cls(phase, tuple(plan.path.rpartition("/")[2] for plan in plans))
        if any(plan.is_rehearsed for plan in plans):
            again = f"plan again: fairlead phase plan {phase} --replan"
            error.hint = f"they come from a rehearsal; {again}, or: fairlead rehearsal discard"
        return error


class NoPlans(BlockedError, code="no-plans"):
    """The phase has no plans."""

    phase: object
    message = "phase {phase} has no plans"
    hint = "plan it first: fairlead phase plan {phase}"


class NotVerified(BlockedError, code="not-verified"):
    """The phase has not passed its verification."""

    phase: object
    message = "the verification of phase {phase} has not passed"
    hint = "verify it first: fairlead phase verify {phase}"


class MilestoneNotClosed(BlockedError, code="milestone-not-closed"):
    """Another milestone is still open."""

    version: str

    def _message(self) -> str:
        return f"milestone {self.version or 'of the current phases'} is not closed"

    def _hint(self) -> str:
        return f"close it first: fairlead milestone complete {self.version or 'VERSION'}"


class MilestoneOpen(BlockedError, code="milestone-open"):
    """The milestone has phases that are not complete."""

    version: object
    phases: tuple[str, ...]
    hint = "complete them first; or give a reason: --force --reason TEXT"

    def _message(self) -> str:
        named = f"open phases: {', '.join(self.phases)}" if self.phases else "no phases"
        return f"milestone {self.version} has {named}"


class NoAttemptsLeft(BlockedError, code="no-attempts-left"):
    """A task has no attempts left."""

    task: str
    attempts: int
    message = "{task!r} failed {attempts} times and is not tried again"
    hint = "decide: fairlead state gate restart, or fix, or skip --reason TEXT"
