"""The one writer of documents.

An edit is a function from text to text. It is called again when another program changes the
document in between, so it must do nothing but return the new text. Imports happen before the
lock is taken, and no program is started while it is taken, so that writers wait only for writing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from fairlead.core.errors import Located, StorageError
from fairlead.core.values import dataclass, field
from fairlead.store import layout
from fairlead.store import undo as last
from fairlead.store.atomic import Notice, StagingArea
from fairlead.store.confined import ConfinedFolder, Root, storage_error
from fairlead.store.errors import (
    FileExists,
    InsideAttempt,
    NoLocks,
    NoProject,
    NotConfirmed,
    NothingToUndo,
    OutputFault,
    TooLarge,
)
from fairlead.store.intent import ContentChange, TreeChanges
from fairlead.store.lock import Lock, shared_kind
from fairlead.store.reader import Reader, decoded
from fairlead.store.rename import prepare
from fairlead.store.staging import INTENT, STAGING, USER_STAGING, require_document
from fairlead.store.transaction import Rewrite, Rewrites, Transaction, WritePlan, versions_of
from fairlead.text.errors import UnwritableValue

if TYPE_CHECKING:
    from fairlead.store.digests import FileCache

Edit = Callable[[str], str]


class DocumentChange(NamedTuple):
    """A document that was changed, or would be in a dry run."""

    path: str
    old: str | None  # None: the document is new
    new: str


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """Edits, moves and new folders that belong together: all of them happen, or none."""

    edits: Mapping[str, Edit]
    places: TreeChanges = field(default_factory=TreeChanges)
    may_create: frozenset[str] = frozenset()  # documents whose edit may start from an empty text


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """What an update did, or would do in a dry run."""

    changes: tuple[DocumentChange, ...]
    notices: tuple[Notice, ...] = ()
    places: TreeChanges = field(default_factory=TreeChanges)

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the changed documents."""
        return tuple(change.path for change in self.changes)


