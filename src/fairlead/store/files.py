"""Files: the one writer of documents.

An edit is a function from text to text. When somebody else changes the document in between
it is called again, so it must do nothing but return the new text. Whatever has to be imported
is imported before the lock is taken, and no program is started while it is held.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from fairlead.errors import (
    FileExists,
    InsideAttempt,
    Located,
    NoLocks,
    NoProject,
    NotConfirmed,
    NothingToUndo,
    OutputFault,
    StorageError,
    TooLarge,
    UnwritableValue,
)
from fairlead.store import last, layout
from fairlead.store.atomic import Desk
from fairlead.store.confine import Folder, Root, fault
from fairlead.store.exchange import prepare
from fairlead.store.intent import Places, Version
from fairlead.store.load import Reader, decoded
from fairlead.store.lock import Lock, shared_kind
from fairlead.store.notice import Notice
from fairlead.store.transaction import Plan, Rewrite, Rewrites, Transaction, versions_of
from fairlead.values import dataclass, field

Edit = Callable[[str], str]


class Change(NamedTuple):
    """A document that was changed, or in a dry run would be."""

    path: str
    old: str | None  # None: it is new
    new: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A step of documents, moves and folders, decided from what is there now."""

    edits: Mapping[str, Edit]
    places: Places = field(default_factory=Places)
    may_create: frozenset[str] = frozenset()  # documents whose edit begins with an empty text


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an update did, or in a dry run would do."""

    changes: tuple[Change, ...]
    notices: tuple[Notice, ...] = ()
    places: Places = field(default_factory=Places)

    @property
    def paths(self) -> tuple[str, ...]:
        """The documents that are different now."""
        return tuple(change.path for change in self.changes)


class Files(Reader):
    """Reads and writes the documents below one folder.

    `notices` holds all that was put right on the way, also when the update itself raised.
    """

    def __init__(
        self,
        folder: str,
        *,
        desk: str = layout.DESK,
        wait_seconds: float = 10.0,
        allow_shared: bool = False,
        is_read_only: bool = False,
    ) -> None:
        super().__init__(folder)
        self.is_read_only = is_read_only
        self.notices: tuple[Notice, ...] = ()
        self.desk = desk
        self._home = desk.rpartition("/")[0]  # where the documents are; empty: in the folder itself
        self._wait_seconds = wait_seconds
        self._allow_shared = allow_shared

    def update(
        self,
        path: str,
        edit: Edit,
        *,
        command: str,
        may_create: bool = False,
        dry_run: bool = False,
    ) -> Outcome:
        """Change one document. It is durable when this returns."""
        return self.update_all(
            {path: edit}, command=command, may_create=may_create, dry_run=dry_run
        )

    def update_all(
        self,
        edits: Mapping[str, Edit],
        *,
        command: str,
        may_create: bool = False,
        dry_run: bool = False,
    ) -> Outcome:
        """Change several documents in one step: all of them or none.

        With `may_create` an edit gets an empty text where there is no file yet.
        """
        rewrites = {path: self._editing(path, edit, may_create) for path, edit in edits.items()}
        if dry_run:
            return _outcome(versions_of(self.content, rewrites))
        self._refuse_early(rewrites)
        with self._transaction(command, may_create=may_create) as transaction:
            versions = transaction.run(rewrites)
        return _outcome(versions, self.notices)

    def create_all(
        self,
        texts: Mapping[str, str],
        *,
        command: str,
        folders: tuple[str, ...] = (),
        dry_run: bool = False,
    ) -> Outcome:
        """Create several documents in one step. One that is there already is refused.

        Except when it is what the same command wanted to write before it was killed: then
        that step has just been completed, and there is nothing left to do.
        """
        rewrites = {path: self._creating(path, text) for path, text in texts.items()}
        if dry_run:
            return _outcome(versions_of(self.content, rewrites))
        self._refuse_early(rewrites)
        with self._transaction(command, may_create=True) as transaction:
            for path in transaction.recovered & texts.keys():
                rewrites[path] = self._creating(path, texts[path], was_ours=True)
            versions = transaction.run(rewrites, folders)
        return _outcome(versions, self.notices)

    def carry_out(
        self,
        decide: Callable[[], Draft],
        *,
        command: str,
        may_create: bool = False,
        dry_run: bool = False,
    ) -> Outcome:
        """Decide under the lock what is to be done, and do it in one step: all of it or nothing.

        `decide` reads what it needs, and is called again when somebody changes a document in
        between, so it must do nothing but return the draft.
        """
        if dry_run or not self.exists(self.desk):
            plan = self._planned(decide())
            versions = versions_of(self.content, plan.rewrites)
            if dry_run or not (versions or plan.places):
                return _outcome(versions, places=plan.places)
        with self._transaction(command, may_create=may_create) as transaction:
            versions, places = transaction.carry_out(lambda: self._planned(decide()))
        return _outcome(versions, self.notices, places)

    def undo(self, *, dry_run: bool = False) -> tuple[str, Outcome]:
        """Take the last event back, and return the command it was. The next undo takes that back."""
        if not self.exists(self.desk):
            raise NothingToUndo("no event is recorded here")
        if dry_run:
            with Root(self.folder) as root, self._open_desk(root, False) as folder:
                event = last.load(Desk(folder, prepare(), []))
                texts, places = last.reverse(root, event, self.desk)
                versions = versions_of(self.content, last.rewrites_of(texts, event))
            return event.command, _outcome(versions, places=places)
        with self._transaction("undo", may_create=False) as transaction:
            command, versions, places = transaction.undo()
        return command, _outcome(versions, self.notices, places)

    def _planned(self, draft: Draft) -> Plan:
        return Plan(
            {
                path: self._editing(path, edit, path in draft.may_create)
                for path, edit in draft.edits.items()
            },
            draft.places,
        )

    def _refuse_early(self, rewrites: Rewrites) -> None:
        """Refuse before a desk is made. Where there is none, nothing waits to be completed."""
        if not self.exists(self.desk):
            versions_of(self.content, rewrites)

    @contextmanager
    def _transaction(self, command: str, *, may_create: bool) -> Iterator[Transaction]:
        if self.is_read_only:
            raise InsideAttempt(command)
        renamer = prepare()
        notices: list[Notice] = []
        try:
            with self._open_root(may_create) as root:
                self._require_local(root)
                with (
                    self._open_desk(root, may_create) as folder,
                    Lock(folder, wait_seconds=self._wait_seconds, command=command),
                ):
                    yield Transaction(root, Desk(folder, renamer, notices), command)
        finally:
            self.notices = tuple(notices)

    def _open_root(self, may_create: bool) -> Root:
        try:
            # Made only where the folder itself is ours, as a person's settings are.
            if may_create and not self._home:
                _make_folders(self.folder)
            return Root(self.folder)
        except FileNotFoundError:
            raise NoProject(self.folder) from None
        except OSError as error:
            raise fault(self.folder, error) from error

    def _require_local(self, root: Root) -> None:
        kind = "" if self._allow_shared else shared_kind(root.device())
        if kind:
            why = f"{kind} may be shared with other machines"
            raise NoLocks(self.folder, why, may_allow=True)

    def _open_desk(self, root: Root, may_create: bool) -> Folder:
        folder = root.folder(self.desk)
        if folder is not None:
            return folder
        if self._home and not may_create and root.stat(self._home) is None:
            raise NoProject(self.folder)
        return root.make_folder(self.desk)

    def _editing(self, path: str, edit: Edit, may_create: bool) -> Rewrite:
        layout.require_document(path, self.desk)

        def rewrite(old: bytes | None) -> bytes:
            if old is None and not may_create:
                raise self.missing(path)
            text = "" if old is None else decoded(path, old)
            with Located(path):
                new = edit(text)
            return _encoded(path, new)

        return rewrite

    def _creating(self, path: str, text: str, *, was_ours: bool = False) -> Rewrite:
        layout.require_document(path, self.desk)
        new = _encoded(path, text)

        def rewrite(old: bytes | None) -> bytes:
            if old is None:
                return new
            if was_ours:
                return old  # just completed; only the time in it may be another
            raise FileExists(path)

        return rewrite


@contextmanager
def looking_again(paths: Iterable[str]) -> Iterator[None]:
    """A look at what was just written: its error must not say that nothing was changed."""
    try:
        yield
    except (StorageError, OSError, ImportError) as error:
        written = ", ".join(paths)
        if not written or isinstance(error, OutputFault | BrokenPipeError):
            raise
        raise NotConfirmed(written, str(error)) from error


def _encoded(path: str, text: str) -> bytes:
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise UnwritableValue(path, "would hold characters that are not text") from error
    limit = layout.limit_of(path)
    if len(content) > limit:
        raise TooLarge(len(content), limit).located(path)
    return content


def _outcome(
    versions: tuple[Version, ...], notices: tuple[Notice, ...] = (), places: Places | None = None
) -> Outcome:
    return Outcome(tuple(_change(version) for version in versions), notices, places or Places())


def _change(version: Version) -> Change:
    old = None if version.old is None else version.old.decode()
    return Change(version.path, old, version.new.decode())


def _make_folders(folder: str) -> None:
    """Make a folder of the person's own, and those above it, each durable in the one above."""
    missing = []
    folder = os.path.abspath(folder)
    while not _is_there(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for each in reversed(missing):
        try:
            os.mkdir(each, 0o700)
        except FileExistsError:
            continue
        above = os.open(os.path.dirname(each), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(above)
        finally:
            os.close(above)


def _is_there(folder: str) -> bool:
    """False only when it is missing: on a disk that answers nothing, a search upwards has no end."""
    try:
        os.stat(folder)
    except FileNotFoundError:
        return False
    return True
