"""Errors of installing Fairlead in a host agent."""

from __future__ import annotations

from fairlead.core.errors import ConflictError, DocumentError, UsageError


class SettingsOverwritten(ConflictError, code="settings-overwritten"):
    """Another program replaced a host's settings right after they were written."""

    path: object
    message = "{path} was written by another program at the same moment"
    hint = "close the other program and run the same command again"


class NameTaken(ConflictError, code="host-name-taken"):
    """A host's settings already have an entry of this name that Fairlead did not write."""

    path: object
    name: str
    message = "{path} already has {name}, which Fairlead did not write"
    hint = "rename or remove that entry, or install with --no-mcp"


class FileTaken(ConflictError, code="host-file-taken"):
    """A file that would be written exists and was not written by Fairlead."""

    path: object
    message = "{path} exists and was not written by `fairlead install`"
    hint = "move that file away, and run the same command again"


class TomlSyntax(DocumentError, code="toml-syntax"):
    """A TOML settings file of a host cannot be read."""

    why: str
    message = "not valid TOML: {why}"
    hint = "correct the file, and run the same command again"


class NotConfirmedHere(UsageError, code="needs-yes"):
    """A change needs confirmation, and there is no terminal to ask in."""

    message = "nothing was written: without a terminal this command needs --yes"
    hint = "see the change with --dry-run, then run the same command with --yes"
