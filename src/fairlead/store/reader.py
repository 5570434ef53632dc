"""Reads documents as text, without a lock.

Reading creates no file and works on read-only disks. A document that is going to be edited must
be UTF-8 and within its size limit, otherwise it is refused with the position of the fault. For
display, as much is read as possible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairlead.core.errors import DocumentError
from fairlead.store import layout
from fairlead.store.confined import Root
from fairlead.store.errors import NoDocument, PathOutside, Undecodable, UnknownWorkstream

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from fairlead.store.digests import FileCache


class LoadedDocument(NamedTuple):
    """The text of a document at one instant."""

    path: str
    text: str
    is_cut: bool = False  # only for display: the file is longer


class Reader:
    """Reads the documents below one folder."""

    cache: FileCache | None = None  # of a server; a command reads everything anew

    def __init__(
        self,
        folder: str,
        cache: FileCache | None = None,
        unchecked: Callable[[str], Collection[str]] | None = None,
    ) -> None:
        self.folder = folder
        if cache is not None:
            self.cache = cache
        self._unchecked = unchecked

    def unchecked(self) -> Collection[str]:
        """The paths of proofs that appeared while an agent worked, and that nobody has checked."""
        return self._unchecked(self.folder) if self._unchecked else ()

    def load(self, path: str) -> LoadedDocument:
        """Load a document that must exist."""
        loaded = self.load_if_present(path)
        if loaded is None:
            raise self.missing(path)
        return loaded

    def missing(self, path: str) -> NoDocument:
        """The error for a missing document. It lists the workstreams, if there are any."""
        streams = self.streams() if path in layout.documents_of("") else ()
        elsewhere = f"choose a workstream with --ws ({', '.join(streams)})"
        return NoDocument(path, elsewhere if streams else layout.hint_for(path))

    def load_if_present(self, path: str) -> LoadedDocument | None:
        """Load a document, or None if it is missing."""
        content = self.content(path)
        return None if content is None else LoadedDocument(path, decoded(path, content))

    def exists(self, path: str) -> bool:
        """Whether anything exists at this path."""
        try:
            with Root(self.folder) as root:
                return root.stat(path) is not None
        except FileNotFoundError:
            return False

    def names(self, path: str) -> tuple[str, ...]:
        """The sorted names in a folder; none if it is missing or cannot be entered."""
        try:
            with Root(self.folder) as root:
                return tuple(root.names(path) or ())
        except (FileNotFoundError, DocumentError, PathOutside):
            return ()

    def changed_at(self, path: str) -> float:
        """The modification time of a file in seconds since the epoch; 0 if it is missing."""
        try:
            with Root(self.folder) as root:
                found = root.stat(path)
        except FileNotFoundError:
            return 0
        return found.st_mtime if found else 0

    def content(self, path: str) -> bytes | None:
        """The bytes of a document, or None if it is missing."""
        try:
            with Root(self.folder) as root:
                return root.read(path, layout.limit_of(path))
        except FileNotFoundError:
            return None

    def load_for_display(self, path: str) -> LoadedDocument | None:
        """Load a document up to its size limit, or None if it is missing.

        Bytes that are not UTF-8 become lone surrogates, which `visible` escapes.
        """
        limit = layout.limit_of(path)
        try:
            with Root(self.folder) as root:
                content = root.read_start(path, limit + 1)
        except FileNotFoundError:
            return None
        if content is None:
            return None
        is_cut = len(content) > limit
        if is_cut:
            whole_lines, _, _ = content.rpartition(b"\n")
            content = whole_lines or content[:limit]
        return LoadedDocument(path, content.decode("utf-8", "surrogateescape"), is_cut)

    def peek(self, path: str) -> LoadedDocument | None:
        """The same, and None for a folder or a link as well."""
        try:
            return self.load_for_display(path)
        except DocumentError:
            return None

    def workstream(self, named: str) -> str:
        """The named workstream, else the active or the only one; "" in a project without any."""
        if not named and self.exists(layout.STATE):
            return ""
        streams = self.streams()
        pointer = self.load_for_display(layout.ACTIVE_WORKSTREAM)
        only = streams[0] if len(streams) == 1 else ""
        chosen = named or (pointer.text.strip() if pointer else only)
        if chosen and chosen not in streams:
            raise UnknownWorkstream(chosen, streams)
        return chosen

    def streams(self) -> tuple[str, ...]:
        """The names of the project's workstreams."""
        return self.names(f"{layout.PLANNING}/{layout.WORKSTREAMS_NAME}")


def decoded(path: str, content: bytes) -> str:
    """The whole text of a document; bytes that are not UTF-8 are refused with their position."""
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start].decode()
        lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        wrong = Undecodable(content[error.start], line=len(lines), column=len(lines[-1]) + 1)
        raise wrong.located(path) from error
