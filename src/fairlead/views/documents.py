"""The planning documents of a project, to list and to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairlead.core.values import dataclass
from fairlead.store import layout
from fairlead.store.errors import NoDocument
from fairlead.store.reader import Reader

if TYPE_CHECKING:
    from fairlead.app import App

_SUFFIX = ".md"


@dataclass(frozen=True, slots=True)
class FolderView:
    """The documents and folders in one folder of .planning; paths are relative to .planning."""

    folder: str
    documents: tuple[str, ...]
    folders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentView:
    """The text of one document."""

    path: str  # relative to .planning
    text: str
    is_cut: bool  # the file is longer


def folder_view(app: App, folder: str = "") -> FolderView:
    """The documents in a folder, without hidden ones."""
    reader = Reader(app.place)
    place = f"{layout.PLANNING}/{folder}" if folder else layout.PLANNING
    names = [name for name in reader.names(place) if not name.startswith(".")]
    lead = f"{folder}/" if folder else ""
    return FolderView(
        folder,
        tuple(f"{lead}{name}" for name in names if name.endswith(_SUFFIX)),
        tuple(f"{lead}{name}" for name in names if reader.names(f"{place}/{name}")),
    )


def document_view(app: App, path: str) -> DocumentView:
    """One document below .planning; hidden files and other kinds of files are not documents."""
    parts = path.split("/")
    is_document = path.endswith(_SUFFIX) and not any(part.startswith(".") for part in parts)
    loaded = None
    if is_document:
        # The reader refuses paths that leave the project, also through links.
        loaded = Reader(app.place).load_for_display(f"{layout.PLANNING}/{path}")
    if loaded is None:
        raise NoDocument(f"{layout.PLANNING}/{path}", "see what there is: fairlead status")
    return DocumentView(path, loaded.text, loaded.is_cut)
