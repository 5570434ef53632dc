"""Fairlead: a project memory in plain Markdown, and an engine that drives coding agents.

import fairlead
project = fairlead.open_project(".")
print(project.progress.percent, project.drift)
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fairlead.interfaces.api import Project, open_project
    from fairlead.model.agent_streams import Decoder, Stream, Tally, events_of

__version__ = "0.1.0"

__all__ = ["Decoder", "Project", "Stream", "Tally", "__version__", "events_of", "open_project"]


def __getattr__(name: str) -> object:
    """Import the public names when they are used: the status line must not pay for them."""
    if name in ("Project", "open_project"):
        from fairlead.interfaces import api

        return getattr(api, name)
    if name in __all__:
        from fairlead.model import agent_streams

        return getattr(agent_streams, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
