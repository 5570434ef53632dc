"""Errors of the Plan Phase and the Orchestration Phase."""

from __future__ import annotations

from fairlead.core.errors import BlockedError, ConflictError, DocumentError, UsageError


class NoPlanPhase(UsageError, code="no-plan-phase"):
    """There is no plan file here or above."""

    path: object
    message = "not in a Plan Phase: there is no {path}"
    hint = 'begin one: fairlead planning start "GOAL"'


class NoExecPhase(UsageError, code="no-exec-phase"):
    """There is no exec file here or above."""

    path: object
    message = "not in the Orchestration Phase: there is no {path}"
    hint = "approve the plan first: fairlead planning approve"


class EmptyText(UsageError, code="empty-text"):
    """A goal, a name or criteria contain no words."""

    what: str
    why: str = "cannot be empty"
    message = "{what} {why}"
    hint = "give {what} in quotes"


class UnknownPart(UsageError, code="unknown-part"):
    """The plan has no such module, requirement or criterion."""

    kind: str
    name: object
    known: tuple[str, ...]
    message = "the plan has no {kind} '{name}'"
    hint = "it has: {known}"


class WrongWord(UsageError, code="wrong-word"):
    """A field does not accept the word."""

    what: str
    word: str
    allowed: tuple[str, ...]
    message = "{what} cannot be {word}"
    hint = "it takes: {allowed}"


class UnknownAgent(UsageError, code="unknown-agent"):
    """A module was assigned to a name that is not registered."""

    name: object
    known: tuple[str, ...]
    message = "'{name}' is not registered"
    hint = "register it: fairlead exec register human {name}; registered: {known}"


class PlanField(DocumentError, code="plan-field"):
    """A field of a plan file is missing or has a wrong value."""

    field: str
    why: str
    wanted: str = ""
    message = "{field} {why}"
    column = 1

    def _hint(self) -> str:
        return (f"it takes {self.wanted}; " if self.wanted else "") + "nothing was changed"


class PlanExists(ConflictError, code="plan-exists"):
    """A Plan Phase is active already."""

    path: object
    message = "a Plan Phase is already active: {path} exists"
    hint = "look at it: fairlead planning status; discard it: fairlead planning reset --confirm"


class PlanApproved(ConflictError, code="plan-approved"):
    """The plan is approved and therefore read-only."""

    plan: object
    message = "{plan} is approved and cannot be changed"
    hint = "reopen it, which voids the approval: fairlead planning reset --reopen --confirm"


class PartExists(ConflictError, code="part-exists"):
    """The plan has this module or requirement already."""

    kind: str
    name: object
    message = "{kind} '{name}' already exists"
    hint = "change it with: fairlead planning modify {kind} {name}"


class PartProtected(ConflictError, code="part-protected"):
    """A part of the plan cannot be changed or removed because work depends on it."""

    verb: str
    part: str
    why: str
    remedy: str
    message = "cannot {verb} {part}: {why}"
    hint = "{remedy}"


class AlreadyApproved(ConflictError, code="already-approved"):
    """The plan is approved already."""

    plan: object
    fault: str  # why the approval does not count; empty: it does

    def _message(self) -> str:
        if self.fault:
            return f"{self.plan} is marked as approved, but {self.fault}"
        return f"{self.plan} is already approved"

    def _hint(self) -> str:
        if self.fault:
            return "reopen it: fairlead planning reset --reopen --confirm"
        return "see what is left to do: fairlead exec status"


class OtherExecution(ConflictError, code="other-execution"):
    """The modules of another plan are still in progress."""

    path: object
    current: str
    plan: str
    message = "{path} belongs to {current}, not to {plan}"
    hint = "set that work aside together with its plan: fairlead planning reset --confirm"


class ApprovalRunning(ConflictError, code="approval-running"):
    """Another approval of this plan, or a gh process that it started, is still running."""

    message = "another approval, or a gh process that it started, is still running"
    hint = "run the command again when it has ended"


class PlanTransition(ConflictError, code="plan-transition"):
    """The plan's status does not allow this step."""

    status: str
    event: str
    allowed: tuple[str, ...]
    message = "{event} is not possible: the plan is {status}"
    hint = "possible: {allowed}"


class PlanUnready(BlockedError, code="plan-unready"):
    """The plan is not complete; the message lists everything that is open."""

    plan: object
    faults: tuple[str, ...]
    message = "{plan} is not ready: {faults:; }"
    hint = "see what each of them needs: fairlead planning status"


class NeedsPerson(BlockedError, code="needs-person"):
    """Only a person may confirm or allow this."""

    what: str
    command: str
    proof: str = ""  # what the person allows: the hash of a command
    message = "{what}"
    hint = "a person does that with: {command}"


class CheckFailed(BlockedError, code="check-failed"):
    """The command of an exit criterion did not succeed; the result is recorded."""

    command: str
    how: str
    said: str
    hint = "fix the cause, then run the same command again"

    def _message(self) -> str:
        return f"{self.command} {self.how}" + (f": {self.said}" if self.said else "")
