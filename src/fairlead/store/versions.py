"""Versions: the three temporary files that git hands to a merge driver.

They are not documents of the project: git makes them, reads the merge from the second and
removes all three. So they need no lock, and they are read up to a limit far above that of a
document: a version that is too large for us still has to be merged.
"""

from __future__ import annotations

import os

from fairlead.errors import NoDocument
from fairlead.store.atomic import Desk, write_beside
from fairlead.store.confine import Root, fault, leaf
from fairlead.store.exchange import prepare

_LIMIT = 64 * 1024 * 1024


def load_version(path: str) -> str:
    """The text of a version. Bytes that are not UTF-8 become lone surrogates."""
    with _home_of(path) as root:
        content = root.read(leaf(path), _LIMIT)
    if content is None:
        raise _missing(path)
    return content.decode("utf-8", "surrogateescape")


def save_version(path: str, text: str) -> None:
    """Replace a version in one step: whoever looks finds the old one or the new one."""
    with _home_of(path) as root:
        folder = root.parent(leaf(path))
        assert folder is not None  # the root itself
        with folder:
            try:
                write_beside(
                    Desk(folder, prepare(), []),
                    leaf(path),
                    text.encode("utf-8", "surrogateescape"),
                    like=folder.stat(leaf(path)),
                )
            except OSError as error:
                raise fault(path, error) from error


def _home_of(path: str) -> Root:
    try:
        return Root(os.path.dirname(path) or ".")
    except FileNotFoundError:
        raise _missing(path) from None


def _missing(path: str) -> NoDocument:
    return NoDocument(path, "git names these files: see fairlead merge-driver --help")
