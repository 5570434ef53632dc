"""Fairlead: a project memory in plain Markdown, and an engine that drives coding agents."""

__version__ = "0.1.0"
