"""Proofs: what the processes of a job wrote and received, in the user's private state folder.

The folder of a job lies in the repository, where every agent of the job can write. A file there
proves nothing: not that a seat gave an answer, not that the job has a status. So a process of the
job writes its record, each answer it received from a call, and what a person decided, here first
and into the job's folder second. Decisions read these copies only; the files are for people.
Without a copy, an answer is asked for again. If the run dies between the two writes, the next one
completes the second.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager

from fairlead.core.values import dataclass
from fairlead.jobs.paths import PROOFS, private_folder
from fairlead.store import layout
from fairlead.store.confined import ConfinedFolder, Root, storage_error
from fairlead.store.files import make_private_folders
from fairlead.store.staging import WRITING, writing_name

_FILE = 0o600


@dataclass(frozen=True, slots=True)
class ProvenText:
    """A document as the job last wrote it, and the digest of the text that it replaced."""

    text: str
    replaced: str = ""

    def is_foreign(self, text: str) -> bool:
        """Whether the job never wrote this text in the place of the document.

        A run that died between the two writes leaves the text of the write before.
        """
        return text != self.text and text_digest(text) != self.replaced


def proofs_of(state: str, folder: str, job: str) -> Proofs:
    """The proofs of a job, below the user's state folder."""
    return Proofs(f"{private_folder(state, folder, job)}/{PROOFS}")


def text_digest(text: str) -> str:
    """The digest of a document."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


class Proofs:
    """The private documents of one job."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def path(self, name: str) -> str:
        """The full path of a document."""
        return f"{self._folder}/{name}"

    def save(self, name: str, text: str) -> None:
        """Write a document; it is durable when this returns."""
        old = self.find(name)
        replaced = text_digest(old.text) if old else ""
        content = f"{replaced}\n{text}".encode("utf-8", "surrogateescape")
        try:
            make_private_folders(self._folder)
            with self._inside() as folder:
                new = writing_name()
                with open(folder.create(new, _FILE), "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                folder.move(new, folder, name)
                folder.sync()
        except OSError as error:
            raise storage_error(f"{self._folder}/{name}", error) from error

    def find(self, name: str) -> ProvenText | None:
        """A document; None if the job never wrote it."""
        try:
            with self._inside() as folder:
                content = folder.read(name, layout.LEDGER_LIMIT)
        except FileNotFoundError:
            return None
        if content is None:
            return None
        replaced, _, text = content.decode("utf-8", "surrogateescape").partition("\n")
        return ProvenText(text, replaced)

    def names(self) -> tuple[str, ...]:
        """The documents of the job."""
        try:
            with self._inside() as folder:
                return tuple(name for name in folder.names() if not name.startswith(WRITING))
        except FileNotFoundError:
            return ()

    def clear(self) -> None:
        """Remove everything: a new job may get the id of one whose folder was deleted."""
        try:
            with self._inside() as folder:
                for name in folder.names():
                    folder.remove(name)
                folder.sync()
        except FileNotFoundError:
            pass
        except OSError as error:
            raise storage_error(self._folder, error) from error

    @contextmanager
    def _inside(self) -> Iterator[ConfinedFolder]:
        with Root(self._folder) as root:
            folder = root.parent("job")
        assert folder is not None  # the root is there
        with folder:
            yield folder
