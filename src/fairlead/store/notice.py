"""Notices: what a writer found and put right before it did its own work.

They are values which print themselves, so that every door can say them in its own way.
"""

from __future__ import annotations

from fairlead.values import dataclass


@dataclass(frozen=True, slots=True)
class Rescued:
    """A version that could not stay in its place, and where it is kept now."""

    name: str  # what the file was called
    kept: str  # the path of the copy

    def __str__(self) -> str:
        return f"a version of {self.name} that would have been lost is kept as {self.kept}"


@dataclass(frozen=True, slots=True)
class Completed:
    """A step of several files that an interrupted command had left half done."""

    command: str
    paths: tuple[str, ...]  # those that had still to be written

    def __str__(self) -> str:
        return f"completed an interrupted step ({self.command}): {', '.join(self.paths)}"


@dataclass(frozen=True, slots=True)
class Hides:
    """A project above a new one: commands that run here no longer find it."""

    folder: str

    def __str__(self) -> str:
        return f"{self.folder} has a project, too; commands that run here mean the new one"


@dataclass(frozen=True, slots=True)
class NotMoved:
    """A move of a step that somebody made impossible after it was decided."""

    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.source} was not moved to {self.target}: one is gone, or the other was taken"


Notice = Rescued | Completed | NotMoved | Hides
