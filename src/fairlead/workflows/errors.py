"""Errors of the workflows."""

from __future__ import annotations

from fairlead.core.errors import ConflictError, DocumentError, UsageError


class NoIdea(UsageError, code="no-idea"):
    """`fairlead new` was run without an idea, and there is no run to resume."""

    message = "the idea is missing"
    hint = 'describe it: fairlead new "a ticket system"'


class UnknownSession(UsageError, code="unknown-session"):
    """No debug session has this name."""

    name: object
    known: tuple[str, ...]
    message = "there is no debug session {name!r}"
    hint = "open sessions: {known}"


class NoTodo(UsageError, code="no-todo"):
    """No pending todo, or more than one, has this name."""

    name: object
    known: tuple[str, ...]
    message = "{name!r} does not name exactly one pending todo"
    hint = "pending: {known:5}"


class NotQuick(DocumentError, code="not-quick"):
    """A plan does not fit a quick task: one task, with files and a command that proves it."""

    why: str
    message = "this is not a quick task: {why}"
    hint = "for more than one task: fairlead phase add NAME, then fairlead phase plan N"


class ArtefactFault(DocumentError, code="artefact-fault"):
    """A document or an answer that a workflow needs is incomplete or contradicts itself."""

    what: str
    message = "{what}"
    hint = "complete it by hand, or run the workflow again; fairlead check lists what is missing"
    line = column = 1


class SameTodo(ConflictError, code="same-todo"):
    """A pending todo has the same text."""

    path: object
    title: object
    message = "{path} has the same text: {title}"
    hint = "add this one as well: fairlead capture --again TEXT"


class ContextThere(ConflictError, code="context-there"):
    """The phase has a CONTEXT.md already."""

    phase: object
    context: str
    message = "phase {phase} is already discussed: {context}"
    hint = "plan it: fairlead phase plan {phase}; or repeat: fairlead phase discuss {phase} --again"


class PlansThere(ConflictError, code="plans-there"):
    """The phase has plans that are not executed yet."""

    phase: object
    plans: tuple[str, ...]
    message = "phase {phase} has open plans: {plans}"
    hint = (
        "run them: fairlead phase execute {phase}; or repeat: fairlead phase plan {phase} --replan"
    )
