"""Errors of the terminal board."""

from __future__ import annotations

from fairlead.core.errors import AgentError, UsageError


class NoBoardPackages(AgentError, code="no-board-packages"):
    """The packages of the terminal board are not installed."""

    message = "the terminal board needs packages that are not installed"
    hint = "install them: pip install 'fairlead[board]'"


class NoTerminal(UsageError, code="no-terminal"):
    """The board needs a terminal."""

    message = "the board needs a terminal"
    hint = "without one: fairlead status, fairlead job list"
