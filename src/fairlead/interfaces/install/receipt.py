"""The receipt of an installation: what was added to which file, so that removing it is exact.

Every edit is recorded as a splice, and the texts before and after as hashes. A receipt proves
nothing by itself: it is used only if the file has exactly the text that the receipt describes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise

from fairlead.core.values import dataclass, field

RECEIPT = ".fairlead"  # suffix, after the name of the settings file

_ABOUT = "What `fairlead install` wrote; `fairlead uninstall` needs it."
_VERSION = 2


@dataclass(frozen=True, slots=True)
class FileReceipt:
    """What was done to one file."""

    was_there: bool
    before: str = ""  # hash
    after: str = ""  # hash
    undo: tuple[tuple[int, int, str], ...] = ()  # position, length to cut, text to insert
    kind: str = ""  # how ours is found in it when the text has changed

    def original(self, text: str) -> str | None:
        """The text before the installation; None if the file is not as the installation left it."""
        if self.after != text_hash(text):
            return None
        for start, length, old in reversed(self.undo):
            text = text[:start] + old + text[start + length :]
        return text if self.before == text_hash(text) else None


@dataclass(frozen=True, slots=True)
class Receipt:
    """All files and folders of one installation; paths are relative to its home folder."""

    files: Mapping[str, FileReceipt] = field(default_factory=dict)
    folders: tuple[str, ...] = ()  # that did not exist before

    @property
    def text(self) -> str:
        """The receipt as it is stored."""
        files = {
            path: {
                "was_there": each.was_there,
                "before": each.before,
                "after": each.after,
                "undo": each.undo,
                "kind": each.kind,
            }
            for path, each in self.files.items()
        }
        record = {"about": _ABOUT, "version": _VERSION, "files": files, "folders": self.folders}
        return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def file_receipt(texts: Sequence[str], *, was_there: bool, kind: str) -> FileReceipt:
    """The receipt of a file that went through these texts."""
    undo = tuple(_splice(old, new) for old, new in pairwise(texts) if old != new)
    return FileReceipt(was_there, text_hash(texts[0]), text_hash(texts[-1]), undo, kind)


def read_receipt(text: str | None, settings: str) -> Receipt:
    """A stored receipt. One of version 1 describes only the settings file."""
    try:
        record = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return Receipt()
    if not isinstance(record, dict):
        return Receipt()
    if "after" in record:
        return Receipt({settings: _file(record)})
    files = record.get("files")
    rows = files.items() if isinstance(files, dict) else ()
    folders = record.get("folders")
    return Receipt(
        {str(path): _file(row) for path, row in rows if isinstance(row, dict)},
        tuple(map(str, folders)) if isinstance(folders, list) else (),
    )


def text_hash(text: str) -> str:
    """The hash by which a text is recognised."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _file(row: Mapping[str, object]) -> FileReceipt:
    undo = row.get("undo")
    return FileReceipt(
        row.get("was_there") is not False,
        str(row.get("before") or ""),
        str(row.get("after") or ""),
        tuple(_splices(undo if isinstance(undo, list) else ())),
        str(row.get("kind") or ""),
    )


def _splices(rows: Iterable[object]) -> Iterable[tuple[int, int, str]]:
    for row in rows:
        match row:
            case [int(start), int(length), str(old)] if start >= 0 and length >= 0:
                yield start, length, old


def _splice(old: str, new: str) -> tuple[int, int, str]:
    """The edit that turns `new` back into `old`."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    same = 0  # length of the common end
    while same < min(len(old), len(new)) - start and old[-1 - same] == new[-1 - same]:
        same += 1
    return start, len(new) - same - start, old[start : len(old) - same]
