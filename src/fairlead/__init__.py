"""Fairlead: a project memory in plain Markdown, and an engine that drives coding agents.

import fairlead
project = fairlead.open_project(".")
print(project.progress.percent, project.drift)
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fairlead.agents.model import Stream
    from fairlead.agents.streams import Decoder, Tally, events_of
    from fairlead.api import Project, open_project

__version__ = "0.1.0"

__all__ = ["Decoder", "Project", "Stream", "Tally", "__version__", "events_of", "open_project"]


def __getattr__(name: str) -> object:
    """Import the public names when they are used: the status line must not pay for them."""
    if name in ("Project", "open_project"):
        import fairlead.api

        return getattr(fairlead.api, name)
    if name in __all__:
        from fairlead.agents import streams

        return getattr(streams, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
