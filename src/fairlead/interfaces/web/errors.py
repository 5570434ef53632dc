"""Errors of the web board."""

from __future__ import annotations

from fairlead.core.errors import AgentError, ConflictError, UsageError


class NoPage(UsageError, code="no-page"):
    """The board has no such page."""

    what: str
    message = "there is no such {what}"
    hint = "go back to the board"


class NoWebPackages(AgentError, code="no-web-packages"):
    """The packages of the web board are not installed."""

    message = "the web board needs packages that are not installed"
    hint = "install them: pip install 'fairlead[web]'"


class BoardPortBusy(ConflictError, code="board-port-busy"):
    """The port of the board is in use."""

    port: int
    why: str
    message = "port {port} cannot be used: {why}"
    hint = "a board may be running there; choose another port: fairlead serve --port 0"
