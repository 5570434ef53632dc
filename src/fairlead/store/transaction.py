"""Transactions: turn edits into durable documents, under the lock.

One document is simply exchanged; several become a step with an intent record. When another
program changes a document in between, the edit is repeated on that version, up to a limit.
A step cannot be taken back after its commit point. If an edit no longer applies then, the
document keeps the other program's version, and ours is rescued.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fairlead.core.errors import FairleadError, StorageError
from fairlead.core.values import dataclass, field
from fairlead.store import atomic, intent, layout
from fairlead.store import undo as last
from fairlead.store.atomic import DocumentChanged, DocumentLocation, StagingArea, open_location
from fairlead.store.confined import Root, leaf
from fairlead.store.errors import ChangedMeanwhile, NotConfirmed, StepInterrupted
from fairlead.store.intent import CommittedStep, ContentChange, TreeChanges
from fairlead.store.staging import IGNORE, IGNORE_ALL

# Computes the new content of a document from the old one; None: the file does not exist.
Rewrite = Callable[[bytes | None], bytes]
Rewrites = Mapping[str, Rewrite]

_MOST_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class WritePlan:
    """The change set of a transaction, as bytes."""

    rewrites: Rewrites
    places: TreeChanges = field(default_factory=TreeChanges)


class Written:
    """How many transactions this process has completed: no error after that may deny them."""

    count = 0


WRITTEN = Written()


class Transaction:
    """One writer's turn. It begins by completing what a killed writer left."""

    def __init__(self, root: Root, staging: StagingArea, command: str) -> None:
        self._root = root
        self._staging = staging
        self._command = command
        step = intent.recover(root, staging)
        last.recover(root, staging)
        self.recovered = frozenset(step.paths) if step else frozenset()
        self._hide_staging_from_git()

    def run(self, rewrites: Rewrites, folders: tuple[str, ...] = ()) -> tuple[ContentChange, ...]:
        """Write the changed documents and the missing folders durably; return the changes."""
        return self.carry_out(
            lambda: WritePlan(rewrites, TreeChanges(folders=self._missing(folders)))
        )[0]

    def carry_out(
        self, decide: Callable[[], WritePlan]
    ) -> tuple[tuple[ContentChange, ...], TreeChanges]:
        """Decide, move and write durably; decide again when another program changed something."""
        changed = ""
        for _ in range(_MOST_ATTEMPTS):
            plan = decide()
            versions = versions_of(self._read, plan.rewrites)
            try:
                return self._write(versions, plan), plan.places
            except DocumentChanged as error:
                changed = error.path
        raise ChangedMeanwhile(changed)

    def undo(self, which: str = "") -> tuple[str, tuple[ContentChange, ...], TreeChanges]:
        """Undo a command, by default the last. Undo is recorded like any other command."""
        event = last.chosen(self._root, self._staging, which)

        def decide() -> WritePlan:
            texts, places = last.reverse(self._root, event, self._staging.folder.path)
            return WritePlan(last.rewrites_of(texts, event), places)

        return (event.command, *self.carry_out(decide))

    def _missing(self, folders: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(folder for folder in folders if self._root.stat(folder) is None)

    def _write(
        self, versions: tuple[ContentChange, ...], plan: WritePlan
    ) -> tuple[ContentChange, ...]:
        """Write the changes, and keep what they replace for undo."""
        if not versions and not plan.places:
            return versions
        places = TreeChanges(plan.places.moves, self._missing(plan.places.folders))
        try:
            last.keep(self._staging, self._command, versions, places)
            written = self._publish(versions, plan)
            if written != versions:
                last.keep(self._staging, self._command, written, places)
        except NotConfirmed:
            raise  # it may have happened: the next writer finds out
        except (DocumentChanged, FairleadError):
            last.forget(self._staging)
            raise
        last.settle(self._staging)
        WRITTEN.count += 1
        return written

    def _publish(
        self, versions: tuple[ContentChange, ...], plan: WritePlan
    ) -> tuple[ContentChange, ...]:
        if len(versions) > 1 or plan.places:
            step = intent.commit(self._root, self._staging, self._command, versions, plan.places)
            try:
                again = self._complete(step, plan.rewrites)
            except StorageError as error:
                raise StepInterrupted(step.paths, str(error)) from error
            return tuple(again.get(version.path, version) for version in versions)
        for version in versions:
            with open_location(self._root, version.path) as place:
                atomic.write(self._staging, place, version.old, version.new)
        return versions

    def _complete(self, step: CommittedStep, rewrites: Rewrites) -> dict[str, ContentChange]:
        """Publish a step; return the changes of documents that were edited again."""
        again: dict[str, ContentChange] = {}
        not_applied: dict[str, str] = {}  # path -> where our version is kept
        for entry in intent.complete(self._root, self._staging, step):
            try:
                for version in self._again(entry.path, rewrites):
                    again[version.path] = version
                self._staging.remove(entry.stage)
            except StorageError:
                raise
            except FairleadError:
                not_applied[entry.path] = self._staging.rescue(entry.stage, leaf(entry.path))
        intent.close(self._staging)
        if not_applied:
            raise ChangedMeanwhile(
                ", ".join(not_applied), ", ".join(filter(None, not_applied.values()))
            )
        return again

    def _again(self, path: str, rewrites: Rewrites) -> tuple[ContentChange, ...]:
        """Repeat the edit of one document on the version of another program."""
        for _ in range(_MOST_ATTEMPTS):
            versions = versions_of(self._read, {path: rewrites[path]})
            try:
                return self._publish(versions, WritePlan({}))
            except DocumentChanged:
                continue
        raise ChangedMeanwhile(path)

    def _read(self, path: str) -> bytes | None:
        return self._root.read(path, layout.limit_of(path))

    def _hide_staging_from_git(self) -> None:
        if self._staging.folder.stat(IGNORE) is None:
            place = DocumentLocation(self._staging.folder, IGNORE)
            atomic.write(self._staging, place, None, IGNORE_ALL)


def versions_of(
    read: Callable[[str], bytes | None], rewrites: Rewrites
) -> tuple[ContentChange, ...]:
    """The documents that the rewrites would change, with old and new content."""
    versions = []
    for path, rewrite in rewrites.items():
        old = read(path)
        new = rewrite(old)
        if new != old:
            versions.append(ContentChange(path, old, new))
    return tuple(versions)
