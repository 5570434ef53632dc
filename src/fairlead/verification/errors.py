"""Errors of verifying a phase."""

from __future__ import annotations

from fairlead.core.errors import AgentError, UsageError


class NoFinding(UsageError, code="no-finding"):
    """There is no finding of this name to accept."""

    what: str
    known: tuple[str, ...]
    message = "no finding is called {what!r}"
    hint = "findings: {known:; 8}"


class VerifierFault(AgentError, code="verifier-fault"):
    """The verifier agent gave no usable answer."""

    phase: object
    why: str
    message = "the verifier of phase {phase} gave no answer: {why}"
    hint = "verify by the rules alone: fairlead phase verify {phase}"
