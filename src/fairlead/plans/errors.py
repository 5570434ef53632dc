"""Errors of plan documents: names and dependencies."""

from __future__ import annotations

from fairlead.core.errors import DocumentError


class PlanCycle(DocumentError, code="plan-cycle"):
    """Plans depend on each other in a circle."""

    plans: tuple[str, ...]
    message = "plans depend on each other in a circle: {plans: -> }"
    hint = "remove one of them from the depends_on of the next"


class NoVerifyCommand(DocumentError, code="no-verify-command"):
    """A new plan has tasks without a verify command."""

    plan: str
    tasks: tuple[str, ...]
    message = "plan {plan} has tasks without a verify command: {tasks:, }"
    hint = "give each task a command that fails while its work is missing"


class PlanTwice(DocumentError, code="plan-twice"):
    """Two plans have the same name."""

    one: str
    other: str
    message = "plans {one} and {other} have the same name"
    hint = "rename one of them"
