"""Errors of the lossless editors: text that cannot be read or changed exactly."""

from __future__ import annotations

from fairlead.core.errors import DocumentError, UsageError


class UnwritableValue(UsageError, code="unwritable-value"):
    """A value does not fit into the line it is meant for."""

    what: str
    why: str
    message = "{what} {why}"
    hint = "give it as one line of ordinary text"


class ConflictMarkers(DocumentError, code="conflict-markers"):
    """A document contains an unresolved merge."""

    message = "unresolved merge conflict"
    hint = "resolve the conflict in an editor, then run the command again"
    column = 1


class EmptyDocument(DocumentError, code="empty-document"):
    """A document is empty: another program or the disk lost its text."""

    message = "is empty"
    hint = "restore its text, or delete it and create it again: fairlead doctor --fix --create"
    line = column = 1


class NoPlace(DocumentError, code="no-place"):
    """A document has no section or line where the edit belongs."""

    what: str
    message = "cannot insert {what}: the document has no matching place"
    hint = "add the section by hand; fairlead check lists what else is missing; nothing was changed"
    line = column = 1


class UnsafeEdit(DocumentError, code="unsafe-edit"):
    """An edit was not made because its result would not be read as intended."""

    what: str
    message = "{what} cannot be changed here without changing something else"
    hint = "change this line in an editor; nothing was changed"


class UnclosedFrontmatter(DocumentError, code="unclosed-frontmatter"):
    """A frontmatter block starts and never ends."""

    message = "frontmatter starts here and is never closed"
    hint = "close it with a line that is exactly ---"
    column = 1


class FrontmatterSyntax(DocumentError, code="frontmatter-syntax"):
    """Frontmatter is outside the subset of YAML that can be rewritten exactly."""

    why: str
    message = "frontmatter: {why}"
    hint = "correct this line in an editor; nothing was changed"


class JsonSyntax(DocumentError, code="json-syntax"):
    """JSON cannot be read exactly."""

    why: str
    message = "{why}"
    hint = "correct this line in an editor"
