"""The files that led to a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairlead.core.errors import UsageError

if TYPE_CHECKING:
    from fairlead.app import App
    from fairlead.project.health.explain import Explanation

EXPLAINED = ("progress", "scope", "phase", "plan", "status", "next")

_NAMED = ("phase", "plan")  # these take a name
_HELP = "see: fairlead explain --help"


def explain_view(app: App, what: str, name: str = "", workstream: str = "") -> Explanation:
    """A value with its rule and the files behind it."""
    if what in _NAMED and not name:
        raise UsageError.saying(f"which {what}? Example: fairlead explain {what} 4", _HELP)
    if name and what not in _NAMED:
        raise UsageError.saying(f"{what} takes no name", _HELP)
    explainer = app.overview.explainer(workstream)
    explain = getattr(explainer, what)
    explanation: Explanation = explain(name) if what in _NAMED else explain()
    return explanation
