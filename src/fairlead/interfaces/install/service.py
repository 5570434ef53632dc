"""Installs Fairlead in a host agent, and removes it: many files, one receipt.

The receipt is written before the files, so an interrupted installation can be repeated or removed.
Each folder's files change in one transaction. The settings are read again afterwards, because a
host that cannot parse its settings ignores them without a message.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from fairlead.core.clock import Clock
from fairlead.core.errors import Located
from fairlead.core.host_names import PREFIX
from fairlead.core.values import dataclass
from fairlead.interfaces.install.errors import FileTaken, NameTaken, SettingsOverwritten
from fairlead.interfaces.install.parts import REMOVALS, HostPart, says_nothing
from fairlead.interfaces.install.receipt import (
    FileReceipt,
    Receipt,
    file_receipt,
    read_receipt,
)
from fairlead.store.files import ChangeSet, DocumentChange, Files, reading_back
from fairlead.store.intent import TreeChanges
from fairlead.store.moves import Move
from fairlead.store.staging import is_there, remove_staging, removed_path

HOST_STAGING = ".fairlead-install"  # beside a host's settings, only while something is written


@dataclass(frozen=True, slots=True)
class HostFile:
    """A file of the host, by its full path, and what is added to it."""

    path: str
    part: HostPart


@dataclass(frozen=True, slots=True)
class InstallationPlan:
    """Everything that belongs to one installation."""

    host: str
    home: str  # folder that receipts are relative to
    settings: str  # the main settings file, by its full path
    receipt: str  # by its full path
    files: tuple[HostFile, ...]
    follows_links: bool  # the user's own files may be links, for example into a repository


@dataclass(frozen=True, slots=True)
class Installation:
    """What an install or uninstall changed, or would change, with notes for the user."""

    host: str
    file: str
    changes: tuple[DocumentChange, ...]  # with full paths; the receipt is left out
    removed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _FileChange:
    path: str
    old: str | None
    new: str | None  # None: the file is removed
    receipt: FileReceipt | None = None


class HostInstaller:
    """Carries out one installation plan."""

    def __init__(self, plan: InstallationPlan, clock: Clock, *, is_read_only: bool = False) -> None:
        self._plan = plan
        self._clock = clock
        self._is_read_only = is_read_only

    def install(self, *, dry_run: bool = False) -> Installation:
        """Add everything. Doing it twice changes nothing."""
        if not dry_run:
            self._finish_interrupted()
        receipt = self._receipt()
        notes: list[str] = []
        planned = [self._added(file, receipt, notes) for file in self._plan.files]
        paths = {file.path for file in self._plan.files}
        for name, row in receipt.files.items():  # of an older version, which wrote other files
            path = os.path.normpath(os.path.join(self._plan.home, name))
            if path not in paths:
                planned += self._removed(path, row, notes)
        changes = [each for each in planned if each.new != each.old]
        if not dry_run and changes:
            self._write_receipt(planned, receipt)
            self._write(changes, f"install {self._plan.host}")
            self._confirm(changes)
        return self._installation(changes, notes)

    def uninstall(self, *, dry_run: bool = False) -> Installation:
        """Remove everything that is ours, and files and folders that the installation created."""
        if not dry_run:
            self._finish_interrupted()
        receipt = self._receipt()
        notes: list[str] = []
        rows = {os.path.normpath(os.path.join(self._plan.home, name)): row
                for name, row in receipt.files.items()}  # fmt: skip
        for file in self._plan.files:  # without a receipt, what we would write is looked for
            if file.path not in rows:
                rows |= self._presumed(file)
        changes = [each for path, row in rows.items() for each in self._removed(path, row, notes)]
        if not dry_run:
            self._write(changes, f"uninstall {self._plan.host}")
            if is_there(self._plan.receipt):
                self._write([_FileChange(self._plan.receipt, "", None)], "uninstall")
            made = {os.path.normpath(os.path.join(self._plan.home, f)) for f in receipt.folders}
            ours = {os.path.dirname(each.path) for each in changes if each.new is None}
            ours = {folder for folder in ours if os.path.basename(folder).startswith(PREFIX)}
            for folder in sorted(made | ours, key=len, reverse=True):  # the inner ones first
                with suppress(OSError):  # somebody else uses it now
                    os.rmdir(folder)
        return self._installation(changes, notes)

    def is_installed(self) -> bool:
        """Whether there is a receipt of this installation."""
        return is_there(self._plan.receipt)

    # -- deciding ---------------------------------------------------------------------------

    def _added(self, file: HostFile, receipt: Receipt, notes: list[str]) -> _FileChange:
        text = self._text(file.path)
        row = receipt.files.get(self._name(file.path))
        with self._naming(file.path):
            base = None if text is None else _without_ours(text, row, file.part.kind)
            texts, note = file.part.added(base)
        if note:
            notes.append(note)
        was_there = row.was_there if row else text is not None
        done = file_receipt(texts, was_there=was_there, kind=file.part.kind)
        return _FileChange(file.path, text, texts[-1], done)

    def _removed(self, path: str, row: FileReceipt, notes: list[str]) -> list[_FileChange]:
        text = self._text(path)
        if text is None:
            return []
        with self._naming(path):
            rest = _without_ours(text, row, row.kind)
        if row.kind == "whole" and rest:
            notes.append(f"{path} was changed since the installation, so it was kept")
            return []
        if row.kind == "whole" or (not row.was_there and says_nothing(row.kind, rest)):
            return [_FileChange(path, text, None)]
        return [_FileChange(path, text, rest)] if rest != text else []

    def _presumed(self, file: HostFile) -> dict[str, FileReceipt]:
        """The receipt of a file that was installed elsewhere: by a colleague, or before a crash."""
        kind = file.part.kind
        if kind != "whole":
            return {file.path: FileReceipt(was_there=True, kind=kind)}
        texts, _ = file.part.added(None)
        is_ours = self._text(file.path) == texts[-1]
        return {file.path: file_receipt(texts, was_there=False, kind=kind)} if is_ours else {}

    def _receipt(self) -> Receipt:
        settings = self._name(self._plan.settings)
        return read_receipt(self._text(self._plan.receipt), settings)

    def _name(self, path: str) -> str:
        return os.path.relpath(path, self._plan.home)

    def _text(self, path: str) -> str | None:
        root, name = self._place(path)
        with Located(path):
            loaded = Files(root).load_if_present(name)
        return loaded.text if loaded else None

    def _place(self, path: str) -> tuple[str, str]:
        """The folder that is written through, and the path below it."""
        home = self._plan.home
        if not self._plan.follows_links:
            return home, os.path.relpath(path, home)
        home, path = os.path.realpath(home), os.path.realpath(path)
        if path.startswith(home + os.sep):
            return home, path[len(home) + 1 :]
        return os.path.dirname(path), os.path.basename(path)

    @contextmanager
    def _naming(self, path: str) -> Iterator[None]:
        """Name the file in errors of functions that see only its text."""
        try:
            with Located(path):
                yield
        except NameTaken as error:
            raise NameTaken(path, error.name) from error
        except FileTaken as error:
            raise FileTaken(path) from error

    # -- writing ----------------------------------------------------------------------------

    def _write_receipt(self, planned: list[_FileChange], before: Receipt) -> None:
        files = {
            self._name(each.path): each.receipt for each in planned if each.receipt is not None
        }
        paths = (self._plan.receipt, *(each.path for each in planned))
        made = {self._name(folder) for path in paths for folder in _missing_above(path)}
        folders = tuple(sorted({*before.folders, *made}))
        text = Receipt(files, folders).text
        self._write([_FileChange(self._plan.receipt, None, text)], f"install {self._plan.host}")

    def _finish_interrupted(self) -> None:
        """Complete what an interrupted command left beside the files, and remove its folder."""
        paths = (self._plan.receipt, *(file.path for file in self._plan.files))
        for root in sorted({self._place(path)[0] for path in paths}):
            if is_there(os.path.join(root, HOST_STAGING)):
                with Located(root):
                    store = Files(root, staging=HOST_STAGING, is_read_only=self._is_read_only)
                    store.carry_out(lambda: ChangeSet({}), command=f"install {self._plan.host}")
                    remove_staging(root, HOST_STAGING)

    def _write(self, changes: list[_FileChange], command: str) -> None:
        roots: dict[str, dict[str, _FileChange]] = {}
        for each in changes:
            root, name = self._place(each.path)
            roots.setdefault(root, {})[name] = each
        for root, files in roots.items():
            with Located(root):
                store = Files(root, staging=HOST_STAGING, is_read_only=self._is_read_only)
                store.carry_out(self._deciding(store, files), command=command, may_create=True)
                remove_staging(root, HOST_STAGING)

    def _deciding(self, store: Files, files: Mapping[str, _FileChange]) -> Callable[[], ChangeSet]:
        now = self._clock.now()
        stamp = f"{now:%Y%m%dT%H%M%S}{now.microsecond // 1000:03d}Z"

        def decide() -> ChangeSet:
            edits = {name: _exactly(each) for name, each in files.items() if each.new is not None}
            moves = [
                Move(name, removed_path(name, f"{stamp}-{at}", HOST_STAGING))
                for at, (name, each) in enumerate(files.items())
                if each.new is None and store.exists(name)
            ]
            folders = sorted({above for name in edits for above in _folders_of(name)})
            missing = tuple(folder for folder in folders if not store.exists(folder))
            return ChangeSet(edits, TreeChanges(tuple(moves), missing), frozenset(edits))

        return decide

    def _confirm(self, changes: list[_FileChange]) -> None:
        with reading_back(tuple(each.path for each in changes)):
            for each in changes:
                if each.new is not None and not self._is_in_place(each):
                    raise SettingsOverwritten(each.path)

    def _is_in_place(self, change: _FileChange) -> bool:
        """Whether our part is still there; another program may have changed the rest since."""
        current = self._text(change.path)
        kind = change.receipt.kind if change.receipt else "whole"  # whole: nothing of it is theirs
        if current is None or current == change.new or kind == "whole":
            return current == change.new
        with self._naming(change.path):
            ours, found = _our_lines(change.new or "", kind), _our_lines(current, kind)
        return not ours - found

    def _installation(self, changes: list[_FileChange], notes: list[str]) -> Installation:
        written = tuple(
            DocumentChange(each.path, each.old, each.new)
            for each in changes
            if each.new is not None
        )
        removed = tuple(each.path for each in changes if each.new is None)
        unique = tuple(dict.fromkeys(notes))
        return Installation(self._plan.host, self._plan.settings, written, removed, unique)


def _without_ours(text: str, row: FileReceipt | None, kind: str) -> str:
    original = row.original(text) if row else None
    return REMOVALS[kind](text) if original is None else original


def _our_lines(text: str, kind: str) -> Counter[str]:
    """The lines that removing our part takes away; a comma at their end depends on the rest."""
    rest = REMOVALS[kind](text)
    before, after = (Counter(line.strip().rstrip(",") for line in each.splitlines())
                     for each in (text, rest))  # fmt: skip
    return before - after


def _exactly(change: _FileChange) -> Callable[[str], str]:
    """The edit of one file. What somebody else wrote in between is not overwritten."""

    def edit(current: str) -> str:
        if change.old is not None and current != change.old:
            raise SettingsOverwritten(change.path)
        return change.new or ""

    return edit


def _folders_of(name: str) -> list[str]:
    parts = name.split("/")[:-1]
    return ["/".join(parts[: at + 1]) for at in range(len(parts))]


def _missing_above(path: str) -> list[str]:
    """The folders above a path that do not exist yet."""
    missing = []
    folder = os.path.dirname(path)
    while folder and not os.path.lexists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return missing