class Files(Reader):
    """Reads and writes the documents below one folder.

    `notices` lists what was repaired on the way, even if the update itself failed.
    """

    def __init__(
        self,
        folder: str,
        *,
        staging: str = STAGING,
        wait_seconds: float = 10.0,
        allow_shared: bool = False,
        is_read_only: bool = False,
        is_private: bool | None = None,  # None: exactly in the user's own folders
        cache: FileCache | None = None,
        unchecked: Callable[[str], Collection[str]] | None = None,
    ) -> None:
        super().__init__(folder, cache, unchecked)
        is_private = staging == USER_STAGING if is_private is None else is_private
        self._mode = 0o600 if is_private else 0o666  # of new documents, before the umask
        self.is_read_only = is_read_only
        self.notices: tuple[Notice, ...] = ()
        self.staging = staging
        self._home = staging.rpartition("/")[0]  # the folder of the documents; "" is the root
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
    ) -> WriteOutcome:
        """Change one document. The change is durable when this returns."""
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
    ) -> WriteOutcome:
        """Change all of these documents, or none.

        With `may_create`, the edit of a missing document gets an empty text.
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
    ) -> WriteOutcome:
        """Create all of these documents, or none. A document that exists already is refused.

        The exception is a document of an interrupted step of the same command: opening the
        transaction has just completed that step, so nothing is left to do.
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
        decide: Callable[[], ChangeSet],
        *,
        command: str,
        may_create: bool = False,
        dry_run: bool = False,
    ) -> WriteOutcome:
        """Call `decide` under the lock and apply the change set that it returns, all or nothing.

        `decide` is called again when another program changes a document in between, so it must
        do nothing but read and return the change set.
        """
        if dry_run or not self.exists(self.staging):
            plan = self._planned(decide())
            versions = versions_of(self.content, plan.rewrites)
            if dry_run or not (versions or plan.places):
                return _outcome(versions, places=plan.places)
        with self._transaction(command, may_create=may_create) as transaction:
            versions, places = transaction.carry_out(lambda: self._planned(decide()))
        return _outcome(versions, self.notices, places)

    def complete_interrupted(self) -> None:
        """Complete the step of a killed command now, as the next writer would.

        An agent can plant the record of a step. It must take effect before the tamper check
        compares, not after it.
        """
        if self.exists(f"{self.staging}/{INTENT}"):
            with self._transaction("complete an interrupted step", may_create=False):
                pass

    def undo(self, which: str = "", *, dry_run: bool = False) -> tuple[str, WriteOutcome]:
        """Undo a command, by default the last, and return its name; undo again to restore it.

        `which` is the number of a record or the beginning of a command.
        """
        if not self.exists(self.staging):
            raise NothingToUndo("no command is recorded here")
        if dry_run:
            with Root(self.folder) as root, self._open_staging(root, False) as folder:
                event = last.chosen(root, StagingArea(folder, prepare(), []), which)
                texts, places = last.reverse(root, event, self.staging)
                versions = versions_of(self.content, last.rewrites_of(texts, event))
            return event.command, _outcome(versions, places=places)
        with self._transaction("undo", may_create=False) as transaction:
            command, versions, places = transaction.undo(which)
        return command, _outcome(versions, self.notices, places)

    def undo_history(self) -> tuple[last.UndoEntry, ...]:
        """The commands that can be undone, the newest last."""
        if not self.exists(self.staging):
            return ()
        with Root(self.folder) as root, self._open_staging(root, False) as folder:
            return last.entries(StagingArea(folder, prepare(), []))

    def versions(self, path: str) -> tuple[tuple[last.UndoEntry, bytes | None], ...]:
        """The commands that changed a document, the newest last, each with the text before it."""
        if not self.exists(self.staging):
            return ()
        with Root(self.folder) as root, self._open_staging(root, False) as folder:
            return last.versions(StagingArea(folder, prepare(), []), path)

    def _planned(self, draft: ChangeSet) -> WritePlan:
        return WritePlan(
            {
                path: self._editing(path, edit, path in draft.may_create)
                for path, edit in draft.edits.items()
            },
            draft.places,
        )

    def _refuse_early(self, rewrites: Rewrites) -> None:
        """Refuse bad edits before the staging folder is created.

        If the folder exists, an interrupted step may have to be completed first, so the edits
        are judged later, under the lock.
        """
        if not self.exists(self.staging):
            versions_of(self.content, rewrites)

    def require_writable(self, command: str) -> None:
        """Refuse a command that writes, inside an agent's attempt."""
        if self.is_read_only:
            raise InsideAttempt(command)

    @contextmanager
    def _transaction(self, command: str, *, may_create: bool) -> Iterator[Transaction]:
        self.require_writable(command)
        renamer = prepare()
        notices: list[Notice] = []
        try:
            with self._open_root(may_create) as root:
                self._require_local(root)
                with (
                    self._open_staging(root, may_create) as folder,
                    Lock(folder, wait_seconds=self._wait_seconds, command=command),
                ):
                    area = StagingArea(folder, renamer, notices, mode=self._mode)
                    yield Transaction(root, area, command)
        finally:
            self.notices = tuple(notices)

    def _open_root(self, may_create: bool) -> Root:
        try:
            # Only the user's own folders are created; a project's folder must exist.
            if may_create and not self._home:
                make_private_folders(self.folder)
            return Root(self.folder)
        except FileNotFoundError:
            raise NoProject(self.folder) from None
        except OSError as error:
            raise storage_error(self.folder, error) from error

    def _require_local(self, root: Root) -> None:
        kind = "" if self._allow_shared else shared_kind(root.device())
        if kind:
            why = f"{kind} may be shared with other machines"
            raise NoLocks(self.folder, why, may_allow=True)

    def _open_staging(self, root: Root, may_create: bool) -> ConfinedFolder:
        folder = root.folder(self.staging)
        if folder is not None:
            return folder
        if self._home and not may_create and root.stat(self._home) is None:
            raise NoProject(self.folder)
        return root.make_folder(self.staging)

    def _editing(self, path: str, edit: Edit, may_create: bool) -> Rewrite:
        require_document(path, self.staging)

        def rewrite(old: bytes | None) -> bytes:
            if old is None and not may_create:
                raise self.missing(path)
            text = "" if old is None else decoded(path, old)
            with Located(path):
                new = edit(text)
            return _encoded(path, new)

        return rewrite

    def _creating(self, path: str, text: str, *, was_ours: bool = False) -> Rewrite:
        require_document(path, self.staging)
        new = _encoded(path, text)

        def rewrite(old: bytes | None) -> bytes:
            if old is None:
                return new
            if was_ours:
                return old  # just completed; only a timestamp in it may differ
            raise FileExists(path)

        return rewrite


@contextmanager
def reading_back(paths: Iterable[str]) -> Iterator[None]:
    """Read back what was just written; an error here must not claim that nothing was changed."""
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
        raise UnwritableValue(path, "would contain characters that are not text") from error
    limit = layout.limit_of(path)
    if len(content) > limit:
        raise TooLarge(len(content), limit).located(path)
    return content


def _outcome(
    versions: tuple[ContentChange, ...],
    notices: tuple[Notice, ...] = (),
    places: TreeChanges | None = None,
) -> WriteOutcome:
    return WriteOutcome(
        tuple(_change(version) for version in versions), notices, places or TreeChanges()
    )


def _change(version: ContentChange) -> DocumentChange:
    old = None if version.old is None else version.old.decode()
    return DocumentChange(version.path, old, version.new.decode())


def make_private_folders(folder: str) -> None:
    """Create one of the user's own folders and its parents, durably and for the user alone."""
    missing = []
    folder = os.path.abspath(folder)
    while not _is_there(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for path in reversed(missing):
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            continue
        above = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(above)
        finally:
            os.close(above)


def _is_there(folder: str) -> bool:
    """False only if the folder is missing. Other errors must end the search upwards."""
    try:
        os.stat(folder)
    except FileNotFoundError:
        return False
    return True
