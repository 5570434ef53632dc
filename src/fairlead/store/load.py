"""Loading: documents as text, for everybody who only reads.

Reading takes no lock, makes no file and works where nothing can be written. For writing a
document must be UTF-8 within its limit, or it is refused with the place; for display as much
is given as there is.
"""

from __future__ import annotations

from typing import NamedTuple

from fairlead.errors import DocumentError, NoDocument, PathOutside, Undecodable, UnknownWorkstream
from fairlead.store import layout
from fairlead.store.confine import Root


class Loaded(NamedTuple):
    """A document as it was at one instant."""

    path: str
    text: str
    is_cut: bool = False  # only for display: the file goes on


class Reader:
    """Reads the documents below one folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def load(self, path: str) -> Loaded:
        """Load a document that must be there."""
        loaded = self.load_if_present(path)
        if loaded is None:
            raise self.missing(path)
        return loaded

    def missing(self, path: str) -> NoDocument:
        """The error for a document that is not there; the work may be elsewhere."""
        streams = self.streams() if path in layout.documents_of("") else ()
        elsewhere = f"the work is in workstreams: name one with --ws ({', '.join(streams)})"
        return NoDocument(path, elsewhere if streams else layout.hint_for(path))

    def load_if_present(self, path: str) -> Loaded | None:
        """Load a document, or None."""
        content = self.content(path)
        return None if content is None else Loaded(path, decoded(path, content))

    def exists(self, path: str) -> bool:
        """Whether anything stands at this path."""
        try:
            with Root(self.folder) as root:
                return root.stat(path) is not None
        except FileNotFoundError:
            return False

    def names(self, path: str) -> tuple[str, ...]:
        """The names in a folder, sorted; none if there is no such folder, or none we could enter."""
        try:
            with Root(self.folder) as root:
                return tuple(root.names(path) or ())
        except (FileNotFoundError, DocumentError, PathOutside):
            return ()

    def changed_at(self, path: str) -> float:
        """When a file was last changed, as seconds of the epoch; 0 if it is not there."""
        try:
            with Root(self.folder) as root:
                found = root.stat(path)
        except FileNotFoundError:
            return 0
        return found.st_mtime if found else 0

    def content(self, path: str) -> bytes | None:
        """The bytes of a document within its limit, or None."""
        try:
            with Root(self.folder) as root:
                return root.read(path, layout.limit_of(path))
        except FileNotFoundError:
            return None

    def load_for_display(self, path: str) -> Loaded | None:
        """Load as much as is safe of a document, or None.

        Bytes that are not UTF-8 become lone surrogates, which `show` makes visible.
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
        return Loaded(path, content.decode("utf-8", "surrogateescape"), is_cut)

    def peek(self, path: str) -> Loaded | None:
        """The same, and None also for a folder or a link of that name."""
        try:
            return self.load_for_display(path)
        except DocumentError:
            return None

    def workstream(self, named: str) -> str:
        """The workstream asked for, else the active or only one; none where there is one memory."""
        if not named and self.exists(layout.STATE):
            return ""
        known = self.streams()
        pointer = self.load_for_display(layout.ACTIVE_WORKSTREAM)
        only = known[0] if len(known) == 1 else ""
        chosen = named or (pointer.text.strip() if pointer else only)
        if chosen and chosen not in known:
            raise UnknownWorkstream(chosen, known)
        return chosen

    def streams(self) -> tuple[str, ...]:
        """The workstreams of the project."""
        return self.names(f"{layout.PLANNING}/{layout.WORKSTREAMS_NAME}")


def decoded(path: str, content: bytes) -> str:
    """The text of a document, every byte of it."""
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start].decode()
        lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        wrong = Undecodable(content[error.start], line=len(lines), column=len(lines[-1]) + 1)
        raise wrong.located(path) from error
